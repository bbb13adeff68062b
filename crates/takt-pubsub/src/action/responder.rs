//! Responder of Actions (OPC 10000-14, 6.2.11.2.2, Table 84).

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use takt_rt::clock::after;
use takt_ua::enumerations::{ActionState, MessageSecurityMode};
use takt_ua::structures::{
    JsonWriterGroupMessageDataType, PubSubConnectionDataType, PublishedDataSetDataType,
    WriterGroupDataType,
};
use takt_ua::{DateTime, StatusCode, Variant};
use takt_wire::json::{JsonDiscoveryMessage, JsonMessage};
use takt_wire::{DiscoveryAnnouncement, NetworkMessage, Payload, PublisherId};

use super::execution::{Execution, answered};
use super::handler::{ActionCall, ActionHandler, ActionOutcome, ActionTicket};
use super::message::{ActionError, ActionMapping, ActionMessage, Exchange, same_id};
use super::published::{PublishedAction, meta_data};
use crate::error::{ConfigurationError, ConfigurationProblem, PublishError};
use crate::settings::milliseconds;
use crate::time::Now;

/// Longest time of an Action whose Requestor has no timeout.
const DEFAULT_TIMEOUT: Duration = Duration::from_secs(60);

/// Longest time of an Action, even if the Requestor asks for more.
const LONGEST_TIMEOUT: Duration = Duration::from_secs(3600);

/// Maximum number of remembered requests. Further requests are answered with BadTooManyOperations.
const MAX_EXECUTIONS: usize = 1024;

/// Response that is to be sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ActionTransmit {
    /// Address from the request; `None`: the default address of this Responder.
    pub response_address: Option<String>,
    /// Bytes of the message.
    pub bytes: Vec<u8>,
}

/// Responder of the Actions of a WriterGroup.
#[derive(Debug)]
pub struct Responder {
    publisher_id: PublisherId,
    mapping: ActionMapping,
    /// Interval at which responses are sent again; zero if the transport does not lose messages.
    publishing_interval: Duration,
    max_message_size: usize,
    actions: Vec<PublishedAction>,
    executions: Vec<Execution>,
    transmits: VecDeque<ActionTransmit>,
    tickets: u64,
    /// Random first part of MessageIds, which makes them unique.
    id: u64,
    messages: u64,
}

impl Responder {
    /// Creates a Responder of the Actions of a WriterGroup. `id` is a random number: MessageIds in JSON begin with it.
    ///
    /// # Errors
    /// The connection has no PublisherId, the group has a SecurityMode, or a DataSetWriter does not offer an Action.
    pub fn new(
        connection: &PubSubConnectionDataType,
        group: &WriterGroupDataType,
        data_sets: &[PublishedDataSetDataType],
        id: u64,
    ) -> Result<Self, ConfigurationError> {
        let parameter =
            |name, what| ConfigurationProblem::parameter(name, what).at(group.name.as_str());
        let publisher_id =
            PublisherId::from_variant(&connection.publisher_id).ok_or_else(|| {
                let what = "neither Byte, UInt16, UInt32, UInt64 nor String (6.2.7.1)";
                parameter("PublisherId", what)
            })?;
        if !matches!(
            group.security_mode,
            MessageSecurityMode::None | MessageSecurityMode::Invalid
        ) {
            return Err(parameter("SecurityMode", "Actions are not protected"));
        }
        let actions = group.data_set_writers.iter().filter(|it| it.enabled);
        let action = |writer| {
            PublishedAction::of_writer(writer, data_sets)
                .ok_or_else(|| parameter("DataSetSource", "not a PublishedActionDataType"))
        };
        let is_json = group
            .message_settings
            .is::<JsonWriterGroupMessageDataType>();
        Ok(Self {
            publisher_id,
            mapping: match is_json {
                true => ActionMapping::Json,
                false => ActionMapping::Uadp,
            },
            publishing_interval: milliseconds(group.publishing_interval),
            max_message_size: match group.max_network_message_size {
                0 => usize::MAX,
                size => size as usize,
            },
            actions: actions.map(action).collect::<Result<_, _>>()?,
            executions: Vec::new(),
            transmits: VecDeque::new(),
            tickets: 0,
            id,
            messages: 0,
        })
    }

    /// Sets the length of the longest message. A longer response is replaced by BadResponseTooLarge.
    #[must_use]
    pub fn with_max_message_size(mut self, bytes: usize) -> Self {
        self.max_message_size = self.max_message_size.min(bytes);
        self
    }

    /// Returns the Actions that the Responder offers.
    pub fn actions(&self) -> &[PublishedAction] {
        &self.actions
    }

    /// Receives a message, and ignores it if it is not a request to this Responder. Returns the number of requests carried out or
    /// begun.
    ///
    /// # Errors
    /// The message, or a request in it, is not one of OPC 10000-14, or the response cannot be encoded.
    pub fn receive(
        &mut self,
        now: Now,
        message: &[u8],
        handler: &mut dyn ActionHandler,
    ) -> Result<usize, ActionError> {
        let actions = &self.actions;
        let meta_data = |is_request, id| meta_data(actions, is_request, id);
        let Some(mut message) = ActionMessage::decode(message, &meta_data)? else {
            return Ok(0);
        };
        if !message.is_request || !same_id(&message.publisher_id, &self.publisher_id) {
            return Ok(0);
        }
        let requests = std::mem::take(&mut message.exchanges);
        let (mut answers, mut begun) = (Vec::new(), 0);
        for request in requests {
            let before = self.tickets;
            answers.extend(self.answer(now.instant, &message, request, handler));
            begun += usize::from(self.tickets != before);
        }
        let lost = message.lost.take();
        self.send(now.date_time, &message, answers)?;
        match lost {
            Some(error) => Err(error.into()),
            None => Ok(begun),
        }
    }

    /// Ends an Action that was [`Executing`](ActionOutcome::Executing); returns `false` if it is not, perhaps because its time is
    /// over.
    ///
    /// # Errors
    /// The response cannot be encoded.
    pub fn complete(
        &mut self,
        now: Now,
        ticket: ActionTicket,
        result: Result<Vec<Variant>, StatusCode>,
    ) -> Result<bool, PublishError> {
        let interval = self.publishing_interval;
        let mut executions = self.executions.iter_mut();
        let found = executions.find(|it| it.ticket == ticket && it.is_executing());
        let Some(execution) = found else {
            return Ok(false);
        };
        execution.finish(now.instant, interval, result);
        let (requestor, answer) = (execution.requestor.clone(), execution.answer.clone());
        self.send(now.date_time, &requestor, vec![answer])?;
        Ok(true)
    }

    /// Returns the time at which [`handle_timeout`](Self::handle_timeout) is to be called.
    pub fn next_timeout(&self) -> Option<Instant> {
        let executions = self.executions.iter();
        executions.map(Execution::next_timeout).min()
    }

    /// Sends responses again that were not acknowledged, ends Actions whose time is over with BadTimeout, and forgets old ones.
    ///
    /// # Errors
    /// A response cannot be encoded.
    pub fn handle_timeout(&mut self, now: Now) -> Result<(), PublishError> {
        let interval = self.publishing_interval;
        // An execution is remembered after its end, so that a late copy of the request is not carried out again.
        self.executions.retain(|it| it.forget > now.instant);
        let mut due = Vec::new();
        for execution in &mut self.executions {
            if execution.is_executing() && execution.deadline <= now.instant {
                execution.finish(now.instant, interval, Err(StatusCode::BadTimeout));
                due.push((execution.requestor.clone(), execution.answer.clone()));
            } else if execution.resend.is_some_and(|at| at <= now.instant) {
                let again = after(now.instant, interval);
                // After the deadline, the Requestor does not wait any more.
                execution.resend = Some(again).filter(|at| *at < execution.deadline);
                due.push((execution.requestor.clone(), execution.answer.clone()));
            }
        }
        for (requestor, answer) in due {
            self.send(now.date_time, &requestor, vec![answer])?;
        }
        Ok(())
    }

    /// Returns the next response that is to be sent.
    pub fn poll_transmit(&mut self) -> Option<ActionTransmit> {
        self.transmits.pop_front()
    }

    /// Returns the messages that announce the Actions, by DataSetWriterId, in the mapping of the group.
    ///
    /// # Errors
    /// A message cannot be encoded.
    pub fn meta_data_messages(&mut self, now: Now) -> Result<Vec<(u16, Vec<u8>)>, PublishError> {
        let mut messages = Vec::new();
        for (number, action) in self.actions.iter().enumerate() {
            let bytes = match self.mapping {
                ActionMapping::Uadp => {
                    let announcement = DiscoveryAnnouncement {
                        sequence_number: u16::try_from(number).unwrap_or(0),
                        content: action.announcement(),
                    };
                    let payload = Payload::DiscoveryAnnouncement(Box::new(announcement));
                    let publisher_id = self.publisher_id.clone();
                    NetworkMessage::discovery(publisher_id, payload).encode_to_vec()?
                }
                ActionMapping::Json => {
                    self.messages += 1;
                    let message_id = format!("{:016x}-{}", self.id, self.messages);
                    let message = JsonDiscoveryMessage {
                        message_id: message_id.as_str().into(),
                        publisher_id: self.publisher_id.to_string().as_str().into(),
                        timestamp: now.date_time,
                        content: action.json(),
                    };
                    let text = JsonMessage::Discovery(Box::new(message)).encode()?;
                    text.into_bytes()
                }
            };
            messages.push((action.data_set_writer_id, bytes));
        }
        Ok(messages)
    }

    /// Returns the response to a request; `None` if it is not a request for this Responder.
    fn answer(
        &mut self,
        now: Instant,
        message: &ActionMessage,
        request: Exchange,
        handler: &mut dyn ActionHandler,
    ) -> Option<Exchange> {
        let id = request.data_set_writer_id;
        let index = self
            .actions
            .iter()
            .position(|action| action.data_set_writer_id == id)?;
        let mut executions = self.executions.iter_mut();
        let known = executions.find(|it| it.is_of(message, &request));
        if request.action_state == ActionState::Idle {
            // The Requestor has the results; the response confirms the acknowledgement.
            if let Some(known) = known {
                known.resend = None;
            }
            // Also without a known request: the Requestor would repeat its acknowledgement otherwise.
            let fields = Ok(Vec::new());
            return Some(Exchange { fields, ..request });
        }
        if request.action_state != ActionState::Executing {
            return None;
        }
        if let Some(known) = known {
            // A repetition of the request is answered, but not carried out again.
            return Some(known.answer.clone());
        }
        let timeout = message.timeout_hint.unwrap_or(DEFAULT_TIMEOUT);
        // Any sender chooses the timeout, and the request is remembered that long.
        let deadline = now + timeout.min(LONGEST_TIMEOUT);
        let ticket = ActionTicket(self.tickets);
        let outcome = match self.executions.len() < MAX_EXECUTIONS {
            false => {
                // The refusal is not remembered, so the request may be carried out when it comes again.
                let status = Err(StatusCode::BadTooManyOperations);
                return Some(answered(request, status));
            }
            true => self.execute(index, ticket, message, &request, deadline, handler),
        };
        self.tickets += 1;
        let is_executing = outcome == ActionOutcome::Executing;
        let mut execution = Execution::begin(ticket, message.clone(), request, deadline);
        if !is_executing {
            let result = match outcome {
                ActionOutcome::Done(results) => Ok(results),
                ActionOutcome::Failed(status) => Err(status),
                ActionOutcome::Executing => Ok(Vec::new()),
            };
            execution.finish(now, self.publishing_interval, result);
        }
        let answer = execution.answer.clone();
        self.executions.push(execution);
        // Over a transport that loses nothing, the state Executing need not be reported.
        (!is_executing || !self.publishing_interval.is_zero()).then_some(answer)
    }

    fn execute(
        &self,
        index: usize,
        ticket: ActionTicket,
        message: &ActionMessage,
        request: &Exchange,
        deadline: Instant,
        handler: &mut dyn ActionHandler,
    ) -> ActionOutcome {
        let Some(action) = self.actions.get(index) else {
            return ActionOutcome::Failed(StatusCode::BadNotFound);
        };
        let Some(action_target) = action.target(request.action_target_id) else {
            return ActionOutcome::Failed(StatusCode::BadNotFound);
        };
        let arguments = match &request.fields {
            Ok(arguments) => arguments,
            Err(status) => return ActionOutcome::Failed(*status),
        };
        if let Err(status) = action.check_arguments(arguments) {
            return ActionOutcome::Failed(status);
        }
        handler.execute(ActionCall {
            ticket,
            action,
            action_target,
            requestor_id: message.requestor_id.as_ref(),
            arguments,
            deadline,
        })
    }

    fn send(
        &mut self,
        now: DateTime,
        requestor: &ActionMessage,
        answers: Vec<Exchange>,
    ) -> Result<(), PublishError> {
        if answers.is_empty() {
            return Ok(());
        }
        let mut response = ActionMessage {
            is_request: false,
            publisher_id: self.publisher_id.clone(),
            response_address: None,
            correlation_data: requestor.correlation_data.clone(),
            requestor_id: requestor.requestor_id.clone(),
            timeout_hint: None,
            exchanges: answers,
            lost: None,
        };
        let mut bytes = self.encode(now, &response)?;
        if bytes.len() > self.max_message_size {
            for answer in &mut response.exchanges {
                answer.fields = Ok(Vec::new());
                // An error fits without its results, and is more precise than this one.
                if answer.action_state == ActionState::Done && !answer.status.is_bad() {
                    answer.status = StatusCode::BadResponseTooLarge;
                }
            }
            bytes = self.encode(now, &response)?;
        }
        self.transmits.push_back(ActionTransmit {
            response_address: requestor.response_address.clone(),
            bytes,
        });
        Ok(())
    }

    fn encode(&mut self, now: DateTime, response: &ActionMessage) -> Result<Vec<u8>, PublishError> {
        self.messages += 1;
        let message_id = format!("{:016x}-{}", self.id, self.messages);
        let actions = &self.actions;
        let meta_data = |id| meta_data(actions, false, id);
        response.encode(self.mapping, &meta_data, &message_id, now)
    }
}
