//! Handlers of Actions, and their requests.

use std::time::Instant;

use takt_ua::structures::ActionTargetDataType;
use takt_ua::{StatusCode, Variant};
use takt_wire::PublisherId;

use super::published::PublishedAction;

/// Identifier of a request to a [`Responder`](super::Responder).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ActionTicket(pub(super) u64);

/// Request that is to be carried out.
#[derive(Debug)]
pub struct ActionCall<'a> {
    /// Ticket for completing the request later.
    pub ticket: ActionTicket,
    /// Action of the request.
    pub action: &'a PublishedAction,
    /// Target of the Action.
    pub action_target: &'a ActionTargetDataType,
    /// PublisherId of the Requestor; it is not authenticated.
    pub requestor_id: Option<&'a PublisherId>,
    /// Arguments: as many as the Action has fields in its request, and of their types.
    pub arguments: &'a [Variant],
    /// Time until which the Requestor waits.
    pub deadline: Instant,
}

/// Result of a request.
#[derive(Debug, Clone, PartialEq)]
pub enum ActionOutcome {
    /// The request was carried out, with these results.
    Done(Vec<Variant>),
    /// The request was not carried out.
    Failed(StatusCode),
    /// The request is still being carried out: [`Responder::complete`](super::Responder::complete) reports its result.
    Executing,
}

/// Handler that carries out Actions.
pub trait ActionHandler {
    /// Carries out a request. It is called once for each request, even if the request is received several times.
    fn execute(&mut self, call: ActionCall<'_>) -> ActionOutcome;
}

impl<F: FnMut(ActionCall<'_>) -> ActionOutcome> ActionHandler for F {
    fn execute(&mut self, call: ActionCall<'_>) -> ActionOutcome {
        self(call)
    }
}
