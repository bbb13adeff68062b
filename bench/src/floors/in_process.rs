//! Floors within one thread.

use std::hint::black_box;

use crate::measure::Samples;

/// Size of a batch. Work of nanoseconds is timed in batches.
pub(crate) const BATCH: u32 = 100;

/// Times the cheapest system call.
pub(crate) fn system_call(durations: &mut Samples, batches: u64) {
    batched(durations, batches, || {
        black_box(rustix::process::getppid());
    });
}

/// Times reading the real-time clock. Every response does it for its timestamp.
pub(crate) fn clock_read(durations: &mut Samples, batches: u64) {
    batched(durations, batches, || {
        black_box(takt_rt::clock::realtime_nanos());
    });
}

/// Times copying `bytes` within the cache.
///
/// Two consecutive allocations of malloc are 16 bytes apart, modulo 4096. On AMD the C library's memcpy then takes twenty times
/// as long, and would be no floor. So there is more space between them.
pub(crate) fn memcpy(durations: &mut Samples, batches: u64, bytes: usize) {
    const APART: usize = 256;
    let source = vec![1_u8; bytes];
    let mut target = vec![0_u8; bytes + APART];
    batched(durations, batches, || {
        if let Some(target) = black_box(&mut target).get_mut(APART..) {
            target.copy_from_slice(black_box(&source));
        }
    });
}

/// Runs `work` in `batches` timed batches, after one batch that is not timed.
pub(crate) fn batched(durations: &mut Samples, batches: u64, mut work: impl FnMut()) {
    for _ in 0..BATCH {
        work();
    }
    for _ in 0..batches {
        durations.time(|| {
            for _ in 0..BATCH {
                work();
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn floors_take_some_time_but_not_much() {
        for (name, floor) in [
            ("system call", system_call as fn(&mut Samples, u64)),
            ("clock", clock_read),
            ("memcpy", |durations, batches| {
                memcpy(durations, batches, 4096)
            }),
        ] {
            let mut durations = Samples::batched(BATCH);
            floor(&mut durations, 20);
            let percentiles = durations.percentiles();
            assert_eq!(percentiles.samples, 20, "{name}");
            // Without optimisation and on a busy machine, only the order of magnitude is known.
            assert!(
                percentiles.min > 0.0 && percentiles.min < 1000.0,
                "{name}: {percentiles:?}"
            );
        }
    }
}
