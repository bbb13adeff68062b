//! The heap of this process: memory that was freed goes back to the system.

/// Gives memory that was freed back to the system, as far as the allocator keeps whole pages of it.
///
/// After a peak of many large buffers glibc keeps tens of MiB, since it expects another peak. This walks through the
/// heap, which takes up to milliseconds: to be called seldom. Without glibc it does nothing.
pub fn give_back() {
    #[cfg(all(target_env = "gnu", not(miri)))]
    // SAFETY: malloc_trim has no preconditions, and is safe to call from any thread (malloc_trim(3)).
    unsafe {
        libc::malloc_trim(0);
    }
}

#[cfg(test)]
#[cfg(all(target_env = "gnu", not(miri)))]
mod tests {
    use super::*;

    fn resident() -> usize {
        let status = std::fs::read_to_string("/proc/self/status").unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        let line = line.unwrap().trim().trim_end_matches(" kB");
        line.parse::<usize>().unwrap() << 10
    }

    #[test]
    fn freed_memory_goes_back() {
        // Small pieces, of which every hundredth stays: nothing of this goes back by itself.
        let mut pieces: Vec<_> = (0..64_000).map(|_| vec![1_u8; 1000]).collect();
        let mut index = 0;
        pieces.retain(|_| {
            index += 1;
            index % 100 == 0
        });
        let before = resident();
        give_back();
        let after = resident();
        assert!(after + (16 << 20) < before, "{before} {after}");
        assert_eq!(pieces.len(), 640);
    }
}
