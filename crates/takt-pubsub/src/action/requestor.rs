//! Requestor of Actions (OPC 10000-14, 6.2.11.2.2, Table 83).

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use takt_rt::clock::after;
use takt_ua::enumerations::ActionState;
use takt_ua::{StatusCode, Variant};
use takt_wire::json::JsonMessage;
use takt_wire::{
    NetworkMessageRef, NetworkMessageType, PayloadParameters, PayloadRef, PublisherId,
};

use super::message::{ActionError, ActionMapping, ActionMessage, Exchange, same_id};
use super::published::{PublishedAction, meta_data};
use crate::error::PublishError;
use crate::subscriber::is_json;
use crate::time::Now;

/// Maximum number of pending requests.
const MAX_REQUESTS: usize = 1024;

/// Event of a [`Requestor`].
#[derive(Debug, Clone, PartialEq)]
pub enum ActionEvent {
    /// The Responder has begun. Responders report it only over transports that may lose messages.
    Executing(u16),
    /// The request with this RequestId has ended, with its results or an error. BadTimeout: there was no response in time.
    Done(u16, Result<Vec<Variant>, StatusCode>),
}

/// Reason why a request was not made.
#[derive(Debug, thiserror::Error)]
pub enum RequestError {
    /// The Action is unknown: it was neither configured nor announced.
    #[error(
        "no Action of DataSetWriter {data_set_writer_id} with target {action_target_id} is known"
    )]
    UnknownAction {
        /// DataSetWriterId of the Action.
        data_set_writer_id: u16,
        /// ActionTargetId of the Action.
        action_target_id: u16,
    },
    /// The arguments do not match the Action.
    #[error("the arguments do not match the Action: {0}")]
    Arguments(StatusCode),
    /// Too many requests are pending.
    #[error("{MAX_REQUESTS} requests are under way")]
    TooMany,
    /// The message cannot be encoded.
    #[error(transparent)]
    Publish(#[from] PublishError),
}

/// Progress of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// There is no response yet.
    Requested,
    /// The Responder carries the request out.
    Executing,
    /// The results were received; the Requestor acknowledges them until the Responder confirms it.
    Acknowledging,
}

#[derive(Debug)]
struct Pending {
    request: Exchange,
    phase: Phase,
    timeout: Duration,
    deadline: Instant,
    /// Time at which the request is sent again.
    resend: Option<Instant>,
}

/// Requestor of the Actions of one Responder.
#[derive(Debug)]
pub struct Requestor {
    responder_id: PublisherId,
    requestor_id: PublisherId,
    mapping: ActionMapping,
    response_address: Option<String>,
    publishing_interval: Duration,
    correlation_data: [u8; 8],
    actions: Vec<PublishedAction>,
    pending: Vec<Pending>,
    next_request_id: u16,
    messages: u64,
    transmits: VecDeque<Vec<u8>>,
    events: VecDeque<ActionEvent>,
}

impl Requestor {
    /// Creates a Requestor of the Responder with this PublisherId, with a PublisherId of its own. `correlation_data` is a random
    /// number, so that requests of a restarted Requestor are not taken for earlier ones.
    pub fn new(
        responder_id: PublisherId,
        requestor_id: PublisherId,
        mapping: ActionMapping,
        correlation_data: u64,
    ) -> Self {
        Self {
            responder_id,
            requestor_id,
            mapping,
            response_address: None,
            publishing_interval: Duration::ZERO,
            correlation_data: correlation_data.to_le_bytes(),
            actions: Vec::new(),
            pending: Vec::new(),
            next_request_id: 1,
            messages: 0,
            transmits: VecDeque::new(),
            events: VecDeque::new(),
        }
    }

    /// Sets the PublishingInterval of the Responder, at which requests are sent again because messages may be lost.
    #[must_use]
    pub fn with_publishing_interval(mut self, interval: Duration) -> Self {
        self.publishing_interval = interval;
        self
    }

    /// Sets the address for responses. Without it, the Responder sends responses to its default address.
    #[must_use]
    pub fn with_response_address(mut self, address: &str) -> Self {
        self.response_address = Some(address.to_owned());
        self
    }

    /// Adds an Action; it replaces a known Action of the same DataSetWriter.
    pub fn learn(&mut self, action: PublishedAction) {
        let id = action.data_set_writer_id;
        self.actions.retain(|known| known.data_set_writer_id != id);
        self.actions.push(action);
    }

    /// Returns the known Actions.
    pub fn actions(&self) -> &[PublishedAction] {
        &self.actions
    }

    /// Requests an Action, and returns the RequestId of its events. The request ends after `timeout`, which is sent to the
    /// Responder.
    ///
    /// # Errors
    /// [`RequestError`].
    pub fn request(
        &mut self,
        now: Now,
        data_set_writer_id: u16,
        action_target_id: u16,
        arguments: Vec<Variant>,
        timeout: Duration,
    ) -> Result<u16, RequestError> {
        let mut actions = self.actions.iter();
        let action = actions.find(|action| {
            action.data_set_writer_id == data_set_writer_id
                && action.target(action_target_id).is_some()
        });
        let action = action.ok_or(RequestError::UnknownAction {
            data_set_writer_id,
            action_target_id,
        })?;
        action
            .check_arguments(&arguments)
            .map_err(RequestError::Arguments)?;
        if self.pending.len() >= MAX_REQUESTS {
            return Err(RequestError::TooMany);
        }
        let pending = Pending {
            request: Exchange {
                data_set_writer_id,
                action_target_id,
                request_id: self.free_request_id(),
                action_state: ActionState::Executing,
                status: StatusCode::Good,
                fields: Ok(arguments),
            },
            phase: Phase::Requested,
            timeout,
            deadline: after(now.instant, timeout),
            resend: self.next(now.instant),
        };
        // Before it is pending: a request that cannot be encoded gets no event.
        self.send(now, pending.request.clone(), timeout)?;
        let request_id = pending.request.request_id;
        self.pending.push(pending);
        Ok(request_id)
    }

    /// Receives a message. Ignores messages that are neither responses to this Requestor nor announcements of its Responder's
    /// Actions.
    ///
    /// # Errors
    /// The message is not one of OPC 10000-14, or the next message to the Responder cannot be encoded.
    pub fn receive(&mut self, now: Now, message: &[u8]) -> Result<(), ActionError> {
        let actions = &self.actions;
        let meta_data = |is_request, id| meta_data(actions, is_request, id);
        let Some(response) = ActionMessage::decode(message, &meta_data)? else {
            return self.receive_announcement(message);
        };
        // The CorrelationData identify the Requestor, so a response may leave the RequestorId out.
        let mine = same_id(&response.publisher_id, &self.responder_id)
            && response.correlation_data.as_deref() == Some(&self.correlation_data)
            && response
                .requestor_id
                .as_ref()
                .is_none_or(|id| same_id(id, &self.requestor_id));
        if response.is_request || !mine {
            return Ok(());
        }
        for answer in response.exchanges {
            self.take(now, answer)?;
        }
        response
            .lost
            .map_or(Ok(()), |error| Err(ActionError::from(error)))
    }

    fn take(&mut self, now: Now, answer: Exchange) -> Result<(), PublishError> {
        let is_of = |pending: &Pending| {
            pending.request.request_id == answer.request_id
                && pending.request.data_set_writer_id == answer.data_set_writer_id
        };
        // A late or repeated response: the request has ended.
        let Some(index) = self.pending.iter().position(is_of) else {
            return Ok(());
        };
        let again = self.next(now.instant);
        let Some(pending) = self.pending.get_mut(index) else {
            return Ok(());
        };
        let id = answer.request_id;
        match (answer.action_state, pending.phase) {
            (ActionState::Executing, Phase::Requested) => {
                pending.phase = Phase::Executing;
                // The request has arrived; the Responder repeats its results until they are acknowledged.
                pending.resend = None;
                self.events.push_back(ActionEvent::Executing(id));
            }
            (ActionState::Done, Phase::Requested | Phase::Executing) => {
                let result = match answer.status.is_bad() {
                    true => Err(answer.status),
                    false => answer.fields,
                };
                self.events.push_back(ActionEvent::Done(id, result));
                // Idle acknowledges the result, so that the Responder can forget it.
                pending.phase = Phase::Acknowledging;
                pending.request.action_state = ActionState::Idle;
                pending.request.fields = Ok(Vec::new());
                pending.resend = again;
                let (request, timeout) = (pending.request.clone(), pending.timeout);
                match again {
                    Some(_) => self.send(now, request, timeout)?,
                    // Nothing is lost on this transport, so nothing is confirmed.
                    None => drop(self.pending.swap_remove(index)),
                }
            }
            (ActionState::Idle, Phase::Acknowledging) => drop(self.pending.swap_remove(index)),
            _ => {}
        }
        Ok(())
    }

    fn receive_announcement(&mut self, message: &[u8]) -> Result<(), ActionError> {
        let receive = crate::error::ReceiveError::from;
        let action = if is_json(message) {
            match JsonMessage::decode(message).map_err(crate::error::ReceiveError::from)? {
                JsonMessage::Discovery(message)
                    if message.publisher_id.as_str() == self.responder_id.to_string() =>
                {
                    PublishedAction::of_json(&message.content)
                }
                _ => None,
            }
        } else {
            let message = NetworkMessageRef::new_checked(message).map_err(receive)?;
            let announces =
                message.network_message_type == NetworkMessageType::DiscoveryAnnouncement;
            let publisher_id = message.publisher_id.map(|id| id.to_owned());
            if !announces || !publisher_id.is_some_and(|id| same_id(&id, &self.responder_id)) {
                return Ok(());
            }
            let payload = message
                .payload(&PayloadParameters::default())
                .map_err(receive)?;
            match payload {
                PayloadRef::DiscoveryAnnouncement(announcement) => {
                    PublishedAction::of_announcement(&announcement.content)
                }
                _ => None,
            }
        };
        if let Some(action) = action {
            self.learn(action);
        }
        Ok(())
    }

    /// Returns the time at which [`handle_timeout`](Self::handle_timeout) is to be called.
    pub fn next_timeout(&self) -> Option<Instant> {
        let pending = self.pending.iter();
        let due = pending.map(|it| it.resend.map_or(it.deadline, |at| at.min(it.deadline)));
        due.min()
    }

    /// Sends requests without a response again, and ends requests whose time is over.
    ///
    /// # Errors
    /// A request cannot be encoded.
    pub fn handle_timeout(&mut self, now: Now) -> Result<(), PublishError> {
        let over = self
            .pending
            .extract_if(.., |pending| pending.deadline <= now.instant);
        // A request that is only acknowledged has had its event.
        for pending in over.filter(|pending| pending.phase != Phase::Acknowledging) {
            let id = pending.request.request_id;
            let event = ActionEvent::Done(id, Err(StatusCode::BadTimeout));
            self.events.push_back(event);
        }
        let again = self.next(now.instant);
        let mut due = Vec::new();
        for pending in &mut self.pending {
            if pending.resend.is_some_and(|at| at <= now.instant) {
                pending.resend = again;
                // The TimeoutHint of a repetition is the rest of the time.
                let left = pending.deadline.saturating_duration_since(now.instant);
                due.push((pending.request.clone(), left));
            }
        }
        for (request, left) in due {
            self.send(now, request, left)?;
        }
        Ok(())
    }

    /// Returns the next message that is to be sent.
    pub fn poll_transmit(&mut self) -> Option<Vec<u8>> {
        self.transmits.pop_front()
    }

    /// Returns the next event.
    pub fn poll_event(&mut self) -> Option<ActionEvent> {
        self.events.pop_front()
    }

    /// Returns the time at which a message is to be sent again, if messages may be lost.
    fn next(&self, now: Instant) -> Option<Instant> {
        let interval = self.publishing_interval;
        (!interval.is_zero()).then_some(after(now, interval))
    }

    fn free_request_id(&mut self) -> u16 {
        loop {
            let id = self.next_request_id;
            self.next_request_id = id.wrapping_add(1).max(1);
            // The loop ends: there are many more ids than pending requests.
            if !self.pending.iter().any(|it| it.request.request_id == id) {
                return id;
            }
        }
    }

    fn send(&mut self, now: Now, request: Exchange, timeout: Duration) -> Result<(), PublishError> {
        self.messages += 1;
        let correlation = u64::from_le_bytes(self.correlation_data);
        let message_id = format!("{correlation:016x}-{}", self.messages);
        let message = ActionMessage {
            is_request: true,
            publisher_id: self.responder_id.clone(),
            response_address: self.response_address.clone(),
            correlation_data: Some(self.correlation_data.to_vec()),
            requestor_id: Some(self.requestor_id.clone()),
            timeout_hint: Some(timeout),
            exchanges: vec![request],
            lost: None,
        };
        let actions = &self.actions;
        let meta_data = |id| meta_data(actions, true, id);
        let bytes = message.encode(self.mapping, &meta_data, &message_id, now.date_time)?;
        self.transmits.push_back(bytes);
        Ok(())
    }
}
