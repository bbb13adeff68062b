//! Current values, and their places.

use std::sync::Arc;
use std::time::Duration;

use takt_rt::segment::SegmentView;

use super::ShmClient;
use crate::channel::liveness::Liveness;
use crate::error::ShmError;
use crate::header::FLAG_LOCATE;

/// Maximum size of one piece of memory with current values, in bytes.
const MAX_SEGMENT: usize = 1 << 31;

/// Place of a current value.
#[derive(Debug, Clone)]
pub struct CurrentValuePlace {
    /// Memory of the value.
    pub memory: Arc<SegmentView>,
    /// Location in the memory, as the server's handler describes it.
    pub location: Vec<u8>,
    /// Liveness of the server.
    pub alive: Liveness,
}

impl ShmClient {
    /// Requests the place where the current value of a node (its NodeId in the binary DataEncoding) can be read without a
    /// request. The response is to be [received](Self::receive) and passed to [`located`](Self::located).
    ///
    /// # Errors
    /// The errors are those of [`send`](Self::send).
    pub fn send_locate(&mut self, node_id: &[u8], timeout: Duration) -> Result<u32, ShmError> {
        let sent = self.post(FLAG_LOCATE, |encoder| encoder.bytes(node_id), timeout);
        self.note(sent)
    }

    /// Returns the place in the response to [`send_locate`](Self::send_locate); `None` if the value has to be requested.
    ///
    /// # Errors
    /// The server broke the protocol, or the memory cannot be mapped.
    pub fn located(&mut self, body: &[u8]) -> Result<Option<CurrentValuePlace>, ShmError> {
        let Some((number, location)) = body.split_first_chunk() else {
            return Ok(None);
        };
        let number = u32::from_le_bytes(*number);
        let memory = match self.values.get(&number) {
            Some(memory) => Arc::clone(memory),
            None => {
                let fd = self.socket.0.fetch_values(number)?;
                let memory = SegmentView::open(&fd, MAX_SEGMENT)
                    .map_err(|e| ShmError::io("map memory with current values", e))?;
                let memory = Arc::new(memory);
                self.values.insert(number, Arc::clone(&memory));
                memory
            }
        };
        let alive = match &self.alive {
            Some(alive) => alive.clone(),
            None => {
                let alive = Liveness::watch(self.socket.socket())?;
                self.alive.insert(alive).clone()
            }
        };
        Ok(Some(CurrentValuePlace {
            memory,
            location: location.to_vec(),
            alive,
        }))
    }
}
