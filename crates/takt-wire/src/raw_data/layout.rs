//! Types and sizes of RawData fields.

use std::sync::Arc;

use takt_ua::{BuiltInType, NodeId};

use super::error::Problem;

/// Largest field in bytes, which bounds the size of padded fields.
const MAX_SIZE: usize = 64 << 20;

/// Largest number of dimensions of a matrix.
pub(super) const MAX_RANK: usize = 8;

/// A field of a DataSet, or of a structure.
#[derive(Debug, Clone)]
pub(crate) struct RawField {
    /// Name in the metadata.
    pub(crate) name: String,
    pub(crate) raw_type: RawType,
    pub(crate) rank: Rank,
    /// True if the field is optional: a field of a structure with optional fields that may be absent.
    pub(crate) is_optional: bool,
    fixed_size: Option<usize>,
    min_size: usize,
}

/// The type of a value, or of the elements of an array.
#[derive(Debug, Clone)]
pub(crate) enum RawType {
    /// A type whose encoding always has the same size.
    Fixed(BuiltInType),
    /// Largest length in bytes; 0 if not known.
    String(usize),
    /// Largest length in bytes; 0 if not known.
    ByteString(usize),
    Structure(Arc<RawStructure>),
}

/// Rank of a field: scalar, array or matrix.
#[derive(Debug, Clone)]
pub(crate) enum Rank {
    Scalar,
    /// An array, with its largest number of elements; 0 if not known.
    Array(usize),
    /// A matrix, with its number of dimensions.
    Matrix {
        rank: usize,
        /// Largest length of each dimension; empty if not known.
        max: Vec<usize>,
    },
}

/// A structure, encoded in place.
#[derive(Debug)]
pub(crate) struct RawStructure {
    /// NodeId of its Default Binary encoding.
    pub(super) encoding_id: NodeId,
    pub(crate) kind: StructureKind,
    pub(crate) fields: Vec<RawField>,
    fixed_size: Option<usize>,
    min_size: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum StructureKind {
    Plain,
    /// Structure with optional fields: an encoding mask comes first (OPC 10000-6, 5.2.7).
    OptionalFields,
    /// Union: the number of its only field comes first (OPC 10000-6, 5.2.8).
    Union,
}

const TOO_LARGE: Problem = Problem::Invalid("too large for RawData: more than 64 MiB");

/// Returns a product of sizes; `None` if it is not fixed, an error if it is too large.
fn product(size: Option<usize>, counts: &[usize]) -> Result<Option<usize>, Problem> {
    let Some(size) = size else { return Ok(None) };
    let product = counts
        .iter()
        .try_fold(size, |product, count| product.checked_mul(*count));
    match product.filter(|size| *size <= MAX_SIZE) {
        Some(size) => Ok(Some(size)),
        None => Err(TOO_LARGE),
    }
}

impl RawField {
    pub(super) fn new(
        name: &str,
        raw_type: RawType,
        rank: Rank,
        is_optional: bool,
    ) -> Result<Self, Problem> {
        let element = raw_type.fixed_size();
        let (header, size) = match &rank {
            Rank::Scalar => (0, product(element, &[])?),
            Rank::Array(0) => (4, None),
            Rank::Array(max) => (4, product(element, &[*max])?),
            // The number of dimensions and their lengths come first (OPC 10000-6, 5.2.5).
            Rank::Matrix { rank, max } if max.is_empty() => (4 + 4 * rank, None),
            Rank::Matrix { rank, max } => (4 + 4 * rank, product(element, max)?),
        };
        let min_size = match &rank {
            Rank::Scalar => raw_type.min_size(),
            // A null array is its length alone.
            _ => 4,
        };
        Ok(Self {
            name: name.to_owned(),
            fixed_size: size.map(|size| size + header),
            raw_type,
            rank,
            is_optional,
            min_size,
        })
    }

    /// Returns the size in bytes if it is always the same.
    pub(crate) fn fixed_size(&self) -> Option<usize> {
        self.fixed_size
    }
}

impl RawType {
    /// Returns the size in bytes if it is always the same.
    pub(crate) fn fixed_size(&self) -> Option<usize> {
        match self {
            Self::Fixed(built_in_type) => built_in_type.encoded_size(),
            Self::String(0) | Self::ByteString(0) => None,
            Self::String(max) | Self::ByteString(max) => Some(max.saturating_add(4)),
            Self::Structure(structure) => structure.fixed_size,
        }
    }

    /// Returns the smallest size of a value in bytes, at least 1.
    pub(crate) fn min_size(&self) -> usize {
        match self {
            Self::Fixed(built_in_type) => built_in_type.encoded_size().unwrap_or(1),
            Self::String(_) | Self::ByteString(_) => 4,
            Self::Structure(structure) => structure.min_size,
        }
    }

    /// Returns the built-in type of the value in a Variant.
    pub(crate) fn built_in_type(&self) -> BuiltInType {
        match self {
            Self::Fixed(built_in_type) => *built_in_type,
            Self::String(_) => BuiltInType::String,
            Self::ByteString(_) => BuiltInType::ByteString,
            Self::Structure(_) => BuiltInType::ExtensionObject,
        }
    }
}

impl RawStructure {
    pub(super) fn new(
        encoding_id: NodeId,
        kind: StructureKind,
        fields: Vec<RawField>,
    ) -> Result<Self, Problem> {
        let sizes = || fields.iter().map(|field| field.fixed_size);
        let sum = || sizes().try_fold(0_usize, |sum, size| Some(sum.saturating_add(size?)));
        let fixed_size = match kind {
            StructureKind::Plain => sum(),
            StructureKind::OptionalFields => sum().map(|size| size.saturating_add(4)),
            StructureKind::Union => {
                let largest = sizes().try_fold(0_usize, |largest, size| Some(largest.max(size?)));
                largest.map(|size| size + 4)
            }
        };
        if fixed_size.is_some_and(|size| size > MAX_SIZE) {
            return Err(TOO_LARGE);
        }
        // An absent field has the length of a present one, which must be known.
        let padded = match kind {
            StructureKind::Plain => false,
            StructureKind::OptionalFields => fields
                .iter()
                .any(|field| field.is_optional && field.fixed_size.is_none()),
            StructureKind::Union => fixed_size.is_none(),
        };
        if padded {
            return Err(Problem::Forbidden(
                "an optional field, or a field of a Union, of unknown size",
            ));
        }
        let min_size = match kind {
            // Structures that use each other several times soon exceed every number.
            StructureKind::Plain => fields
                .iter()
                .fold(0, |sum: usize, field| sum.saturating_add(field.min_size)),
            _ => 4,
        };
        // Otherwise an array could have any number of elements, and a few bytes would decode to gigabytes.
        if min_size == 0 {
            return Err(Problem::Forbidden("a structure without fields"));
        }
        Ok(Self {
            encoding_id,
            kind,
            fields,
            fixed_size,
            min_size,
        })
    }

    /// Returns the size that a Union is padded to, without its SwitchField.
    pub(crate) fn union_size(&self) -> usize {
        self.fixed_size.unwrap_or(4).saturating_sub(4)
    }
}

/// Visits the cells of a matrix with lengths `actual` in row-major order. If there are `max` lengths, it also visits
/// the absent cells, for which `visit` gets `false`.
pub(crate) fn cells<E>(
    actual: &[usize],
    max: &[usize],
    mut visit: impl FnMut(bool) -> Result<(), E>,
) -> Result<(), E> {
    let lengths = if max.is_empty() { actual } else { max };
    let mut index = [0_usize; MAX_RANK];
    // This cannot overflow: the layout limits the largest lengths, and the message the actual ones.
    let count = lengths.iter().product::<usize>();
    for _ in 0..count {
        visit(index.iter().zip(actual).all(|(at, length)| at < length))?;
        let (index, _) = index.split_at_mut(lengths.len().min(MAX_RANK));
        for (at, length) in index.iter_mut().zip(lengths).rev() {
            *at += 1;
            if *at < *length {
                break;
            }
            *at = 0;
        }
    }
    Ok(())
}
