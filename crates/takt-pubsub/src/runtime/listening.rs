//! Listening to an address without a configuration.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use super::commands;
use super::links::LinkPlan;
use super::status::Status;
use super::subscribing::SubscriberThread;
use super::{PubSub, RealTime, Running, StartError, spawn};
use crate::subscriber::{Observer, Subscriber};

/// DataSetWriters that are listened to at most.
const MAX_READERS: usize = 1000;

impl PubSub {
    /// Receives whatever comes from a link: readers are made for the DataSetWriters that are heard of, see
    /// [`Subscriber::discovering`].
    ///
    /// # Errors
    /// The link cannot be opened, or the thread not be started.
    pub fn listen(
        link: LinkPlan,
        real_time: RealTime,
        observer: Box<dyn Observer + Send>,
    ) -> Result<Self, StartError> {
        let (commands, receiver) = commands::channel();
        let (status, stop) = (
            Arc::new(Status::default()),
            Arc::new(AtomicBool::new(false)),
        );
        let name = link.address.to_string();
        let thread = SubscriberThread {
            subscriber: Subscriber::discovering(MAX_READERS),
            name: name.clone(),
            links: vec![link],
            enabled: true,
            real_time,
            observer,
            commands: receiver,
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
            stop,
        })
    }
}
