//! Views of descriptions: those of the standard and those of servers and metadata alike.

use super::description::{DescribedEnumeration, DescribedStructure, StructureKind};
use crate::generated_support::{
    EnumerationDescription, FieldDescription, FieldType, StructureDescription,
};
use crate::{BuiltInType, NodeId};

/// Encoding of a value.
#[derive(Debug, Clone, Copy)]
pub(crate) enum ValueShape<'a> {
    BuiltIn(BuiltInType),
    /// A structure, encoded in place, without an ExtensionObject around it.
    Structure(StructureShape<'a>),
    /// A structure in an ExtensionObject: this one or a subtype.
    Subtyped(StructureShape<'a>),
    Enumeration(EnumerationShape<'a>),
}

/// Description of a structure.
#[derive(Debug, Clone, Copy)]
pub(crate) enum StructureShape<'a> {
    Standard(&'static StructureDescription),
    Described(&'a DescribedStructure),
}

/// Description of an enumeration.
#[derive(Debug, Clone, Copy)]
pub(crate) enum EnumerationShape<'a> {
    Standard(&'static EnumerationDescription),
    Described(&'a DescribedEnumeration),
}

/// Field of a structure.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FieldShape<'a> {
    pub(crate) name: &'a str,
    /// The DataType has no description if there is only its NodeId.
    pub(crate) value: Result<ValueShape<'a>, &'a NodeId>,
    /// -1: a scalar; another number: of dimensions.
    pub(crate) value_rank: i32,
    pub(crate) is_optional: bool,
}

impl<'a> StructureShape<'a> {
    /// Returns the name that JSON for people has in `$type`.
    pub(crate) fn name(self) -> String {
        match self {
            Self::Standard(known) => known.name.to_owned(),
            // A name without a namespace would be that of a structure of the standard.
            Self::Described(known) if known.name.namespace == 0 => known.type_id.to_string(),
            Self::Described(known) => known.name.to_string(),
        }
    }

    /// Returns the NodeId of the `Default Binary` encoding; null if there is none.
    pub(crate) fn encoding_id(self) -> NodeId {
        match self {
            Self::Standard(known) => NodeId::numeric(0, known.binary_encoding_id),
            Self::Described(known) => known.encoding_id.clone(),
        }
    }

    pub(crate) fn kind(self) -> StructureKind {
        match self {
            Self::Standard(known) if known.has_optional_fields() => StructureKind::OptionalFields,
            Self::Standard(_) => StructureKind::Sequence,
            Self::Described(known) => known.kind,
        }
    }

    pub(crate) fn is_standard(self) -> bool {
        matches!(self, Self::Standard(_))
    }

    /// Returns the names of the fields.
    pub(crate) fn field_names(self) -> impl Iterator<Item = &'a str> {
        let (standard, described) = match self {
            Self::Standard(known) => (known.fields, &[][..]),
            Self::Described(known) => (&[][..], known.fields.as_slice()),
        };
        let standard = standard.iter().map(|field| field.name);
        standard.chain(described.iter().map(|field| field.name.as_str()))
    }

    pub(crate) fn field_count(self) -> usize {
        match self {
            Self::Standard(known) => known.fields.len(),
            Self::Described(known) => known.fields.len(),
        }
    }
}

/// Returns how a value of this type or of a subtype is encoded (OPC 10000-3, 8.49).
pub(super) fn subtyped(value: ValueShape<'_>) -> ValueShape<'_> {
    match value {
        ValueShape::Structure(structure) => ValueShape::Subtyped(structure),
        ValueShape::BuiltIn(BuiltInType::ExtensionObject) | ValueShape::Subtyped(_) => value,
        ValueShape::BuiltIn(_) | ValueShape::Enumeration(_) => {
            ValueShape::BuiltIn(BuiltInType::Variant)
        }
    }
}

/// Returns a field of a structure of the standard.
pub(super) fn standard_field(field: &'static FieldDescription) -> FieldShape<'static> {
    // The generated descriptions know all types that they name; a test checks that.
    let described = |shape: Option<ValueShape<'static>>| {
        shape.unwrap_or(ValueShape::BuiltIn(BuiltInType::Int32))
    };
    FieldShape {
        name: field.name,
        value: Ok(match field.field_type {
            FieldType::BuiltIn(built_in_type) => ValueShape::BuiltIn(built_in_type),
            FieldType::Structure(id) => described(
                StructureDescription::of_type(id)
                    .map(|known| ValueShape::Structure(StructureShape::Standard(known))),
            ),
            FieldType::Enumeration(id) => described(
                EnumerationDescription::of_type(id)
                    .map(|known| ValueShape::Enumeration(EnumerationShape::Standard(known))),
            ),
        }),
        value_rank: if field.is_array { 1 } else { -1 },
        is_optional: field.is_optional,
    }
}

impl<'a> EnumerationShape<'a> {
    pub(crate) fn built_in_type(self) -> BuiltInType {
        match self {
            Self::Standard(_) => BuiltInType::Int32,
            Self::Described(known) => known.built_in_type,
        }
    }

    pub(crate) fn is_option_set(self) -> bool {
        matches!(self, Self::Described(known) if known.is_option_set)
    }

    /// Returns the name of the type.
    pub(crate) fn name(self) -> String {
        match self {
            Self::Standard(known) => known.name.to_owned(),
            Self::Described(known) => known.name.to_string(),
        }
    }

    /// Returns the name of a value, or of a bit of an OptionSet.
    pub(crate) fn name_of(self, value: i64) -> Option<&'a str> {
        match self {
            Self::Standard(known) => known.name_of(i32::try_from(value).ok()?),
            Self::Described(known) => {
                let values = &known.values;
                let found = values.binary_search_by_key(&value, |(value, _)| *value);
                let (_, name) = values.get(found.ok()?)?;
                (!name.is_empty()).then_some(name)
            }
        }
    }

    /// Returns the value with a name, or the bit of an OptionSet.
    pub(crate) fn value_of(self, name: &str) -> Option<i64> {
        match self {
            Self::Standard(known) => known.value_of(name).map(i64::from),
            Self::Described(known) => {
                let mut values = known.values.iter();
                let (value, _) = values.find(|(_, known)| known == name)?;
                Some(*value)
            }
        }
    }

    /// Returns the names of the values.
    pub(crate) fn names(self) -> impl Iterator<Item = &'a str> {
        let (standard, described) = match self {
            Self::Standard(known) => (known.values, &[][..]),
            Self::Described(known) => (&[][..], known.values.as_slice()),
        };
        let standard = standard.iter().map(|(_, name)| *name);
        standard.chain(described.iter().map(|(_, name)| name.as_str()))
    }
}
