//! Changes that depend on the present value of a cell: of its status, or of a part of it.
//!
//! Such a change reads the value and sets another one. It takes the ticket after that of the set that it has read, and only if no
//! other set has begun since; otherwise it begins again. So it never brings back a value that another thread has replaced meanwhile.
//! The thread that sets values does nothing for it.

use std::time::{Duration, Instant};

use takt_ua::binary::Encode;
use takt_ua::{DataValue, DateTime, StatusCode, Variant};

use crate::{Cell, CellError};

/// Number of attempts, each after another set by another thread.
const ATTEMPTS: usize = 16;

/// Longest wait for a set under way. Its thread has ended then, or stands still, and its value is given up.
const PATIENCE: Duration = Duration::from_secs(1);

/// Time between two looks at a set under way, which takes less than that unless its thread was interrupted.
const LOOK: Duration = Duration::from_micros(50);

/// Changes of a value. Threads that set the cell are not slowed down, and their values are not lost. These functions are not for
/// real-time threads: they allocate, and wait up to a second for a set whose thread was interrupted.
impl Cell {
    /// Changes the status, and keeps value and source timestamp. A set that begins later has its own status.
    ///
    /// # Errors
    /// [`CellError::Busy`] if others set the cell without a pause.
    pub fn change_status(&self, status: StatusCode) -> Result<(), CellError> {
        let mut value = vec![0; self.capacity()];
        let is_set = self.attempt(PATIENCE, |last| {
            let reading = self.read_into(&mut value)?;
            let value = value.get(..reading.length).unwrap_or_default();
            self.set_after(last, value, status, reading.source_timestamp)
        })?;
        is_set.then_some(()).ok_or(CellError::Busy)
    }

    /// Changes the value based on the present one. `change` is called once more for each value that another thread sets meanwhile.
    ///
    /// # Errors
    /// The error of `change`, or the StatusCode of a [`CellError`]: the new value does not fit the cell, or others set it without a
    /// pause. The value stays as it is.
    pub fn update(
        &self,
        mut change: impl FnMut(DataValue) -> Result<(Variant, StatusCode, DateTime), StatusCode>,
    ) -> Result<(), StatusCode> {
        let is_set = self.attempt(PATIENCE, |last| {
            let present = self.get().map_err(|error| error.status_code())?;
            let (value, status, time) = change(present)?;
            let value = match value {
                Variant::Empty => Vec::new(),
                value => value.encode_to_vec(),
            };
            self.set_after(last, &value, status, time)
                .map_err(|error| error.status_code())
        })?;
        is_set.then_some(()).ok_or(CellError::Busy.status_code())
    }

    /// Calls `attempt` with the ticket of the last set until it returns true. Returns false if it never does.
    fn attempt<E>(
        &self,
        patience: Duration,
        mut attempt: impl FnMut(u64) -> Result<bool, E>,
    ) -> Result<bool, E> {
        for _ in 0..ATTEMPTS {
            if attempt(self.settled(patience))? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Returns the ticket of the last set when it is complete, or when it has been under way for longer than `patience`.
    fn settled(&self, patience: Duration) -> u64 {
        let (mut last, mut since) = (self.slots().last_ticket(), Instant::now());
        while self.generation() < last && since.elapsed() < patience {
            std::thread::sleep(LOOK);
            let ticket = self.slots().last_ticket();
            if ticket != last {
                (last, since) = (ticket, Instant::now());
            }
        }
        last
    }

    /// Sets an encoded value unless a set has begun after the one with the ticket `last`. Returns true if it is set.
    fn set_after(
        &self,
        last: u64,
        encoded: &[u8],
        status: StatusCode,
        source_timestamp: DateTime,
    ) -> Result<bool, CellError> {
        if let Some(encoding) = encoded.first() {
            self.check(*encoding, encoded.len())?;
        }
        let set = self.store_after(last, encoded, status, source_timestamp);
        Ok(set.is_some())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering};

    use super::*;

    const GOOD: StatusCode = StatusCode::Good;
    const UNCERTAIN: StatusCode = StatusCode::UncertainLastUsableValue;
    const TIME: DateTime = DateTime(7);

    fn cell() -> Cell {
        Cell::of(&Variant::Double(1.5))
    }

    #[test]
    fn a_status_changes_without_the_value() {
        let cell = cell();
        for (value, shown) in [(Variant::Double(2.5), true), (Variant::Empty, false)] {
            cell.set(&value, GOOD, TIME).unwrap();
            let generation = cell.generation();
            cell.change_status(UNCERTAIN).unwrap();
            let changed = cell.get().unwrap();
            assert_eq!(changed.value, shown.then_some(value));
            assert_eq!(
                (changed.status, changed.source_timestamp),
                (Some(UNCERTAIN), Some(TIME))
            );
            assert!(cell.generation() > generation, "samplers see the change");
        }
        let text = Cell::of_with_capacity(&Variant::from("running"), 64);
        text.change_status(StatusCode::BadSensorFailure).unwrap();
        text.change_status(GOOD).unwrap();
        assert_eq!(text.get().unwrap().value, Some(Variant::from("running")));
    }

    #[test]
    fn an_update_begins_again_when_another_thread_sets_the_cell() {
        let cell = cell();
        let mut seen = Vec::new();
        let updated = cell.update(|present| {
            let Some(Variant::Double(value)) = present.value else {
                panic!("{present:?}");
            };
            seen.push(value);
            if seen.len() < 3 {
                // As a real-time thread does it between read and set.
                cell.set_f64(value + 1.0, GOOD, TIME).unwrap();
            }
            Ok((Variant::Double(value * 10.0), UNCERTAIN, TIME))
        });
        assert_eq!(updated, Ok(()));
        assert_eq!(seen, [1.5, 2.5, 3.5]);
        assert_eq!(cell.get().unwrap().value, Some(Variant::Double(35.0)));
        // Errors leave the value.
        let wrong = cell.update(|_| Ok((Variant::from("text"), GOOD, TIME)));
        assert_eq!(wrong, Err(StatusCode::BadTypeMismatch));
        let refused = cell.update(|_| Err(StatusCode::BadIndexRangeNoData));
        assert_eq!(refused, Err(StatusCode::BadIndexRangeNoData));
        assert_eq!(cell.get().unwrap().value, Some(Variant::Double(35.0)));
    }

    #[test]
    fn sets_without_a_pause_are_not_overwritten() {
        let cell = cell();
        let mut value = 0.0;
        let updated = cell.update(|_| {
            value += 1.0;
            cell.set_f64(value, GOOD, TIME).unwrap();
            Ok((Variant::Double(-1.0), GOOD, TIME))
        });
        assert_eq!(updated, Err(StatusCode::BadResourceUnavailable));
        assert_eq!(cell.get().unwrap().value, Some(Variant::Double(value)));
    }

    #[test]
    fn a_set_under_way_is_waited_for() {
        let cell = cell();
        let is_changed = AtomicBool::new(false);
        std::thread::scope(|scope| {
            let mut changing = None;
            let set = cell.slots().set(|words| {
                changing = Some(scope.spawn(|| {
                    let long = Duration::from_secs(3600);
                    let mut value = [0; 16];
                    let is_set = cell.attempt(long, |last| {
                        let reading = cell.read_into(&mut value)?;
                        let value = value.get(..reading.length).unwrap();
                        cell.set_after(last, value, UNCERTAIN, reading.source_timestamp)
                    });
                    is_changed.store(true, Ordering::SeqCst);
                    is_set
                }));
                std::thread::sleep(Duration::from_millis(20));
                assert!(!is_changed.load(Ordering::SeqCst), "the set is under way");
                // The words of another cell with the new value.
                let other = Cell::of(&Variant::Double(2.5));
                let copied = other.slots().read(|from| {
                    for (from, to) in from.iter().zip(words) {
                        to.store(from.load(Ordering::Relaxed), Ordering::Relaxed);
                    }
                });
                assert!(copied.is_ok());
            });
            assert!(set.is_ok());
            let changed = changing.unwrap().join().unwrap();
            assert_eq!(changed, Ok::<_, CellError>(true));
        });
        let value = cell.get().unwrap();
        assert_eq!(
            (value.value, value.status),
            (Some(Variant::Double(2.5)), Some(UNCERTAIN))
        );
    }

    #[test]
    fn a_set_that_never_ends_is_given_up() {
        let cell = cell();
        let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            let _ = cell.slots().set(|_| panic!("as a thread that ends"));
        }));
        assert!(panicked.is_err());
        cell.change_status(UNCERTAIN).unwrap();
        let value = cell.get().unwrap();
        assert_eq!(
            (value.value, value.status),
            (Some(Variant::Double(1.5)), Some(UNCERTAIN))
        );
    }

    #[test]
    fn a_thread_that_sets_all_the_time_is_never_overwritten() {
        let cell = cell();
        std::thread::scope(|scope| {
            let setting = scope.spawn(|| {
                for round in 0..if cfg!(miri) { 50 } else { 100_000 } {
                    let value = f64::from(round);
                    cell.set_f64(value, GOOD, TIME).unwrap();
                    let (read, reading) = cell.read_scalar::<f64>().unwrap();
                    assert_eq!(read, Some(value), "{reading:?}");
                }
            });
            while !setting.is_finished() {
                let _ = cell.change_status(UNCERTAIN);
            }
        });
    }
}
