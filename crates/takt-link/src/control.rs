//! Ancillary data of received messages: a sequence of `struct cmsghdr`, each with data behind it.

/// The size of a `struct cmsghdr`: length, level, type.
const HEADER: usize = size_of::<usize>() + 8;

/// The first `N` bytes of the first item of that level and type.
pub(crate) fn find<const N: usize>(mut control: &[u8], level: i32, kind: i32) -> Option<[u8; N]> {
    loop {
        let (&length, rest) = control.split_first_chunk()?;
        let (&its_level, rest) = rest.split_first_chunk()?;
        let (&its_kind, _) = rest.split_first_chunk()?;
        let length = usize::from_ne_bytes(length);
        let data = control.get(HEADER..length)?;
        if i32::from_ne_bytes(its_level) == level && i32::from_ne_bytes(its_kind) == kind {
            return data.first_chunk().copied();
        }
        control = control.get(length.next_multiple_of(size_of::<usize>())..)?;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn item(level: i32, kind: i32, data: &[u8]) -> Vec<u8> {
        let mut bytes = (HEADER + data.len()).to_ne_bytes().to_vec();
        bytes.extend(level.to_ne_bytes());
        bytes.extend(kind.to_ne_bytes());
        bytes.extend(data);
        bytes.resize(bytes.len().next_multiple_of(size_of::<usize>()), 0);
        bytes
    }

    #[test]
    fn items_are_found_among_others() {
        let bytes = [
            item(1, 2, &[9]),
            item(1, 3, &[1, 2, 3, 4]),
            item(4, 3, &[7; 8]),
        ]
        .concat();
        assert_eq!(find::<4>(&bytes, 1, 3), Some([1, 2, 3, 4]));
        assert_eq!(find::<8>(&bytes, 4, 3), Some([7; 8]));
        assert_eq!(find::<1>(&bytes, 4, 2), None);
        assert_eq!(find::<2>(&bytes, 1, 2), None);
    }

    #[test]
    fn nonsense_ends() {
        assert_eq!(find::<1>(&[0; 64], 1, 1), None);
        assert_eq!(find::<1>(&[0xFF; 64], 1, 1), None);
        assert_eq!(find::<1>(&item(1, 2, &[9])[..12], 1, 2), None);
    }
}
