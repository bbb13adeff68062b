//! Variables of a Provider.

use std::ops::Range;
use std::sync::Arc;

use takt_cell::Cell;
use takt_space::{NodeAccess, PublishValueError, Value, ValueSource, access_level};
use takt_ua::structures::{EUInformation, Range as UaRange};
use takt_ua::{BuiltInType, DataValue, DateTime, LocalizedText, Variant, ids};

use super::access::with_access;
use super::field::DataType;
use super::texts::Texts;
use crate::history::Recording;

/// Source of a Variable's value.
#[derive(Clone)]
pub(super) enum Source {
    Stored(Variant),
    Cell(Arc<Cell>),
    Callback(Arc<dyn ValueSource>),
}

/// A Variable of a Provider.
///
/// Its path, for example `Spindle/Speed`, is its place below the Provider's Object in the registry and the identifier
/// of its NodeId.
#[derive(Clone)]
pub struct Variable {
    pub(super) path: String,
    pub(super) texts: Texts,
    pub(super) source: Source,
    /// Built-in type of the values; `Variant` for values of any type.
    pub(super) built_in_type: BuiltInType,
    /// True for a callback that returns nothing but values.
    pub(super) has_plain_callback: bool,
    pub(super) data_type: DataType,
    /// ValueRank (OPC 10000-3, 5.6.2): -1 scalar, 1 one dimension.
    pub(super) value_rank: i32,
    pub(super) array_dimensions: Vec<u32>,
    pub(super) writable: bool,
    pub(super) unit: Option<EUInformation>,
    pub(super) range: Option<UaRange>,
    /// Names of the values 0, 1, 2 and so on.
    pub(super) states: Vec<String>,
    /// Capacity for its published current value, in bytes.
    pub(super) published: Option<usize>,
    /// True if a callback runs on the serving thread.
    pub(super) is_inline: bool,
    /// Recording of its history.
    pub(super) recording: Option<Recording>,
    /// RolePermissions and AccessRestrictions.
    pub(super) access: NodeAccess,
}

with_access!(Variable);

impl Variable {
    /// Creates a Variable with a value stored by the Provider; the last Write determines it.
    pub fn stored(path: impl Into<String>, initial: impl Into<Variant>) -> Self {
        let initial = initial.into();
        let data_type = initial.built_in_type().unwrap_or(BuiltInType::Variant);
        let mut variable = Self::new(path.into(), data_type, Source::Stored(initial.clone()));
        if let Some(dimensions) = initial.array_dimensions() {
            variable.make_array(dimensions);
        }
        variable
    }

    /// Creates a Variable whose value is a cell that another thread sets, a real-time thread for example.
    pub fn cell(path: impl Into<String>, cell: &Arc<Cell>) -> Self {
        let shape = cell.shape();
        let data_type = shape.data_type().unwrap_or(BuiltInType::Variant);
        let mut variable = Self::new(path.into(), data_type, Source::Cell(Arc::clone(cell)));
        if shape.is_array() == Some(true) {
            variable.make_array(vec![0]);
        }
        variable
    }

    /// Creates a Variable whose value is computed for each Read, unless it is [published](Self::publish_current) and
    /// the client accepts the last value. The Provider calls `read` once at its start, to check the type.
    ///
    /// `read` runs on a worker thread unless it is [`inline`](Self::inline), and never twice at the same time: Reads that
    /// wait for it share its next value. A Read without an answer within 10 s, or within the client's TimeoutHint, gets
    /// `BadTimeout` for this Variable.
    pub fn callback<T: Into<Variant>>(
        path: impl Into<String>,
        data_type: BuiltInType,
        read: impl Fn() -> T + Send + Sync + 'static,
    ) -> Self {
        struct Callback<F>(F);
        impl<T: Into<Variant>, F: Fn() -> T + Send + Sync> ValueSource for Callback<F> {
            fn read(&self) -> DataValue {
                DataValue::good(self.0()).with_source_timestamp(DateTime::now())
            }
        }
        Self {
            has_plain_callback: true,
            ..Self::source(path, data_type, Arc::new(Callback(read)))
        }
    }

    /// Creates a Variable whose source sets StatusCode and timestamp and decides about Writes. It runs on a worker thread, as
    /// that of a [`callback`](Self::callback).
    pub fn source(
        path: impl Into<String>,
        data_type: BuiltInType,
        source: Arc<dyn ValueSource>,
    ) -> Self {
        Self::new(path.into(), data_type, Source::Callback(source))
    }

    fn new(path: String, data_type: BuiltInType, source: Source) -> Self {
        Self {
            path,
            texts: Texts::default(),
            source,
            built_in_type: data_type,
            has_plain_callback: false,
            data_type: data_type.into(),
            value_rank: -1,
            array_dimensions: Vec::new(),
            writable: false,
            unit: None,
            range: None,
            states: Vec::new(),
            published: None,
            is_inline: false,
            recording: None,
            access: NodeAccess::default(),
        }
    }

    fn make_array(&mut self, dimensions: Vec<u32>) {
        self.value_rank = i32::try_from(dimensions.len().max(1)).unwrap_or(1);
        self.array_dimensions = dimensions;
    }

    /// Sets its DisplayName; by default the last segment of the path.
    #[must_use]
    pub fn display_name(mut self, text: impl Into<LocalizedText>) -> Self {
        self.texts.display_name = Some(text.into());
        self
    }

    /// Sets its Description.
    #[must_use]
    pub fn description(mut self, text: impl Into<LocalizedText>) -> Self {
        self.texts.description = Some(text.into());
        self
    }

    /// Allows clients to write it. A stored value and a cell also store a written StatusCode and timestamp; a source says
    /// itself what it stores: see [`ValueSource::stored_parts`].
    #[must_use]
    pub fn writable(mut self) -> Self {
        self.writable = true;
        self
    }

    /// Runs the callback or source on the thread that serves all clients, which saves two changes of threads. It has to be
    /// quick: all clients wait until it returns. Cells and stored values need no callback.
    #[must_use]
    pub fn inline(mut self) -> Self {
        self.is_inline = true;
        self
    }

    /// Sets a more specific DataType than the built-in type, for example `Duration`.
    #[must_use]
    pub fn data_type(mut self, data_type: impl Into<DataType>) -> Self {
        self.data_type = data_type.into();
        self
    }

    /// Makes it a one-dimensional array of at most `length` elements; 0 means any number.
    #[must_use]
    pub fn array(mut self, length: u32) -> Self {
        self.make_array(vec![length]);
        self
    }

    /// Publishes the current value: Consumers on this host read it without a request, even while this process sleeps,
    /// is busy or is stopped.
    ///
    /// `capacity` is the largest size of an encoded value in bytes: 9 for a number of 8 bytes, 5 and the elements for
    /// an array of numbers, 5 and the text for a String. Larger values have to be read from the Provider. See
    /// [`Value::publish_current`] for the effects on stored values and callbacks; a cell has to be
    /// [shared](Cell::share), and is then always published.
    #[must_use]
    pub fn publish_current(mut self, capacity: usize) -> Self {
        self.published = Some(capacity);
        self
    }

    /// Records its history, which clients read with HistoryRead, at the Provider or through the registry. All recorded Variables of
    /// a Provider have one file, `<ApplicationName>.history.redb` in its state folder: see
    /// [`ProviderBuilder::history`](super::ProviderBuilder::history).
    #[must_use]
    pub fn historized(mut self, recording: Recording) -> Self {
        self.recording = Some(recording);
        self
    }

    /// Returns the source of the value, published if configured.
    pub(super) fn value(&self) -> Result<Value, PublishValueError> {
        let value = match &self.source {
            Source::Stored(initial) => Value::stored(initial.clone()),
            Source::Cell(cell) => Value::Cell(Arc::clone(cell)),
            Source::Callback(source) => Value::Callback(Arc::clone(source)),
        };
        match self.published {
            Some(capacity) => value.publish_current(capacity),
            None => Ok(value),
        }
    }

    /// Sets its Property `EngineeringUnits` (OPC 10000-8, 6.3.2).
    #[must_use]
    pub fn unit(mut self, unit: Unit) -> Self {
        self.unit = Some(unit.into());
        self
    }

    /// Sets its Property `EURange`: the expected values.
    #[must_use]
    pub fn range(mut self, range: Range<f64>) -> Self {
        self.range = Some(UaRange {
            low: range.start,
            high: range.end,
        });
        self
    }

    /// Sets its Property `EnumStrings`: the names of the values 0, 1, 2 and so on, as in OPC 10000-8, 5.3.3.3. The DataType has to be
    /// an unsigned integer.
    #[must_use]
    pub fn states<S: Into<String>>(mut self, names: impl IntoIterator<Item = S>) -> Self {
        self.states = names.into_iter().map(Into::into).collect();
        self
    }

    /// Returns the TypeDefinition that fits its Properties.
    pub(super) fn type_definition(&self) -> u32 {
        // Both are optional in BaseAnalogType; in its subtypes one of them is mandatory. A mandatory Property is created by the
        // registry, without a value: therefore a Variable with states is not of MultiStateDiscreteType.
        if self.range.is_some() || self.unit.is_some() {
            ids::BASE_ANALOG_TYPE
        } else {
            ids::BASE_DATA_VARIABLE_TYPE
        }
    }

    /// Returns the AccessLevelEx (OPC 10000-3, 8.58), all of whose bits belong to the AccessLevel: CurrentRead; if
    /// writable, CurrentWrite and the parts that the source stores.
    pub(super) fn access_level(&self) -> u32 {
        let write = match &self.source {
            _ if !self.writable => 0,
            Source::Stored(_) | Source::Cell(_) => access_level::WRITE,
            Source::Callback(source) => access_level::CURRENT_WRITE | source.stored_parts(),
        };
        let history = match self.recording {
            Some(_) => access_level::HISTORY_READ,
            None => 0,
        };
        access_level::CURRENT_READ | history | write
    }
}

/// A unit of measurement: its UNECE common code and its symbol (OPC 10000-8, 6.3.2.3).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Unit {
    code: &'static str,
    symbol: &'static str,
    name: &'static str,
}

#[allow(
    missing_docs,
    reason = "each constant is the unit that it is named after"
)]
impl Unit {
    pub const PERCENT: Self = Self::new("P1", "%", "percent");
    pub const DEGREE_CELSIUS: Self = Self::new("CEL", "°C", "degree Celsius");
    pub const SECOND: Self = Self::new("SEC", "s", "second");
    pub const MILLISECOND: Self = Self::new("C26", "ms", "millisecond");
    pub const BYTE: Self = Self::new("AD", "B", "byte");
    pub const REVOLUTIONS_PER_MINUTE: Self = Self::new("RPM", "r/min", "revolutions per minute");
    pub const WATT: Self = Self::new("WTT", "W", "watt");
    pub const NEWTON_METRE: Self = Self::new("NU", "N·m", "newton metre");
    pub const METRE_PER_SECOND: Self = Self::new("MTS", "m/s", "metre per second");

    /// Creates a unit with its UNECE common code of two or three characters.
    pub const fn new(code: &'static str, symbol: &'static str, name: &'static str) -> Self {
        Self { code, symbol, name }
    }
}

impl From<Unit> for EUInformation {
    fn from(unit: Unit) -> Self {
        Self {
            namespace_uri: "http://www.opcfoundation.org/UA/units/un/cefact".into(),
            // The common code's characters, the last one in the lowest byte.
            unit_id: unit
                .code
                .bytes()
                .fold(0, |id, character| (id << 8) | i32::from(character)),
            display_name: LocalizedText::from(unit.symbol),
            description: LocalizedText::from(unit.name),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_access_level_shows_what_a_write_may_contain() {
        let level = |variable: Variable| variable.access_level();
        let cell = Arc::new(Cell::of(&Variant::from(1_u32)));
        assert_eq!(level(Variable::stored("A", 1_u32)), 0x01);
        assert_eq!(level(Variable::stored("A", 1_u32).writable()), 0x63);
        assert_eq!(level(Variable::cell("B", &cell).writable()), 0x63);
        let callback = Variable::callback("C", BuiltInType::UInt32, || 1_u32);
        assert_eq!(level(callback.writable()), 0x03, "the value only");
    }

    #[test]
    fn unit_ids_follow_the_common_code() {
        // OPC 10000-8 gives 5066068 for millimetre (MMT).
        let unit: EUInformation = Unit::new("MMT", "mm", "millimetre").into();
        assert_eq!(unit.unit_id, 5_066_068);
    }
}
