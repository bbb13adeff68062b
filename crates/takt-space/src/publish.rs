//! Publication of the current value of a Variable in memory that other processes read.

use std::io;
use std::sync::Arc;

use takt_cell::CellLocation;

use crate::value::Value;
use crate::value_source::CachedValue;

/// Reasons why the current value of a Variable cannot be published.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PublishValueError {
    /// The value is from a cell of this process only.
    #[error("the cell is not shared: call `Cell::share` to move it to shared memory")]
    NotShared,
    /// The value is from another server.
    #[error("only the server of a remote value can publish it")]
    Remote,
    /// There is not enough memory.
    #[error("the memory for the current value cannot be allocated: {0}")]
    Memory(#[from] io::Error),
}

impl Value {
    /// Publishes the current value, so that Consumers on this host read it without a request, and without work of this process.
    ///
    /// `capacity` is the maximum number of bytes of a value, encoded as a Variant (OPC 10000-6, 5.2.2.16): 9 for a number of 8
    /// bytes, 5 and the elements for an array of numbers, 5 and the text for a String. The publication takes four times that in
    /// memory. A larger value is not published, and has to be requested.
    ///
    /// * Stored value: it is its own source. Every value that is set or written is published, and satisfies any maxAge.
    /// * Callback: the last value is kept, as a [`CachedValue`]. Consumers that accept its age read it; others send a request.
    /// * Cell: it has to be [shared](takt_cell::Cell::share), with its own size; `capacity` does not matter.
    ///
    /// The size is fixed by the first call.
    ///
    /// # Errors
    /// See [`PublishValueError`].
    pub fn publish_current(self, capacity: usize) -> Result<Self, PublishValueError> {
        match &self {
            Self::Cell(cell) if cell.location().is_none() => Err(PublishValueError::NotShared),
            Self::Cell(_) => Ok(self),
            Self::Stored(stored) => {
                stored.publish_current(capacity)?;
                Ok(self)
            }
            Self::Callback(source) if source.cached().is_some() => Ok(self),
            Self::Callback(source) => {
                let cached = CachedValue::new(Arc::clone(source), capacity)?;
                Ok(Self::Callback(Arc::new(cached)))
            }
            Self::Remote(_) => Err(PublishValueError::Remote),
        }
    }

    /// Returns the location at which the current value is published, if it is.
    pub fn location(&self) -> Option<CellLocation> {
        match self {
            Self::Cell(cell) => cell.location(),
            Self::Stored(stored) => stored.location(),
            Self::Callback(source) => source.cached()?.location(),
            Self::Remote(remote) => remote.cached()?.location(),
        }
    }
}

#[cfg(test)]
mod tests {
    use takt_cell::Cell;
    use takt_ua::{DataValue, Variant};

    use super::*;

    #[test]
    fn publishable_values() {
        let callback = || Value::callback(|| DataValue::good(1_u32));
        assert_eq!(callback().location(), None);
        let published = callback().publish_current(16).unwrap();
        let location = published.location().unwrap();
        assert!(location.is_cached());
        // A second call has no effect.
        let again = published.publish_current(1000).unwrap();
        assert_eq!(again.location(), Some(location));

        let stored = Value::stored(1_u32);
        assert_eq!(stored.location(), None);
        let location = stored.publish_current(16).unwrap().location().unwrap();
        assert!(!location.is_cached());

        let cell = || Cell::of(&Variant::UInt32(1));
        let shared = Value::Cell(Arc::new(cell().share().unwrap()));
        let location = shared.location();
        assert_eq!(shared.publish_current(0).unwrap().location(), location);
        let private = Value::Cell(Arc::new(cell()));
        let refused = private.publish_current(16).unwrap_err();
        assert!(matches!(refused, PublishValueError::NotShared), "{refused}");
    }

    #[test]
    fn publishing_beyond_memory_is_refused() {
        let refused = Value::stored(1_u32).publish_current(usize::MAX);
        assert!(matches!(refused, Err(PublishValueError::Memory(_))));
    }
}
