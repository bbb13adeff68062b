//! The loop: opening its links, and its cycles.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use takt_link::{LaunchDrops, WithoutRoom, open_receiver, open_sender};
use takt_pubsub::publisher::{DataSource, WriterGroup};
use takt_pubsub::runtime::{LinkPlan, LongestInterval, reader_links, writer_group_link};
use takt_pubsub::subscriber::{DataTarget, Subscriber};
use takt_pubsub::{LossCause, Losses};
use takt_rt::clock::Clock;
use takt_rt::cyclic::Cyclic;
use takt_rt::faults::PageFaults;
use takt_rt::late::WatchStart;
use takt_rt::real_time::prepare;
use takt_ua::structures::PubSubConfiguration2DataType;

use crate::added_latency::AddedLatency;
use crate::application::ControlApplication;
use crate::deadline::Misses;
use crate::error::ControlError;
use crate::inputs::{Inputs, NotingTarget};
use crate::options::ControlOptions;
use crate::report::{ControlReport, LoopEnding};
use crate::running::{Links, Running};
use crate::schedule::{Schedule, Sending};

/// Control loop of one connection. It can move to the thread on which it [runs](Self::run).
#[derive(Debug)]
pub struct ControlLoop {
    group: WriterGroup,
    longest: LongestInterval,
    sender: LinkPlan,
    subscriber: Subscriber,
    receivers: Vec<LinkPlan>,
    inputs: Inputs,
    schedule: Schedule,
    cyclic: Cyclic,
    options: ControlOptions,
    added_latency: Option<Box<dyn AddedLatency>>,
    watch_start: Option<WatchStart>,
}

impl ControlLoop {
    /// Creates the loop of a configuration with one enabled connection, which has one WriterGroup. The cycle is its
    /// PublishingInterval.
    ///
    /// # Errors
    /// [`ControlError`]: the configuration has other parts, or `source` or `target` lack a field.
    pub fn new(
        configuration: &PubSubConfiguration2DataType,
        source: &mut dyn DataSource,
        target: &mut dyn DataTarget,
        options: ControlOptions,
    ) -> Result<Self, ControlError> {
        let enabled = configuration.connections.iter().filter(|it| it.enabled);
        let connections: Vec<_> = enabled.collect();
        let [connection] = connections.as_slice() else {
            let found = connections.len();
            return Err(ControlError::Connections { found });
        };
        let [group] = connection.writer_groups.as_slice() else {
            return Err(ControlError::WriterGroups {
                connection: connection.name.to_string(),
                found: connection.writer_groups.len(),
            });
        };
        let mut link = options.link.clone();
        // The next message has newer values than one that waits.
        link.without_room = WithoutRoom::Discard;
        link.launch_times = match options.sending {
            Sending::LaunchTime { mode, .. } => Some(mode),
            _ => None,
        };
        let mut sender = writer_group_link(connection, group, &link)?;
        let receivers = reader_links(connection, &link)?;
        let data_sets = &configuration.published_data_sets;
        let (group, longest) = LongestInterval::of_new_group(connection, group, data_sets, source)?;
        let mut inputs = Inputs::default();
        let mut noting = NotingTarget {
            target,
            inputs: &mut inputs,
        };
        let standalone = &configuration.subscribed_data_sets;
        let subscriber = Subscriber::new(connection, standalone, &mut noting)?;
        inputs.check(options.deadline.reaction)?;
        let interval = group.publishing_interval();
        let ahead = options.sending.ahead(interval, options.phases);
        sender.limit_waiting(options.kernel_queue, interval, ahead);
        let cyclic = Cyclic::new(interval)?
            .with_base_time(Clock::Tai, options.base_time_nanos)
            .with_spin(options.real_time.spin)
            .with_tolerance(options.start_tolerance);
        Ok(Self {
            schedule: Schedule::new(interval, options.phases, options.sending)?,
            group,
            longest,
            sender,
            subscriber,
            receivers,
            inputs,
            cyclic,
            options,
            added_latency: None,
            watch_start: None,
        })
    }

    /// Adds latencies to those of the thread.
    #[must_use]
    pub fn with_added_latency(mut self, added: Box<dyn AddedLatency>) -> Self {
        self.added_latency = Some(added);
        self
    }

    /// Watches the beginnings of cycles, so that the recorder of `takt-wakeup` tells why some were late.
    #[must_use]
    pub fn with_watch(mut self, start: WatchStart) -> Self {
        self.watch_start = Some(start);
        self
    }

    /// Returns the length of a cycle.
    #[must_use]
    pub const fn cycle(&self) -> Duration {
        self.cyclic.cycle()
    }

    /// Runs the loop on the calling thread until it ends, or `stop` is set.
    ///
    /// # Errors
    /// [`ControlError::Link`]: a link cannot be opened, or it does not send all messages of a cycle together. A link that is down is
    /// no error.
    pub fn run(
        self,
        application: &mut dyn ControlApplication,
        stop: &AtomicBool,
    ) -> Result<ControlReport, ControlError> {
        let Self {
            group,
            longest,
            sender,
            subscriber,
            receivers,
            inputs,
            schedule,
            mut cyclic,
            options,
            added_latency,
            watch_start,
        } = self;
        let open = |link: &LinkPlan| open_receiver(&link.address, &link.options);
        let mut sender = open_sender(&sender.address, &sender.options)?;
        longest.reserve(sender.as_mut())?;
        let mut links = Links {
            sender,
            receivers: receivers.iter().map(open).collect::<Result<_, _>>()?,
        };
        let mut watch = watch_start.and_then(|start| start.of_this_thread());
        // After the links: opening them allocates and waits, which a real-time thread must not.
        let prepared = prepare(&options.real_time);
        let mut running = Running {
            group,
            subscriber,
            inputs,
            schedule,
            options,
            added_latency,
            misses: Misses::default(),
            received: 0,
            refused: 0,
            last_refusal: None,
            unclaimed: None,
            made: 0,
            unmade: 0,
            send_errors: 0,
            last_error: None,
            fresh: 0,
            pending: None,
            unread: 0,
            unread_sends: 0,
        };
        let mut report = ControlReport {
            ending: LoopEnding::Stopped,
            cycles: 0,
            overruns: 0,
            clock_steps: 0,
            last_clock_step_nanos: 0,
            max_wake_up_latency_nanos: 0,
            received: 0,
            refused: 0,
            last_refusal: None,
            unclaimed: None,
            unread: 0,
            receive_losses: Losses::default(),
            attempts: 0,
            unmade: 0,
            sent: 0,
            send_errors: 0,
            last_error: None,
            send_losses: Losses::default(),
            launch_drops: LaunchDrops::default(),
            page_faults: 0,
            missed: 0,
            longest_miss: 0,
            preparations: prepared.preparations.clone(),
        };
        // The count begins behind the preparations, whose page faults delay no cycle.
        let faults = PageFaults::of_this_thread();
        let drain_cycles = running.options.drain_cycles;
        let mut drained = 0;
        // The flag publishes no other data.
        while !stop.load(Ordering::Relaxed) {
            let most = running.options.cycles;
            let publishes = most.is_none_or(|most| report.cycles < most);
            if !publishes && drained >= drain_cycles {
                report.ending = LoopEnding::Complete;
                break;
            }
            let Some(cycle) = cyclic.wait_unless(stop) else {
                break;
            };
            if let Some(watch) = &mut watch {
                watch.note(&cycle);
            }
            if !publishes {
                drained += 1;
                running.drain(&cycle, &mut links, application);
                continue;
            }
            report.cycles += 1;
            report.overruns = cycle.overruns;
            report.clock_steps = cycle.clock_steps;
            if cycle.clock_step_nanos != 0 {
                report.last_clock_step_nanos = cycle.clock_step_nanos;
            }
            let latency = cycle.wake_up_latency_nanos;
            report.max_wake_up_latency_nanos = report.max_wake_up_latency_nanos.max(latency);
            if let ControlFlow::Break(ending) = running.cycle(&cycle, &mut links, application) {
                report.ending = ending;
                break;
            }
        }
        // With an offset, the last message still waits for the next cycle. It leaves now.
        running.send(&mut links, application);
        // Read before the rest, which is no part of a cycle and may allocate.
        let page_faults = PageFaults::of_this_thread() - faults;
        let mut receive_losses = running.subscriber.losses();
        for receiver in &links.receivers {
            receive_losses.add_link(&receiver.counters());
        }
        let launch_drops = links.sender.launch_drops();
        let mut send_losses = Losses::default();
        send_losses.add(LossCause::LaunchTime, launch_drops.missed);
        let sender = links.sender.close();
        send_losses.add_link(&sender);
        Ok(ControlReport {
            launch_drops,
            receive_losses,
            send_losses,
            last_refusal: running.last_refusal.map(|error| error.to_string()),
            unclaimed: running.unclaimed,
            unread: running.unread,
            page_faults: page_faults.minor + page_faults.major,
            received: running.received,
            refused: running.refused,
            attempts: running.made + running.unmade,
            unmade: running.unmade,
            sent: sender.messages,
            send_errors: running.send_errors,
            last_error: running.last_error.map(|error| error.to_string()),
            missed: running.misses.sum,
            longest_miss: running.misses.longest,
            ..report
        })
    }
}
