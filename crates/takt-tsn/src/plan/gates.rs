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

/// Returns the entries of a cycle. A guard band, which `taprio` does not have, becomes an entry of its own at the end
/// of a window, in which the gate is closed already.
///
/// # Errors
/// An interval that is no whole number of nanoseconds, or exceeds the 32 bits of `tc`.
pub(crate) fn entries(taprio: &Taprio) -> Result<Vec<(u8, u64)>, PlanError> {
    let mut entries = Vec::new();
    for (number, entry) in taprio.entries.iter().enumerate() {
        let next = taprio
            .entries
            .get((number + 1) % taprio.entries.len().max(1));
        let stays_open = next.map_or(entry.gates, |next| next.gates);
        let interval = nanoseconds("an interval", entry.interval)?;
        if u32::try_from(interval).is_err() {
            return Err(PlanError::Interval(entry.interval));
        }
        let closing = entry.gates & !stays_open;
        let guard = match closing {
            0 => 0,
            _ => nanoseconds("guard_band", taprio.guard_band)?.min(interval),
        };
        let parts = [
            (entry.gates, interval - guard),
            (entry.gates & !closing, guard),
        ];
        entries.extend(parts.iter().filter(|(_, length)| *length > 0));
    }
    Ok(entries)
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
    fn intervals_are_whole_nanoseconds_of_32_bits() {
        let fraction = entries(&taprio(&[(1, 1500)], 0));
        assert!(matches!(fraction, Err(PlanError::Nanoseconds { .. })));
        let long = entries(&taprio(&[(1, 5_000_000_000_000)], 0));
        assert!(matches!(long, Err(PlanError::Interval(_))));
    }
}
