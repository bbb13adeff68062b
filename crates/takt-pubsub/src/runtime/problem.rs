//! Reasons of errors, which threads pass on without waiting.

use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use takt_link::{BrokerRefusal, LinkError};
use takt_rt::timer_slack::TimerSlackError;

use crate::action::ActionError;
use crate::error::PublishError;

/// Number of problems that wait to be taken; further ones are only counted as errors.
const MAX_WAITING: usize = 16;

/// Problem of a running component. It is one of the errors in its statistics, unless it is a step of the clock or a setting of its thread.
#[derive(Debug)]
pub struct Problem {
    /// Name of the component: that of the connection, with that of the WriterGroup if it is one.
    pub component: Arc<str>,
    /// Reason of the error.
    pub cause: ProblemCause,
}

/// Reason of an error of a running component.
#[derive(Debug, thiserror::Error)]
pub enum ProblemCause {
    /// A message is not made, or not sent.
    #[error(transparent)]
    Publish(#[from] PublishError),
    /// The link does not send or receive.
    #[error(transparent)]
    Link(#[from] LinkError),
    /// The broker refuses messages.
    #[error("messages are lost: {0}")]
    Refusal(BrokerRefusal),
    /// A request for an Action is not understood, or its response is not made.
    #[error(transparent)]
    Action(#[from] ActionError),
    /// An event is not sent.
    #[error(
        "an event was refused: too many events wait, it has another number of fields than its DataSet, or there is no such DataSetWriter"
    )]
    Event,
    /// The thread of the component wakes up later than it could.
    #[error(transparent)]
    TimerSlack(#[from] TimerSlackError),
    /// The clock of the publishing intervals was set: the next interval follows the new time.
    #[error("the clock was set {}", clock_step(*nanoseconds))]
    ClockStep {
        /// Size of the step, forwards if positive.
        nanoseconds: i64,
    },
}

/// Returns the text of a step of the clock: `3600.000 s forward`.
fn clock_step(nanoseconds: i64) -> String {
    let direction = if nanoseconds < 0 { "back" } else { "forward" };
    let seconds = Duration::from_nanos(nanoseconds.unsigned_abs()).as_secs_f64();
    match nanoseconds.unsigned_abs() < 1_000_000 {
        true => format!("{:.3} ms {direction}", seconds * 1000.0),
        false => format!("{seconds:.3} s {direction}"),
    }
}

/// Queue of the problems of all components.
#[derive(Debug)]
pub(super) struct Problems {
    sender: SyncSender<Problem>,
    receiver: Mutex<Receiver<Problem>>,
}

/// Sender of the problems of a component.
#[derive(Debug)]
pub(super) struct ProblemSender {
    component: Arc<str>,
    sender: SyncSender<Problem>,
}

impl Problems {
    pub(super) fn new() -> Self {
        let (sender, receiver) = sync_channel(MAX_WAITING);
        Self {
            sender,
            receiver: Mutex::new(receiver),
        }
    }

    pub(super) fn sender(&self, component: &str) -> ProblemSender {
        ProblemSender {
            component: component.into(),
            sender: self.sender.clone(),
        }
    }

    /// Returns the problems that wait.
    pub(super) fn take(&self) -> Vec<Problem> {
        let receiver = self.receiver.lock().unwrap_or_else(PoisonError::into_inner);
        // Bounded, because threads may report new problems all the time.
        receiver.try_iter().take(MAX_WAITING).collect()
    }
}

impl ProblemSender {
    /// Reports a problem, if there is room for it.
    #[cold]
    pub(super) fn tell(&self, cause: impl Into<ProblemCause>) {
        let problem = Problem {
            component: self.component.clone(),
            cause: cause.into(),
        };
        // Nobody has taken the earlier ones, or the configuration ends.
        let _ = self.sender.try_send(problem);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn problems_that_are_not_taken_are_limited() {
        let problems = Problems::new();
        let sender = problems.sender("Connection/Group");
        for _ in 0..100 {
            sender.tell(PublishError::NoRoom);
        }
        let taken = problems.take();
        assert_eq!(taken.len(), MAX_WAITING);
        assert_eq!(&*taken[0].component, "Connection/Group");
        assert!(problems.take().is_empty());
        sender.tell(ProblemCause::Event);
        assert!(matches!(
            problems.take()[..],
            [Problem {
                cause: ProblemCause::Event,
                ..
            }]
        ));
    }
}
