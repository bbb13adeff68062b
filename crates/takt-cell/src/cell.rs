//! The cell: its memory and its constructors.

use std::fmt;

use takt_ua::binary::{Encode, Limits};
use takt_ua::{BuiltInType, DateTime, StatusCode, Variant};

use crate::Shape;
#[cfg(not(loom))]
use crate::layout::{IDENTITY, WATCHED};
use crate::layout::{LINE_WORDS, MAX_CAPACITY, META, slot_words};
#[cfg(not(loom))]
use crate::location::CellLocation;
#[cfg(not(loom))]
use crate::place::{self, ForeignPlace, Place};
use crate::slots::{Control, SLOTS, Slots, initialise};
use crate::sync::AtomicU64;

/// A value with its StatusCode and its source timestamp, all three consistent with each other.
///
/// Set by up to three threads at once without locks, system calls or allocation, and in a bounded number of steps;
/// read by any number. Neither waits for the other, nor for a set that was interrupted. Shared as `Arc<Cell>`.
///
/// A cell is made for a [`Shape`] and a number of bytes that the encoded value may have; neither changes.
///
/// ```
/// use std::sync::Arc;
/// use takt_cell::Cell;
/// use takt_ua::{DateTime, StatusCode, Variant};
///
/// # fn main() -> Result<(), takt_cell::CellError> {
/// let speed = Arc::new(Cell::of(&Variant::Double(0.0)));
///
/// // In the real-time thread, every cycle:
/// speed.set_f64(1500.0, StatusCode::Good, DateTime::now())?;
///
/// // Anywhere:
/// assert_eq!(speed.get()?.value, Some(Variant::Double(1500.0)));
/// assert!(speed.set_u32(1500, StatusCode::Good, DateTime::now()).is_err(), "it holds a Double");
/// # Ok(())
/// # }
/// ```
pub struct Cell {
    memory: Memory,
    slot_words: usize,
    pub(crate) capacity: usize,
    pub(crate) shape: Shape,
    /// True if its values come from a cache: the last word of a slot is then the server timestamp.
    pub(crate) cached: bool,
}

/// Memory of a cell.
enum Memory {
    /// Memory in this process.
    Own {
        control: Control,
        words: Box<[AtomicU64]>,
        /// Number of words before the first cache line.
        offset: usize,
    },
    /// Shared memory of this process, which other processes can read.
    #[cfg(not(loom))]
    Shared(Place),
    /// Memory of another process.
    #[cfg(not(loom))]
    Foreign(ForeignPlace),
}

impl Cell {
    /// Creates a cell for any value whose encoding (as a Variant, OPC 10000-6, 5.2.2.16) has up to `capacity` bytes,
    /// at most [`MAX_CAPACITY`]. Until it is set it has no value, and status BadWaitingForInitialData.
    ///
    /// It takes four times the sum of the capacity and 24 bytes, in whole cache lines; for a number, 256 bytes.
    #[must_use]
    pub fn new(capacity: usize) -> Self {
        Self::with_shape(Shape::ANY, capacity)
    }

    /// Returns a cell for one value (`max_elements` is `None`) or an array of a type.
    ///
    /// `max_string_bytes` applies to types without a fixed size: it is the largest number of bytes of text or content
    /// in one value or element. [`BuiltInType::Variant`] without `max_elements` is a cell for any value.
    #[must_use]
    pub fn for_type(
        data_type: BuiltInType,
        max_elements: Option<usize>,
        max_string_bytes: usize,
    ) -> Self {
        let element = match data_type.encoded_size() {
            Some(size) => size,
            None => max_string_bytes.saturating_add(overhead(data_type)),
        };
        match max_elements {
            None => Self::with_shape(Shape::scalar(data_type), element.saturating_add(1)),
            // Encoding mask, length, and space for three dimensions.
            Some(elements) => {
                let capacity = element.saturating_mul(elements).saturating_add(1 + 4 + 16);
                Self::with_shape(Shape::array(data_type), capacity)
            }
        }
    }

    /// Creates a cell with `value`, for later values of the same type that are not longer: for numbers and arrays of
    /// fixed length.
    ///
    /// The status is Good, the source timestamp is the current time. [`Variant::Empty`] makes a cell for any value
    /// that fits a cache line.
    #[must_use]
    pub fn of(value: &Variant) -> Self {
        Self::of_with_capacity(value, 0)
    }

    /// Creates a cell with `value`, for later values of up to `capacity` bytes when encoded, for instance a string
    /// that grows.
    #[must_use]
    pub fn of_with_capacity(value: &Variant, capacity: usize) -> Self {
        let encoded = value.encode_to_vec();
        let shape = Shape::of(encoded.first().copied().unwrap_or_default());
        let cell = Self::with_shape(shape, capacity.max(encoded.len()));
        // Shape and capacity are the value's own, so this fails only for a value above MAX_CAPACITY; then the cell
        // has no value.
        let _ = cell.store(&[&encoded], StatusCode::Good, DateTime::now());
        cell
    }

    fn with_shape(shape: Shape, capacity: usize) -> Self {
        let capacity = capacity.min(MAX_CAPACITY);
        let slot_words = slot_words(capacity, false);
        // One more cache line than needed, so that the first slot can begin at a cache line.
        let words: Box<[AtomicU64]> = (0..slot_words * SLOTS + LINE_WORDS - 1)
            .map(|_| AtomicU64::new(0))
            .collect();
        let offset = words
            .as_ptr()
            .align_offset(8 * LINE_WORDS)
            .min(LINE_WORDS - 1);
        initialise(words.get(offset..).unwrap_or_default());
        let cell = Self {
            memory: Memory::Own {
                control: Control::new(),
                words,
                offset,
            },
            slot_words,
            capacity,
            shape,
            cached: false,
        };
        cell.wait_for_data();
        cell
    }

    /// Sets the status of a cell without a value.
    fn wait_for_data(&self) {
        // The word of the slot that a new cell publishes.
        if let Some(meta) = self.parts().1.get(1 + META) {
            let waiting = u64::from(StatusCode::BadWaitingForInitialData.0);
            meta.store(waiting, crate::sync::Ordering::Relaxed);
        }
    }

    /// Returns the shape of the values that the cell accepts.
    #[must_use]
    pub fn shape(&self) -> Shape {
        self.shape
    }

    /// Returns the largest size of an encoded value in bytes.
    #[must_use]
    pub fn capacity(&self) -> usize {
        self.capacity
    }

    /// Returns a number that grows with every set; a changed number means a new value.
    #[inline]
    #[must_use]
    pub fn generation(&self) -> u64 {
        self.parts().0.generation()
    }

    /// Returns limits for decoding: lengths in a value that fits the cell have no other limit.
    pub(crate) fn limits(&self) -> Limits {
        Limits {
            max_string_length: self.capacity,
            max_array_length: self.capacity,
            max_memory: usize::MAX,
            ..Limits::DEFAULT
        }
    }

    #[inline]
    pub(crate) fn slots(&self) -> Slots<'_> {
        let (control, words) = self.parts();
        Slots::new(control, words, self.slot_words)
    }

    /// Returns the control words and the slots.
    #[inline]
    fn parts(&self) -> (&Control, &[AtomicU64]) {
        match &self.memory {
            Memory::Own {
                control,
                words,
                offset,
            } => (control, words.get(*offset..).unwrap_or_default()),
            #[cfg(not(loom))]
            Memory::Shared(place) => shared_parts(place.words()),
            #[cfg(not(loom))]
            Memory::Foreign(place) => shared_parts(place.words()),
        }
    }
}

/// Returns the parts of a cell in shared memory.
#[cfg(not(loom))]
#[inline]
fn shared_parts(words: &[AtomicU64]) -> (&Control, &[AtomicU64]) {
    static NONE: Control = Control::none();
    match place::control(words) {
        Some(control) => (control, words.get(LINE_WORDS..).unwrap_or_default()),
        None => (&NONE, &[]),
    }
}

/// Functions for [sharing](crate::shared).
#[cfg(not(loom))]
impl Cell {
    /// Creates an empty cell in memory that other processes can map; it is not [open](Self::publish) yet.
    pub(crate) fn in_shared_memory(
        capacity: usize,
        shape: Shape,
        cached: bool,
    ) -> std::io::Result<Self> {
        let slot_words = slot_words(capacity, cached);
        let cell = Self {
            memory: Memory::Shared(Place::take(slot_words)?),
            slot_words,
            capacity,
            shape,
            cached,
        };
        cell.wait_for_data();
        Ok(cell)
    }

    /// Returns a cell of another process, whose location the caller has checked.
    pub(crate) fn foreign(
        place: ForeignPlace,
        slot_words: usize,
        capacity: usize,
        location: &CellLocation,
    ) -> Self {
        Self {
            memory: Memory::Foreign(place),
            slot_words,
            capacity,
            shape: location.shape,
            cached: location.cached,
        }
    }

    /// Takes the value of another cell of the same shape and capacity, which is not being set.
    pub(crate) fn take_over(&self, other: &Self) {
        let mut bytes = vec![0; other.capacity];
        let Ok(reading) = other.read_into(&mut bytes) else {
            return;
        };
        let value = bytes.get(..reading.length).unwrap_or_default();
        let taken = if value.is_empty() {
            self.set_status(reading.status, reading.source_timestamp)
        } else {
            self.store(&[value], reading.status, reading.source_timestamp)
        };
        // The value fits, because it fitted the other cell, and nothing else uses this cell yet.
        debug_assert!(taken.is_ok());
    }

    pub(crate) fn publish(&self) {
        if let Memory::Shared(place) = &self.memory {
            place.publish();
        }
    }

    /// Returns the word with the identity of the cell.
    #[inline]
    pub(crate) fn identity_word(&self) -> Option<&AtomicU64> {
        match &self.memory {
            Memory::Foreign(place) => place.words().get(IDENTITY),
            _ => None,
        }
    }

    /// Notes until when the deadline of the cell is watched, in nanoseconds of CLOCK_MONOTONIC, for readers in other processes.
    pub(crate) fn note_watched(&self, until: u64) {
        if let Memory::Shared(place) = &self.memory
            && let Some(word) = place.words().get(WATCHED)
        {
            word.store(until, crate::sync::Ordering::Relaxed);
        }
    }

    /// Returns the word with the time until which the deadline of the cell is watched.
    #[inline]
    pub(crate) fn watched_word(&self) -> Option<&AtomicU64> {
        match &self.memory {
            Memory::Foreign(place) => place.words().get(WATCHED),
            _ => None,
        }
    }

    /// Returns the location of the cell for other processes, if it is [shared](Self::share).
    #[must_use]
    pub fn location(&self) -> Option<CellLocation> {
        match &self.memory {
            Memory::Shared(place) => place.location(self.capacity, self.shape, self.cached),
            _ => None,
        }
    }
}

impl fmt::Debug for Cell {
    /// Writes the cell without its value, which may be long.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cell")
            .field("shape", &self.shape)
            .field("capacity", &self.capacity)
            .field("generation", &self.generation())
            .finish_non_exhaustive()
    }
}

/// Returns the size in bytes of an encoded value of a type without its text: lengths, masks, numbers
/// (OPC 10000-6, 5.2.2).
const fn overhead(data_type: BuiltInType) -> usize {
    match data_type {
        BuiltInType::NodeId => 1 + 2 + 4,
        BuiltInType::ExpandedNodeId => 1 + 2 + 4 + 4 + 4,
        BuiltInType::QualifiedName => 2 + 4,
        BuiltInType::LocalizedText => 1 + 4 + 4,
        // The NodeId of its encoding counts as numeric or as part of the text.
        BuiltInType::ExtensionObject => 1 + 2 + 4 + 1 + 4,
        // Mask, times and status; the value has a mask and a length of its own.
        BuiltInType::DataValue => 1 + 4 + 8 + 2 + 8 + 2 + 1 + 4,
        BuiltInType::Variant => 1 + 4,
        BuiltInType::DiagnosticInfo => 1 + 4 * 4 + 4 + 4,
        // A length.
        _ => 4,
    }
}
