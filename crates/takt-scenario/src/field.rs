//! Descriptions of fields in short form.

use crate::shape::{Field, Kind};

/// Describes a field that must be given.
pub(crate) const fn need(name: &'static str, kind: Kind, description: &'static str) -> Field {
    Field {
        name,
        kind,
        required: true,
        description,
    }
}

/// Describes a field that may be left out.
pub(crate) const fn may(name: &'static str, kind: Kind, description: &'static str) -> Field {
    Field {
        name,
        kind,
        required: false,
        description,
    }
}

/// A number of things.
pub(crate) const COUNT: Kind = Kind::Integer(1, i64::MAX);

/// Priority code point (IEEE 802.1Q, 6.9.3).
pub(crate) const PCP: Kind = Kind::Integer(0, 7);

/// VLAN identifier (IEEE 802.1Q, 9.6).
pub(crate) const VLAN: Kind = Kind::Integer(1, 4094);
