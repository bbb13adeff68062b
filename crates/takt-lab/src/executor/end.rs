//! End of an application: its control loop on a thread of its node.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use takt_control::{
    ControlApplication, ControlCycle, ControlOptions, ControlReport, KernelQueue, RealTimeOptions,
    ReceivedMessage, Sending, SentMessage, Trace,
};
use takt_link::{LinkOptions, ReceiveClock};
use takt_rt::clock::Clock;
use takt_rt::priority::Policy;
use takt_rt::sleeping::{monotonic_at, sleep_until};
use takt_scenario::{FlowSource, Scenario};

use super::drawn_latency::DrawnLatency;
use super::node::LabNode;
use crate::application::ScenarioApplication;
use crate::case_record::EndRecord;
use crate::error::LabError;
use crate::payload::CounterPayload;
use crate::scenario_loop::{LoopEnd, SUBSCRIBER, ScenarioLoop};

/// Real-time priority of the ends.
const PRIORITY: u8 = 50;

/// Trace records besides those of the Publisher's messages: a loopback also sends before the first message.
const SPARE_RECORDS: u64 = 100_000;

/// Longest sleep before the thread looks whether it shall end, in nanoseconds.
const STEP: i64 = 20_000_000;

/// End that shall run.
#[derive(Debug, Clone)]
pub(crate) struct EndRequest {
    pub(crate) control: ScenarioLoop,
    pub(crate) end: LoopEnd,
    /// Flow to a Subscriber, which is an end as a loopback is, but sends nothing back. `None` for other ends.
    pub(crate) subscriber: Option<FlowSource>,
    /// Name of the device.
    pub(crate) device: String,
    /// Number of published messages.
    pub(crate) messages: u64,
    /// Cycles in which the Publisher waits for the last answers.
    pub(crate) drain_cycles: u64,
    /// Start: nanoseconds of CLOCK_TAI, or at once.
    pub(crate) begin: Option<i64>,
    /// Time at which messages leave.
    pub(crate) sending: Sending,
}

/// End that runs.
#[derive(Debug)]
pub(crate) struct RunningEnd {
    pub(crate) request: EndRequest,
    stop: Arc<AtomicBool>,
    ready: Arc<AtomicBool>,
    thread: JoinHandle<Result<FinishedEnd, String>>,
}

/// Result of an end.
#[derive(Debug)]
pub(crate) struct FinishedEnd {
    pub(crate) report: ControlReport,
    pub(crate) application: ScenarioApplication,
}

impl RunningEnd {
    /// Starts an end on a thread of its node.
    pub(crate) fn start(
        node: &LabNode,
        request: EndRequest,
        latency: Option<DrawnLatency>,
    ) -> Result<Self, LabError> {
        let (stop, ready) = (Arc::default(), Arc::default());
        let (ends, announces) = (Arc::clone(&stop), Arc::clone(&ready));
        let own = request.clone();
        let thread = node.spawn(request.end.name(), move || {
            run(&own, latency, &ends, announces)
        })?;
        Ok(Self {
            request,
            stop,
            ready,
            thread,
        })
    }

    /// Returns true after the first cycle has begun.
    pub(crate) fn is_ready(&self) -> bool {
        self.ready.load(Ordering::Relaxed)
    }

    /// Returns true if the end has ended.
    pub(crate) fn is_finished(&self) -> bool {
        self.thread.is_finished()
    }

    /// Asks the end to end.
    pub(crate) fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }

    /// Waits for the end, and returns its result.
    pub(crate) fn finish(self) -> Result<(EndRequest, FinishedEnd), LabError> {
        let application = self.request.control.application().name.clone();
        match self.thread.join() {
            Ok(Ok(finished)) => Ok((self.request, finished)),
            Ok(Err(message)) => Err(LabError::Application {
                application,
                message,
            }),
            Err(_) => Err(LabError::Panicked),
        }
    }
}

impl FinishedEnd {
    /// Returns the record of the end. That of a Subscriber has the name of its flow.
    pub(crate) fn record(&self, scenario: &Scenario, request: &EndRequest) -> EndRecord {
        let application = &request.control.application().name;
        let record = EndRecord::of(application, request.end, &self.report);
        match request.subscriber {
            Some(flow) => EndRecord {
                application: scenario.flow_name(flow),
                end: SUBSCRIBER.to_owned(),
                ..record
            },
            None => record,
        }
    }
}

/// Application that tells when its first cycle begins.
struct Announcing {
    inner: ScenarioApplication,
    ready: Arc<AtomicBool>,
}

impl ControlApplication for Announcing {
    fn received(&mut self, message: &ReceivedMessage<'_>) {
        self.inner.received(message);
    }

    fn update(&mut self, cycle: &ControlCycle) -> ControlFlow<()> {
        // No data comes with the flag.
        self.ready.store(true, Ordering::Relaxed);
        self.inner.update(cycle)
    }

    fn publishes(&self) -> bool {
        self.inner.publishes()
    }

    fn sent(&mut self, message: &SentMessage) {
        self.inner.sent(message);
    }
}

/// Runs an end on the calling thread.
fn run(
    request: &EndRequest,
    latency: Option<DrawnLatency>,
    stop: &AtomicBool,
    ready: Arc<AtomicBool>,
) -> Result<FinishedEnd, String> {
    let control = &request.control;
    let payload = || CounterPayload::new(control.fields());
    let (input, output) = (payload(), payload());
    let cycles = match request.end {
        LoopEnd::Publisher => Some(request.messages),
        LoopEnd::Loopback => None,
    };
    let options = ControlOptions {
        link: LinkOptions {
            interface: Some(request.device.clone()),
            receive_times: Some(ReceiveClock::Software),
            ..LinkOptions::default()
        },
        sending: request.sending,
        // Messages wait as in the simulation, whose queues have room for all.
        kernel_queue: KernelQueue::System,
        cycles,
        drain_cycles: request.drain_cycles,
        real_time: RealTimeOptions {
            policy: Some(Policy::Fifo(PRIORITY)),
            // Captures of the same process allocate memory.
            lock_memory: false,
            ..RealTimeOptions::default()
        },
        ..ControlOptions::default()
    };
    let running = control.open(request.end, &input, &output, options);
    let mut running = running.map_err(|error| error.to_string())?;
    if let Some(latency) = latency {
        running = running.with_added_latency(Box::new(latency));
    }
    let records = request.messages.saturating_mul(3);
    let records = usize::try_from(records.saturating_add(SPARE_RECORDS)).unwrap_or(usize::MAX);
    let trace = Trace::with_capacity(records);
    let mut application = Announcing {
        inner: match request.subscriber {
            Some(_) => ScenarioApplication::new(request.end, input, output, trace).one_way(),
            None => ScenarioApplication::new(request.end, input, output, trace),
        },
        ready,
    };
    if let Some(begin) = request.begin {
        // A clock that is set must not prolong the wait.
        let begin = monotonic_at(Clock::Tai, begin);
        while Clock::Monotonic.nanos() < begin && !stop.load(Ordering::Relaxed) {
            let step = Clock::Monotonic.nanos().saturating_add(STEP);
            sleep_until(Clock::Monotonic, begin.min(step), Duration::ZERO);
        }
    }
    let report = running.run(&mut application, stop);
    let report = report.map_err(|error| error.to_string())?;
    match application.inner.torn {
        Some(torn) => Err(torn.to_string()),
        None => Ok(FinishedEnd {
            report,
            application: application.inner,
        }),
    }
}
