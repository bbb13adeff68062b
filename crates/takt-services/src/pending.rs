//! Requests that are answered later.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use takt_rt::memory_budget::{Charge, MemoryBudget};
use takt_ua::StatusCode;

use crate::completed::Completed;
use crate::fault::Fault;
use crate::message::fault_message;

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
        let charge = memory.charge(2 * size_of::<Self>() + bytes);
        Ok(Self {
            request_id,
            request_handle,
            completed,
            answered: AtomicBool::new(false),
            memory: memory.clone(),
            _charge: charge.map_err(|_| StatusCode::BadOutOfMemory)?,
        })
    }

    /// Returns true if the request was received through this channel.
    pub(crate) fn came_through(&self, channel: &Arc<Completed>) -> bool {
        Arc::ptr_eq(&self.completed, channel)
    }

    /// Returns true if the request has been answered.
    pub(crate) fn is_answered(&self) -> bool {
        self.answered.load(Ordering::Relaxed)
    }

    /// Answers the request, unless it has been answered already.
    pub(crate) fn answer(&self, mut response: Vec<u8>) -> bool {
        let first = !self.answered.swap(true, Ordering::Relaxed);
        if first {
            let charge = self.memory.charge(response.capacity());
            let charge = charge.unwrap_or_else(|_| {
                let fault = Fault(StatusCode::BadOutOfMemory);
                response = fault_message(self.request_handle, fault);
                let mut charge = self.memory.empty_charge();
                charge.force(response.capacity());
                charge
            });
            self.completed.push(self.request_id, response, charge);
        }
        first
    }

    /// Answers with a ServiceFault, unless the request has been answered already.
    pub(crate) fn answer_fault(&self, fault: Fault) -> bool {
        self.answer(fault_message(self.request_handle, fault))
    }
}
