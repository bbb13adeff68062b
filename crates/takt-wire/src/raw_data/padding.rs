//! Padding with zeros.

use takt_ua::binary::{EncodeError, Encoder};

/// Writes zeros.
pub(super) fn zeros(mut count: usize, encoder: &mut Encoder<'_>) -> Result<(), EncodeError> {
    while count > 0 {
        let part = count.min(64);
        encoder.bytes([0; 64].get(..part).unwrap_or_default())?;
        count -= part;
    }
    Ok(())
}
