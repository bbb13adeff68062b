//! State of a running loop, and the steps of a cycle.

use std::ops::ControlFlow;
use std::time::Duration;

use takt_link::{LaunchTime, LinkError, Receiver, Sender};
use takt_pubsub::publisher::WriterGroup;
use takt_pubsub::runtime::LinkOutput;
use takt_pubsub::subscriber::{ReceivedDataSet, Subscriber, SubscriberObserver};
use takt_pubsub::{Now, ReceiveError};
use takt_rt::clock::{Clock, monotonic_nanos, tai_nanos};
use takt_rt::cyclic::Cycle;
use takt_rt::sleeping::sleep_until;
use takt_ua::enumerations::PubSubState;

use crate::added_latency::{AddedLatency, CyclePart};
use crate::application::{ControlApplication, ControlCycle, ReceivedMessage, SentMessage};
use crate::deadline::{Misses, Reaction};
use crate::inputs::Inputs;
use crate::late_limit::LateLimit;
use crate::options::ControlOptions;
use crate::report::LoopEnding;
use crate::schedule::{Schedule, Step};

/// Open links.
pub(crate) struct Links {
    pub(crate) sender: Box<dyn Sender>,
    pub(crate) receivers: Vec<Box<dyn Receiver>>,
}

/// Number of messages after which reports on dropped messages are read. The kernel has room for about a hundred reports.
const REPORTS: u64 = 32;

/// Error of a cycle, kept without formatting it.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SendError {
    #[error(transparent)]
    Publish(#[from] takt_pubsub::PublishError),
    #[error(transparent)]
    Link(#[from] LinkError),
    #[error("the clock was set back in a cycle, whose message has no launch time then")]
    ClockSetBack,
}

/// State of the loop between two cycles.
pub(crate) struct Running {
    pub(crate) group: WriterGroup,
    pub(crate) subscriber: Subscriber,
    pub(crate) inputs: Inputs,
    pub(crate) schedule: Schedule,
    pub(crate) options: ControlOptions,
    pub(crate) added_latency: Option<Box<dyn AddedLatency>>,
    pub(crate) misses: Misses,
    pub(crate) received: u64,
    pub(crate) refused: u64,
    pub(crate) last_refusal: Option<ReceiveError>,
    /// Description of the first message that no DataSetReader takes.
    pub(crate) unclaimed: Option<String>,
    /// Number of NetworkMessages that were made for the link, and of those whose making failed.
    pub(crate) made: u64,
    pub(crate) unmade: u64,
    pub(crate) send_errors: u64,
    pub(crate) last_error: Option<SendError>,
    /// Number of messages since the user's function ran last.
    pub(crate) fresh: u64,
    /// Cycle in which the message that waits to be sent was made, and its launch time if it has one.
    pub(crate) pending: Option<(u64, Option<i64>)>,
    /// Number of times that a late thread left messages in the kernel.
    pub(crate) unread: u64,
    /// Number of messages sent since the reports on dropped ones were read.
    pub(crate) unread_sends: u64,
}

impl Running {
    pub(crate) fn cycle(
        &mut self,
        cycle: &Cycle,
        links: &mut Links,
        application: &mut dyn ControlApplication,
    ) -> ControlFlow<LoopEnding> {
        let mut outcome = ControlFlow::Continue(());
        for index in 0..self.schedule.steps.len() {
            let Some(&(at, step)) = self.schedule.steps.get(index) else {
                break;
            };
            let at = cycle.start_monotonic_nanos.saturating_add(at);
            let spin = self.options.real_time.spin;
            let late = self.added_latency(index, step, cycle);
            // The rest of a cycle keeps its distances when the clock is set; the next cycle follows it.
            sleep_until(Clock::Monotonic, at.saturating_add(late), spin);
            match step {
                Step::Receive { until } => {
                    let mut until = cycle.start_monotonic_nanos.saturating_add(until);
                    if let Some(&(_, Step::Update)) = self.schedule.steps.get(index + 1) {
                        // The thread takes messages until it wakes up for the user's function.
                        let late = self.added_latency(index + 1, Step::Update, cycle);
                        until = until.saturating_add(late);
                    }
                    self.receive(until, links, application);
                }
                Step::Update => outcome = self.update(cycle, application),
                Step::Publish if !application.publishes() => {}
                Step::Publish => {
                    self.publish(cycle, links);
                    if self.schedule.sends_at_once {
                        self.send(links, application);
                    }
                }
                Step::Send => self.send(links, application),
            }
        }
        outcome
    }

    /// Returns the latency that is added to a step, in nanoseconds.
    fn added_latency(&mut self, index: usize, step: Step, cycle: &Cycle) -> i64 {
        let Some(added) = &mut self.added_latency else {
            return 0;
        };
        let (part, start) = match step {
            Step::Receive { .. } if index == 0 => (CyclePart::Subscriber, cycle.start_nanos),
            Step::Update => (CyclePart::User, cycle.start_nanos),
            Step::Publish if self.schedule.sends_at_once => {
                (CyclePart::Publisher, cycle.start_nanos)
            }
            Step::Send => {
                let cycle_nanos = self.schedule.cycle_nanos();
                (
                    CyclePart::Publisher,
                    cycle.start_nanos.saturating_sub(cycle_nanos),
                )
            }
            Step::Receive { .. } | Step::Publish => return 0,
        };
        added.nanos(part, start)
    }

    /// Runs a cycle in which no message is made: what waits is sent, and answers are received.
    pub(crate) fn drain(
        &mut self,
        cycle: &Cycle,
        links: &mut Links,
        application: &mut dyn ControlApplication,
    ) {
        for index in 0..self.schedule.steps.len() {
            let Some(&(at, step)) = self.schedule.steps.get(index) else {
                break;
            };
            let at = cycle.start_monotonic_nanos.saturating_add(at);
            match step {
                Step::Receive { until } => {
                    sleep_until(Clock::Monotonic, at, Duration::ZERO);
                    let until = cycle.start_monotonic_nanos.saturating_add(until);
                    self.receive(until, links, application);
                }
                step @ Step::Send => {
                    let late = self.added_latency(index, step, cycle);
                    sleep_until(Clock::Monotonic, at.saturating_add(late), Duration::ZERO);
                    self.send(links, application);
                }
                Step::Update | Step::Publish => {}
            }
        }
    }

    /// Receives until a time on CLOCK_MONOTONIC. What has come before is taken even if that time has passed, up to a limit.
    fn receive(&mut self, until: i64, links: &mut Links, application: &mut dyn ControlApplication) {
        let waits_at = match links.receivers.as_slice() {
            [_] => Some(0),
            _ => None,
        };
        let cycle = u64::try_from(self.schedule.cycle_nanos()).unwrap_or(0);
        let mut late = LateLimit::new(Duration::from_nanos(cycle));
        loop {
            let mut now_taken = 0;
            let left = until.saturating_sub_unsigned(monotonic_nanos());
            let left = Duration::from_nanos(u64::try_from(left).unwrap_or(0));
            for (index, receiver) in links.receivers.iter_mut().enumerate() {
                // Several links are checked in turns.
                let timeout = match waits_at == Some(index) && left > self.options.real_time.spin {
                    // The thread sleeps until `spin` before the end, and then asks again and again.
                    true => left.saturating_sub(self.options.real_time.spin),
                    false => Duration::ZERO,
                };
                let subscriber = &mut self.subscriber;
                let (refused, last_refusal) = (&mut self.refused, &mut self.last_refusal);
                let mut observer = Observer {
                    application: &mut *application,
                    taken_nanos: 0,
                    link_time: None,
                    accepted: 0,
                    refused: None,
                    unclaimed: None,
                };
                // A link that is down is tried again; messages do not come meanwhile.
                let received = receiver.receive(timeout, &mut |received| {
                    observer.taken_nanos = tai_nanos();
                    observer.link_time = received.time;
                    let operational = PubSubState::Operational;
                    let bytes = received.bytes;
                    match subscriber.receive(Now::read(), operational, bytes, &mut observer) {
                        Ok(reception) => *refused += reception.refused as u64,
                        Err(error) => {
                            *refused += 1;
                            *last_refusal = Some(error);
                        }
                    }
                });
                now_taken += received.unwrap_or(0);
                if let Some(error) = observer.refused {
                    self.last_refusal = Some(error);
                }
                if let Some(unclaimed) = observer.unclaimed {
                    self.unclaimed.get_or_insert(unclaimed);
                }
                self.fresh += observer.accepted;
                self.received += observer.accepted;
            }
            // The check comes behind the attempt, so that a late thread takes what has come, too: all of it, because
            // the newest message is the last one, unless messages come faster than it takes them.
            let is_late = left.is_zero();
            if (is_late && now_taken == 0) || links.receivers.is_empty() {
                return;
            }
            if is_late && late.is_reached(now_taken, monotonic_nanos()) {
                self.unread += 1;
                return;
            }
        }
    }

    fn update(
        &mut self,
        cycle: &Cycle,
        application: &mut dyn ControlApplication,
    ) -> ControlFlow<LoopEnding> {
        let received = std::mem::take(&mut self.fresh);
        let deadline = self.options.deadline;
        let deadline_missed = self.misses.note(received > 0, &deadline);
        if deadline_missed {
            // Before the user's function, which reads these inputs.
            self.inputs.react(deadline.reaction);
        }
        let flow = application.update(&ControlCycle {
            number: cycle.number,
            start_nanos: cycle.start_nanos,
            wake_up_latency_nanos: cycle.wake_up_latency_nanos,
            skipped: cycle.skipped,
            received,
            missed: self.misses.now,
            deadline_missed,
        });
        match flow {
            ControlFlow::Break(()) => ControlFlow::Break(LoopEnding::Application),
            ControlFlow::Continue(()) if deadline_missed && deadline.reaction == Reaction::Stop => {
                ControlFlow::Break(LoopEnding::Deadline)
            }
            ControlFlow::Continue(()) => ControlFlow::Continue(()),
        }
    }

    fn publish(&mut self, cycle: &Cycle, links: &mut Links) {
        let launch_nanos = self.schedule.launch_time(cycle.start_nanos);
        if launch_nanos.is_some() && tai_nanos() < cycle.start_nanos {
            // The queue would keep the message until the old time comes again.
            self.unmade += 1;
            self.failed(SendError::ClockSetBack);
            return;
        }
        let launch_time = launch_nanos.map(LaunchTime::from_tai_nanos);
        let mut output = LinkOutput::new(links.sender.as_mut()).with_launch_time(launch_time);
        let operational = PubSubState::Operational;
        let (published, error) = self
            .group
            .publish_all(Now::read(), operational, &mut output);
        self.made += published.network_messages as u64;
        self.unmade += published.failed as u64;
        if published.network_messages > 0 {
            self.pending = Some((cycle.number, launch_nanos));
        }
        if let Some(error) = error {
            self.failed(error.into());
        }
    }

    /// Hands the message that waits to the kernel.
    pub(crate) fn send(&mut self, links: &mut Links, application: &mut dyn ControlApplication) {
        let Some((cycle, launch_nanos)) = self.pending.take() else {
            return;
        };
        let handed_over_nanos = tai_nanos();
        let (messages, error) = match links.sender.flush() {
            Ok(messages) => (Some(messages), None),
            // The application learns of a message without room, too.
            Err(error @ (LinkError::Full | LinkError::Incomplete { .. })) => (Some(0), Some(error)),
            Err(error) => (None, Some(error)),
        };
        if let Some(messages) = messages {
            application.sent(&SentMessage {
                cycle,
                handed_over_nanos,
                launch_nanos,
                messages,
            });
        }
        if let Some(error) = error {
            self.failed(error.into());
        }
        // The reports of the kernel are read before their buffer is full.
        self.unread_sends += 1;
        if launch_nanos.is_some() && self.unread_sends >= REPORTS {
            self.unread_sends = 0;
            links.sender.launch_drops();
        }
    }

    #[cold]
    fn failed(&mut self, error: SendError) {
        self.send_errors += 1;
        self.last_error = Some(error);
    }
}

/// Observer that passes messages to the application.
struct Observer<'a> {
    application: &'a mut dyn ControlApplication,
    taken_nanos: i64,
    link_time: Option<takt_link::ReceiveTime>,
    accepted: u64,
    refused: Option<ReceiveError>,
    unclaimed: Option<String>,
}

impl SubscriberObserver for Observer<'_> {
    fn unclaimed(&mut self, message: &dyn std::fmt::Display) {
        // Once for each link.
        self.unclaimed = Some(message.to_string());
    }

    fn refused(&mut self, error: &ReceiveError) {
        self.refused = Some(error.clone());
    }

    fn data_set(&mut self, received: &ReceivedDataSet<'_>) {
        self.accepted += 1;
        self.application.received(&ReceivedMessage {
            data_set: received,
            taken_nanos: self.taken_nanos,
            link_time: self.link_time,
        });
    }
}
