//! Mapping of a received message: UADP or JSON.

/// Returns true if a message is JSON. The first byte of a UADP message has its version, 1, in the lower bits; no first byte of
/// JSON has.
#[inline]
pub(crate) fn is_json(message: &[u8]) -> bool {
    let space = |byte: &&u8| matches!(byte, b' ' | b'\t' | b'\r' | b'\n');
    let first = message.iter().find(|byte| !space(byte));
    matches!(first, Some(b'{' | b'['))
}
