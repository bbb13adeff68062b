//! Time for which a hypervisor ran something else (`steal` of `/proc/stat`, proc_stat(5)).

use std::fs;

/// File with the times of all processors since the start of the system.
const FILE: &str = "/proc/stat";

/// Place of the steal time among the numbers of a processor.
const STEAL: usize = 7;

/// Time for which a hypervisor ran something else although a processor had work. A hypervisor need not tell it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StealTime {
    /// Number of the processor.
    pub processor: u32,
    /// Time in nanoseconds, in steps of 10 ms on most systems.
    pub nanos: u64,
}

/// Reads the steal times of all processors since the start of the system. Without the file there are none.
pub(super) fn read() -> Vec<StealTime> {
    let text = fs::read_to_string(FILE).unwrap_or_default();
    parsed(&text, rustix::param::clock_ticks_per_second())
}

/// Returns the times of a text of that file, whose clock has so many ticks per second.
fn parsed(text: &str, ticks_per_second: u64) -> Vec<StealTime> {
    let tick = 1_000_000_000 / ticks_per_second.max(1);
    let line = |line: &str| {
        let (name, numbers) = line.split_once(' ')?;
        let ticks: u64 = numbers.split_whitespace().nth(STEAL)?.parse().ok()?;
        Some(StealTime {
            processor: name.strip_prefix("cpu")?.parse().ok()?,
            nanos: ticks.saturating_mul(tick),
        })
    };
    text.lines().filter_map(line).collect()
}

/// Returns the times from one reading to another one, of the processors that have some.
pub(super) fn between(before: &[StealTime], after: &[StealTime]) -> Vec<StealTime> {
    let since = |it: &StealTime| {
        let mut earlier = before.iter();
        let earlier = earlier.find(|other| other.processor == it.processor)?;
        // The times of some kernels go back.
        let nanos = it.nanos.saturating_sub(earlier.nanos);
        (nanos > 0).then_some(StealTime { nanos, ..*it })
    };
    after.iter().filter_map(since).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const BEFORE: &str = "cpu  3860037 2282221 1129287 1054735 16393 0 26175 3967 0 0\n\
        cpu0 1913411 1124589 544443 587989 5263 0 8851 2073 0 0\n\
        cpu1 1946626 1157632 584843 466746 11129 0 17323 1893 0 0\nintr 1 2 3 4 5 6 7 8 9\n";

    #[test]
    fn the_steal_times_of_a_measurement_are_told() {
        let before = parsed(BEFORE, 100);
        assert_eq!(before.len(), 2);
        let after = BEFORE.replace("1893", "1896").replace("cpu0 ", "cpu2 ");
        let expected = StealTime {
            processor: 1,
            nanos: 30_000_000,
        };
        assert_eq!(between(&before, &parsed(&after, 100)), [expected]);
        assert_eq!(between(&before, &before), []);
        assert_eq!(between(&parsed(&after, 100), &before), []);
    }

    #[test]
    fn damaged_files_have_none() {
        for text in [
            "",
            "cpu1",
            "cpu1 1 2 3",
            "cpux 1 2 3 4 5 6 7 8",
            "cpu1 1 2 3 4 5 6 7 x",
        ] {
            assert_eq!(parsed(text, 100), [], "{text}");
        }
        let most = format!("cpu1 0 0 0 0 0 0 0 {}", u64::MAX);
        assert_eq!(parsed(&most, 0).first().map(|it| it.nanos), Some(u64::MAX));
    }

    #[test]
    #[cfg(not(miri))]
    fn the_kernel_has_a_time_for_each_processor() {
        assert!(!read().is_empty());
    }
}
