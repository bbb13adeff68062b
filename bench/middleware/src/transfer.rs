//! Time of a cache line's way from one processor to another. The host of a virtual machine moves its processors between cores with
//! and without a common cache, and changes by that each round trip between two processors.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::{Duration, Instant};

use takt_rt::affinity;

/// Number of times that a line goes to the other processor and back.
const ROUND_TRIPS: u32 = 2000;
/// Longest measurement: a processor that is in use gives the line back late.
const LONGEST: Duration = Duration::from_millis(20);
/// Number of looks between two readings of the clock.
const LOOKS_PER_CLOCK: u32 = 1024;

/// Returns the time of one way between the first two processors in ns; `None` if there is one only, or if others use them.
pub(crate) fn between_processors() -> Option<f64> {
    let cores = affinity::available().ok()?;
    let [first, second, ..] = *cores.as_slice() else {
        return None;
    };
    let line = Line::default();
    std::thread::scope(|scope| {
        scope.spawn(|| line.give_back(second));
        let sender = scope.spawn(|| line.send(first));
        let elapsed = sender.join().ok().flatten();
        line.is_over.store(true, Ordering::Relaxed);
        Some(elapsed?.as_nanos() as f64 / f64::from(2 * ROUND_TRIPS))
    })
}

/// Cache line that two threads write in turns.
#[derive(Default)]
#[repr(align(128))]
struct Line {
    /// Odd on its way to the second thread, even on the way back.
    number: AtomicU32,
    is_over: AtomicBool,
}

impl Line {
    /// Sends the line to the other thread and waits for it, many times; `None` if that takes too long.
    fn send(&self, core: usize) -> Option<Duration> {
        affinity::pin(core).ok()?;
        self.send_once(1)?;
        let begin = Instant::now();
        for number in 1..=ROUND_TRIPS {
            self.send_once(2 * number + 1)?;
        }
        Some(begin.elapsed())
    }

    fn send_once(&self, number: u32) -> Option<()> {
        self.number.store(number, Ordering::Release);
        let begin = Instant::now();
        let mut looks = 0_u32;
        while self.number.load(Ordering::Acquire) == number {
            looks = looks.wrapping_add(1);
            if looks.is_multiple_of(LOOKS_PER_CLOCK) && begin.elapsed() > LONGEST {
                return None;
            }
            std::hint::spin_loop();
        }
        Some(())
    }

    /// Gives the line back whenever it comes, until the measurement is over.
    fn give_back(&self, core: usize) {
        if affinity::pin(core).is_err() {
            return;
        }
        while !self.is_over.load(Ordering::Relaxed) {
            let number = self.number.load(Ordering::Acquire);
            if number % 2 == 1 {
                self.number.store(number + 1, Ordering::Release);
            }
            std::hint::spin_loop();
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    #[test]
    fn a_line_takes_a_time_between_two_processors_only() {
        let processors = affinity::available().unwrap().as_slice().len();
        // A busy machine gives no time: the measurement is repeated.
        let time = (0..20).find_map(|_| between_processors());
        match processors {
            1 => assert_eq!(time, None),
            _ => assert!((1.0..1e6).contains(&time.unwrap()), "{time:?} ns"),
        }
    }

    #[test]
    fn a_line_without_an_answer_ends_the_measurement() {
        let line = Line::default();
        let core = affinity::current();
        let sent = std::thread::scope(|scope| scope.spawn(|| line.send(core)).join().unwrap());
        assert_eq!(sent, None);
    }
}
