//! Values that contain a check of their consistency.

/// Variables of a Provider with their numbers of elements. The last one does not fit a slot of a channel.
pub const VARIABLES: [(&str, usize); 3] = [("Small", 16), ("Array", 1024), ("Large", 16384)];

/// Position of the Provider's number in a seed: the bits from this one on.
const NUMBER: u32 = 28;

/// Number of elements that follow from the first one; then they repeat, so that a value can be created and checked by
/// copies and comparisons, which are fast even without optimization.
const BLOCK: usize = 16;

/// Returns the elements of a value, a multiple of 16: element 0 is an unused seed, the others follow from it.
///
/// # Panics
/// If there are none.
pub fn fill(provider: u32, counter: u32, elements: &mut [u32]) {
    let seed = provider << NUMBER | counter & ((1 << NUMBER) - 1);
    let block = block(seed, elements.len());
    elements[..BLOCK].copy_from_slice(&block);
    let mut done = BLOCK;
    while done < elements.len() {
        let more = done.min(elements.len() - done);
        elements.copy_within(..more, done);
        done += more;
    }
}

/// Returns whether a value is consistent and has this Provider and length.
#[must_use]
pub fn is_whole(provider: u32, length: usize, elements: &[u32]) -> bool {
    let Some(first) = elements.first_chunk::<BLOCK>() else {
        return false;
    };
    elements.len() == length
        && first[0] >> NUMBER == provider
        && *first == block(first[0], length)
        && elements[BLOCK..] == elements[..length - BLOCK]
}

fn block(seed: u32, length: usize) -> [u32; BLOCK] {
    let mut next = seed;
    std::array::from_fn(|_| {
        let this = next;
        next = next.wrapping_mul(1_664_525).wrapping_add(length as u32);
        this
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mixtures_are_noticed() {
        let [mut old, mut new] = [[0; 64]; 2];
        fill(2, 7, &mut old);
        fill(2, 8, &mut new);
        assert!(is_whole(2, 64, &old) && is_whole(2, 64, &new));
        assert!(!is_whole(1, 64, &old), "another Provider's");
        assert!(!is_whole(2, 48, &old[..48]), "another Variable's");
        for at in 0..64 {
            let mut torn = old;
            torn[at..].copy_from_slice(&new[at..]);
            assert_eq!(is_whole(2, 64, &torn), at == 0, "torn at {at}");
        }
        assert!(!is_whole(0, 0, &[]));
    }
}
