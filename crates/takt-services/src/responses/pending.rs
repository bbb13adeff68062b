//! Requests that are answered later.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use takt_rt::memory_budget::{Charge, MemoryBudget};
use takt_ua::StatusCode;
use takt_ua::request_handler::CompletionWaker;

use super::completed::Completed;
use super::fault::Fault;
use super::message::fault_message;

/// A request that is answered later, exactly once.
pub(crate) struct Pending {
    pub(crate) request_id: u32,
    pub(crate) request_handle: u32,
    completed: Arc<Completed>,
    answered: AtomicBool,
    /// The memory of the Session; the response counts there until the transport takes it.
    memory: MemoryBudget,
    _charge: Charge,
}

impl Pending {
    /// Creates a request that holds `bytes` of memory while it waits.
    pub(crate) fn new(
        request_id: u32,
        request_handle: u32,
        completed: Arc<Completed>,
        memory: &MemoryBudget,
        bytes: usize,
    ) -> Result<Self, StatusCode> {
        let charge = Self::reserve(memory, bytes)?;
        Ok(Self::reserved(
            request_id,
            request_handle,
            completed,
            charge,
        ))
    }

    /// Reserves the memory of a request that holds `bytes` while it waits.
    pub(crate) fn reserve(memory: &MemoryBudget, bytes: usize) -> Result<Charge, StatusCode> {
        let charge = memory.charge_message(2 * size_of::<Self>() + bytes);
        charge.map_err(|_| StatusCode::BadOutOfMemory)
    }

    /// Creates a request whose memory has been [reserved](Self::reserve).
    pub(crate) fn reserved(
        request_id: u32,
        request_handle: u32,
        completed: Arc<Completed>,
        charge: Charge,
    ) -> Self {
        Self {
            request_id,
            request_handle,
            completed,
            answered: AtomicBool::new(false),
            memory: charge.budget().clone(),
            _charge: charge,
        }
    }

    /// Returns true if the request was received through this channel.
    pub(crate) fn came_through(&self, channel: &Arc<Completed>) -> bool {
        Arc::ptr_eq(&self.completed, channel)
    }

    /// Returns what wakes the transport of the request.
    pub(crate) fn waker(&self) -> CompletionWaker {
        self.completed.waker()
    }

    /// Returns true if the request has been answered.
    pub(crate) fn is_answered(&self) -> bool {
        self.answered.load(Ordering::Relaxed)
    }

    /// Answers the request, unless it has been answered already.
    pub(crate) fn answer(&self, response: Vec<u8>) -> bool {
        self.answer_within(response, self.memory.empty_message())
    }

    /// Answers the request, unless it has been answered already. `charge` has the memory that was reserved for the response.
    pub(crate) fn answer_within(&self, mut response: Vec<u8>, mut charge: Charge) -> bool {
        // Relaxed suffices: it only elects one caller, and the response goes through a lock.
        let first = !self.answered.swap(true, Ordering::Relaxed);
        if first {
            // A fault is small: the client gets an answer even without memory.
            if charge.resize(response.capacity()).is_err() {
                response = fault_message(self.request_handle, Fault(StatusCode::BadOutOfMemory));
                charge.force(response.capacity());
            }
            self.completed.push(self.request_id, response, charge);
        }
        first
    }

    /// Answers with a ServiceFault, unless the request has been answered already.
    pub(crate) fn answer_fault(&self, fault: Fault) -> bool {
        self.answer(fault_message(self.request_handle, fault))
    }
}
