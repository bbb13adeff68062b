//! The current value of a Variable, read from memory that its Provider shares: without a request, and without the Provider.

use takt_cell::{CellError, CellLocation, CellReader, Element, Reading, Scalar};
use takt_ua::binary::Encode;
use takt_ua::{DataValue, NodeId, StatusCode};

use super::{Client, not_connected, remaining};
use crate::error::ClientError;

/// The current value of a Variable, as its Provider last set it.
///
/// Reading it takes no system call and the Provider no time: it may sleep, be busy, or be stopped in a debugger. Value, StatusCode
/// and source timestamp are of one moment. It is the Variable's source itself, so it is never older than what a Read would give.
///
/// Once the Provider has ended, a value that was Good or Uncertain has the status UncertainLastUsableValue. It stays so: get a new one
/// from the next Provider of that name.
#[derive(Debug)]
pub struct CurrentValue {
    reader: CellReader,
    alive: takt_shm::Liveness,
}

/// # Errors
/// [`CellError::Gone`] if the Variable is not there any more, [`CellError::Busy`] if it was set without a pause while it was
/// being copied.
impl CurrentValue {
    /// The value with its status and source timestamp. Allocates for strings and arrays.
    pub fn get(&self) -> Result<DataValue, CellError> {
        let mut value = self.reader.get()?;
        let status = value.status.unwrap_or(StatusCode::Good);
        value.status = Some(self.status(status)).filter(|status| *status != StatusCode::Good);
        Ok(value)
    }

    /// One number, Boolean, DateTime or StatusCode; `None` if there is no value. Allocates nothing.
    #[inline]
    pub fn read_scalar<T: Scalar>(&self) -> Result<(Option<T>, Reading), CellError> {
        let (value, reading) = self.reader.read_scalar()?;
        Ok((value, self.reading(reading)))
    }

    /// Copies an array of numbers or Booleans to the start of a slice and gives their number; `None` if there is no value.
    /// Allocates nothing.
    #[inline]
    pub fn read_slice<T: Element>(
        &self,
        elements: &mut [T],
    ) -> Result<(Option<usize>, Reading), CellError> {
        let (count, reading) = self.reader.read_slice(elements)?;
        Ok((count, self.reading(reading)))
    }

    /// Whether the Provider is still there.
    #[must_use]
    pub fn is_alive(&self) -> bool {
        self.alive.is_alive()
    }

    #[inline]
    fn reading(&self, reading: Reading) -> Reading {
        Reading {
            status: self.status(reading.status),
            ..reading
        }
    }

    #[inline]
    fn status(&self, status: StatusCode) -> StatusCode {
        if self.alive.is_alive() || status.is_bad() {
            status
        } else {
            StatusCode::UncertainLastUsableValue
        }
    }
}

impl Client {
    /// The current value of a Variable, where the server publishes it; `None` if it has to be asked for, or is at the other end
    /// of a network.
    ///
    /// # Errors
    /// The server cannot be reached, or answers with nonsense.
    pub fn current_value(&mut self, node_id: &NodeId) -> Result<Option<CurrentValue>, ClientError> {
        let located = match self.locate(node_id) {
            // The server was another one: its successor may have the Variable too.
            Err(ClientError::Closed { .. }) => self.locate(node_id),
            located => located,
        };
        let Some(current) = located? else {
            return Ok(None);
        };
        let reader = CellLocation::parse(&current.location)
            .and_then(|location| CellReader::new(current.memory, &location))
            .ok_or_else(|| ClientError::Protocol {
                endpoint: self.endpoint.to_string(),
                reason: "the current value is not where it should be".to_owned(),
            })?;
        Ok(Some(CurrentValue {
            reader,
            alive: current.alive,
        }))
    }

    fn locate(&mut self, node_id: &NodeId) -> Result<Option<takt_shm::CurrentValue>, ClientError> {
        let deadline = self.deadline();
        self.open(deadline)?;
        let Some((transport, _)) = self.connected.as_mut() else {
            return Err(not_connected(&self.endpoint));
        };
        let located = transport.locate(&node_id.encode_to_vec(), remaining(deadline));
        if matches!(located, Err(ClientError::Closed { .. })) {
            self.connected = None;
        }
        located
    }
}
