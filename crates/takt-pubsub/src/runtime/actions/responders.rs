//! Responders, each with a thread and its links.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, SyncSender};
use std::thread::JoinHandle;
use std::time::Instant;

use takt_link::{LinkError, Receiver, Sender, open_receiver, open_sender};
use takt_ua::structures::{PubSubConfiguration2DataType, WriterGroupDataType};
use takt_ua::{StatusCode, Variant};

use super::links::{ActionLinks, action_links};
use super::responses::Responses;
use super::{LONGEST_WAIT, wait};
use crate::action::{ActionHandler, ActionTicket, Responder, offers_actions};
use crate::error::ConfigurationError;
use crate::losses::Losses;
use crate::runtime::links::{LinkPlan, meta_data_links};
use crate::runtime::options::{RuntimeOptions, StartError};
use crate::runtime::problem::{Problem, ProblemCause, ProblemSender, Problems};
use crate::runtime::status::{COUNT_INTERVAL, ComponentState, Status, state_of_link};
use crate::runtime::thread::spawn;
use crate::time::Now;

/// Handle that ends Actions of a [`RunningResponders`] that are executing.
#[derive(Debug, Clone)]
pub struct ActionCompleter(mpsc::Sender<Completion>);

type Completion = (ActionTicket, Result<Vec<Variant>, StatusCode>);

impl ActionCompleter {
    /// Reports the result of an Action; returns `false` if its Responder does not run any more.
    pub fn complete(&self, ticket: ActionTicket, result: Result<Vec<Variant>, StatusCode>) -> bool {
        self.0.send((ticket, result)).is_ok()
    }
}

/// Responders of a configuration, each with a thread. They run until this is dropped.
#[derive(Debug)]
pub struct RunningResponders {
    threads: Vec<JoinHandle<()>>,
    /// Names of the Responders with their status.
    responders: Vec<(String, Arc<Status>)>,
    problems: Problems,
    stop: Arc<AtomicBool>,
}

impl RunningResponders {
    /// Starts a Responder for each WriterGroup of a configuration that offers Actions. `handlers` returns the handler of each,
    /// which is called on the Responder's thread.
    ///
    /// A [`PubSub`](crate::runtime::PubSub) of the same configuration publishes its other groups, and announces the Actions at the
    /// DiscoveryAddress.
    ///
    /// # Errors
    /// [`StartError`]; nothing runs then.
    pub fn start(
        configuration: &PubSubConfiguration2DataType,
        handlers: &mut dyn FnMut(
            &WriterGroupDataType,
            ActionCompleter,
        ) -> Box<dyn ActionHandler + Send>,
        options: &RuntimeOptions,
    ) -> Result<Self, StartError> {
        let mut running = Self {
            threads: Vec::new(),
            responders: Vec::new(),
            problems: Problems::new(),
            stop: Arc::new(AtomicBool::new(false)),
        };
        let data_sets = &configuration.published_data_sets;
        let connections = configuration.connections.iter();
        for connection in connections.filter(|it| configuration.enabled && it.enabled) {
            let groups = connection.writer_groups.iter();
            for group in groups.filter(|it| it.enabled && offers_actions(it, data_sets)) {
                let within = |error: ConfigurationError| error.within(connection.name.as_str());
                let links = action_links(connection, group, &options.link).map_err(within)?;
                let meta_data = meta_data_links(connection, group, &options.link);
                // Without randomness, MessageIds are not unique; there is no other consequence.
                let id = getrandom::u64().unwrap_or_default();
                let (completer, completions) = mpsc::channel();
                let component = format!("{}/{}", connection.name, group.name);
                let status = Arc::new(Status::default());
                running.responders.push((component.clone(), status.clone()));
                let thread = ResponderThread {
                    responder: Responder::new(connection, group, data_sets, id).map_err(within)?,
                    problems: running.problems.sender(&component),
                    status,
                    next_count: Instant::now(),
                    component,
                    links,
                    meta_data: meta_data.map_err(within)?,
                    handler: handlers(group, ActionCompleter(completer)),
                    completions,
                    stop: running.stop.clone(),
                };
                let thread = spawn("takt-action", move |started| thread.run(started))?;
                running.threads.push(thread);
            }
        }
        Ok(running)
    }

    /// Returns the states of the Responders, with the numbers of their messages: requests that were received and responses that were
    /// sent, lost ones of both, and errors.
    pub fn responders(&self) -> impl Iterator<Item = ComponentState> + '_ {
        let responders = self.responders.iter();
        responders.map(|(name, status)| status.component(name))
    }

    /// Returns the errors since the last call. Further ones are only counted in the statistics if they are not taken.
    pub fn problems(&self) -> Vec<Problem> {
        self.problems.take()
    }
}

impl Drop for RunningResponders {
    /// Stops the threads, and waits for them.
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        for thread in self.threads.drain(..) {
            // A thread that panicked has reported it already.
            let _ = thread.join();
        }
    }
}

/// State of the thread, which opens the links.
struct ResponderThread {
    responder: Responder,
    component: String,
    links: ActionLinks,
    /// Queues for ActionMetaData, by DataSetWriterIds.
    meta_data: Vec<(u16, LinkPlan)>,
    handler: Box<dyn ActionHandler + Send>,
    completions: mpsc::Receiver<Completion>,
    problems: ProblemSender,
    status: Arc<Status>,
    /// Time at which the numbers of the links are read next.
    next_count: Instant,
    stop: Arc<AtomicBool>,
}

impl ResponderThread {
    fn run(mut self, started: &SyncSender<Result<(), StartError>>) {
        let (mut receiver, mut responses) = match self.open() {
            Ok(links) => links,
            Err(source) => {
                let component = self.component.clone();
                // The starting thread waits for this.
                let _ = started.send(Err(StartError::Link { component, source }));
                return;
            }
        };
        if let Some(size) = responses.max_message_size() {
            self.responder = self.responder.with_max_message_size(size);
        }
        let _ = started.send(Ok(()));
        let queues = self.tell_meta_data();
        while !self.stop.load(Ordering::Relaxed) {
            for (ticket, result) in self.completions.try_iter() {
                // A response that cannot be encoded becomes a BadTimeout.
                if let Err(error) = self.responder.complete(Now::read(), ticket, result) {
                    failed(&self.status, &self.problems, error);
                }
            }
            if let Err(error) = self.responder.handle_timeout(Now::read()) {
                failed(&self.status, &self.problems, error);
            }
            while let Some(transmit) = self.responder.poll_transmit() {
                match responses.send(&self.links, transmit) {
                    Ok(()) => self.status.add(1, 0, 0),
                    Err(error) => failed(&self.status, &self.problems, error),
                }
            }
            let wait = wait(self.responder.next_timeout());
            let (responder, handler) = (&mut self.responder, self.handler.as_mut());
            let (status, problems) = (&self.status, &self.problems);
            let received = receiver.receive(wait, &mut |received| {
                // The address may carry messages of others, which are no errors.
                match responder.receive(Now::read(), received.bytes, handler) {
                    Ok(begun) => status.add_data_sets(begun as u64),
                    Err(error) => failed(status, problems, error),
                }
            });
            // A receiver that fails does not wait, and the thread must not spin.
            if received.is_err() {
                std::thread::sleep(LONGEST_WAIT);
            }
            if Instant::now() >= self.next_count {
                self.count(receiver.as_ref(), &responses, &queues);
            }
        }
        self.count(receiver.as_ref(), &responses, &queues);
    }

    /// Passes the states and the numbers of lost messages of the links on.
    #[cold]
    fn count(
        &mut self,
        receiver: &dyn Receiver,
        responses: &Responses,
        queues: &[Box<dyn Sender>],
    ) {
        self.next_count = Instant::now() + COUNT_INTERVAL;
        let mut losses = Losses::default();
        losses.add_link(&receiver.counters());
        responses.add_losses(&mut losses);
        for queue in queues {
            losses.add_link(&queue.counters());
        }
        self.status.set_losses(&losses);
        let link = receiver.state();
        self.status.set_states(link, state_of_link(link));
    }

    fn open(&self) -> Result<(Box<dyn Receiver>, Responses), LinkError> {
        let LinkPlan { address, options } = &self.links.request;
        let responses = Responses::open(self.links.response.as_ref())?;
        Ok((open_receiver(address, options)?, responses))
    }

    /// Sends the ActionMetaData to a broker, which keeps it. The links try again for as long as they are open.
    fn tell_meta_data(&mut self) -> Vec<Box<dyn Sender>> {
        let messages = self.responder.meta_data_messages(Now::read());
        let messages = messages.unwrap_or_default();
        let mut queues = Vec::new();
        for (id, LinkPlan { address, options }) in &self.meta_data {
            let message = messages.iter().find(|(of, _)| of == id);
            if let (Some((_, message)), Ok(mut sender)) = (message, open_sender(address, options)) {
                let _ = sender.send(message);
                queues.push(sender);
            }
        }
        queues
    }
}

/// Counts an error, and reports it if there is room.
#[cold]
fn failed(status: &Status, problems: &ProblemSender, error: impl Into<ProblemCause>) {
    status.add(0, 0, 1);
    problems.tell(error);
}
