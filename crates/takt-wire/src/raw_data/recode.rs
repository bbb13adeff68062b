//! Conversion of structures between their normal binary encoding and RawData, which differ in padding.

use takt_ua::binary::{Decoder, Encoder};

use super::error::Problem;
use super::layout::{Rank, RawField, RawStructure, RawType, StructureKind, cells};
use super::padding::zeros;

/// Direction of the conversion.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Direction {
    /// Padding is written.
    ToRaw,
    /// Padding is read.
    FromRaw,
}

/// A decoder and an encoder, with the direction of the conversion.
struct Recoder<'r, 'd, 'e> {
    decoder: &'r mut Decoder<'d>,
    encoder: &'r mut Encoder<'e>,
    direction: Direction,
}

/// Copies a structure.
pub(super) fn structure(
    raw: &RawStructure,
    decoder: &mut Decoder<'_>,
    encoder: &mut Encoder<'_>,
    direction: Direction,
) -> Result<(), Problem> {
    let mut recoder = Recoder {
        decoder,
        encoder,
        direction,
    };
    recoder.structure(raw)
}

/// Returns the number of padding bytes of a text of this length; null is padded as a whole.
pub(super) fn text_padding(length: Option<usize>, max: usize) -> Result<usize, Problem> {
    let length = length.unwrap_or(0);
    match max {
        // 0 stands for an unknown largest length, to which nothing can be padded.
        0 => Ok(0),
        _ => max
            .checked_sub(length)
            .ok_or(Problem::Invalid("longer than MaxStringLength")),
    }
}

/// Returns the length of the text that was read from `start` on; a text that was mended has another one.
pub(super) fn encoded_length(start: usize, decoder: &Decoder<'_>) -> Option<usize> {
    (decoder.position() - start).checked_sub(size_of::<i32>())
}

/// Reads the lengths of a matrix (OPC 10000-6, 5.2.5), checks them against their maximums, and checks that the
/// remaining bytes can hold all cells.
pub(super) fn lengths(
    rank: usize,
    max: &[usize],
    min_size: usize,
    decoder: &mut Decoder<'_>,
) -> Result<Vec<usize>, Problem> {
    if decoder.array_length(4)? != Some(rank) {
        return Err(Problem::Invalid("not a matrix of the ValueRank"));
    }
    let mut lengths = Vec::with_capacity(rank);
    for _ in 0..rank {
        let length = usize::try_from(decoder.i32()?);
        lengths.push(length.map_err(|_| Problem::Invalid("a negative dimension"))?);
    }
    if lengths.iter().zip(max).any(|(length, max)| length > max) {
        return Err(Problem::Invalid("longer than ArrayDimensions"));
    }
    // Each element takes at least `min_size` bytes, so a short message cannot announce a huge matrix.
    let size = lengths
        .iter()
        .try_fold(min_size, |size, length| size.checked_mul(*length));
    match size {
        Some(size) if size <= decoder.remaining() => Ok(lengths),
        _ => Err(Problem::Invalid("a matrix with missing elements")),
    }
}

impl Recoder<'_, '_, '_> {
    /// Writes, or reads, padding.
    fn padding(&mut self, count: usize) -> Result<(), Problem> {
        match self.direction {
            Direction::ToRaw => zeros(count, self.encoder)?,
            Direction::FromRaw => {
                self.decoder.bytes(count)?;
            }
        }
        Ok(())
    }

    fn copy(&mut self, count: usize) -> Result<(), Problem> {
        let bytes = self.decoder.bytes(count)?;
        Ok(self.encoder.bytes(bytes)?)
    }

    fn structure(&mut self, raw: &RawStructure) -> Result<(), Problem> {
        match raw.kind {
            StructureKind::Plain => raw.fields.iter().try_for_each(|field| self.field(field)),
            StructureKind::OptionalFields => {
                let mask = self.decoder.u32()?;
                self.encoder.u32(mask)?;
                let mut bits = mask;
                for field in &raw.fields {
                    let present = !field.is_optional || bits & 1 != 0;
                    if field.is_optional {
                        bits >>= 1;
                    }
                    match present {
                        true => self.field(field)?,
                        false => self.padding(field.fixed_size().unwrap_or(0))?,
                    }
                }
                // A bit without a field: the sender has another definition of the structure.
                match bits {
                    0 => Ok(()),
                    _ => Err(Problem::Invalid("an optional field that does not exist")),
                }
            }
            StructureKind::Union => {
                let switch = self.decoder.u32()?;
                self.encoder.u32(switch)?;
                let mut size = 0;
                if let Some(index) = (switch as usize).checked_sub(1) {
                    let field = raw.fields.get(index);
                    let field =
                        field.ok_or(Problem::Invalid("a field of a Union that does not exist"))?;
                    self.field(field)?;
                    size = field.fixed_size().unwrap_or(0);
                }
                self.padding(raw.union_size().saturating_sub(size))
            }
        }
    }

    fn field(&mut self, field: &RawField) -> Result<(), Problem> {
        let raw_type = &field.raw_type;
        let size = raw_type.fixed_size();
        match &field.rank {
            Rank::Scalar => self.one(raw_type),
            Rank::Array(max) => {
                let count = self.decoder.array_length(raw_type.min_size())?;
                self.encoder.array_length(count)?;
                let count = count.unwrap_or(0);
                if *max > 0 && count > *max {
                    return Err(Problem::Invalid("longer than ArrayDimensions"));
                }
                match (raw_type, size) {
                    // This cannot overflow: `array_length` has checked that these bytes are there.
                    (RawType::Fixed(_), Some(size)) => self.copy(count * size)?,
                    _ => (0..count).try_for_each(|_| self.one(raw_type))?,
                }
                // This cannot overflow: `RawField::new` has limited the product.
                self.padding(max.saturating_sub(count) * size.unwrap_or(0))
            }
            Rank::Matrix { rank, max } => {
                let actual = lengths(*rank, max, raw_type.min_size(), self.decoder)?;
                self.encoder.array_length(Some(*rank))?;
                for length in &actual {
                    self.encoder.array_length(Some(*length))?;
                }
                cells(
                    &actual,
                    if size.is_some() { max } else { &[] },
                    |present| match present {
                        true => self.one(raw_type),
                        false => self.padding(size.unwrap_or(0)),
                    },
                )
            }
        }
    }

    fn one(&mut self, raw_type: &RawType) -> Result<(), Problem> {
        match raw_type {
            RawType::Fixed(_) => self.copy(raw_type.min_size()),
            RawType::String(max) => {
                let start = self.decoder.position();
                let text = self.decoder.text()?;
                self.encoder.string(text.as_deref())?;
                self.padding(text_padding(encoded_length(start, self.decoder), *max)?)
            }
            RawType::ByteString(max) => {
                let bytes = self.decoder.byte_string()?;
                self.encoder.byte_string(bytes)?;
                self.padding(text_padding(bytes.map(<[u8]>::len), *max)?)
            }
            RawType::Structure(raw) => self.structure(raw),
        }
    }
}
