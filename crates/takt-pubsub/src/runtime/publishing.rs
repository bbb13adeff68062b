//! Thread of a WriterGroup.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::SyncSender;
use std::time::{Duration, Instant};

use takt_link::{LaunchTime, LinkCounters, Sender, open_sender};
use takt_rt::clock::{Clock, after};
use takt_rt::cyclic::{Cycle, Cyclic};
use takt_rt::late::{LateWatch, WatchStart, thread_id};
use takt_ua::Variant;
use takt_ua::enumerations::PubSubState;
use takt_ua::structures::{BrokerDataSetWriterTransportDataType, WriterGroupDataType};

use super::commands::CommandReceiver;
use super::flush::LongestInterval;
use super::links::LinkPlan;
use super::meta_data_round::{Attempt, MetaDataRound};
use super::output::LinkOutput;
use super::problem::{ProblemCause, ProblemSender};
use super::status::{Status, state_of_link};
use super::timing::Timing;
use super::{RealTime, StartError};
use crate::error::PublishError;
use crate::losses::{LossCause, Losses};
use crate::monitor::SendingWatch;
use crate::publisher::WriterGroup;
use crate::security::KeyRing;
use crate::settings::milliseconds;
use crate::time::Now;

/// Command of a WriterGroup.
#[derive(Debug)]
pub(super) enum PublisherCommand {
    SetKeys(KeyRing),
    SetEnabled(bool),
    SetWriterEnabled(u16, bool),
    Event(u16, Vec<Variant>),
    MetaData,
}

/// Queue of the metadata of a DataSetWriter, and its update time (OPC 10000-14, 6.4.2.5.5).
pub(super) struct MetaDataQueue {
    pub(super) data_set_writer_id: u16,
    pub(super) link: LinkPlan,
    /// Interval of updates. Zero: the metadata is sent only at the start and on request.
    pub(super) update_time: Duration,
    pub(super) next: Option<Instant>,
}

impl MetaDataQueue {
    pub(super) fn new(group: &WriterGroupDataType, id: u16, link: LinkPlan) -> Self {
        let mut writers = group.data_set_writers.iter();
        let writer = writers.find(|writer| writer.data_set_writer_id == id);
        let settings: Option<BrokerDataSetWriterTransportDataType> =
            writer.and_then(|writer| writer.transport_settings.decode_as().ok());
        Self {
            data_set_writer_id: id,
            link,
            update_time: milliseconds(settings.map_or(0.0, |it| it.meta_data_update_time)),
            next: None,
        }
    }
}

/// Open links, in the thread that uses them.
struct Links {
    data: Box<dyn Sender>,
    /// Links of the metadata, one for each queue.
    meta_data: Vec<Box<dyn Sender>>,
}

/// State of the thread. It can move to another thread; the link cannot, and is opened there.
pub(super) struct PublisherThread {
    pub(super) group: WriterGroup,
    /// Longest interval of the group, until its link is open.
    pub(super) longest: Option<LongestInterval>,
    pub(super) link: LinkPlan,
    pub(super) meta_data: Vec<MetaDataQueue>,
    pub(super) meta_data_is_due: bool,
    /// Metadata that is sent beside the data.
    pub(super) round: MetaDataRound,
    /// Time at which the numbers of lost messages are read next.
    pub(super) next_count: Instant,
    pub(super) count_interval: Duration,
    pub(super) real_time: RealTime,
    pub(super) watch_start: Option<WatchStart>,
    /// Watch of the flow of its messages.
    pub(super) flow: Option<SendingWatch>,
    pub(super) timing: Timing,
    pub(super) commands: CommandReceiver<PublisherCommand>,
    pub(super) problems: ProblemSender,
    pub(super) status: Arc<Status>,
    pub(super) stop: Arc<AtomicBool>,
}

impl PublisherThread {
    /// Opens the link, reports the result, and publishes until it is stopped.
    pub(super) fn run(mut self, started: &SyncSender<Result<(), StartError>>) {
        let (mut links, mut watch, cyclic) = match self.prepare() {
            Ok(prepared) => prepared,
            Err(error) => {
                // The starting thread waits for this.
                let _ = started.send(Err(error));
                return;
            }
        };
        self.status.set_thread(thread_id());
        let _ = started.send(Ok(()));
        let stop = Arc::clone(&self.stop);
        let _ = cyclic.run_unless(&stop, |cycle| {
            if let Some(watch) = &mut watch {
                watch.note(&cycle);
            }
            self.cycle(cycle, &mut links);
            ControlFlow::<()>::Continue(())
        });
        // Before the link is closed, which has this number.
        let late = self.late(links.data.as_mut());
        let mut counters = LinkCounters::default();
        for sender in std::iter::once(links.data).chain(links.meta_data) {
            counters += sender.close();
        }
        self.tell_losses(counters, late);
    }

    /// Passes the numbers of lost messages on.
    #[cold]
    fn count(&mut self, now: Instant, links: &mut Links) {
        self.next_count = after(now, self.count_interval);
        let mut counters = links.data.counters();
        for sender in &links.meta_data {
            counters += sender.counters();
        }
        let late = self.late(links.data.as_mut());
        self.tell_losses(counters, late);
    }

    /// Returns the number of messages whose launch time passed while a queueing discipline held them.
    fn late(&self, sender: &mut dyn Sender) -> u64 {
        match self.link.options.launch_times {
            // The other drops are in `LinkCounters::discarded` already.
            Some(_) => sender.launch_drops().missed,
            None => 0,
        }
    }

    fn tell_losses(&self, counters: LinkCounters, late: u64) {
        let before = self.status.statistics().losses;
        let mut losses = Losses::default();
        losses.add_link(&counters);
        losses.add(LossCause::LaunchTime, late);
        self.status.set_losses(&losses);
        // The reason stays in the counters, and is reported with new refusals only.
        if let Some(reason) = counters.refusal
            && counters.refused > before.of(LossCause::Refusal)
        {
            self.problems.tell(ProblemCause::Refusal(reason));
        }
    }

    fn prepare(&mut self) -> Result<(Links, Option<LateWatch>, Cyclic), StartError> {
        let longest = self.longest.take();
        let at = |source| StartError::Link {
            component: self.group.name().to_owned(),
            source,
        };
        let open = |link: &LinkPlan| open_sender(&link.address, &link.options).map_err(at);
        let queue = |queue: &MetaDataQueue| open(&queue.link);
        let mut data = open(&self.link)?;
        if let Some(longest) = longest {
            let writers = match self.sends_meta_data_beside() {
                true => self.group.data_set_writer_ids().count(),
                false => 0,
            };
            let batch = self.link.options.batch;
            let share = |messages| MetaDataRound::share(writers, batch, messages);
            let share = longest.reserve_with(data.as_mut(), share).map_err(at)?;
            self.round = MetaDataRound::with_share(share);
        }
        let links = Links {
            data,
            meta_data: self.meta_data.iter().map(queue).collect::<Result<_, _>>()?,
        };
        let cyclic = self.timing.cycles()?;
        let watch_start = self.watch_start.as_ref();
        let watch = watch_start.and_then(WatchStart::of_this_thread);
        // Last: opening links allocates and waits, which a real-time thread must not.
        self.real_time.apply(&self.problems)?;
        Ok((links, watch, cyclic.with_spin(self.real_time.spin)))
    }

    #[inline]
    fn cycle(&mut self, cycle: Cycle, links: &mut Links) {
        while let Some(command) = self.commands.next() {
            self.obey(command);
        }
        // Once for the whole cycle, so that all its messages have one time.
        let now = Now::read();
        if cycle.clock_step_nanos != 0 {
            self.problems.tell(ProblemCause::ClockStep {
                nanoseconds: cycle.clock_step_nanos,
            });
        }
        let launch_time = self.timing.launch_time(&cycle);
        let is_due = |queue: &MetaDataQueue| queue.next.is_some_and(|next| next <= now.instant);
        if self.meta_data_is_due || self.meta_data.iter().any(is_due) {
            self.send_meta_data(now, links);
        }
        let begun = match self.round.is_done() {
            true => None,
            false => self.begin_meta_data(now, launch_time, links),
        };
        let sender = links.data.as_mut();
        let mut output = LinkOutput::new(sender).with_launch_time(launch_time);
        // A link that is down tries again with every message.
        let (published, error) = self
            .group
            .publish_all(now, PubSubState::Operational, &mut output);
        let flushed = links.data.flush();
        let errors = published.failed as u64 + u64::from(flushed.is_err());
        if let Some(flow) = &mut self.flow {
            if published.network_messages > 0 {
                let since = Clock::Monotonic.nanos() - cycle.start_monotonic_nanos;
                let lateness = u64::try_from(since).unwrap_or(0);
                flow.sent(published.network_messages as u64, lateness, cycle.skipped);
            }
            if let Some(PublishError::Length { .. }) = error {
                flow.refused();
            }
        }
        if let Some(error) = error {
            self.problems.tell(error);
        }
        if let Err(error) = flushed {
            self.problems.tell(error);
        }
        self.status.add(
            published.network_messages as u64,
            published.fixed as u64,
            errors,
        );
        if let Some(lost) = begun {
            self.end_meta_data(lost, links);
        }
        self.status.note_cycle(&cycle);
        // After the attempt to send: until then the link may not know that it is down.
        let link = links.data.state();
        let state = self.group.state(state_of_link(link));
        self.status.set_states(link, state);
        if now.instant >= self.next_count {
            self.count(now.instant, links);
        }
    }

    /// Returns true if metadata is sent with the data: in JSON messages without a broker.
    fn sends_meta_data_beside(&self) -> bool {
        self.group.is_json() && !self.link.address.has_topics()
    }

    /// Sends metadata to its configured queues; without queues, JSON messages are to be sent with the data.
    #[cold]
    fn send_meta_data(&mut self, now: Now, links: &mut Links) {
        let all = std::mem::take(&mut self.meta_data_is_due);
        let mut outcomes = Vec::new();
        for (queue, sender) in self.meta_data.iter_mut().zip(&mut links.meta_data) {
            if !all && queue.next.is_none_or(|next| next > now.instant) {
                continue;
            }
            let again = after(now.instant, queue.update_time);
            queue.next = (!queue.update_time.is_zero()).then_some(again);
            let message = self.group.meta_data_message(queue.data_set_writer_id, now);
            outcomes.push(match message {
                Ok(Some(message)) => sender
                    .send(&message)
                    .map(|()| 1)
                    .map_err(ProblemCause::from),
                Ok(None) => Ok(0),
                Err(error) => Err(error.into()),
            });
        }
        for outcome in outcomes {
            match outcome {
                Ok(count) => self.status.add(count, 0, 0),
                Err(cause) => self.fail(cause),
            }
        }
        if all && self.sends_meta_data_beside() {
            self.round.begin(self.group.data_set_writer_ids());
        }
    }

    /// Queues metadata for the flush of this cycle. Returns the number of messages that the link has lost before; `None` if this cycle
    /// sends no metadata.
    #[cold]
    fn begin_meta_data(
        &mut self,
        now: Now,
        launch_time: Option<LaunchTime>,
        links: &mut Links,
    ) -> Option<u64> {
        let before = lost(&links.data.counters());
        let mut output = LinkOutput::new(links.data.as_mut()).with_launch_time(launch_time);
        let mut errors = Vec::new();
        let group = &mut self.group;
        let is_tried =
            self.round.attempt(
                |id| match group.publish_meta_data_of(id, now, &mut output) {
                    Ok(true) => Attempt::Queued,
                    Ok(false) => Attempt::Nothing,
                    Err(error) => {
                        let is_output = matches!(error, PublishError::Output(_));
                        errors.push(error);
                        match is_output {
                            true => Attempt::Refused,
                            false => Attempt::Nothing,
                        }
                    }
                },
            );
        for error in errors {
            self.fail(error.into());
        }
        is_tried.then_some(before)
    }

    /// Looks whether the flush took the metadata of this cycle; `before` is the number of messages that were lost before it.
    #[cold]
    fn end_meta_data(&mut self, before: u64, links: &Links) {
        // The errors do not tell: a flush that is refused early ends as one of no messages.
        let is_lost = lost(&links.data.counters()) != before;
        self.status.add(self.round.flushed(is_lost), 0, 0);
    }

    fn obey(&mut self, command: PublisherCommand) {
        match command {
            PublisherCommand::SetKeys(keys) => self.group.set_keys(&keys),
            PublisherCommand::SetEnabled(enabled) => self.group.set_enabled(enabled),
            PublisherCommand::SetWriterEnabled(id, enabled) => {
                self.group.set_writer_enabled(id, enabled);
            }
            PublisherCommand::MetaData => self.meta_data_is_due = true,
            PublisherCommand::Event(id, fields) => {
                if !self.group.queue_event(id, fields) {
                    self.fail(ProblemCause::Event);
                }
            }
        }
    }

    /// Counts an error, and reports its reason.
    #[cold]
    fn fail(&self, cause: ProblemCause) {
        self.status.add(0, 0, 1);
        self.problems.tell(cause);
    }
}

/// Returns the number of messages that a link got and did not send.
fn lost(counters: &LinkCounters) -> u64 {
    counters.discarded + counters.overflowed
}
