//! Prefetching: a hint that lets the transfer of cache lines from another core run beside other work.
//!
//! A line that another core has written takes a transfer to be read, and a line that another core has read takes one to be
//! written: 100 to 250 ns between cores that share no cache. A store that waits for its line also holds up all later ones.

/// Bytes of a cache line; on processors with longer lines, a line is requested more than once.
const LINE: usize = 64;

/// Requests the cache lines of `memory`, to be written soon. Nothing else changes.
#[inline]
pub fn for_writing<T>(memory: &mut [T]) {
    each_line(memory.as_ptr().cast(), size_of_val(memory), |line| {
        #[cfg(all(target_arch = "x86_64", not(miri)))]
        // SAFETY: the instruction changes no memory and no register. It does not fault, whatever the address is; processors without
        // it carry out nothing.
        unsafe {
            std::arch::asm!(
                "prefetchw [{line}]",
                line = in(reg) line,
                options(nostack, preserves_flags, readonly),
            );
        }
        #[cfg(all(target_arch = "aarch64", not(miri)))]
        // SAFETY: as above.
        unsafe {
            std::arch::asm!(
                "prfm pstl1keep, [{line}]",
                line = in(reg) line,
                options(nostack, preserves_flags, readonly),
            );
        }
        let _ = line;
    });
}

/// Requests the cache lines of `length` bytes from `start` on, to be read soon. Nothing else changes.
#[inline]
pub(crate) fn for_reading(start: *const u8, length: usize) {
    each_line(start, length, |line| {
        #[cfg(all(target_arch = "x86_64", not(miri)))]
        // SAFETY: as in `for_writing`.
        unsafe {
            std::arch::asm!(
                "prefetcht0 [{line}]",
                line = in(reg) line,
                options(nostack, preserves_flags, readonly),
            );
        }
        #[cfg(all(target_arch = "aarch64", not(miri)))]
        // SAFETY: as in `for_writing`.
        unsafe {
            std::arch::asm!(
                "prfm pldl1keep, [{line}]",
                line = in(reg) line,
                options(nostack, preserves_flags, readonly),
            );
        }
        let _ = line;
    });
}

/// Calls `request` with an address in each line of `length` bytes from `start` on.
#[inline]
fn each_line(start: *const u8, length: usize, mut request: impl FnMut(*const u8)) {
    let first = start.wrapping_sub(start.addr() % LINE);
    let lines = (length + start.addr() % LINE).div_ceil(LINE);
    for line in 0..lines {
        request(first.wrapping_add(line * LINE));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_line_is_requested_once() {
        #[repr(align(64))]
        struct Lines([u8; 4 * LINE]);
        let lines = Lines([0; 4 * LINE]);
        let of = |offset: usize, length: usize| {
            let mut requested = Vec::new();
            let start = lines.0.as_ptr();
            each_line(start.wrapping_add(offset), length, |line| {
                requested.push((line.addr() - start.addr()) / LINE);
            });
            requested
        };
        assert_eq!(of(0, 64), [0]);
        assert_eq!(of(0, 65), [0, 1]);
        assert_eq!(of(63, 2), [0, 1]);
        assert_eq!(of(70, 122), [1, 2]);
        assert_eq!(of(64, 0), []);
    }

    #[test]
    fn prefetched_memory_keeps_its_content() {
        let mut bytes: Vec<u8> = (0..=255).collect();
        for_writing(&mut bytes);
        for_reading(bytes.as_ptr(), bytes.len());
        assert!(
            bytes
                .iter()
                .enumerate()
                .all(|(place, byte)| place == usize::from(*byte))
        );
        // A hint for memory that does not exist has no effect.
        for_reading(std::ptr::null(), 1000);
    }
}
