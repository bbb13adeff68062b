//! One case of a run: network, captures, applications and cross traffic, from the beginning to the files.

use std::fs::File;
use std::io::BufWriter;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use takt_control::{Sending, trace_file};
use takt_link::LinkError;
use takt_rt::clock::{tai_nanos, tai_offset_seconds};
use takt_scenario::{ApplicationIndex, CrossTrafficIndex, FlowSource, Scenario};

use super::capture::{CaptureCounts, PortCapture};
use super::case_files::applications;
use super::common_cycle::common_cycle;
use super::cross_traffic::{TrafficCounts, TrafficSource};
use super::drawn_latency::{CaseBeginning, DrawnLatency};
use super::end::{EndRequest, RunningEnd};
use super::laboratory::{Laboratory, go_on};
use super::link_device::{LinkDevice, offloads};
use crate::case_record::{CaptureRecord, CaseRecord, StampClock, TrafficRecord};
use crate::error::LabError;
use crate::network::device_address;
use crate::run_directory::RunApplication;
use crate::scenario_loop::{LoopEnd, ScenarioLoop};
use crate::trace_name::{subscriber_trace_name, trace_name};
use takt_analysis::SentStamp;

/// Pause between two looks at threads.
const STEP: Duration = Duration::from_millis(5);

/// Time in which a loopback must begin.
const PATIENCE: Duration = Duration::from_secs(20);

/// Time between the beginning of loopbacks and that of Publishers and cross traffic, in nanoseconds.
const LEAD: i64 = 20_000_000;

/// Cycles in which a Publisher waits for its last answers. A round trip takes about four cycles with ETF.
const DRAIN_CYCLES: u64 = 10;

/// Time in which a Publisher waits for its last answers at least, in nanoseconds.
const DRAIN_NANOS: u64 = 20_000_000;

/// Time between the last frame of the ends and the end of the captures.
const SETTLING: Duration = Duration::from_millis(100);

/// Case that shall run.
#[derive(Debug)]
pub(crate) struct CaseRequest<'a> {
    pub(crate) scenario: &'a Scenario,
    /// Directory of the case. It exists.
    pub(crate) directory: &'a Path,
    pub(crate) device: &'a dyn LinkDevice,
    /// True if ports get the queueing disciplines of the scenario.
    pub(crate) configures: bool,
    pub(crate) messages: u64,
    pub(crate) seed: u64,
    /// True if the threads of applications delay themselves by the latencies of the scenario, since the clock stands still while they
    /// work.
    pub(crate) draws_latencies: bool,
}

/// Runs a case, and writes its files.
pub(crate) fn run(
    request: &CaseRequest<'_>,
    stop: &AtomicBool,
) -> Result<Vec<RunApplication>, LabError> {
    let laboratory = Laboratory::build(request.scenario, request.device, request.configures, stop)?;
    let mut case = RunningCase::new(request, &laboratory);
    let outcome = case.applications(stop);
    // Whatever happened, all threads end before the network does.
    let collected = case.collect();
    outcome?;
    let record = collected?;
    record.write(request.directory)?;
    Ok(applications(request.scenario, laboratory.plan()))
}

type TrafficThread = JoinHandle<Result<TrafficCounts, LinkError>>;

/// Threads of a case.
struct RunningCase<'a> {
    request: &'a CaseRequest<'a>,
    laboratory: &'a Laboratory,
    captures: Vec<PortCapture>,
    ends: Vec<RunningEnd>,
    traffic: Vec<(String, TrafficThread)>,
    traffic_stop: Arc<AtomicBool>,
    beginning: CaseBeginning,
}

impl<'a> RunningCase<'a> {
    fn new(request: &'a CaseRequest<'a>, laboratory: &'a Laboratory) -> Self {
        Self {
            request,
            laboratory,
            captures: Vec::new(),
            ends: Vec::new(),
            traffic: Vec::new(),
            traffic_stop: Arc::default(),
            beginning: CaseBeginning::unknown(),
        }
    }

    /// Starts everything, and waits until the Publishers have ended.
    fn applications(&mut self, stop: &AtomicBool) -> Result<(), LabError> {
        // Captures start before all frames, and loopbacks before Publishers, so that nothing that is sent is missed.
        self.capture()?;
        self.start(LoopEnd::Loopback, None)?;
        self.wait_for_loopbacks(stop)?;
        let begin = self.begin();
        // Loopbacks run already. From now on they draw the latencies of the same cycles as the Publishers.
        self.beginning.set(begin);
        self.start_traffic(begin)?;
        self.start(LoopEnd::Publisher, Some(begin))?;
        let is_publisher = |end: &&RunningEnd| end.request.end == LoopEnd::Publisher;
        while !self
            .ends
            .iter()
            .filter(is_publisher)
            .all(RunningEnd::is_finished)
        {
            go_on(stop)?;
            std::thread::sleep(STEP);
        }
        Ok(())
    }

    fn capture(&mut self) -> Result<(), LabError> {
        let stamp = sent_stamp(self.request.device);
        let plan = self.laboratory.plan();
        for (index, node) in plan.nodes.iter().enumerate() {
            let own = self.laboratory.node(takt_scenario::NodeIndex(index))?;
            for device in &node.devices {
                let (_, file) = self.create(&device.capture)?;
                let capture = PortCapture::start(own, &device.name, &device.capture, stamp, file)?;
                self.captures.push(capture);
            }
        }
        Ok(())
    }

    fn start(&mut self, end: LoopEnd, begin: Option<i64>) -> Result<(), LabError> {
        let scenario = self.request.scenario;
        let plan = self.laboratory.plan();
        for planned in &plan.flows {
            let Some(index) = planned.source.application() else {
                continue;
            };
            let control = ScenarioLoop::at(scenario, index).ok_or(LabError::Panicked)?;
            let application = control.application();
            let is_loop = application.receiver.loopback().is_some();
            // Ends that send are at the beginning of a flow, Subscribers at its end.
            let (place, subscriber) = match (end, planned.source) {
                (LoopEnd::Publisher, FlowSource::Publish(_)) => (planned.from, None),
                (LoopEnd::Loopback, FlowSource::Return(_)) => (planned.from, None),
                (LoopEnd::Loopback, FlowSource::Publish(_) | FlowSource::Branch(..))
                    if !is_loop =>
                {
                    (planned.to, Some(planned.source))
                }
                _ => continue,
            };
            let device = plan.device(place).ok_or(LabError::Panicked)?;
            let node = place.0;
            let cycle = (application.cycle.0 / 1000).max(1);
            let (control, sending) = match subscriber {
                Some(_) => (control.taking_at_once(), Sending::Immediate),
                None => {
                    let sending = sending(&control, self.request.configures);
                    (control, sending)
                }
            };
            let request = EndRequest {
                sending,
                control,
                end,
                subscriber,
                device: device.name.clone(),
                messages: self.request.messages,
                drain_cycles: DRAIN_CYCLES.max(DRAIN_NANOS / cycle),
                // The thread must wait for the first cycle when that begins.
                begin: begin.map(|begin| begin.saturating_sub((cycle / 2).cast_signed())),
            };
            let node = self.laboratory.node(node)?;
            // The simulator's Subscribers have no thread.
            let latency = match subscriber {
                Some(_) => None,
                None => self.latency(index, end),
            };
            self.ends.push(RunningEnd::start(node, request, latency)?);
        }
        Ok(())
    }

    /// Returns the latencies that the thread of an end adds to its own.
    fn latency(&self, application: ApplicationIndex, end: LoopEnd) -> Option<DrawnLatency> {
        let request = self.request;
        let beginning = self.beginning.clone();
        let latency = DrawnLatency::of(request.scenario, application, end, request.seed, beginning);
        latency.filter(|_| request.draws_latencies)
    }

    fn wait_for_loopbacks(&self, stop: &AtomicBool) -> Result<(), LabError> {
        let begin = Instant::now();
        // A loopback that has ended has an error, which is reported later.
        while !self
            .ends
            .iter()
            .all(|end| end.is_ready() || end.is_finished())
        {
            go_on(stop)?;
            if begin.elapsed() > PATIENCE {
                return Err(LabError::Application {
                    application: "loopback".to_owned(),
                    message: format!("it did not begin within {} s", PATIENCE.as_secs()),
                });
            }
            std::thread::sleep(STEP);
        }
        Ok(())
    }

    /// Returns the beginning of Publishers and cross traffic: nanoseconds of CLOCK_TAI, and a multiple of all cycles.
    fn begin(&self) -> i64 {
        let common = common_cycle(self.request.scenario).cast_signed();
        // Publishers start to wait for it half a cycle before: that must not have passed either.
        let earliest = tai_nanos().saturating_add(LEAD).saturating_add(common / 2);
        earliest
            .div_euclid(common)
            .saturating_add(1)
            .saturating_mul(common)
    }

    fn start_traffic(&mut self, begin: i64) -> Result<(), LabError> {
        let scenario = self.request.scenario;
        for (index, flow) in scenario.cross_traffic.iter().enumerate() {
            let plan = self.laboratory.plan();
            let Some(planned) = plan.flow(FlowSource::Cross(CrossTrafficIndex(index))) else {
                continue;
            };
            let Some(device) = plan.device(planned.from) else {
                continue;
            };
            let addresses = (planned.address, device_address(device.port));
            let seed = self.request.seed;
            let source = TrafficSource::new(scenario, index, &device.name, addresses, seed);
            let Some(source) = source else {
                continue;
            };
            let stop = Arc::clone(&self.traffic_stop);
            let node = self.laboratory.node(planned.from.0)?;
            let thread = node.spawn("cross traffic", move || source.run(begin, &stop))?;
            self.traffic.push((flow.name.clone(), thread));
        }
        Ok(())
    }

    /// Ends all threads, and writes the traces.
    fn collect(&mut self) -> Result<CaseRecord, LabError> {
        let mut record = CaseRecord {
            device: self.request.device.name().to_owned(),
            has_offloads: offloads(self.request.device, self.request.configures),
            sent_stamp: sent_stamp(self.request.device),
            beginning_nanos: self.beginning.get().unwrap_or_default(),
            tai_offset_seconds: tai_offset_seconds(),
            remarks: self.laboratory.remarks().to_vec(),
            ..CaseRecord::default()
        };
        // An error must not keep other threads running: it is returned when all have ended.
        let mut first_error = None;
        self.ends.iter().for_each(RunningEnd::stop);
        let ends: Vec<RunningEnd> = self.ends.drain(..).collect();
        let mut finished = Vec::new();
        for end in ends {
            match end.finish() {
                Ok(end) => finished.push(end),
                Err(error) => first_error = first_error.or(Some(error)),
            }
        }
        // Cross traffic goes on until the last answers are back.
        self.traffic_stop.store(true, Ordering::Relaxed);
        let mut traffic = Vec::new();
        for (name, thread) in self.traffic.drain(..) {
            match thread.join() {
                Ok(Ok(counts)) => traffic.push((name, counts)),
                Ok(Err(error)) => {
                    let error = LabError::Link { place: name, error };
                    first_error = first_error.or(Some(error));
                }
                Err(_) => first_error = first_error.or(Some(LabError::Panicked)),
            }
        }
        // The last frames are still in queues and on links.
        if first_error.is_none() && !self.captures.is_empty() {
            std::thread::sleep(SETTLING);
        }
        let mut counts = Vec::new();
        for capture in self.captures.drain(..) {
            match capture.finish() {
                Ok(capture) => counts.push(capture),
                Err(error) => first_error = first_error.or(Some(error)),
            }
        }
        if let Some(error) = first_error {
            return Err(error);
        }
        // Publishers were started last.
        finished.sort_by_key(|(request, _)| {
            let applications = &self.request.scenario.applications;
            let name = &request.control.application().name;
            let index = applications.iter().position(|it| it.name == *name);
            (index, request.end == LoopEnd::Loopback, request.subscriber)
        });
        for (request, end) in &finished {
            record.ends.push(end.record(self.request.scenario, request));
            self.write_trace(request, &end.application.trace)?;
        }
        record.captures = self.capture_records(&counts);
        record.cross_traffic = self.traffic_records(&traffic, &counts);
        Ok(record)
    }

    fn write_trace(
        &self,
        request: &EndRequest,
        trace: &takt_control::Trace,
    ) -> Result<(), LabError> {
        let name = &request.control.application().name;
        let scenario = self.request.scenario;
        let name = match request.subscriber {
            Some(flow) => subscriber_trace_name(scenario, flow),
            None => trace_name(scenario, name, request.end),
        };
        let (path, file) = self.create(&name)?;
        let scenario = &self.request.scenario.name;
        let description = request.control.trace_description(request.end, scenario);
        trace_file::write(&mut BufWriter::new(file), &description, trace)
            .map_err(|error| LabError::Io { path, error })
    }

    fn create(&self, name: &str) -> Result<(PathBuf, File), LabError> {
        let path = self.request.directory.join(name);
        match File::create(&path) {
            Ok(file) => Ok((path, file)),
            Err(error) => Err(LabError::Io { path, error }),
        }
    }

    fn capture_records(&self, counts: &[(String, CaptureCounts)]) -> Vec<CaptureRecord> {
        let scenario = self.request.scenario;
        let plan = self.laboratory.plan();
        let devices = plan.nodes.iter().flat_map(|node| &node.devices);
        let records = devices.filter_map(|device| {
            let (file, counts) = counts.iter().find(|(file, _)| *file == device.capture)?;
            let flows = plan.flows.iter().map(|flow| {
                let name = scenario.flow_name(flow.source);
                (name, counts.to(flow.address))
            });
            Some(CaptureRecord {
                file: file.clone(),
                port: scenario.port_name(device.port),
                lost: counts.lost,
                flows: flows.filter(|(_, frames)| *frames > 0).collect(),
                clock: match sent_stamp(self.request.device) {
                    SentStamp::FirstBit => StampClock::LinkDevice,
                    SentStamp::Driver | SentStamp::Unknown => StampClock::Kernel,
                },
                ..CaptureRecord::default()
            })
        });
        records.collect()
    }

    fn traffic_records(
        &self,
        traffic: &[(String, TrafficCounts)],
        captured: &[(String, CaptureCounts)],
    ) -> Vec<TrafficRecord> {
        let plan = self.laboratory.plan();
        let flows = self.request.scenario.cross_traffic.iter().enumerate();
        let records = flows.filter_map(|(index, flow)| {
            let (_, counts) = traffic.iter().find(|(name, _)| *name == flow.name)?;
            let planned = plan.flow(FlowSource::Cross(CrossTrafficIndex(index)))?;
            let file = &plan.device(planned.to)?.capture;
            let at_end = captured.iter().find(|(name, _)| name == file);
            Some(TrafficRecord {
                name: flow.name.clone(),
                sent: counts.sent,
                refused: counts.refused,
                late: counts.late,
                received: at_end.map_or(0, |(_, counts)| counts.to(planned.address)),
            })
        });
        records.collect()
    }
}

/// Returns the place at which captures stamp sent frames.
fn sent_stamp(device: &dyn LinkDevice) -> SentStamp {
    match device.has_offloads() {
        true => SentStamp::FirstBit,
        false => SentStamp::Driver,
    }
}

/// Returns the time at which messages leave. Without queueing disciplines the kernel keeps no launch times, so the thread sends at the
/// offset, or at once if it is busy then.
fn sending(control: &ScenarioLoop, configures: bool) -> Sending {
    let sending = control.sending();
    let Sending::LaunchTime { offset, .. } = sending else {
        return sending;
    };
    let application = control.application();
    let publishes = application.cycle.part(application.phases.publisher);
    let is_free = offset.as_nanos() <= u128::from(publishes.0 / 1000);
    match (configures, is_free) {
        (true, _) => sending,
        (false, true) => Sending::AtOffset(offset),
        (false, false) => Sending::Immediate,
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    #[test]
    fn launch_times_become_offsets_without_etf() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scenarios/d.toml");
        let text = std::fs::read_to_string(path).unwrap();
        let file = takt_scenario::ScenarioFile::parse(&text, path).unwrap();
        let of = |settings: &[(&str, &str)]| {
            let settings: Vec<_> = settings
                .iter()
                .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
                .collect();
            let file = file.with_settings(&settings).unwrap();
            ScenarioLoop::of(file.scenario(), None).unwrap()
        };
        let etf = of(&[("discipline", "etf")]);
        assert!(matches!(sending(&etf, true), Sending::LaunchTime { .. }));
        let offset = Duration::from_nanos(etf.application().offset.0 / 1000);
        assert_eq!(sending(&etf, false), Sending::AtOffset(offset));
        let late = of(&[
            ("discipline", "etf"),
            ("applications.control.offset", "200 us"),
        ]);
        assert_eq!(sending(&late, false), Sending::Immediate);
    }
}
