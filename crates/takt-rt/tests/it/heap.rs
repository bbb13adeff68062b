//! Freed memory goes back to the system. Each test has a process of its own, because resident memory is that of all threads.

use std::hint::black_box;

use takt_rt::heap::{give_back, provide_pages, return_large_buffers};

fn resident() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let line = line.unwrap().trim().trim_end_matches(" kB");
    line.parse::<usize>().unwrap() << 10
}

#[test]
fn large_buffers_go_back_when_they_are_freed() {
    takt_malloc::alone(|| {
        return_large_buffers();
        let use_and_free = || {
            let before = resident();
            // The first buffer would make glibc raise its limits; the second one would come from the heap of this
            // thread, and stay.
            for mebibytes in [31, 24] {
                drop(black_box(vec![1_u8; mebibytes << 20]));
            }
            resident().saturating_sub(before)
        };
        let kept = std::thread::spawn(use_and_free).join().unwrap();
        assert!(kept < 8 << 20, "{kept} bytes stay");
    });
}

#[test]
fn freed_memory_goes_back() {
    takt_malloc::alone(|| {
        // Small pieces, of which every hundredth stays: this memory is not returned automatically.
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
    });
}

#[test]
fn pages_are_provided_before_they_are_written() {
    takt_malloc::alone(|| {
        const LENGTH: usize = 16 << 20;
        let mut buffer: Vec<u8> = Vec::with_capacity(LENGTH);
        buffer.extend_from_slice(b"contents");
        let before = resident();
        provide_pages(buffer.as_ptr(), LENGTH);
        assert_eq!(buffer, b"contents");
        // Linux before 5.14 does not know the advice.
        let provided = resident().saturating_sub(before);
        let page = 4096;
        assert!(provided == 0 || provided + 2 * page >= LENGTH, "{provided}");
        buffer.resize(LENGTH, 1);
        assert!(resident() <= before + LENGTH + (1 << 20));
    });
}
