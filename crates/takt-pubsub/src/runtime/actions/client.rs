//! Requestor with links.

use std::time::Duration;

use takt_link::{LinkError, Receiver, Sender, open_receiver, open_sender};
use takt_ua::{StatusCode, Variant};

use super::wait;
use crate::action::{ActionEvent, RequestError, Requestor};
use crate::losses::Losses;
use crate::runtime::links::LinkPlan;
use crate::runtime::problem::ProblemCause;
use crate::time::Now;

/// [`Requestor`] with links, for callers that wait.
pub struct ActionClient {
    requestor: Requestor,
    sender: Box<dyn Sender>,
    receiver: Box<dyn Receiver>,
    errors: u64,
    last_error: Option<ProblemCause>,
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
            errors: 0,
            last_error: None,
        })
    }

    /// Returns the numbers of messages that its links have lost, by cause.
    pub fn losses(&self) -> Losses {
        let mut losses = Losses::default();
        losses.add_link(&self.sender.counters());
        losses.add_link(&self.receiver.counters());
        losses
    }

    /// Returns the number of messages that were not understood, not made or not sent.
    pub fn errors(&self) -> u64 {
        self.errors
    }

    /// Returns the last of these errors, once.
    pub fn take_error(&mut self) -> Option<ProblemCause> {
        self.last_error.take()
    }

    fn failed(&mut self, error: impl Into<ProblemCause>) {
        self.errors += 1;
        self.last_error = Some(error.into());
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
        let mut errors = Vec::new();
        let received = self.receiver.receive(wait, &mut |received| {
            // The address may carry messages of others, which are no errors.
            errors.extend(requestor.receive(Now::read(), received.bytes).err());
        });
        for error in errors {
            self.failed(error);
        }
        // A receiver that fails does not wait, and the caller must not spin.
        if received.is_err() {
            std::thread::sleep(wait);
        }
        if let Err(error) = self.requestor.handle_timeout(Now::read()) {
            self.failed(error);
        }
    }

    fn flush(&mut self) {
        while let Some(message) = self.requestor.poll_transmit() {
            // The message is sent again later, or given up.
            if let Err(error) = self.sender.send(&message) {
                self.failed(error);
            }
        }
    }
}
