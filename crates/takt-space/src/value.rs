//! Sources of the Value attribute of a Variable (OPC 10000-3, 5.6.2).

use std::sync::Arc;

use takt_cell::Cell;
use takt_ua::{BuiltInType, DataValue, StatusCode, Variant};

use crate::access_level;
use crate::remote::RemoteValue;
use crate::stored::StoredValue;
use crate::value_source::ValueSource;

/// Source of a Variable's value, and target of a Write to it.
#[derive(Clone)]
pub enum Value {
    /// A cell that a real-time thread sets, and that PubSub can publish.
    Cell(Arc<Cell>),
    /// A value that the server keeps, with memory that grows with written values.
    Stored(Arc<StoredValue>),
    /// Code that computes the value for each read. It runs on the transport's thread and must not block: code that may block
    /// belongs in a [`RemoteSource`](crate::RemoteSource).
    Callback(Arc<dyn ValueSource>),
    /// A value of another server, or a callback that worker threads run: it is answered later.
    Remote(RemoteValue),
}

impl Value {
    /// Creates a stored value: Good, as of now.
    pub fn stored(value: impl Into<Variant>) -> Self {
        Self::Stored(Arc::new(StoredValue::new(&value.into())))
    }

    /// Creates a stored value that is not set yet: null, `BadWaitingForInitialData`.
    pub fn not_set() -> Self {
        Self::Stored(Arc::new(StoredValue::with_status(
            &Variant::Empty,
            StatusCode::BadWaitingForInitialData,
        )))
    }

    /// Creates a callback for reading only.
    pub fn callback(read: impl Fn() -> DataValue + Send + Sync + 'static) -> Self {
        Self::Callback(Arc::new(ReadOnly(read)))
    }

    /// Returns the Variable of another server, or the callback of a worker thread, to which Writes go.
    #[inline]
    pub fn write_target(&self) -> Option<&RemoteValue> {
        match self {
            Self::Remote(remote) => Some(remote),
            Self::Stored(stored) => stored.origin(),
            Self::Cell(_) | Self::Callback(_) => None,
        }
    }

    /// Returns the AccessLevel bits (OPC 10000-3, 8.57) for writing: those of the value, and of each other part of a DataValue that
    /// the source stores. The server of a remote value decides itself.
    pub fn write_access(&self) -> u32 {
        match self {
            Self::Callback(source)
            | Self::Remote(RemoteValue {
                callback: Some(source),
                ..
            }) => access_level::CURRENT_WRITE | source.stored_parts(),
            Self::Cell(_) | Self::Stored(_) | Self::Remote(_) => access_level::WRITE,
        }
    }

    /// Returns the built-in type of the value, and true if it is an array, if they are known without reading the value.
    pub(crate) fn shape(&self) -> Option<(BuiltInType, bool)> {
        match self {
            Self::Cell(cell) => Some((cell.shape().data_type()?, cell.shape().is_array()?)),
            Self::Stored(stored) => {
                let value = stored.get().value?;
                Some((value.built_in_type()?, value.is_array()))
            }
            Self::Callback(_) | Self::Remote(_) => None,
        }
    }

    /// Changes the StatusCode, and keeps value and source timestamp.
    pub(crate) fn set_status(&self, status: StatusCode) -> Result<(), StatusCode> {
        match self {
            Self::Cell(cell) => cell
                .change_status(status)
                .map_err(|error| error.status_code()),
            Self::Stored(stored) => {
                stored.set_status(status);
                Ok(())
            }
            Self::Callback(_) | Self::Remote(_) => Err(StatusCode::BadNotSupported),
        }
    }
}

impl std::fmt::Debug for Value {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Cell(_) => formatter.write_str("Cell"),
            Self::Stored(stored) => formatter.debug_tuple("Stored").field(stored).finish(),
            Self::Callback(_) => formatter.write_str("Callback"),
            Self::Remote(remote) => formatter.debug_tuple("Remote").field(remote).finish(),
        }
    }
}

struct ReadOnly<F>(F);

impl<F: Fn() -> DataValue + Send + Sync> ValueSource for ReadOnly<F> {
    fn read(&self) -> DataValue {
        self.0()
    }
}

#[cfg(test)]
mod tests {
    use takt_ua::DateTime;

    use super::*;

    #[test]
    fn a_changed_status_brings_no_older_value_back() {
        let cell = Arc::new(Cell::of(&Variant::Double(0.0)));
        let value = Value::Cell(Arc::clone(&cell));
        std::thread::scope(|scope| {
            let setting = scope.spawn(|| {
                for round in 0..100_000 {
                    let set = f64::from(round);
                    cell.set_f64(set, StatusCode::Good, DateTime(7)).unwrap();
                    let (read, _) = cell.read_scalar::<f64>().unwrap();
                    assert_eq!(read, Some(set));
                }
            });
            while !setting.is_finished() {
                let _ = value.set_status(StatusCode::UncertainLastUsableValue);
            }
        });
    }
}
