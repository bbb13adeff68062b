//! Entries of `taprio`, in nanoseconds.

use takt_scenario::{Duration, Taprio};

use super::error::PlanError;

const PICOS_PER_NANO: u64 = 1000;

/// Returns a time in nanoseconds.
///
/// # Errors
/// A time that is no whole number of them.
pub(crate) fn nanoseconds(field: &'static str, time: Duration) -> Result<u64, PlanError> {
    match time.0 % PICOS_PER_NANO {
        0 => Ok(time.0 / PICOS_PER_NANO),
        _ => Err(PlanError::Nanoseconds { field, time }),
    }
}

/// Returns the entries of a cycle. A guard band, which `taprio` does not have, becomes entries of its own at the end of a window, in
/// which the gate is closed already.
///
/// # Errors
/// An interval that is no whole number of nanoseconds, or exceeds the 32 bits of `tc`.
pub(crate) fn entries(taprio: &Taprio) -> Result<Vec<(u8, u64)>, PlanError> {
    let guards = guards(taprio)?;
    let mut entries = Vec::new();
    let mut start = 0_u64;
    for entry in &taprio.entries {
        let interval = nanoseconds("an interval", entry.interval)?;
        if u32::try_from(interval).is_err() {
            return Err(PlanError::Interval(entry.interval));
        }
        let end = start.saturating_add(interval);
        let ends = guards.iter().flat_map(|guard| [guard.start, guard.end]);
        let mut ends: Vec<u64> = ends.filter(|at| (start..end).contains(at)).collect();
        ends.extend([start, end]);
        ends.sort_unstable();
        ends.dedup();
        for part in ends.windows(2) {
            let closed = guards.iter().filter(|guard| guard.contains(part[0]));
            let closed = closed.fold(0, |gates, guard| gates | guard.gate);
            entries.push((entry.gates & !closed, part[1] - part[0]));
        }
        start = end;
    }
    Ok(entries)
}

/// Time in a cycle in which the gate of a class is closed, although its window has not ended, in nanoseconds.
struct Guard {
    gate: u8,
    start: u64,
    end: u64,
}

impl Guard {
    fn contains(&self, time: u64) -> bool {
        (self.start..self.end).contains(&time)
    }
}

/// Returns the guard bands of a cycle: the end of each window, which may consist of several entries, and may continue in the next
/// cycle. A gate that never closes has none.
///
/// # Errors
/// A guard band or an interval that is no whole number of nanoseconds.
fn guards(taprio: &Taprio) -> Result<Vec<Guard>, PlanError> {
    let mut guards = Vec::new();
    let mut cycle = 0_u64;
    for entry in &taprio.entries {
        cycle = cycle.saturating_add(nanoseconds("an interval", entry.interval)?);
    }
    for class in 0..8 {
        if taprio.guard_band.0 == 0 || taprio.entries.iter().all(|entry| entry.is_open(class)) {
            continue;
        }
        for (begin, length) in taprio.windows(class) {
            let guard_band = nanoseconds("guard_band", taprio.guard_band)?;
            let end = begin.plus(length).0 / PICOS_PER_NANO;
            let start = end - guard_band.min(length.0 / PICOS_PER_NANO);
            let guard = |start, end| Guard {
                gate: 1 << class,
                start,
                end,
            };
            guards.push(guard(start.min(cycle), end.min(cycle)));
            // The part in the next cycle.
            guards.push(guard(
                start.saturating_sub(cycle),
                end.saturating_sub(cycle),
            ));
        }
    }
    Ok(guards)
}

#[cfg(test)]
mod tests {
    use super::*;
    use takt_scenario::GateEntry;

    fn taprio(entries: &[(u8, u64)], guard_band: u64) -> Taprio {
        let entries = entries.iter().map(|(gates, interval)| GateEntry {
            gates: *gates,
            interval: Duration(*interval),
        });
        Taprio {
            base_time: Duration::ZERO,
            cycle_time: Duration::ZERO,
            entries: entries.collect(),
            txtime_assist: None,
            offload: false,
            guard_band: Duration(guard_band),
        }
    }

    #[test]
    fn a_guard_band_closes_the_gate_early() {
        let schedule = taprio(&[(1, 40_000), (2, 60_000)], 10_000);
        assert_eq!(
            entries(&schedule),
            Ok(vec![(1, 30), (0, 10), (2, 50), (0, 10)])
        );
        let stays_open = taprio(&[(3, 40_000), (2, 60_000)], 10_000);
        assert_eq!(entries(&stays_open), Ok(vec![(3, 30), (2, 10), (2, 60)]));
    }

    #[test]
    fn a_guard_band_is_that_of_the_whole_window() {
        // The last entry of the window is shorter than the guard band.
        let several = taprio(&[(1, 40_000), (3, 4_000), (2, 60_000)], 10_000);
        assert_eq!(
            entries(&several),
            Ok(vec![(1, 34), (0, 6), (2, 4), (2, 50), (0, 10)])
        );
        // The window continues in the next cycle.
        let around = taprio(&[(1, 4_000), (2, 60_000), (1, 40_000)], 10_000);
        assert_eq!(
            entries(&around),
            Ok(vec![(0, 4), (2, 50), (0, 10), (1, 34), (0, 6)])
        );
        // The window is shorter than the guard band.
        let short = taprio(&[(1, 3_000), (1, 4_000), (2, 60_000)], 10_000);
        assert_eq!(entries(&short), Ok(vec![(0, 3), (0, 4), (2, 50), (0, 10)]));
        let always = taprio(&[(1, 3_000), (1, 4_000)], 10_000);
        assert_eq!(entries(&always), Ok(vec![(1, 3), (1, 4)]));
    }

    #[test]
    fn with_txtime_assist_each_entry_is_a_window() {
        let mut assisted = taprio(&[(1, 40_000), (3, 40_000), (2, 60_000)], 10_000);
        assisted.txtime_assist = Some(Duration(100_000));
        assert_eq!(
            entries(&assisted),
            Ok(vec![(1, 30), (0, 10), (3, 30), (0, 10), (2, 50), (0, 10)])
        );
    }

    #[test]
    fn intervals_are_whole_nanoseconds_of_32_bits() {
        let fraction = entries(&taprio(&[(1, 1500)], 0));
        assert!(matches!(fraction, Err(PlanError::Nanoseconds { .. })));
        let long = entries(&taprio(&[(1, 5_000_000_000_000)], 0));
        assert!(matches!(long, Err(PlanError::Interval(_))));
    }
}
