//! Many threads use one cell: every value contains a checksum, which every reader checks.

use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use takt_cell::{Cell, CellError};
use takt_ua::binary::{Decode, Decoder, Encoder};
use takt_ua::enumerations::TimestampsToReturn;
use takt_ua::{BuiltInType, DataValue, DateTime, StatusCode, Variant, VariantRef};

const SETS: u32 = if cfg!(miri) { 8 } else { 60_000 };
const MAX_ELEMENTS: usize = if cfg!(miri) { 20 } else { 300 };

/// Spreads the bits: a mixture of two values does not pass the check.
fn mix(seed: u64) -> u64 {
    let x = (seed ^ seed >> 31).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    (x ^ x >> 29).wrapping_mul(0xBF58_476D_1CE4_E5B9)
}

/// Elements, status (never Bad) and timestamp all follow from the seed, which is the first element.
fn elements(seed: u64) -> impl Iterator<Item = u64> {
    let length = 1 + mix(seed) as usize % MAX_ELEMENTS;
    (0..length as u64).map(move |place| {
        if place == 0 {
            seed
        } else {
            mix(seed.wrapping_add(place))
        }
    })
}

fn status(seed: u64) -> StatusCode {
    StatusCode((mix(seed) >> 32) as u32 & 0x7FFF_FFFF)
}

fn time(seed: u64) -> DateTime {
    DateTime((mix(!seed) >> 1 | 1).cast_signed())
}

fn check(
    found: impl ExactSizeIterator<Item = u64> + Clone,
    status_code: StatusCode,
    timestamp: DateTime,
) -> u64 {
    let seed = found.clone().next().unwrap();
    assert_eq!(found.len(), elements(seed).count(), "torn length");
    assert!(found.eq(elements(seed)), "torn value");
    assert_eq!(status_code, status(seed), "status of another value");
    assert_eq!(timestamp, time(seed), "timestamp of another value");
    seed
}

/// Returns the writer and the number of a seed.
fn origin(seed: u64) -> (usize, u64) {
    ((seed >> 32) as usize, seed & 0xFFFF_FFFF)
}

/// Last value seen of each writer: the following ones must not be older.
#[derive(Default)]
struct Progress([u64; 4]);

impl Progress {
    fn see(&mut self, seed: u64) {
        let (writer, number) = origin(seed);
        assert!(
            number >= self.0[writer],
            "a value that was replaced came back"
        );
        self.0[writer] = number;
    }
}

fn stress(writers: usize) {
    let cell = Cell::for_type(BuiltInType::UInt64, Some(MAX_ELEMENTS), 0);
    let start = Barrier::new(writers + 3);
    let (done, reads, busy) = (AtomicBool::new(false), AtomicU64::new(0), AtomicU64::new(0));
    let set = |writer: usize, number: u32| {
        let seed = (writer as u64) << 32 | u64::from(number);
        let values: Vec<u64> = elements(seed).collect();
        cell.set_u64s(&values, status(seed), time(seed))
    };
    set(0, 0).unwrap();
    let reader = |read: &(dyn Fn() -> Result<u64, CellError> + Sync)| {
        start.wait();
        let mut progress = Progress::default();
        while !done.load(Ordering::Relaxed) {
            match read() {
                Ok(seed) => progress.see(seed),
                Err(CellError::Busy) => drop(busy.fetch_add(1, Ordering::Relaxed)),
                Err(error) => panic!("{error}"),
            }
            reads.fetch_add(1, Ordering::Relaxed);
        }
    };
    let by_slice = || {
        let mut target = [0_u64; MAX_ELEMENTS];
        let (length, reading) = cell.read_slice(&mut target)?;
        Ok(check(
            target[..length.unwrap()].iter().copied(),
            reading.status,
            reading.source_timestamp,
        ))
    };
    let by_encoding = || {
        let mut buffer = [0; 8 * MAX_ELEMENTS + 64];
        let mut encoder = Encoder::fixed(&mut buffer);
        cell.encode_data_value(&mut encoder, TimestampsToReturn::Source, DateTime::MIN)?;
        let value = takt_ua::DataValueRef::decode(&mut Decoder::new(encoder.written())).unwrap();
        let Some(VariantRef::Array(array)) = value.value else {
            panic!("{value:?}")
        };
        Ok(check(
            array.u64s().unwrap(),
            value.status_code(),
            value.source_timestamp.unwrap(),
        ))
    };
    let by_value = || {
        let DataValue {
            value,
            status,
            source_timestamp,
            ..
        } = cell.get()?;
        let values: Vec<u64> = value.unwrap().try_into().unwrap();
        Ok(check(
            values.iter().copied(),
            status.unwrap(),
            source_timestamp.unwrap(),
        ))
    };
    std::thread::scope(|scope| {
        let writers: Vec<_> = (1..=writers)
            .map(|writer| {
                let (set, start) = (&set, &start);
                scope.spawn(move || {
                    start.wait();
                    for number in 0..SETS {
                        set(writer, number).unwrap();
                    }
                })
            })
            .collect();
        scope.spawn(|| reader(&by_slice));
        scope.spawn(|| reader(&by_encoding));
        scope.spawn(|| reader(&by_value));
        let results: Vec<_> = writers
            .into_iter()
            .map(std::thread::ScopedJoinHandle::join)
            .collect();
        done.store(true, Ordering::Relaxed);
        assert!(
            results.iter().all(Result::is_ok),
            "a writer was turned away"
        );
    });
    let (writer, number) = origin(by_slice().unwrap());
    assert!(
        writer >= 1 && number == u64::from(SETS) - 1,
        "the last value is the last one of a writer"
    );
    // Readers succeed although the writers never pause.
    let (reads, busy) = (reads.into_inner(), busy.into_inner());
    assert!(
        reads > 0 && busy <= reads / 100,
        "{busy} of {reads} reads gave up"
    );
}

#[test]
fn one_writer() {
    stress(1);
}

#[test]
fn as_many_writers_as_are_allowed() {
    stress(3);
}

/// A number changes as fast as it can: the cell for it fills one cache line.
#[test]
fn one_number() {
    let cell = Cell::of(&Variant::from(0_u64));
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let readers: Vec<_> = (0..2)
            .map(|_| {
                scope.spawn(|| {
                    let mut newest = 0;
                    while !done.load(Ordering::Relaxed) {
                        let Ok((Some(value), reading)) = cell.read_scalar::<u64>() else {
                            continue;
                        };
                        assert!(value >= newest);
                        newest = value;
                        if value > 0 {
                            assert_eq!(
                                (reading.status, reading.source_timestamp),
                                (status(value), time(value))
                            );
                        }
                    }
                })
            })
            .collect();
        for value in 1..=u64::from(SETS) * 10 {
            cell.set_u64(value, status(value), time(value)).unwrap();
        }
        done.store(true, Ordering::Relaxed);
        for reader in readers {
            reader.join().unwrap();
        }
    });
}
