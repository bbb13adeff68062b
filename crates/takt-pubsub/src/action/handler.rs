//! Handlers of Actions, and their requests.

use std::time::Instant;

use takt_ua::structures::ActionTargetDataType;
use takt_ua::{StatusCode, Variant};
use takt_wire::PublisherId;

use super::published::PublishedAction;

/// Names a request to a [`Responder`](super::Responder).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ActionTicket(pub(super) u64);

/// A request that is to be carried out.
#[derive(Debug)]
pub struct ActionCall<'a> {
    /// To complete it later with.
    pub ticket: ActionTicket,
    /// The Action.
    pub action: &'a PublishedAction,
    /// What it is to be done with.
    pub action_target: &'a ActionTargetDataType,
    /// Who asks; nobody vouches for that.
    pub requestor_id: Option<&'a PublisherId>,
    /// As many as the Action has fields in its request, and of their types.
    pub arguments: &'a [Variant],
    /// Until when the Requestor waits.
    pub deadline: Instant,
}

/// Result of a request.
#[derive(Debug, Clone, PartialEq)]
pub enum ActionOutcome {
    /// It was carried out, with these results.
    Done(Vec<Variant>),
    /// It was not.
    Failed(StatusCode),
    /// It goes on: [`Responder::complete`](super::Responder::complete) says how it ended.
    Executing,
}

/// Carries out Actions.
pub trait ActionHandler {
    /// Carries out a request. It is called once for each, however often that is sent.
    fn execute(&mut self, call: ActionCall<'_>) -> ActionOutcome;
}

impl<F: FnMut(ActionCall<'_>) -> ActionOutcome> ActionHandler for F {
    fn execute(&mut self, call: ActionCall<'_>) -> ActionOutcome {
        self(call)
    }
}
