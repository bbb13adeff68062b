//! Reading one item of a Read request (OPC 10000-4, 5.11.2): the Value of a Variable, a part of it, or another attribute.

use std::cell::Cell;

use takt_cell::CellError;
use takt_space::{
    Binding, CachedValue, Caller, ClassAttributes, NodeRef, RemoteValue, Value, ValueSource, View,
};
use takt_ua::binary::{Decode, Decoder, EncodeError};
use takt_ua::enumerations::NodeClass;
use takt_ua::views::ReadValueIdRef;
use takt_ua::{
    DataValue, DateTime, NumericRange, QualifiedNameRef, StatusCode, Variant, VariantRef,
};

use super::attributes::{
    ROLE_PERMISSIONS, USER_ROLE_PERMISSIONS, USER_WRITE_MASK, VALUE, WRITE_MASK, attribute,
    role_permissions,
};
use super::data_value::Results;
use crate::identity::access;

/// A Read request whose items are being read.
pub(crate) struct Read<'r, R> {
    pub(crate) view: &'r View<'r>,
    pub(crate) caller: &'r Caller,
    /// MaxAge in milliseconds.
    pub(crate) max_age: f64,
    pub(crate) remotes: Remotes<'r>,
    pub(crate) results: R,
}

/// Remote sources of the values of a request.
#[derive(Clone, Copy)]
pub(crate) enum Remotes<'r> {
    /// They are asked before values are read again, if this is set.
    NotAsked(&'r Cell<bool>),
    /// They were asked, unless the client accepted the age of a kept value.
    Asked,
}

impl<R: Results> Read<'_, R> {
    /// Reads one item. The hot path is the whole Value of a Variable that has a source.
    #[inline]
    pub(crate) fn item(&mut self, item: &ReadValueIdRef<'_>) -> Result<(), EncodeError> {
        if item.attribute_id == VALUE
            && is_plain(item)
            && let Some(entry) = self.view.in_memory(&item.node_id)
            && let Some(level) = entry.access_level()
            && access::is_readable(level)
            && let Some(binding) = entry.binding().get()
        {
            return self.bound_value(binding);
        }
        self.any_item(item)
    }

    #[inline(never)]
    fn any_item(&mut self, item: &ReadValueIdRef<'_>) -> Result<(), EncodeError> {
        let Some(node) = self.view.node(item.node_id) else {
            let unknown = if item.node_id.is_null() {
                StatusCode::BadNodeIdInvalid
            } else {
                StatusCode::BadNodeIdUnknown
            };
            return self.results.status(unknown);
        };
        if item.attribute_id != VALUE {
            return self.attribute(&node, item);
        }
        if node.variable().is_none() {
            return self.default_value(&node, item);
        }
        if let Err(status) = access::check_read(self.caller, &node) {
            return self.results.status(status);
        }
        if !is_plain(item) {
            return self.part(&node, item);
        }
        match node.binding().get() {
            Some(binding) => self.bound_value(binding),
            None => self.standard_value(&node),
        }
    }

    /// Reads the whole Value of a Variable that has a source. It is always inlined: a call costs each item of a Read a tenth more
    /// instructions in the fixed layout.
    #[inline(always)]
    fn bound_value(&mut self, binding: &Binding) -> Result<(), EncodeError> {
        match binding {
            Binding::Value(Value::Cell(cell)) => match self.results.cell(cell) {
                Ok(()) => Ok(()),
                Err(CellError::Encode(error)) => Err(error),
                Err(error) => self.results.status(error.status_code()),
            },
            Binding::Value(Value::Stored(stored)) => self.results.stored(stored),
            Binding::Value(Value::Callback(source)) => {
                if let Some(cached) = self.young_enough(&**source) {
                    match self.results.cell(cached.cell()) {
                        Ok(()) => return Ok(()),
                        Err(CellError::Encode(error)) => return Err(error),
                        // A kept value that cannot be read at the moment is no error: the callback has a newer one.
                        Err(_) => {}
                    }
                }
                let value = self.ask(&**source);
                self.results.data_value(&value)
            }
            Binding::Value(Value::Remote(remote)) => self.not_asked(remote),
            // Only Variables are read here, and they have no handler.
            Binding::Method(_) => self.results.status(StatusCode::BadInternalError),
        }
    }

    /// Returns the last value of a callback, if it is kept and the client accepts its age (OPC 10000-4, 5.11.2.2).
    fn young_enough<'s>(&self, source: &'s dyn ValueSource) -> Option<&'s CachedValue> {
        let cached = source.cached()?;
        // The age counts from now, not from the arrival of the request: the source may have been asked since.
        cached
            .satisfies(self.max_age, DateTime::now())
            .then_some(cached)
    }

    /// Reads the whole Value of a Variable whose remote source was not asked.
    #[inline(never)]
    fn not_asked(&mut self, remote: &RemoteValue) -> Result<(), EncodeError> {
        if let Some(cached) = self.kept(remote) {
            match self.results.cell(cached.cell()) {
                Ok(()) => return Ok(()),
                Err(CellError::Encode(error)) => return Err(error),
                Err(_) => {}
            }
        }
        self.no_answer()
    }

    /// Adds the result of a remote source that was not asked: it is asked first, or it was bound while the request was under way.
    fn no_answer(&mut self) -> Result<(), EncodeError> {
        if let Remotes::NotAsked(met) = self.remotes {
            // The request begins again with a search for remote values, so Reads without them need no search.
            met.set(true);
        }
        self.results.status(StatusCode::BadNoCommunication)
    }

    /// Returns the last value of a remote source, if it is kept and the client accepts its age.
    fn kept<'s>(&self, remote: &'s RemoteValue) -> Option<&'s CachedValue> {
        let max_age = match self.remotes {
            Remotes::NotAsked(_) => self.max_age,
            // Its age was accepted before the other sources were asked.
            Remotes::Asked => f64::INFINITY,
        };
        let cached = remote.cached()?;
        cached.satisfies(max_age, DateTime::now()).then_some(cached)
    }

    /// Adds the answer of a remote source.
    #[inline(never)]
    pub(crate) fn answered(
        &mut self,
        value: &DataValue,
        item: &ReadValueIdRef<'_>,
    ) -> Result<(), EncodeError> {
        if value.status_code().is_bad() {
            return self.results.data_value(value);
        }
        match check_encoding(&item.data_encoding, value.value.as_ref()) {
            Ok(()) => self.results.data_value(value),
            Err(status) => self.results.status(status),
        }
    }

    /// Gets a new value from a callback.
    fn ask(&self, source: &dyn ValueSource) -> DataValue {
        let mut value = source.read();
        // The callback has made its value for this request.
        value.source_timestamp = value.source_timestamp.or(Some(self.results.now()));
        value
    }

    /// Reads the value that the standard gives a Variable of its own, such as EnumStrings and InputArguments.
    fn standard_value(&mut self, node: &NodeRef<'_>) -> Result<(), EncodeError> {
        match self.unbound_value(node) {
            Err(status) => self.results.status(status),
            Ok(encoded) => {
                // Values of the standard have been valid since the start of the server.
                let start_time = self.view.created();
                let value = match encoded {
                    Some(encoded) => VariantRef::decode(&mut Decoder::new(encoded)).ok(),
                    None => None,
                };
                let value = value.unwrap_or(VariantRef::Empty);
                self.results
                    .encode(Some(&value), StatusCode::Good, Some(start_time))
            }
        }
    }

    /// Returns the value of a Variable without a source: an encoded Variant of the standard's table, or the null value of a
    /// standard Variable, because the server has nothing of the kind that it describes.
    fn unbound_value(&self, node: &NodeRef<'_>) -> Result<Option<&'static [u8]>, StatusCode> {
        if let Some(encoded) = node.standard().and_then(|standard| standard.value()) {
            return Ok(Some(encoded));
        }
        // A declaration within a type has no meaningful value.
        if self.view.is_instance_declaration(node.node_id()) {
            return Ok(None);
        }
        match (node.standard(), node.variable()) {
            (Some(_), Some(variable)) => Ok(Some(self.view.null_value(&variable))),
            _ => Err(StatusCode::BadWaitingForInitialData),
        }
    }

    /// Reads a Value with an IndexRange or a DataEncoding.
    #[inline(never)]
    fn part(&mut self, node: &NodeRef<'_>, item: &ReadValueIdRef<'_>) -> Result<(), EncodeError> {
        let range = match NumericRange::of_request(item.index_range) {
            Ok(range) => range,
            Err(status) => return self.results.status(status),
        };
        let value = match node.value() {
            Some(Value::Cell(cell)) => match cell.get() {
                Ok(value) => value,
                Err(_) => return self.results.status(StatusCode::BadResourceUnavailable),
            },
            Some(Value::Stored(stored)) => stored.get(),
            Some(Value::Callback(source)) => self
                .young_enough(&*source)
                .and_then(CachedValue::last)
                .unwrap_or_else(|| self.ask(&*source)),
            Some(Value::Remote(remote)) => match self.kept(&remote).and_then(CachedValue::last) {
                Some(value) => value,
                None => return self.no_answer(),
            },
            None => match self.unbound_value(node) {
                Ok(encoded) => DataValue::good(
                    encoded
                        .and_then(|encoded| Variant::decode(&mut Decoder::new(encoded)).ok())
                        .unwrap_or_default(),
                )
                .with_source_timestamp(self.view.created()),
                Err(status) => return self.results.status(status),
            },
        };
        self.part_of(value, range, item)
    }

    fn part_of(
        &mut self,
        mut value: DataValue,
        range: Option<NumericRange>,
        item: &ReadValueIdRef<'_>,
    ) -> Result<(), EncodeError> {
        let whole = value.value.as_ref();
        if let Err(status) = check_encoding(&item.data_encoding, whole) {
            return self.results.status(status);
        }
        if let (Some(range), Some(whole)) = (range, whole) {
            match range.read(whole) {
                Ok(part) => value.value = Some(part),
                Err(status) => return self.results.status(status),
            }
        }
        self.results.data_value(&value)
    }

    /// Reads the Value attribute of a node that is not a Variable: only VariableTypes may have one.
    #[inline(never)]
    fn default_value(
        &mut self,
        node: &NodeRef<'_>,
        item: &ReadValueIdRef<'_>,
    ) -> Result<(), EncodeError> {
        let value = if node.node_class() != NodeClass::VariableType {
            None
        } else if let Some(standard) = node.standard() {
            standard
                .value()
                .and_then(|encoded| Variant::decode(&mut Decoder::new(encoded)).ok())
        } else {
            match node.definition().map(|definition| &definition.attributes) {
                Some(ClassAttributes::VariableType { value, .. }) => value.as_deref().cloned(),
                _ => None,
            }
        };
        match (value, NumericRange::of_request(item.index_range)) {
            (None, _) => self.results.status(StatusCode::BadAttributeIdInvalid),
            (_, Err(status)) => self.results.status(status),
            (Some(value), Ok(range)) => {
                let start_time = self.view.created();
                self.part_of(
                    DataValue::good(value).with_source_timestamp(start_time),
                    range,
                    item,
                )
            }
        }
    }

    #[inline(never)]
    fn attribute(
        &mut self,
        node: &NodeRef<'_>,
        item: &ReadValueIdRef<'_>,
    ) -> Result<(), EncodeError> {
        if let ROLE_PERMISSIONS | USER_ROLE_PERMISSIONS = item.attribute_id {
            let value = role_permissions(self.caller, node, item.attribute_id);
            return match (value, NumericRange::of_request(item.index_range)) {
                (Ok(value), Ok(range)) => self.part_of(DataValue::good(value), range, item),
                (Err(status), _) | (_, Err(status)) => self.results.status(status),
            };
        }
        let mut value = match attribute(self.caller, node, item.attribute_id) {
            Ok(value) => value,
            Err(status) => return self.results.status(status),
        };
        if let WRITE_MASK | USER_WRITE_MASK = item.attribute_id
            && let Some(rules) = self.view.attribute_writes()
        {
            let (mask, user_mask) = rules.masks(self.caller, node);
            value = match item.attribute_id {
                WRITE_MASK => mask.into(),
                _ => user_mask.into(),
            };
        }
        if !item.data_encoding.is_null() {
            return self.results.status(StatusCode::BadDataEncodingInvalid);
        }
        match NumericRange::of_request(item.index_range) {
            Ok(None) => self.results.encode(Some(&value), StatusCode::Good, None),
            Ok(Some(range)) => match range.read(&value.to_owned()) {
                Ok(part) => self.results.data_value(&DataValue::good(part)),
                Err(status) => self.results.status(status),
            },
            Err(status) => self.results.status(status),
        }
    }
}

/// Returns true if the client wants the whole Value in its default encoding.
#[inline]
fn is_plain(item: &ReadValueIdRef<'_>) -> bool {
    item.index_range.is_none_or(str::is_empty) && item.data_encoding.is_null()
}

/// Checks the requested DataEncoding: it may be chosen for structures only, and only one is available (OPC 10000-4, 5.11.2).
pub(crate) fn check_encoding(
    encoding: &QualifiedNameRef<'_>,
    value: Option<&Variant>,
) -> Result<(), StatusCode> {
    if encoding.is_null() {
        return Ok(());
    }
    let is_structure = value
        .and_then(Variant::built_in_type)
        .is_some_and(|built_in_type| built_in_type == takt_ua::BuiltInType::ExtensionObject);
    match (is_structure, encoding.namespace, encoding.name) {
        (false, ..) => Err(StatusCode::BadDataEncodingInvalid),
        (true, 0, Some("Default Binary")) => Ok(()),
        (true, 0, Some("Default XML" | "Default JSON")) => {
            Err(StatusCode::BadDataEncodingUnsupported)
        }
        (true, ..) => Err(StatusCode::BadDataEncodingInvalid),
    }
}
