//! Checks of a value against a Variable's DataType, ValueRank and ArrayDimensions (OPC 10000-3, 5.6.2; OPC 10000-4, 5.11.4).

use std::sync::atomic::Ordering;

use takt_ua::{
    ArrayRef, BuiltInType, ExtensionObjectBodyRef, NodeId, NodeIdRef, StatusCode, VariantRef, ids,
};

use super::definition::value_rank;
use super::hierarchy::MAX_TYPE_DEPTH;
use super::node::{Inner, NodeRef, VariableRef};
use super::view::View;

/// The built-in types that values of a DataType have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Expected {
    /// Exactly one type.
    Exact(BuiltInType),
    /// Any number.
    Number,
    /// Any signed integer.
    Integer,
    /// Any unsigned integer.
    UInteger,
    /// Any type, and null.
    Any,
    /// The DataType is not in the address space.
    Unknown,
}

/// Form in which a value has to be stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fit {
    /// The unchanged value.
    Exactly,
    /// A ByteString for an array of Byte, stored with the encoding byte of the latter. The rest is the same.
    AsByteArray,
    /// An array of Byte for a ByteString.
    AsByteString,
}

impl Expected {
    /// Returns the built-in types of a DataType.
    pub(crate) fn of(view: &View<'_>, data_type: NodeIdRef<'_>) -> Self {
        let mut current = data_type.to_owned();
        for _ in 0..MAX_TYPE_DEPTH {
            if let Some(expected) = current.standard_id().and_then(Self::standard) {
                return expected;
            }
            match view.supertype(&current) {
                Some(supertype) => current = supertype,
                None => break,
            }
        }
        Self::Unknown
    }

    fn standard(data_type: u32) -> Option<Self> {
        Some(match data_type {
            ids::BASE_DATA_TYPE => Self::Any,
            ids::NUMBER => Self::Number,
            ids::INTEGER => Self::Integer,
            ids::UINTEGER => Self::UInteger,
            ids::ENUMERATION => Self::Exact(BuiltInType::Int32),
            // The NodeId of a built-in type is its number (OPC 10000-6, 5.1.2).
            id => Self::Exact(BuiltInType::from_u8(u8::try_from(id).ok()?)?),
        })
    }

    /// Returns the built-in types of a Variable's DataType. The result is cached if the node is in memory.
    #[inline]
    pub(crate) fn of_variable(
        view: &View<'_>,
        node: &NodeRef<'_>,
        variable: &VariableRef<'_>,
    ) -> Self {
        let Inner::Node(entry) = node.inner else {
            return Self::of(view, variable.data_type);
        };
        if let Some(known) = Self::from_code(entry.expected.load(Ordering::Relaxed)) {
            return known;
        }
        let expected = Self::of(view, variable.data_type);
        // Threads that do this at the same time store the same.
        entry.expected.store(expected.code(), Ordering::Relaxed);
        expected
    }

    /// Returns the code for the cache; 0: not known. An unknown DataType stays 0, so that it is looked up again.
    fn code(self) -> u8 {
        match self {
            Self::Exact(built_in_type) => built_in_type as u8,
            Self::Any => 64,
            Self::Number => 65,
            Self::Integer => 66,
            Self::UInteger => 67,
            Self::Unknown => 0,
        }
    }

    fn from_code(code: u8) -> Option<Self> {
        Some(match code {
            64 => Self::Any,
            65 => Self::Number,
            66 => Self::Integer,
            67 => Self::UInteger,
            code => Self::Exact(BuiltInType::from_u8(code)?),
        })
    }

    fn allows(self, built_in_type: BuiltInType) -> bool {
        use BuiltInType as B;
        let unsigned = matches!(built_in_type, B::Byte | B::UInt16 | B::UInt32 | B::UInt64);
        let signed = matches!(built_in_type, B::SByte | B::Int16 | B::Int32 | B::Int64);
        match self {
            Self::Exact(expected) => expected == built_in_type,
            Self::Any => true,
            Self::Number => unsigned || signed || matches!(built_in_type, B::Float | B::Double),
            Self::Integer => signed,
            Self::UInteger => unsigned,
            Self::Unknown => false,
        }
    }
}

impl View<'_> {
    /// Returns the built-in type of the values of a DataType: Int32 for enumerations, ExtensionObject for structures, Variant for
    /// abstract DataTypes of several built-in types. `None` if the DataType does not exist.
    pub fn built_in_type(&self, data_type: &NodeId) -> Option<BuiltInType> {
        match Expected::of(self, data_type.as_ref()) {
            Expected::Exact(built_in_type) => Some(built_in_type),
            Expected::Number | Expected::Integer | Expected::UInteger | Expected::Any => {
                Some(BuiltInType::Variant)
            }
            Expected::Unknown => None,
        }
    }

    /// Returns the DataType of an instance whose values have a built-in type, `Variant` for any: `declared`, the DataType of its
    /// InstanceDeclaration, or the built-in type itself if that is narrower. `None` if such values do not fit.
    pub fn narrowed(&self, declared: &NodeId, built_in_type: BuiltInType) -> Option<NodeId> {
        let expected = Expected::of(self, declared.as_ref());
        match (expected, built_in_type) {
            (Expected::Unknown, _) => None,
            (_, BuiltInType::Variant) => Some(declared.clone()),
            (Expected::Exact(exact), _) => (exact == built_in_type).then(|| declared.clone()),
            _ => expected
                .allows(built_in_type)
                .then(|| NodeId::numeric(0, built_in_type as u32)),
        }
    }

    /// Checks a value for a Variable. With `is_part`, the value is for an IndexRange, and only its type is checked.
    ///
    /// # Errors
    /// The StatusCode of a Write with this value.
    pub fn check_value(
        &self,
        node: &NodeRef<'_>,
        variable: &VariableRef<'_>,
        value: &VariantRef<'_>,
        is_part: bool,
    ) -> Result<Fit, StatusCode> {
        let expected = Expected::of_variable(self, node, variable);
        self.check(expected, variable, value, is_part)
    }

    /// Checks a value for a Variable, or an argument, that is not a node yet.
    ///
    /// # Errors
    /// The StatusCode of a Write with this value.
    pub fn check_value_of(
        &self,
        variable: &VariableRef<'_>,
        value: &VariantRef<'_>,
    ) -> Result<Fit, StatusCode> {
        self.check(
            Expected::of(self, variable.data_type),
            variable,
            value,
            false,
        )
    }

    fn check(
        &self,
        expected: Expected,
        variable: &VariableRef<'_>,
        value: &VariantRef<'_>,
        is_part: bool,
    ) -> Result<Fit, StatusCode> {
        let Some(built_in_type) = value.built_in_type() else {
            return if expected == Expected::Any {
                Ok(Fit::Exactly)
            } else {
                Err(StatusCode::BadTypeMismatch)
            };
        };
        let fit = fit(expected, built_in_type, value, variable.value_rank)?;
        if fit == Fit::Exactly {
            if built_in_type == BuiltInType::ExtensionObject {
                self.check_structures(variable.data_type, value)?;
            }
            // The rank of a part differs from that of the whole.
            if !is_part {
                check_rank(variable, value)?;
            }
        }
        Ok(fit)
    }

    /// Checks that every structure is of the DataType or of a subtype.
    fn check_structures(
        &self,
        data_type: NodeIdRef<'_>,
        value: &VariantRef<'_>,
    ) -> Result<(), StatusCode> {
        if matches!(
            data_type.standard_id(),
            Some(ids::STRUCTURE | ids::BASE_DATA_TYPE)
        ) {
            return Ok(());
        }
        let fits = |value: VariantRef<'_>| match value {
            VariantRef::ExtensionObject(object) => {
                let is_null =
                    object.type_id.is_null() && object.body == ExtensionObjectBodyRef::None;
                is_null
                    || self
                        .encoded_type(object.type_id)
                        .is_some_and(|id| self.is_subtype_of(&id, data_type))
            }
            _ => false,
        };
        let all_fit = match value {
            VariantRef::Array(array) => array.iter().all(fits),
            scalar => fits(*scalar),
        };
        if all_fit {
            Ok(())
        } else {
            Err(StatusCode::BadTypeMismatch)
        }
    }

    /// Returns the DataType with this encoding; a DataType is returned unchanged (OPC 10000-6, 5.2.2.15).
    fn encoded_type(&self, encoding: NodeIdRef<'_>) -> Option<NodeId> {
        let references = self.node(encoding)?.references();
        let data_type = references.targets(ids::HAS_ENCODING, false).next();
        Some(data_type.unwrap_or(encoding).to_owned())
    }
}

fn fit(
    expected: Expected,
    built_in_type: BuiltInType,
    value: &VariantRef<'_>,
    rank: i32,
) -> Result<Fit, StatusCode> {
    if expected.allows(built_in_type) {
        return Ok(Fit::Exactly);
    }
    let wants_array =
        rank == value_rank::ONE_DIMENSION || rank == value_rank::ONE_OR_MORE_DIMENSIONS;
    match (expected, value) {
        (Expected::Exact(BuiltInType::Byte), VariantRef::ByteString(Some(_))) if wants_array => {
            Ok(Fit::AsByteArray)
        }
        (Expected::Exact(BuiltInType::ByteString), VariantRef::Array(array))
            if rank == value_rank::SCALAR
                && array.element_type() == BuiltInType::Byte
                && array.dimensions().len() <= 1 =>
        {
            Ok(Fit::AsByteString)
        }
        _ => Err(StatusCode::BadTypeMismatch),
    }
}

fn check_rank(variable: &VariableRef<'_>, value: &VariantRef<'_>) -> Result<(), StatusCode> {
    let dimensions = match value {
        VariantRef::Array(array) => {
            i32::try_from(array.dimensions().len().max(1)).unwrap_or(i32::MAX)
        }
        _ => 0,
    };
    let fits = match variable.value_rank {
        value_rank::ANY => true,
        value_rank::SCALAR => dimensions == 0,
        value_rank::SCALAR_OR_ONE_DIMENSION => dimensions <= 1,
        value_rank::ONE_OR_MORE_DIMENSIONS => dimensions >= 1,
        rank => dimensions == rank,
    };
    // An array of Variants may have any content (OPC 10000-4, 5.11.4) only if any rank is allowed.
    if !fits {
        return Err(StatusCode::BadTypeMismatch);
    }
    match value {
        VariantRef::Array(array) => check_lengths(variable.array_dimensions, array),
        _ => Ok(()),
    }
}

/// Checks the lengths. ArrayDimensions are maximum lengths; 0 is no limit.
fn check_lengths(limits: &[u32], array: &ArrayRef<'_>) -> Result<(), StatusCode> {
    let fits = |(limit, length): (&u32, u32)| *limit == 0 || length <= *limit;
    let all_fit = if array.dimensions().len() == 0 {
        limits
            .first()
            .is_none_or(|limit| fits((limit, u32::try_from(array.len()).unwrap_or(u32::MAX))))
    } else {
        limits.iter().zip(array.dimensions()).all(fits)
    };
    if all_fit {
        Ok(())
    } else {
        Err(StatusCode::BadOutOfRange)
    }
}
