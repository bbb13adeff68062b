//! Requests of a Responder that are being carried out or have ended.

use std::time::{Duration, Instant};

use takt_rt::clock::after;
use takt_ua::enumerations::ActionState;
use takt_ua::{StatusCode, Variant};

use super::handler::ActionTicket;
use super::message::{ActionMessage, Exchange};

/// Time for which a request is remembered after its end, so that a late duplicate is not carried out.
const MEMORY: Duration = Duration::from_secs(10);

/// Received request, and its state.
#[derive(Debug)]
pub(super) struct Execution {
    pub(super) ticket: ActionTicket,
    /// Requestor, CorrelationData, and address of the response.
    pub(super) requestor: ActionMessage,
    /// Response.
    pub(super) answer: Exchange,
    pub(super) deadline: Instant,
    pub(super) forget: Instant,
    /// Time at which the response is sent again.
    pub(super) resend: Option<Instant>,
}

impl Execution {
    /// Creates the state of a request that begins now.
    pub(super) fn begin(
        ticket: ActionTicket,
        requestor: ActionMessage,
        request: Exchange,
        deadline: Instant,
    ) -> Self {
        Self {
            ticket,
            requestor,
            answer: Exchange {
                fields: Ok(Vec::new()),
                ..request
            },
            deadline,
            forget: deadline + MEMORY,
            resend: None,
        }
    }

    pub(super) fn is_executing(&self) -> bool {
        self.answer.action_state == ActionState::Executing
    }

    /// Returns true if the message contains this request. A RequestId is unique for a RequestorId and CorrelationData (OPC
    /// 10000-14, 6.2.11.2.2).
    pub(super) fn is_of(&self, message: &ActionMessage, request: &Exchange) -> bool {
        self.answer.request_id == request.request_id
            && self.answer.data_set_writer_id == request.data_set_writer_id
            && self.requestor.correlation_data == message.correlation_data
            && self.requestor.requestor_id == message.requestor_id
    }

    /// Sets the result. Over transports that lose messages, the response is sent again and again until its time is over.
    pub(super) fn finish(
        &mut self,
        now: Instant,
        interval: Duration,
        result: Result<Vec<Variant>, StatusCode>,
    ) {
        self.answer = answered(self.answer.clone(), result);
        let again = (!interval.is_zero()).then_some(after(now, interval));
        self.resend = again.filter(|at| *at < self.deadline);
    }

    /// Returns the time of its next action.
    pub(super) fn next_timeout(&self) -> Instant {
        let end = match self.is_executing() {
            true => self.deadline,
            false => self.forget,
        };
        self.resend.map_or(end, |at| at.min(end))
    }
}

/// Returns the last response to a request.
pub(super) fn answered(request: Exchange, result: Result<Vec<Variant>, StatusCode>) -> Exchange {
    Exchange {
        action_state: ActionState::Done,
        status: result.as_ref().err().copied().unwrap_or(StatusCode::Good),
        fields: Ok(result.unwrap_or_default()),
        ..request
    }
}
