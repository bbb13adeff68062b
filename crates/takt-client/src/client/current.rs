//! The current value of a Variable, read from shared memory of its Provider, without a request to it.

use std::time::Duration;

use takt_cell::{CellError, CellLocation, CellReader, Element, Reading, Scalar};
use takt_ua::binary::Encode;
use takt_ua::{DataValue, DateTime, NodeId, StatusCode};

use super::{Client, not_connected, remaining};
use crate::error::ClientError;

/// The current value of a Variable, as its Provider last published it.
///
/// Reading it needs no system call and does not involve the Provider, which may sleep, be busy, or be stopped in a
/// debugger. Value, StatusCode and timestamps are of the same moment. A value from a cell or a stored value is never
/// older than the result of a Read. The last value of a callback has a server timestamp and may have any age:
/// [`Client::read_current`] asks the Provider if it is too old, and [`Reading::satisfies`] checks its age.
///
/// Once the Provider has ended, a value that was Good or Uncertain has the status UncertainLastUsableValue. That does
/// not change: get a new `CurrentValue` from the next Provider of that name.
#[derive(Debug)]
pub struct CurrentValue {
    reader: CellReader,
    alive: takt_shm::Liveness,
    node_id: NodeId,
}

/// # Errors
/// [`CellError::Gone`] if the Variable no longer exists, [`CellError::Withheld`] if the value has to be read from the
/// server, because it is too large to be published or the callback has not returned one yet, [`CellError::Busy`] if
/// it was set repeatedly while it was being copied.
impl CurrentValue {
    /// Returns the value with its status and source timestamp. Allocates for strings and arrays.
    pub fn get(&self) -> Result<DataValue, CellError> {
        let mut value = self.reader.get()?;
        let status = value.status.unwrap_or(StatusCode::Good);
        value.status = Some(self.status(status)).filter(|status| *status != StatusCode::Good);
        Ok(value)
    }

    /// Returns the value if it is at most `max_age` old; `None` if it has to be read from the Provider.
    ///
    /// `Duration::ZERO` requests a new value, [`Reading::ANY_AGE`] or more accepts any age. If the Provider has
    /// ended, the last value of any age is returned; its status is UncertainLastUsableValue.
    pub fn get_within(&self, max_age: Duration) -> Result<Option<DataValue>, CellError> {
        // The age is read before the value, which may be long; a value set in between is younger.
        let reading = self.reader.reading()?;
        if self.alive.is_alive() && !reading.satisfies(max_age, DateTime::now()) {
            return Ok(None);
        }
        self.get().map(Some)
    }

    /// Reads one number, Boolean, DateTime or StatusCode; `None` if there is no value. Allocates nothing.
    #[inline]
    pub fn read_scalar<T: Scalar>(&self) -> Result<(Option<T>, Reading), CellError> {
        let (value, reading) = self.reader.read_scalar()?;
        Ok((value, self.reading(reading)))
    }

    /// Copies an array of numbers or Booleans to the start of a slice and returns their number; `None` if there is no
    /// value. Allocates nothing.
    #[inline]
    pub fn read_slice<T: Element>(
        &self,
        elements: &mut [T],
    ) -> Result<(Option<usize>, Reading), CellError> {
        let (count, reading) = self.reader.read_slice(elements)?;
        Ok((count, self.reading(reading)))
    }

    /// Returns whether the Provider is still running.
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
    /// Returns the current value of a Variable if the server publishes it; `None` if it is not published, or the
    /// server is on another host.
    ///
    /// # Errors
    /// The server cannot be reached, or its response is invalid.
    pub fn current_value(&mut self, node_id: &NodeId) -> Result<Option<CurrentValue>, ClientError> {
        let located = match self.locate(node_id) {
            // The server was restarted: its successor may have the Variable too.
            Err(ClientError::Closed { .. }) => self.locate(node_id),
            located => located,
        };
        let Some(current) = located? else {
            return Ok(None);
        };
        // Another version of Takt may publish it in an unknown layout.
        let Some(location) = CellLocation::parse(&current.location) else {
            return Ok(None);
        };
        let reader = CellReader::new(current.memory, &location)
            .ok_or_else(|| self.protocol("the current value is outside its shared memory"))?;
        Ok(Some(CurrentValue {
            reader,
            alive: current.alive,
            node_id: node_id.clone(),
        }))
    }

    /// Returns the value of a Variable, at most `max_age` old: from memory if the published value is recent enough,
    /// otherwise by a Read with that maxAge ([`read_within`](Self::read_within)). Allocates nothing for a number in
    /// memory.
    ///
    /// Values of cells and stored values satisfy any `max_age`. Those of a Provider that has ended are read from
    /// memory, with the status UncertainLastUsableValue.
    ///
    /// # Errors
    /// Those of a Read, if one is needed.
    pub fn read_current(
        &mut self,
        current: &CurrentValue,
        max_age: Duration,
    ) -> Result<DataValue, ClientError> {
        match current.get_within(max_age) {
            Ok(Some(value)) => Ok(value),
            // The value is too old, too large, gone, or set too often to be read: the server is asked.
            Ok(None) | Err(_) => self.read_within(&current.node_id, max_age),
        }
    }

    fn locate(
        &mut self,
        node_id: &NodeId,
    ) -> Result<Option<takt_shm::CurrentValuePlace>, ClientError> {
        let deadline = self.deadline();
        self.open(deadline)?;
        let Some((transport, _)) = self.link.connected.as_mut() else {
            return Err(not_connected(&self.endpoint));
        };
        let located = transport.locate(&node_id.encode_to_vec(), remaining(deadline));
        if matches!(located, Err(ClientError::Closed { .. })) {
            self.link.connected = None;
        }
        located
    }
}
