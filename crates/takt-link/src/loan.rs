//! Loaned shared memory for a message, and the messages sent with it.

use std::ops::{Deref, DerefMut};

use iceoryx2::prelude::{PortFactory, ipc};
use iceoryx2::sample_mut::SampleMut;
use iceoryx2::service::port_factory::publish_subscribe;

use crate::counters::LinkCounters;
use crate::error::LinkError;

pub(crate) type Ipc = ipc::Service;

#[cold]
pub(crate) fn failed<E: ToString>(operation: &'static str) -> impl Fn(E) -> LinkError {
    move |cause| LinkError::Iceoryx2 {
        operation,
        cause: cause.to_string(),
    }
}

/// Messages that a sender has sent.
#[derive(Default)]
pub(crate) struct Sent {
    /// Number of messages sent since receivers were last woken.
    pub(crate) queued: usize,
    pub(crate) counters: LinkCounters,
}

/// Loaned memory for one message.
pub(crate) struct Loan<'a> {
    pub(crate) sample: SampleMut<Ipc, [u8], ()>,
    pub(crate) messages: &'a publish_subscribe::PortFactory<Ipc, [u8], ()>,
    pub(crate) sent: &'a mut Sent,
}

impl Loan<'_> {
    /// Sends the message to all receivers, which are woken by the next flush.
    pub(crate) fn commit(self) -> Result<(), LinkError> {
        let length = self.sample.payload().len();
        let receivers = self.messages.dynamic_config().number_of_subscribers();
        let reached = self.sample.send().map_err(failed("send"))?;
        // A receiver that joins between the two calls makes `reached` the greater number.
        self.sent.counters.overflowed += receivers.saturating_sub(reached) as u64;
        self.sent.queued += 1;
        self.sent.counters.count(length);
        Ok(())
    }
}

impl Deref for Loan<'_> {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        self.sample.payload()
    }
}

impl DerefMut for Loan<'_> {
    fn deref_mut(&mut self) -> &mut [u8] {
        self.sample.payload_mut()
    }
}
