//! Threads and links of a configuration: one thread for each WriterGroup, and one for each connection that receives.

mod actions;
mod announcing;
mod commands;
mod flush;
mod links;
mod listening;
mod meta_data_round;
mod options;
mod output;
mod problem;
mod publishing;
mod status;
mod subscribing;
mod thread;
mod timing;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use takt_link::WithoutRoom;
use takt_rt::thread_signal::join_sleeping;
use takt_ua::Variant;
use takt_ua::structures::{
    PubSubConfiguration2DataType, PubSubConnectionDataType, UadpWriterGroupMessageDataType,
    WriterGroupDataType,
};

pub use actions::{
    ActionCallError, ActionClient, ActionCompleter, ActionLinks, RunningResponders, action_links,
};
pub use flush::LongestInterval;
pub use links::{LinkPlan, discovery_link, meta_data_links, reader_links, writer_group_link};
pub use options::{RealTime, RuntimeOptions, StartError};
pub use output::{LinkOutput, LinkReservation};
pub use problem::{Problem, ProblemCause};
pub use status::{ComponentState, Statistics};
pub use takt_link::{KernelQueue, LinkOptions};

use crate::action::offers_actions;
use crate::check;
use crate::discovery::Prober;
use crate::error::ConfigurationError;
use crate::monitor::{FlowDirection, ReaderWatches, SendingWatch};
use crate::publisher::{DataSource, WriterGroup};
use crate::security::KeyRing;
use crate::settings::milliseconds;
use crate::subscriber::{CellParts, DataTarget, Subscriber, SubscriberObserver};
use announcing::RunningAnnouncer;
use commands::CommandSender;
use links::ReaderLinkPlans;
use meta_data_round::MetaDataRound;
use problem::Problems;
use publishing::{MetaDataQueue, PublisherCommand, PublisherThread};
use status::{COUNT_INTERVAL, Status};
use subscribing::{SubscriberCommand, SubscriberThread};
use thread::spawn;
use timing::Timing;

/// Number of messages after which reports of their launch times are read: a socket has room for about twice as many.
const MESSAGES_PER_LAUNCH_REPORT: u32 = 50;

/// Running configuration. It stops when this is dropped.
pub struct PubSub {
    writer_groups: Vec<Running<PublisherCommand>>,
    connections: Vec<Running<SubscriberCommand>>,
    announcers: Vec<RunningAnnouncer>,
    problems: Problems,
    stop: Arc<AtomicBool>,
}

struct Running<C> {
    name: String,
    commands: CommandSender<C>,
    status: Arc<Status>,
    security_group_ids: Vec<String>,
    thread: Option<JoinHandle<()>>,
}

impl PubSub {
    /// Starts all enabled connections of a configuration. `observers` returns the observer of each connection that receives.
    ///
    /// # Errors
    /// [`StartError`]; nothing runs then. A link that is down is no error: it is a state.
    pub fn start(
        configuration: &PubSubConfiguration2DataType,
        source: &mut dyn DataSource,
        target: &mut dyn DataTarget,
        observers: &mut dyn FnMut(&PubSubConnectionDataType) -> Box<dyn SubscriberObserver + Send>,
        options: &RuntimeOptions,
    ) -> Result<Self, StartError> {
        let mut running = Self {
            writer_groups: Vec::new(),
            connections: Vec::new(),
            announcers: Vec::new(),
            problems: Problems::new(),
            stop: Arc::new(AtomicBool::new(false)),
        };
        let enabled =
            |connection: &&PubSubConnectionDataType| configuration.enabled && connection.enabled;
        let starting = PubSubConfiguration2DataType {
            connections: configuration
                .connections
                .iter()
                .filter(enabled)
                .cloned()
                .collect(),
            ..configuration.clone()
        };
        // Mistakes in connections that do not run are no reason to stop the others.
        check::refuse(&starting).map_err(|mistake| StartError::Mistake(Box::new(mistake)))?;
        let mut announced = Vec::new();
        // Outside the loop: readers of several connections may write parts of one cell.
        let mut parts = CellParts::default();
        for connection in configuration.connections.iter().filter(enabled) {
            // One connection of a Publisher speaks for all of it; otherwise each would announce the same.
            let is_first = !announced.contains(&&connection.publisher_id);
            let announcer = RunningAnnouncer::start(
                configuration,
                connection,
                is_first,
                options,
                running.problems.sender(connection.name.as_str()),
                running.stop.clone(),
            )?;
            if let Some(announcer) = announcer {
                running.announcers.push(announcer);
                announced.push(&connection.publisher_id);
            }
            let data_sets = &configuration.published_data_sets;
            let groups = connection.writer_groups.iter();
            // Groups of Actions wait for requests: see `RunningResponders`.
            for group in groups.filter(|group| !offers_actions(group, data_sets)) {
                running.start_group(configuration, connection, group, source, options)?;
            }
            if connection
                .reader_groups
                .iter()
                .any(|group| !group.data_set_readers.is_empty())
            {
                let observer = observers(connection);
                running.start_connection(
                    configuration,
                    connection,
                    target,
                    &mut parts,
                    observer,
                    options,
                )?;
            }
        }
        Ok(running)
    }

    /// Sets the keys of all groups that use this SecurityGroup.
    pub fn set_keys(&self, security_group_id: &str, keys: &KeyRing) {
        let needs = |ids: &[String]| ids.iter().any(|id| id == security_group_id);
        for group in self
            .writer_groups
            .iter()
            .filter(|group| needs(&group.security_group_ids))
        {
            group.commands.send(PublisherCommand::SetKeys(keys.clone()));
        }
        for connection in self
            .connections
            .iter()
            .filter(|it| needs(&it.security_group_ids))
        {
            let command = SubscriberCommand::SetKeys(security_group_id.to_owned(), keys.clone());
            connection.commands.send(command);
        }
        for announcer in self
            .announcers
            .iter()
            .filter(|it| needs(&it.security_group_ids))
        {
            let command = (security_group_id.to_owned(), keys.clone());
            announcer.commands.send(command);
        }
    }

    /// Returns the SecurityGroups whose keys are needed, each once.
    pub fn security_group_ids(&self) -> Vec<String> {
        let groups = self
            .writer_groups
            .iter()
            .flat_map(|group| &group.security_group_ids);
        let connections = self
            .connections
            .iter()
            .flat_map(|it| &it.security_group_ids);
        let mut ids: Vec<String> = groups.chain(connections).cloned().collect();
        ids.sort();
        ids.dedup();
        ids
    }

    /// Enables or disables a WriterGroup, by the name `CONNECTION/GROUP`; returns `false` if there is none.
    pub fn set_writer_group_enabled(&self, name: &str, enabled: bool) -> bool {
        self.tell_group(name, PublisherCommand::SetEnabled(enabled))
    }

    /// Enables or disables a DataSetWriter of a WriterGroup; returns `false` if there is no such group.
    pub fn set_writer_enabled(&self, group: &str, data_set_writer_id: u16, enabled: bool) -> bool {
        self.tell_group(
            group,
            PublisherCommand::SetWriterEnabled(data_set_writer_id, enabled),
        )
    }

    /// Enables or disables a DataSetReader of a connection; returns `false` if there is no such connection.
    pub fn set_reader_enabled(&self, connection: &str, reader: &str, enabled: bool) -> bool {
        let found = self
            .connections
            .iter()
            .find(|running| running.name == connection);
        let command = SubscriberCommand::SetReaderEnabled(reader.to_owned(), enabled);
        found.is_some_and(|connection| connection.commands.send(command))
    }

    /// Sends an event with the next publishing interval; returns `false` if there is no such group. An event that the writer
    /// refuses is counted as an error.
    pub fn send_event(&self, group: &str, data_set_writer_id: u16, fields: Vec<Variant>) -> bool {
        self.tell_group(group, PublisherCommand::Event(data_set_writer_id, fields))
    }

    /// Sends the metadata of a WriterGroup's DataSetWriters again; returns `false` if there is no such group. The start of a
    /// group sends it automatically: to the MetaDataQueueNames of a broker, and for JSON without a broker, with the data.
    pub fn publish_meta_data(&self, group: &str) -> bool {
        self.tell_group(group, PublisherCommand::MetaData)
    }

    /// Returns states and statistics of the WriterGroups.
    pub fn writer_groups(&self) -> impl Iterator<Item = ComponentState> + '_ {
        self.writer_groups.iter().map(Running::state)
    }

    /// Returns states and statistics of the connections that receive.
    pub fn connections(&self) -> impl Iterator<Item = ComponentState> + '_ {
        self.connections.iter().map(Running::state)
    }

    /// Returns true if no link is known to be down.
    pub fn links_are_up(&self) -> bool {
        let groups = self.writer_groups.iter().map(|group| &group.status);
        let connections = self.connections.iter().map(|connection| &connection.status);
        groups
            .chain(connections)
            .all(|status| status.link().is_up())
    }

    /// Returns the reasons of errors since the last call, each as often as it occurred. A few of them wait to be taken; further ones
    /// are counted in the statistics only. Refused messages are not among them: see [`SubscriberObserver::refused`].
    pub fn problems(&self) -> Vec<Problem> {
        self.problems.take()
    }

    /// Stops all threads, and waits for them: senders wait a short time for what is not delivered. States and statistics are the
    /// final ones then.
    pub fn stop(&mut self) {
        // All threads see the flag before the first one is waited for, so they end at the same time.
        self.stop.store(true, Ordering::Relaxed);
        for group in &mut self.writer_groups {
            if let Some(thread) = group.thread.take() {
                // The next publishing interval may be far away.
                let _ = join_sleeping(thread, group.status.thread());
            }
        }
        let connections = self
            .connections
            .iter_mut()
            .map(|connection| &mut connection.thread);
        let announcers = self.announcers.iter_mut().map(|it| &mut it.thread);
        for thread in connections.chain(announcers).filter_map(Option::take) {
            // A thread that panicked has reported it already.
            let _ = thread.join();
        }
    }

    fn tell_group(&self, name: &str, command: PublisherCommand) -> bool {
        let found = self
            .writer_groups
            .iter()
            .find(|running| running.name == name);
        found.is_some_and(|group| group.commands.send(command))
    }

    fn start_group(
        &mut self,
        configuration: &PubSubConfiguration2DataType,
        connection: &PubSubConnectionDataType,
        group: &WriterGroupDataType,
        source: &mut dyn DataSource,
        options: &RuntimeOptions,
    ) -> Result<(), StartError> {
        let within = |error: ConfigurationError| error.within(connection.name.as_str());
        let mut link = writer_group_link(connection, group, &options.link).map_err(within)?;
        let meta_data = meta_data_links(connection, group, &options.link).map_err(within)?;
        let data_sets = &configuration.published_data_sets;
        let settings: Option<UadpWriterGroupMessageDataType> =
            group.message_settings.decode_as().ok();
        let launch_times = link.options.launch_times.is_some();
        let interval = milliseconds(group.publishing_interval);
        let timing = Timing::new(settings.as_ref(), interval, launch_times);
        let is_asked_for = matches!(options.kernel_queue, KernelQueue::Cycles(_));
        if launch_times || options.publishing.policy.is_some() || is_asked_for {
            let ahead = timing.lead().unwrap_or_default();
            link.limit_waiting(options.kernel_queue, interval, ahead);
        }
        let (mut engine, longest) = match link.options.without_room {
            WithoutRoom::Discard => {
                LongestInterval::of_new_group(connection, group, data_sets, source)
                    .map(|(group, longest)| (group, Some(longest)))
            }
            _ => WriterGroup::new(connection, group, data_sets, source).map(|group| (group, None)),
        }
        .map_err(within)?;
        let (commands, receiver) = commands::channel();
        let status = Arc::new(Status::default());
        let name = format!("{}/{}", connection.name, group.name);
        let flow = options.watched.of(FlowDirection::Sending, &name);
        if let Some(flow) = flow {
            engine.set_longest_message(Some(flow.description().longest_message));
        }
        let security_group_ids = engine.security_group_id().map(str::to_owned);
        let thread = PublisherThread {
            group: engine,
            longest,
            link,
            meta_data: meta_data
                .into_iter()
                .map(|(id, link)| MetaDataQueue::new(group, id, link))
                .collect(),
            meta_data_is_due: true,
            round: MetaDataRound::default(),
            next_count: Instant::now(),
            count_interval: match launch_times {
                true => COUNT_INTERVAL.min(interval * MESSAGES_PER_LAUNCH_REPORT),
                false => COUNT_INTERVAL,
            },
            real_time: options
                .publishing
                .raised(rank(configuration, group.priority)),
            watch_start: options.publishing_watch.clone(),
            flow: flow.cloned().map(SendingWatch::new),
            timing,
            commands: receiver,
            problems: self.problems.sender(&name),
            status: status.clone(),
            stop: self.stop.clone(),
        };
        let thread = spawn("takt-publish", move |started| thread.run(started))?;
        self.writer_groups.push(Running {
            name,
            commands,
            status,
            security_group_ids: security_group_ids.into_iter().collect(),
            thread: Some(thread),
        });
        Ok(())
    }

    fn start_connection(
        &mut self,
        configuration: &PubSubConfiguration2DataType,
        connection: &PubSubConnectionDataType,
        target: &mut dyn DataTarget,
        parts: &mut CellParts,
        observer: Box<dyn SubscriberObserver + Send>,
        options: &RuntimeOptions,
    ) -> Result<(), StartError> {
        let within = |error: ConfigurationError| error.within(connection.name.as_str());
        let mut links = ReaderLinkPlans::of(connection, &options.link).map_err(within)?;
        // Metadata may be received there.
        let discovery = discovery_link(connection, options).map_err(within)?;
        let discovery = discovery.filter(LinkPlan::is_shared);
        let shared = discovery.clone().map(|link| links.add(link));
        let standalone = &configuration.subscribed_data_sets;
        let mut subscriber =
            Subscriber::with_parts(connection, standalone, target, parts).map_err(within)?;
        for (reader, (data, meta_data)) in links.of_readers.into_iter().enumerate() {
            let meta_data = meta_data.into_iter().chain(shared).collect();
            subscriber.set_reader_links(reader, data, meta_data);
        }
        let mut flows = ReaderWatches::default();
        let readers = connection.reader_groups.iter();
        let readers = readers.flat_map(|group| &group.data_set_readers);
        for (index, reader) in readers.enumerate() {
            let name = format!("{}/{}", connection.name, reader.name);
            if let Some(flow) = options.watched.of(FlowDirection::Receiving, &name) {
                subscriber.set_longest_message(index, Some(flow.description().longest_message));
                flows.add(reader.name.as_str(), flow.clone());
            }
        }
        let (commands, receiver) = commands::channel();
        let status = Arc::new(Status::default());
        let security_group_ids = subscriber.security_group_ids().map(str::to_owned).collect();
        let thread = SubscriberThread {
            subscriber,
            name: connection.name.to_string(),
            links: links.links,
            discovery,
            prober: Prober::with_random_delays(),
            next_probe: Instant::now(),
            next_count: Instant::now(),
            enabled: connection.enabled,
            real_time: options.subscribing.clone(),
            observer,
            flows,
            commands: receiver,
            problems: self.problems.sender(connection.name.as_str()),
            status: status.clone(),
            stop: self.stop.clone(),
        };
        let thread = spawn("takt-subscribe", move |started| thread.run(started))?;
        self.connections.push(Running {
            name: connection.name.to_string(),
            commands,
            status,
            security_group_ids,
            thread: Some(thread),
        });
        Ok(())
    }
}

impl<C> Running<C> {
    fn state(&self) -> ComponentState {
        self.status.component(&self.name)
    }
}

impl Drop for PubSub {
    /// Stops the threads, and waits for them.
    fn drop(&mut self) {
        self.stop();
    }
}

/// Returns the time from making the messages of a WriterGroup to the launch time that they have with
/// [`LinkOptions::launch_times`]: from its SamplingOffset to the next PublishingOffset, or one PublishingInterval.
#[must_use]
pub fn launch_lead(group: &WriterGroupDataType) -> Option<Duration> {
    let settings: Option<UadpWriterGroupMessageDataType> = group.message_settings.decode_as().ok();
    let interval = milliseconds(group.publishing_interval);
    Timing::new(settings.as_ref(), interval, true).lead()
}

/// Returns the number of lower priorities among the WriterGroups of the configuration.
fn rank(configuration: &PubSubConfiguration2DataType, priority: u8) -> u8 {
    let groups = configuration.connections.iter();
    let groups = groups.flat_map(|connection| &connection.writer_groups);
    let mut lower: Vec<u8> = groups
        .map(|group| group.priority)
        .filter(|other| *other < priority)
        .collect();
    // Only the order counts: there are 256 Priorities, and 99 of the scheduler.
    lower.sort_unstable();
    lower.dedup();
    u8::try_from(lower.len()).unwrap_or(u8::MAX)
}
