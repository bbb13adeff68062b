//! Thread of a connection that receives.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::SyncSender;
use std::time::{Duration, Instant};

use takt_link::{LinkError, LinkState, Receiver, Sender, Source, open_receiver, open_sender};
use takt_ua::enumerations::PubSubState;

use super::commands::CommandReceiver;
use super::links::LinkPlan;
use super::problem::ProblemSender;
use super::status::{COUNT_INTERVAL, Status, state_of_link};
use super::{RealTime, StartError};
use crate::discovery::Prober;
use crate::monitor::{ReaderWatches, WatchingObserver};
use crate::security::KeyRing;
use crate::subscriber::{MessageSender, Origin, Subscriber, SubscriberObserver};
use crate::time::Now;

/// Longest wait for messages before the thread checks for commands.
const LONGEST_WAIT: Duration = Duration::from_millis(100);

/// Interval of checks for missing metadata. Comparing all readers with all probes after each message would take longer than the
/// message.
const PROBE_INTERVAL: Duration = Duration::from_millis(20);

/// Command of a connection.
#[derive(Debug)]
pub(super) enum SubscriberCommand {
    SetKeys(String, KeyRing),
    SetReaderEnabled(String, bool),
}

/// Open links: of messages, and of probes for metadata.
type Links = (Vec<Box<dyn Receiver>>, Option<Box<dyn Sender>>);

/// State of the thread. It can move to another thread; the links cannot, and are opened there.
pub(super) struct SubscriberThread {
    pub(super) subscriber: Subscriber,
    pub(super) name: String,
    pub(super) links: Vec<LinkPlan>,
    /// Link of probes for metadata.
    pub(super) discovery: Option<LinkPlan>,
    pub(super) prober: Prober,
    /// Time of the next check for missing metadata.
    pub(super) next_probe: Instant,
    /// Time at which the numbers of lost messages are read next.
    pub(super) next_count: Instant,
    pub(super) enabled: bool,
    pub(super) real_time: RealTime,
    pub(super) observer: Box<dyn SubscriberObserver + Send>,
    /// Watches of the flows of its readers.
    pub(super) flows: ReaderWatches,
    pub(super) commands: CommandReceiver<SubscriberCommand>,
    pub(super) problems: ProblemSender,
    pub(super) status: Arc<Status>,
    pub(super) stop: Arc<AtomicBool>,
}

impl SubscriberThread {
    /// Opens the links, reports the result, and receives until it is stopped.
    pub(super) fn run(mut self, started: &SyncSender<Result<(), StartError>>) {
        // Messages wait in a link from here on.
        let opened = Instant::now();
        let (mut receivers, mut discovery) = match self.prepare() {
            Ok(links) => links,
            Err(error) => {
                // The starting thread waits for this.
                let _ = started.send(Err(error));
                return;
            }
        };
        let _ = started.send(Ok(()));
        self.flows.begin(opened, Now::read());
        while !self.stop.load(Ordering::Relaxed) {
            while let Some(command) = self.commands.next() {
                match command {
                    SubscriberCommand::SetKeys(id, keys) => self.subscriber.set_keys(&id, &keys),
                    SubscriberCommand::SetReaderEnabled(name, enabled) => {
                        self.subscriber.set_reader_enabled(&name, enabled);
                        self.flows.restart(&name);
                    }
                }
            }
            if let Some(sender) = &mut discovery {
                self.probe(sender.as_mut());
            }
            self.receive(&mut receivers);
            if Instant::now() >= self.next_count {
                self.count(&receivers);
            }
        }
        self.count(&receivers);
    }

    /// Passes the numbers of lost messages on.
    #[cold]
    fn count(&mut self, receivers: &[Box<dyn Receiver>]) {
        self.next_count = Instant::now() + COUNT_INTERVAL;
        let mut losses = self.subscriber.losses();
        for receiver in receivers {
            losses.add_link(&receiver.counters());
        }
        self.status.set_losses(&losses);
    }

    /// Sends probes for missing metadata.
    fn probe(&mut self, sender: &mut dyn Sender) {
        let now = Instant::now();
        if now < self.next_probe {
            return;
        }
        self.next_probe = now + PROBE_INTERVAL;
        let missing = self.subscriber.missing_meta_data();
        self.prober.set_missing(now, &missing);
        // A probe that is not sent is repeated later.
        for probe in self.prober.handle_timeout(now).unwrap_or_default() {
            let _ = sender.send(&probe);
        }
    }

    fn prepare(&self) -> Result<Links, StartError> {
        let at = |source| StartError::Link {
            component: self.name.clone(),
            source,
        };
        let open = |link: &LinkPlan| open_receiver(&link.address, &link.options).map_err(at);
        let receivers = self.links.iter().map(open).collect::<Result<_, _>>()?;
        let ask = |link: &LinkPlan| open_sender(&link.address, &link.options).map_err(at);
        let discovery = self.discovery.as_ref().map(ask).transpose()?;
        // Last: opening links allocates and waits, which a real-time thread must not.
        self.real_time.apply(&self.problems)?;
        Ok((receivers, discovery))
    }

    fn receive(&mut self, receivers: &mut [Box<dyn Receiver>]) {
        let next = self.subscriber.next_timeout();
        let next = next.into_iter().chain(
            self.prober
                .next_timeout()
                // Probes are looked at in intervals, so an earlier wake-up would be in vain.
                .map(|time| time.max(self.next_probe)),
        );
        let next = next.min();
        let until = next.map_or(LONGEST_WAIT, |next| {
            next.saturating_duration_since(Instant::now())
        });
        // Several links share the time.
        let wait = until.min(LONGEST_WAIT) / u32::try_from(receivers.len().max(1)).unwrap_or(1);
        let mut link = state_of(receivers);
        let mut connection = crate::state::of_connection(self.enabled, state_of_link(link));
        let Self {
            subscriber,
            observer,
            flows,
            status,
            problems,
            enabled,
            ..
        } = self;
        for (index, receiver) in receivers.iter_mut().enumerate() {
            let outcome = receiver.receive(wait, &mut |received| {
                // There was a message, so there is a link.
                let connection = match connection {
                    PubSubState::Error => PubSubState::Operational,
                    connection => connection,
                };
                let origin = Origin {
                    link: index,
                    sender: sender_of(received.source, received.topic),
                };
                observer.link_time(received.time);
                let now = Now::read();
                let mut receive = |observer: &mut dyn SubscriberObserver| {
                    subscriber.receive_from(&origin, now, connection, received.bytes, observer)
                };
                let outcome = match flows.is_empty() {
                    true => receive(observer.as_mut()),
                    false => receive(&mut WatchingObserver::new(observer.as_mut(), flows, now)),
                };
                match outcome {
                    Ok(reception) => {
                        status.add(1, u64::from(reception.fixed), reception.refused as u64);
                        status.add_data_sets(reception.accepted as u64);
                    }
                    Err(error) => {
                        status.add(1, 0, 1);
                        flows.refused(&error);
                        observer.refused(&error);
                    }
                }
            });
            if let Err(error) = outcome {
                // The state of the link tells that it is down.
                if !matches!(error, LinkError::Down(_)) {
                    status.add(0, 0, 1);
                    problems.tell(error);
                }
                // A receiver that fails does not wait, and the thread must not spin.
                std::thread::sleep(wait);
            }
        }
        if !link.is_up() {
            // The first messages may have come with the connection to a broker.
            link = state_of(receivers);
            connection = crate::state::of_connection(*enabled, state_of_link(link));
        }
        subscriber.handle_timeout(Now::read(), connection, observer.as_mut());
        status.set_states(link, connection);
    }
}

/// Returns the state of the first link that is down.
fn state_of(receivers: &[Box<dyn Receiver>]) -> LinkState {
    let mut links = receivers.iter().map(|receiver| receiver.state());
    links.find(|link| !link.is_up()).unwrap_or(LinkState::Up)
}

/// Returns the sender of a message, as its link names it.
#[inline]
fn sender_of(source: Source, topic: Option<&str>) -> MessageSender<'_> {
    match (topic, source) {
        (Some(topic), _) => MessageSender::Topic(topic.into()),
        (None, Source::Udp(address)) => MessageSender::Udp(address),
        (None, Source::Ethernet { address, vlan }) => {
            MessageSender::Ethernet(address.0, vlan.map_or(0, |vlan| vlan.id))
        }
        (None, Source::SharedMemory { sender }) => MessageSender::SharedMemory(sender),
        (None, Source::Broker) => MessageSender::Unknown,
    }
}
