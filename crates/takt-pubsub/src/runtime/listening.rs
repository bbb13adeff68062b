//! Listening to an address without a configuration.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use super::commands;
use super::links::LinkPlan;
use super::problem::Problems;
use super::status::Status;
use super::subscribing::SubscriberThread;
use super::thread::spawn;
use super::{PubSub, RealTime, Running, StartError};
use crate::discovery::Prober;
use crate::monitor::ReaderWatches;
use crate::subscriber::{Subscriber, SubscriberObserver};

/// Maximum number of DataSetWriters that are listened to.
const MAX_READERS: usize = 1000;

impl PubSub {
    /// Receives all messages of a link: readers are made for the DataSetWriters that are discovered, see
    /// [`Subscriber::discovering`].
    ///
    /// # Errors
    /// The link cannot be opened, or the thread cannot be started.
    pub fn listen(
        link: LinkPlan,
        real_time: RealTime,
        observer: Box<dyn SubscriberObserver + Send>,
    ) -> Result<Self, StartError> {
        Self::listen_and_ask(link, None, real_time, observer)
    }

    /// Listens as [`listen`](Self::listen) does, and also asks for metadata at a DiscoveryAddress and receives it there: so RawData
    /// gets names and types.
    ///
    /// # Errors
    /// The errors are those of [`listen`](Self::listen).
    pub fn listen_and_ask(
        link: LinkPlan,
        discovery: Option<LinkPlan>,
        real_time: RealTime,
        observer: Box<dyn SubscriberObserver + Send>,
    ) -> Result<Self, StartError> {
        let (commands, receiver) = commands::channel();
        let (status, stop) = (
            Arc::new(Status::default()),
            Arc::new(AtomicBool::new(false)),
        );
        let name = link.address.to_string();
        let problems = Problems::new();
        let thread = SubscriberThread {
            subscriber: Subscriber::discovering(MAX_READERS),
            name: name.clone(),
            // One link receives each message once, also if both have one address.
            links: match &discovery {
                Some(other) if *other != link => vec![link, other.clone()],
                _ => vec![link],
            },
            discovery,
            prober: Prober::with_random_delays(),
            next_probe: Instant::now(),
            next_count: Instant::now(),
            enabled: true,
            real_time,
            observer,
            flows: ReaderWatches::default(),
            commands: receiver,
            problems: problems.sender(&name),
            status: status.clone(),
            stop: stop.clone(),
        };
        let thread = spawn("takt-subscribe", move |started| thread.run(started))?;
        let connection = Running {
            name,
            commands,
            status,
            security_group_ids: Vec::new(),
            thread: Some(thread),
        };
        Ok(Self {
            writer_groups: Vec::new(),
            connections: vec![connection],
            announcers: Vec::new(),
            problems,
            stop,
        })
    }
}
