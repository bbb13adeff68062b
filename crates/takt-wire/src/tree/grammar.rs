//! The words of the field tables. Whoever reads messages by them, in Rust or in Lua, needs no more than these.

use takt_ua::BuiltInType;

/// A field, or fields that belong together. Without a name, its parts stand in place of it.
pub(super) struct Field {
    /// As the standard spells it.
    pub(super) name: &'static str,
    pub(super) kind: Kind,
    /// The field is there only then.
    pub(super) when: Option<(&'static str, Test)>,
}

/// What a field that was read before has to be; one that was not there is 0.
#[derive(Clone, Copy)]
pub(super) enum Test {
    /// All these bits are set.
    Set(u64),
    /// The number is at least this.
    AtLeast(u64),
}

/// How a field is encoded.
pub(super) enum Kind {
    /// A built-in type. Those that [`built_in`](super::values::built_in) knows have parts.
    BuiltIn(BuiltInType),
    /// A Byte of flags.
    Flags(&'static [Bits]),
    /// An unsigned number of so many bytes whose values have names.
    Named(u8, Names),
    /// The upper 16 bits of a StatusCode.
    Status,
    /// As many bytes as another field says.
    Bytes(&'static str),
    /// Bytes, all that are left; no field if none are.
    Rest,
    /// RawData fields: bytes, all that are left, unless the metadata is known.
    RawData,
    /// Fields one after another.
    Group(&'static [Field]),
    /// A structure of namespace 0, by the NodeId of its DataType.
    DataType(u32),
    /// An enumeration of namespace 0, by the NodeId of its DataType.
    Enumeration(u32),
    /// As many of these as another field says.
    List(&'static str, &'static Field),
    /// Int32 for the number, and as many of these.
    Array(&'static Field),
    /// As many of these as fit into the bytes that another field says.
    Fill(&'static str, &'static Field),
    /// What these bits of another field choose. Nothing else is allowed.
    Switch(&'static str, u64, &'static [(u64, Field)]),
    /// The built-in type that these bits of another field name.
    TypedBy(&'static str, u64),
    /// What is before SecurityFooter and signature.
    Payload(&'static Field),
    /// DataSetMessages: one for each of the Sizes that were read before, or one that takes the rest.
    DataSetMessages(&'static [Field]),
    /// The body of an ExtensionObject, whose TypeId and length are known.
    Body,
}

/// Bits of a field of flags.
pub(super) struct Bits {
    pub(super) name: &'static str,
    pub(super) mask: u64,
    /// Names of the values, shifted to the right; none for single flags.
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

/// Returns a choice; each of its cases has a name of its own.
pub(super) const fn switch(on: &'static str, mask: u64, cases: &'static [(u64, Field)]) -> Field {
    field("", Kind::Switch(on, mask, cases))
}

/// No field at all, where a choice leaves one out.
pub(super) const NOTHING: Field = group("", &[]);

/// Returns a flag.
pub(super) const fn bit(name: &'static str, mask: u64) -> Bits {
    Bits {
        name,
        mask,
        names: &[],
    }
}

/// Bits that are a number.
pub(super) const fn bits(name: &'static str, mask: u64, names: Names) -> Bits {
    Bits { name, mask, names }
}

impl Field {
    /// The field is there only if these bits of another one are set.
    pub(super) const fn when(mut self, other: &'static str, bits: u64) -> Self {
        self.when = Some((other, Test::Set(bits)));
        self
    }

    /// The field is there only if another one is at least this.
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
