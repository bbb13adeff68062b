//! Responders with threads and links, and a Requestor that waits for its responses.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, SyncSender};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use takt_link::{
    Address, Content, LinkError, LinkOptions, MqttMessageType, Receiver, Sender, TopicTree,
    open_receiver, open_sender,
};
use takt_ua::structures::{
    BrokerWriterGroupTransportDataType, JsonWriterGroupMessageDataType,
    PubSubConfiguration2DataType, PubSubConnectionDataType, WriterGroupDataType,
};
use takt_ua::{StatusCode, Variant};
use takt_wire::PublisherId;

use super::links::{LinkPlan, meta_data_links, writer_group_link};
use super::options::{RuntimeOptions, StartError};
use super::thread::spawn;
use crate::action::{
    ActionEvent, ActionHandler, ActionTicket, ActionTransmit, RequestError, Requestor, Responder,
    offers_actions,
};
use crate::error::{ConfigurationError, ConfigurationProblem};
use crate::time::Now;

/// Longest wait for messages before a thread checks whether it shall end, or an Action has ended.
const LONGEST_WAIT: Duration = Duration::from_millis(20);

/// Maximum number of links that are kept for ResponseAddresses, so that a Requestor cannot make the Responder open any number.
const MAX_RESPONSE_LINKS: usize = 64;

/// Links of a Responder.
#[derive(Debug, Clone)]
pub struct ActionLinks {
    /// Link of requests.
    pub request: LinkPlan,
    /// Link of responses to requests without a response address; `None`: such requests are not answered.
    pub response: Option<LinkPlan>,
}

/// Returns the links of a Responder's WriterGroup. With a broker, requests come to its QueueName, or else to the topic
/// `action-request` of the standard's tree, and responses go to `action-response` (OPC 10000-14, 7.3.4.7.9 and 7.3.4.7.10). With
/// multicast, responses go to the address of the requests.
///
/// # Errors
/// The address is invalid.
pub fn action_links(
    connection: &PubSubConnectionDataType,
    group: &WriterGroupDataType,
    base: &LinkOptions,
) -> Result<ActionLinks, ConfigurationError> {
    let mut request = writer_group_link(connection, group, base)?;
    request.options.launch_times = None;
    if !request.address.has_topics() {
        let response = Some(request.clone()).filter(LinkPlan::is_shared);
        return Ok(ActionLinks { request, response });
    }
    let settings: Option<BrokerWriterGroupTransportDataType> =
        group.transport_settings.decode_as().ok();
    let queue = settings.map(|settings| settings.queue_name);
    let queue = queue.filter(|queue| !queue.as_str().is_empty());
    let is_json = group
        .message_settings
        .is::<JsonWriterGroupMessageDataType>();
    let content = if is_json {
        Content::Json
    } else {
        Content::Uadp
    };
    let publisher_id = PublisherId::from_variant(&connection.publisher_id);
    let publisher_id = publisher_id.map(|id| id.to_string()).unwrap_or_default();
    let topic = |kind| {
        let tree = TopicTree::new(takt_link::DEFAULT_PREFIX, content);
        let topic =
            tree.and_then(|it| it.topic(kind, &publisher_id, Some(group.name.as_str()), None));
        topic.map_err(|error| {
            ConfigurationProblem::parameter("QueueName", error.to_string()).at(group.name.as_str())
        })
    };
    let mut response = request.clone();
    request.options.mqtt.topic = match queue {
        Some(queue) => queue.to_string(),
        None => topic(MqttMessageType::ActionRequest)?,
    };
    response.options.mqtt.topic = topic(MqttMessageType::ActionResponse)?;
    // The quality of service is AtLeastOnce or better (OPC 10000-14, 6.2.11.2.3).
    for plan in [&mut request, &mut response] {
        plan.options.mqtt.quality_of_service = plan.options.mqtt.quality_of_service.max(1);
    }
    Ok(ActionLinks {
        request,
        response: Some(response),
    })
}

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
    stop: Arc<AtomicBool>,
}

impl RunningResponders {
    /// Starts a Responder for each WriterGroup of a configuration that offers Actions. `handlers` returns the handler of each,
    /// which is called on the Responder's thread.
    ///
    /// A [`PubSub`](super::PubSub) of the same configuration publishes its other groups, and announces the Actions at the
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
                let thread = ResponderThread {
                    responder: Responder::new(connection, group, data_sets, id).map_err(within)?,
                    component: format!("{}/{}", connection.name, group.name),
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
    stop: Arc<AtomicBool>,
}

/// Links for responses: the default one, and those of Requestors' ResponseAddresses.
struct Responses {
    usual: Option<Box<dyn Sender>>,
    asked_for: Vec<(String, Box<dyn Sender>)>,
}

impl ResponderThread {
    fn run(mut self, started: &SyncSender<Result<(), StartError>>) {
        let (mut receiver, mut responses) = match self.open() {
            Ok(links) => links,
            Err(source) => {
                let component = self.component.clone();
                let _ = started.send(Err(StartError::Link { component, source }));
                return;
            }
        };
        let max_message_size = responses.usual.as_ref().map(|it| it.max_message_size());
        if let Some(size) = max_message_size {
            self.responder = self.responder.with_max_message_size(size);
        }
        let _ = started.send(Ok(()));
        let queues = self.tell_meta_data();
        while !self.stop.load(Ordering::Relaxed) {
            for (ticket, result) in self.completions.try_iter() {
                // A response that cannot be encoded becomes a BadTimeout.
                let _ = self.responder.complete(Now::read(), ticket, result);
            }
            let _ = self.responder.handle_timeout(Now::read());
            while let Some(transmit) = self.responder.poll_transmit() {
                responses.send(&self.links, transmit);
            }
            let wait = wait(self.responder.next_timeout());
            let (responder, handler) = (&mut self.responder, self.handler.as_mut());
            let received = receiver.receive(wait, &mut |received| {
                // The address may carry messages of others.
                let _ = responder.receive(Now::read(), received.bytes, handler);
            });
            if received.is_err() {
                std::thread::sleep(LONGEST_WAIT);
            }
        }
        drop(queues);
    }

    fn open(&self) -> Result<(Box<dyn Receiver>, Responses), LinkError> {
        let LinkPlan { address, options } = &self.links.request;
        let usual = self.links.response.as_ref();
        let usual = usual.map(|link| open_sender(&link.address, &link.options));
        let responses = Responses {
            usual: usual.transpose()?,
            asked_for: Vec::new(),
        };
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

impl Responses {
    /// Sends a response. One that is not sent is requested again, or given up by the Requestor.
    fn send(&mut self, links: &ActionLinks, transmit: ActionTransmit) {
        let sender = match &transmit.response_address {
            Some(address) => self.sender_to(links, address),
            None => self.usual.as_mut(),
        };
        if let Some(sender) = sender {
            let _ = sender.send(&transmit.bytes);
        }
    }

    /// Returns a sender to a ResponseAddress: a topic of the same broker, or an `opc.udp` URL if requests come by UDP.
    fn sender_to(&mut self, links: &ActionLinks, wanted: &str) -> Option<&mut Box<dyn Sender>> {
        let known = self
            .asked_for
            .iter()
            .position(|(address, _)| address == wanted);
        if let Some(index) = known {
            return self.asked_for.get_mut(index).map(|(_, sender)| sender);
        }
        let mut plan = links.request.clone();
        if plan.address.has_topics() {
            // A topic with a wildcard cannot be sent to.
            if wanted.contains(['+', '#']) {
                return None;
            }
            plan.options.mqtt.topic = wanted.to_owned();
        } else if plan.address.is_udp() {
            plan.address = Address::parse(wanted).ok().filter(Address::is_udp)?;
        } else {
            return self.usual.as_mut();
        }
        let sender = open_sender(&plan.address, &plan.options).ok()?;
        if self.asked_for.len() >= MAX_RESPONSE_LINKS {
            self.asked_for.remove(0);
        }
        self.asked_for.push((wanted.to_owned(), sender));
        self.asked_for.last_mut().map(|(_, sender)| sender)
    }
}

/// [`Requestor`] with links, for callers that wait.
pub struct ActionClient {
    requestor: Requestor,
    sender: Box<dyn Sender>,
    receiver: Box<dyn Receiver>,
}

/// Reason why an Action was not carried out.
#[derive(Debug, thiserror::Error)]
pub enum ActionCallError {
    /// The Action was not requested.
    #[error(transparent)]
    Request(#[from] RequestError),
    /// StatusCode of the Responder, or BadTimeout.
    #[error("the Action failed: {0}")]
    Failed(StatusCode),
}

impl ActionClient {
    /// Creates a client that sends requests through one link, and receives responses and announcements through the other.
    ///
    /// # Errors
    /// A link cannot be opened.
    pub fn new(
        requestor: Requestor,
        request: &LinkPlan,
        response: &LinkPlan,
    ) -> Result<Self, LinkError> {
        Ok(Self {
            requestor,
            sender: open_sender(&request.address, &request.options)?,
            receiver: open_receiver(&response.address, &response.options)?,
        })
    }

    /// Returns the Requestor of the Actions.
    pub fn requestor(&mut self) -> &mut Requestor {
        &mut self.requestor
    }

    /// Requests an Action and waits for its results.
    ///
    /// # Errors
    /// [`ActionCallError`].
    pub fn call(
        &mut self,
        data_set_writer_id: u16,
        action_target_id: u16,
        arguments: Vec<Variant>,
        timeout: Duration,
    ) -> Result<Vec<Variant>, ActionCallError> {
        let now = Now::read();
        let id = self.requestor.request(
            now,
            data_set_writer_id,
            action_target_id,
            arguments,
            timeout,
        )?;
        loop {
            self.step(wait(self.requestor.next_timeout()));
            while let Some(event) = self.requestor.poll_event() {
                match event {
                    ActionEvent::Done(done, result) if done == id => {
                        // The acknowledgement of the results is sent to the Responder.
                        self.flush();
                        return result.map_err(ActionCallError::Failed);
                    }
                    _ => {}
                }
            }
        }
    }

    /// Sends all waiting messages, and receives messages until `wait` is over.
    pub fn step(&mut self, wait: Duration) {
        self.flush();
        let requestor = &mut self.requestor;
        let received = self.receiver.receive(wait, &mut |received| {
            // The address may carry messages of others.
            let _ = requestor.receive(Now::read(), received.bytes);
        });
        if received.is_err() {
            std::thread::sleep(wait);
        }
        let _ = self.requestor.handle_timeout(Now::read());
    }

    fn flush(&mut self) {
        while let Some(message) = self.requestor.poll_transmit() {
            // The message is sent again later, or given up.
            let _ = self.sender.send(&message);
        }
    }
}

fn wait(next: Option<Instant>) -> Duration {
    let next = next.map_or(LONGEST_WAIT, |next| {
        next.saturating_duration_since(Instant::now())
    });
    next.min(LONGEST_WAIT)
}
