//! Deadlines: a value that nobody sets any more says so.
//!
//! One thread of the process looks at the cells with a deadline, several times in each. It marks a value by a set of its own, with the
//! status UncertainLastUsableValue, so everybody who reads the cell sees it: services, PubSub and readers in other processes. Neither
//! a set nor a read does anything for it. The mark takes the ticket after that of the last set, and only if no other set has begun
//! since. So a set at the same moment wins, in either order. Only a set that has been under way for the whole time is lost: its
//! thread is dead, or has stood still for longer than the deadline.
//!
//! A process that stands still marks nothing. So each look leaves in a shared cell until when it counts; after that, readers in other
//! processes mark the value for themselves (module `shared`).

use std::collections::BTreeMap;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError, Weak};
use std::time::{Duration, Instant};

use takt_rt::clock::after;
use takt_rt::clock::monotonic_nanos;
use takt_ua::{DateTime, StatusCode};

use crate::Cell;

/// Shortest deadline.
const SHORTEST: Duration = Duration::from_millis(4);

/// Number of looks within a deadline.
const LOOKS: u32 = 4;

/// Shortest time for which a look counts at readers in other processes. The thread that looks has no priority: on a loaded machine it
/// is late by tens of milliseconds, and values that are set all the time must not become uncertain by that.
const SHORTEST_WATCH: Duration = Duration::from_millis(100);

impl Cell {
    /// Sets the longest time between two sets. After it, a value that was Good or Uncertain has the status
    /// UncertainLastUsableValue (OPC 10000-8, 6.3.3), until the next set: its source has stopped. The value is marked at the latest
    /// a quarter of the time later. A shorter time than 4 ms counts as 4 ms.
    ///
    /// A process that stands still as a whole marks nothing. Readers of a [shared](Self::share) cell in other processes of the host
    /// ([`CellReader`](crate::CellReader)) then see that status by themselves: five quarters of the time after the last look, and at
    /// least 100 ms after it.
    ///
    /// Another call replaces the time. A deadline takes one of the places of the threads that set the cell at once, for the moment of
    /// the mark. Threads that set and read are not slowed down.
    ///
    /// # Errors
    /// [`std::io::Error`]: the thread that looks at cells cannot be started.
    pub fn deadline(self: &Arc<Self>, after: Duration) -> std::io::Result<()> {
        let watched = Watched::new(self, after.max(SHORTEST), Instant::now());
        let watch = watch()?;
        let mut cells = watch.cells();
        cells
            .by_time
            .retain(|_, known| !Weak::ptr_eq(&known.cell, &watched.cell));
        cells.insert(watched, Instant::now());
        drop(cells);
        watch.changed.notify_one();
        Ok(())
    }
}

/// A cell with a deadline.
#[derive(Debug)]
struct Watched {
    cell: Weak<Cell>,
    after: Duration,
    /// Ticket of the last set, and the time at which it was first seen.
    ticket: u64,
    since: Instant,
    is_marked: bool,
}

impl Watched {
    fn new(cell: &Arc<Cell>, after: Duration, now: Instant) -> Self {
        note_look(cell, after);
        Self {
            cell: Arc::downgrade(cell),
            after,
            ticket: cell.slots().last_ticket(),
            since: now,
            is_marked: false,
        }
    }

    /// Marks the value if its time is over. Returns false if the cell is gone.
    fn look(&mut self, now: Instant) -> bool {
        let Some(cell) = self.cell.upgrade() else {
            return false;
        };
        note_look(&cell, self.after);
        let ticket = cell.slots().last_ticket();
        if ticket != self.ticket {
            (self.ticket, self.since, self.is_marked) = (ticket, now, false);
        } else if !self.is_marked
            && now.saturating_duration_since(self.since) >= self.after
            && let Some(ticket) = cell.mark_last_usable(ticket)
        {
            (self.ticket, self.is_marked) = (ticket, true);
        }
        true
    }
}

/// Notes for readers in other processes until when a look at a cell counts.
fn note_look(cell: &Cell, after: Duration) {
    let counts = after.saturating_add(after / LOOKS).max(SHORTEST_WATCH);
    let counts = u64::try_from(counts.as_nanos()).unwrap_or(u64::MAX);
    cell.note_watched(monotonic_nanos().saturating_add(counts));
}

impl Cell {
    /// Marks the value as the last usable one, unless a set has begun after the one with this ticket. Returns the ticket of the mark, or
    /// the same one if nothing is to be marked.
    fn mark_last_usable(&self, ticket: u64) -> Option<u64> {
        let mut value = vec![0; self.capacity()];
        let reading = self.read_into(&mut value).ok()?;
        if reading.status.is_bad() {
            return Some(ticket);
        }
        let value = value.get(..reading.length)?;
        let status = StatusCode::UncertainLastUsableValue;
        let time: DateTime = reading.source_timestamp;
        self.store_after(ticket, value, status, time)
    }
}

/// The cells with deadlines, and the thread that looks at them.
#[derive(Debug, Default)]
struct Watch {
    cells: Mutex<Cells>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct Cells {
    /// Cells by the time of the next look, and a number.
    by_time: BTreeMap<(Instant, u64), Watched>,
    last_number: u64,
}

impl Cells {
    fn insert(&mut self, watched: Watched, now: Instant) {
        self.last_number += 1;
        let next = after(now, watched.after / LOOKS);
        self.by_time.insert((next, self.last_number), watched);
    }

    /// Looks at the cells whose time has come. Returns the time of the next look.
    fn look(&mut self, now: Instant) -> Option<Instant> {
        while let Some(entry) = self.by_time.first_entry()
            && entry.key().0 <= now
        {
            let mut watched = entry.remove();
            if watched.look(now) {
                self.insert(watched, now);
            }
        }
        self.by_time.keys().next().map(|(next, _)| *next)
    }
}

impl Watch {
    fn cells(&self) -> MutexGuard<'_, Cells> {
        self.cells.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn run(&self) {
        let mut cells = self.cells();
        loop {
            let now = Instant::now();
            let next = cells.look(now);
            // New cells wake the thread; a panic elsewhere leaves them complete.
            cells = match next {
                Some(next) => {
                    let wait = next.saturating_duration_since(now);
                    let woken = self.changed.wait_timeout(cells, wait);
                    woken.unwrap_or_else(PoisonError::into_inner).0
                }
                None => {
                    let woken = self.changed.wait(cells);
                    woken.unwrap_or_else(PoisonError::into_inner)
                }
            };
        }
    }
}

/// Returns the watch of this process, and starts its thread if there is none.
fn watch() -> std::io::Result<&'static Watch> {
    static WATCH: OnceLock<Watch> = OnceLock::new();
    static STARTED: Mutex<bool> = Mutex::new(false);
    let watch = WATCH.get_or_init(Watch::default);
    let mut started = STARTED.lock().unwrap_or_else(PoisonError::into_inner);
    if !*started {
        let thread = std::thread::Builder::new().name("takt-deadlines".to_owned());
        thread.spawn(|| watch.run())?;
        *started = true;
    }
    Ok(watch)
}

#[cfg(test)]
mod tests {
    use takt_ua::binary::{Decode, Decoder, Encoder};
    use takt_ua::enumerations::TimestampsToReturn;
    use takt_ua::{DataValue, Variant};

    use super::*;

    const AFTER: Duration = Duration::from_millis(40);

    fn status(cell: &Cell) -> StatusCode {
        cell.reading().unwrap().status
    }

    fn cell() -> Arc<Cell> {
        Arc::new(Cell::of(&Variant::Double(1.5)))
    }

    #[test]
    fn a_value_that_nobody_sets_is_the_last_usable_one() {
        let cell = cell();
        cell.set_f64(2.5, StatusCode::Good, DateTime(7)).unwrap();
        let begin = Instant::now();
        let mut watched = Watched::new(&cell, AFTER, begin);
        assert!(watched.look(begin + AFTER - Duration::from_millis(1)));
        assert_eq!(status(&cell), StatusCode::Good);
        assert!(watched.look(begin + AFTER));
        let value = cell.get().unwrap();
        assert_eq!(value.status, Some(StatusCode::UncertainLastUsableValue));
        assert_eq!(value.value, Some(Variant::Double(2.5)));
        assert_eq!(value.source_timestamp, Some(DateTime(7)));
        // Marked once: the generation stays.
        let generation = cell.generation();
        assert!(watched.look(begin + 5 * AFTER));
        assert_eq!(cell.generation(), generation);
        // The next set is Good, and begins the time again.
        cell.set_f64(3.5, StatusCode::Good, DateTime(8)).unwrap();
        assert!(watched.look(begin + 6 * AFTER));
        assert_eq!(status(&cell), StatusCode::Good);
        assert!(watched.look(begin + 7 * AFTER));
        assert_eq!(status(&cell), StatusCode::UncertainLastUsableValue);
        drop(cell);
        assert!(!watched.look(begin + 8 * AFTER));
    }

    #[test]
    fn a_set_at_the_same_moment_wins() {
        let cell = cell();
        let ticket = cell.slots().last_ticket();
        cell.set_f64(2.5, StatusCode::Good, DateTime(7)).unwrap();
        assert_eq!(cell.mark_last_usable(ticket), None);
        assert_eq!(status(&cell), StatusCode::Good);
    }

    #[test]
    fn bad_values_stay_bad_and_uncertain_ones_become_older() {
        let begin = Instant::now();
        for (set, marked) in [
            (StatusCode::BadSensorFailure, StatusCode::BadSensorFailure),
            (StatusCode::Uncertain, StatusCode::UncertainLastUsableValue),
        ] {
            let cell = cell();
            cell.set_f64(2.5, set, DateTime(7)).unwrap();
            let mut watched = Watched::new(&cell, AFTER, begin);
            assert!(watched.look(begin + AFTER));
            assert_eq!(status(&cell), marked);
        }
    }

    #[test]
    fn the_thread_marks_texts_and_cells_of_other_processes() {
        let text = Cell::of_with_capacity(&Variant::from("running"), 64);
        let text = Arc::new(text.share().unwrap());
        let reader = crate::shared::tests::reader_at(&text.location().unwrap());
        text.deadline(Duration::from_millis(20)).unwrap();
        let begin = Instant::now();
        loop {
            let value = reader.get().unwrap();
            assert_eq!(value.value, Some(Variant::from("running")));
            if value.status == Some(StatusCode::UncertainLastUsableValue) {
                break;
            }
            assert!(begin.elapsed() < Duration::from_secs(30));
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    #[test]
    fn a_reader_marks_values_that_nobody_looks_after() {
        for (set, seen) in [
            (StatusCode::Good, StatusCode::UncertainLastUsableValue),
            (StatusCode::Uncertain, StatusCode::UncertainLastUsableValue),
            (StatusCode::BadSensorFailure, StatusCode::BadSensorFailure),
        ] {
            let cell = Cell::of(&Variant::Double(1.5)).share().unwrap();
            let cell = Arc::new(cell);
            cell.set_f64(2.5, set, DateTime(7)).unwrap();
            let reader = crate::shared::tests::reader_at(&cell.location().unwrap());
            // One look each: the thread that would look again is not there, as in a process that stands still.
            let now = Instant::now();
            let hour = Duration::from_secs(3600);
            let mut watched = Watched::new(&cell, hour, now);
            assert_eq!(reader.reading().unwrap().status, set);
            assert!(Watched::new(&cell, AFTER, now).look(now));
            let begin = Instant::now();
            while begin.elapsed() <= SHORTEST_WATCH {
                std::thread::sleep(Duration::from_millis(5));
            }
            assert_eq!(status(&cell), set, "not marked in the cell");
            assert_eq!(reader.get().unwrap().status, Some(seen));
            let (value, reading) = reader.read_scalar::<f64>().unwrap();
            assert_eq!((value, reading.status), (Some(2.5), seen));
            assert_eq!(reader.read_into(&mut [0; 16]).unwrap().status, seen);
            let mut bytes = [0; 64];
            let mut encoder = Encoder::fixed(&mut bytes);
            let timestamps = TimestampsToReturn::Neither;
            let read = reader.encode_data_value(&mut encoder, timestamps, DateTime(9));
            assert_eq!(read.unwrap().status, seen);
            let mut decoder = Decoder::new(encoder.written());
            let encoded: DataValue = Decode::decode(&mut decoder).unwrap();
            assert_eq!(encoded.status, Some(seen));
            assert_eq!(encoded.value.is_none(), seen.is_bad());
            // The next look counts again, and the memory of the next cell has no deadline.
            assert!(watched.look(now));
            assert_eq!(reader.reading().unwrap().status, set);
            drop(cell);
            let next = Cell::of(&Variant::Double(1.5)).share().unwrap();
            let reader = crate::shared::tests::reader_at(&next.location().unwrap());
            assert_eq!(reader.reading().unwrap().status, StatusCode::Good);
        }
    }

    #[test]
    fn a_thread_that_sets_all_the_time_is_never_overwritten() {
        let cell = cell();
        std::thread::scope(|scope| {
            let setting = scope.spawn(|| {
                for round in 0..if cfg!(miri) { 50 } else { 100_000 } {
                    let value = f64::from(round);
                    cell.set_f64(value, StatusCode::Good, DateTime(7)).unwrap();
                    let (read, reading) = cell.read_scalar::<f64>().unwrap();
                    // A mark may follow the set, but never brings an older value back.
                    assert_eq!(read, Some(value), "{reading:?}");
                }
            });
            while !setting.is_finished() {
                let ticket = cell.slots().last_ticket();
                // The set is complete.
                if cell.generation() == ticket {
                    let _ = cell.mark_last_usable(ticket);
                }
            }
        });
    }
}
