//! Thread of a connection that answers probes.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::SyncSender;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use takt_link::{Receiver, Sender, open_receiver, open_sender};
use takt_ua::structures::{PubSubConfiguration2DataType, PubSubConnectionDataType};

use super::commands::{self, CommandReceiver, CommandSender};
use super::links::{LinkPlan, discovery_link};
use super::options::{RuntimeOptions, StartError};
use super::problem::ProblemSender;
use super::thread::spawn;
use crate::discovery::Announcer;
use crate::error::ConfigurationError;
use crate::security::KeyRing;

/// Longest wait for probes before the thread checks whether it shall end.
const LONGEST_WAIT: Duration = Duration::from_millis(100);

/// Both ends of the DiscoveryAddress.
type Links = (Box<dyn Sender>, Box<dyn Receiver>);

/// State of the thread, which opens the link.
struct AnnouncerThread {
    announcer: Announcer,
    link: LinkPlan,
    component: String,
    commands: CommandReceiver<AnnouncerCommand>,
    problems: ProblemSender,
    stop: Arc<AtomicBool>,
}

/// Command of the thread: the keys of a SecurityGroup.
pub(super) type AnnouncerCommand = (String, KeyRing);

/// Handle of the thread.
pub(super) struct RunningAnnouncer {
    pub(super) commands: CommandSender<AnnouncerCommand>,
    pub(super) security_group_ids: Vec<String>,
    pub(super) thread: Option<JoinHandle<()>>,
}

impl RunningAnnouncer {
    /// Starts the thread of a connection that publishes and has an address for announcements; `None` if it has none. Of several
    /// connections with one PublisherId, only the first announces the whole Publisher.
    pub(super) fn start(
        configuration: &PubSubConfiguration2DataType,
        connection: &PubSubConnectionDataType,
        is_first: bool,
        options: &RuntimeOptions,
        problems: ProblemSender,
        stop: Arc<AtomicBool>,
    ) -> Result<Option<Self>, StartError> {
        let within = |error: ConfigurationError| error.within(connection.name.as_str());
        let link = discovery_link(connection, options).map_err(within)?;
        let Some(link) = link.filter(|_| !connection.writer_groups.is_empty()) else {
            return Ok(None);
        };
        // Without randomness, it works as well if there is only one Publisher.
        let seed = getrandom::u64().unwrap_or_default();
        let application = options.application.clone();
        let now = Instant::now();
        let announcer = Announcer::new(configuration, connection, application, seed, now)?;
        let (commands, receiver) = commands::channel();
        let ids = announcer.security_group_ids();
        let security_group_ids = ids.map(str::to_owned).collect();
        let thread = AnnouncerThread {
            commands: receiver,
            announcer: match is_first {
                true => announcer,
                false => announcer.for_connection_only(),
            },
            link,
            component: connection.name.to_string(),
            problems,
            stop,
        };
        let thread = spawn("takt-announce", move |started| thread.run(started))?;
        Ok(Some(Self {
            commands,
            security_group_ids,
            thread: Some(thread),
        }))
    }
}

impl AnnouncerThread {
    /// Opens the links, reports the result, and answers until it is stopped.
    fn run(mut self, started: &SyncSender<Result<(), StartError>>) {
        let (mut sender, mut receiver) = match self.open() {
            Ok(links) => links,
            Err(error) => {
                // The starting thread waits for this.
                let _ = started.send(Err(error));
                return;
            }
        };
        let _ = started.send(Ok(()));
        while !self.stop.load(Ordering::Relaxed) {
            while let Some((id, keys)) = self.commands.next() {
                self.announcer.set_keys(Instant::now(), &id, &keys);
            }
            self.announce(sender.as_mut());
            let next = self.announcer.next_timeout();
            let wait = next.map_or(LONGEST_WAIT, |next| {
                next.saturating_duration_since(Instant::now())
            });
            let wait = wait.min(LONGEST_WAIT);
            let announcer = &mut self.announcer;
            let received = receiver.receive(wait, &mut |received| {
                // The address may carry messages of others, which are ignored.
                let _ = announcer.receive(Instant::now(), received.bytes);
            });
            // A receiver that fails does not wait, and the thread must not spin.
            if received.is_err() {
                std::thread::sleep(LONGEST_WAIT);
            }
        }
    }

    fn announce(&mut self, sender: &mut dyn Sender) {
        let (messages, error) = self.announcer.handle_timeout(Instant::now());
        if let Some(error) = error {
            self.problems.tell(error);
        }
        // A message that is not sent is requested again.
        for message in messages {
            let _ = sender.send(&message);
        }
    }

    fn open(&self) -> Result<Links, StartError> {
        let at = |source| StartError::Link {
            component: self.component.clone(),
            source,
        };
        let LinkPlan { address, options } = &self.link;
        let sender = open_sender(address, options).map_err(at)?;
        let receiver = open_receiver(address, options).map_err(at)?;
        Ok((sender, receiver))
    }
}
