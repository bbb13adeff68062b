//! Numbers at offsets of a byte string, in the byte order of the host.

/// Returns the unsigned number of 1, 2, 4 or 8 bytes at an offset; `None` outside the bytes.
pub(super) fn unsigned(bytes: &[u8], offset: usize, size: usize) -> Option<u64> {
    let field = bytes.get(offset..offset.checked_add(size)?)?;
    Some(match size {
        1 => u64::from(*field.first()?),
        2 => u64::from(u16::from_ne_bytes(field.try_into().ok()?)),
        4 => u64::from(u32::from_ne_bytes(field.try_into().ok()?)),
        8 => u64::from_ne_bytes(field.try_into().ok()?),
        _ => return None,
    })
}

/// Returns the signed number of 1, 2, 4 or 8 bytes at an offset; `None` outside the bytes.
pub(super) fn signed(bytes: &[u8], offset: usize, size: usize) -> Option<i64> {
    let number = unsigned(bytes, offset, size)?;
    // The sign bit of the field is moved to that of the number and back.
    let unused = 64_u32.checked_sub(u32::try_from(size).ok()?.checked_mul(8)?)?;
    Some(number.checked_shl(unused)?.cast_signed() >> unused)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_their_sign() {
        let bytes = (-2_i32).to_ne_bytes();
        assert_eq!(signed(&bytes, 0, 4), Some(-2));
        assert_eq!(unsigned(&bytes, 0, 4), Some(0xFFFF_FFFE));
        assert_eq!(signed(&7_i64.to_ne_bytes(), 0, 8), Some(7));
        assert_eq!(signed(&[0x80], 0, 1), Some(-128));
        assert_eq!(signed(&bytes, 1, 4), None);
        assert_eq!(unsigned(&bytes, usize::MAX, 4), None);
        assert_eq!(unsigned(&bytes, 0, 3), None);
    }
}
