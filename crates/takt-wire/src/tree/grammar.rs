//! Vocabulary of the field tables. Readers of messages, in Rust or in Lua, need to support only these elements.

use takt_ua::BuiltInType;

/// A field, or a group of fields. The parts of a group without a name replace the group.
pub(super) struct Field {
    /// Name in the standard.
    pub(super) name: &'static str,
    pub(super) kind: Kind,
    /// Condition for the presence of the field.
    pub(super) when: Option<(&'static str, Test)>,
}

/// Condition for the value of a field that was read before; an absent field has the value 0.
#[derive(Clone, Copy)]
pub(super) enum Test {
    /// All these bits are set.
    Set(u64),
    /// The number is at least this.
    AtLeast(u64),
}

/// Encoding of a field.
pub(super) enum Kind {
    /// A built-in type. Those that [`built_in`](super::values::built_in) knows have parts.
    BuiltIn(BuiltInType),
    /// A Byte of flags.
    Flags(&'static [Bits]),
    /// An unsigned number of this many bytes whose values have names.
    Named(u8, Names),
    /// The upper 16 bits of a StatusCode.
    Status,
    /// Bytes, whose number is in another field.
    Bytes(&'static str),
    /// All remaining bytes; no field if there are none.
    Rest,
    /// RawData fields: all remaining bytes, unless the metadata is known.
    RawData,
    /// Fields one after another.
    Group(&'static [Field]),
    /// A structure of namespace 0, by the NodeId of its DataType.
    DataType(u32),
    /// An enumeration of namespace 0, by the NodeId of its DataType.
    Enumeration(u32),
    /// A list of these fields, whose number is in another field.
    List(&'static str, &'static Field),
    /// An array: an Int32 with the number of elements, and the elements.
    Array(&'static Field),
    /// As many of these fields as fit the number of bytes in another field.
    Fill(&'static str, &'static Field),
    /// The field that these bits of another field select. No other values are allowed.
    Switch(&'static str, u64, &'static [(u64, Field)]),
    /// The built-in type whose number is in these bits of another field.
    TypedBy(&'static str, u64),
    /// The payload, which ends before SecurityFooter and signature.
    Payload(&'static Field),
    /// DataSetMessages: one for each of the Sizes that were read before, or one with all remaining bytes.
    DataSetMessages(&'static [Field]),
    /// The body of an ExtensionObject, whose TypeId and length are known.
    Body,
}

/// Bits of a field of flags.
pub(super) struct Bits {
    pub(super) name: &'static str,
    pub(super) mask: u64,
    /// Names of the values, which are shifted to the right; empty for single flags.
    pub(super) names: Names,
}

/// Names of values.
pub(super) type Names = &'static [(u64, &'static str)];

pub(super) const fn field(name: &'static str, kind: Kind) -> Field {
    Field {
        name,
        kind,
        when: None,
    }
}

/// Returns a field of a built-in type.
pub(super) const fn b(name: &'static str, built_in: BuiltInType) -> Field {
    field(name, Kind::BuiltIn(built_in))
}

pub(super) const fn group(name: &'static str, fields: &'static [Field]) -> Field {
    field(name, Kind::Group(fields))
}

pub(super) const fn flags(name: &'static str, bits: &'static [Bits]) -> Field {
    field(name, Kind::Flags(bits))
}

/// Returns a choice; each of its cases has its own name.
pub(super) const fn switch(on: &'static str, mask: u64, cases: &'static [(u64, Field)]) -> Field {
    field("", Kind::Switch(on, mask, cases))
}

/// No field, for the cases of a choice without one.
pub(super) const NOTHING: Field = group("", &[]);

/// Returns a flag.
pub(super) const fn bit(name: &'static str, mask: u64) -> Bits {
    Bits {
        name,
        mask,
        names: &[],
    }
}

/// Returns bits that form a number.
pub(super) const fn bits(name: &'static str, mask: u64, names: Names) -> Bits {
    Bits { name, mask, names }
}

impl Field {
    /// Makes the field depend on these bits of another one: it is present only if they are set.
    pub(super) const fn when(mut self, other: &'static str, bits: u64) -> Self {
        self.when = Some((other, Test::Set(bits)));
        self
    }

    /// Makes the field depend on another one: it is present only if that one is at least `minimum`.
    pub(super) const fn from(mut self, other: &'static str, minimum: u64) -> Self {
        self.when = Some((other, Test::AtLeast(minimum)));
        self
    }
}

impl Test {
    pub(super) fn holds(self, value: u64) -> bool {
        match self {
            Self::Set(bits) => value & bits == bits,
            Self::AtLeast(minimum) => value >= minimum,
        }
    }
}
