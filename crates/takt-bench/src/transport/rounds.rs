//! Floors and subjects in turns.

use std::io::{IsTerminal, Write};
use std::sync::atomic::AtomicBool;

use super::error::BenchError;
use super::filter::Filter;
use super::payload::Payload;
use super::row::Row;
use super::seat::Seat;
use super::subjects::{Pair, Setting};
use super::{Options, check_interrupt, round_trip};
use crate::measure::Samples;

/// A row to be: which pair, and what is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Wanted {
    pair: usize,
    array: bool,
}

impl Wanted {
    fn payload(self) -> Payload {
        if self.array {
            Payload::Array
        } else {
            Payload::Scalar
        }
    }
}

/// What the filter asks for, and the floors of that, in the order of the rows.
pub(super) fn wanted(pairs: &[Pair], filter: &Filter) -> Vec<Wanted> {
    let mut wanted = Vec::new();
    for (place, pair) in pairs.iter().enumerate() {
        for payload in Payload::ALL {
            if !filter.matches(&pair.head(payload).label()) {
                continue;
            }
            let array = payload == Payload::Array;
            let mut next = Some(place);
            while let Some(pair) = next {
                wanted.push(Wanted { pair, array });
                next = pairs.get(pair).and_then(|pair| pair.floor);
            }
        }
    }
    wanted.sort_unstable();
    wanted.dedup();
    wanted
}

/// Measures what is wanted.
pub(super) fn run(
    options: &Options,
    setting: &Setting<'_>,
    pairs: &[Pair],
    wanted: &[Wanted],
    interrupted: &AtomicBool,
) -> Result<Vec<Row>, BenchError> {
    let samples = options.samples.div_ceil(u64::from(options.rounds));
    let mut durations: Vec<Samples> = wanted.iter().map(|_| Samples::nanos()).collect();
    let progress = Progress::new(options.rounds);
    for round in 0..options.rounds {
        progress.show(round);
        let mut places: Vec<usize> = (0..pairs.len()).collect();
        if round % 2 == 1 {
            places.reverse();
        }
        for place in places {
            let Some(pair) = pairs.get(place) else {
                continue;
            };
            let of_pair: Vec<(&Wanted, &mut Samples)> = wanted
                .iter()
                .zip(&mut durations)
                .filter(|(wanted, _)| wanted.pair == place)
                .collect();
            if !of_pair.is_empty() {
                check_interrupt(interrupted)?;
                measure(pair, setting, samples, of_pair, interrupted)?;
            }
        }
    }
    drop(progress);
    let mut rows: Vec<Row> = Vec::new();
    for (of_row, durations) in wanted.iter().zip(&durations) {
        let Some(pair) = pairs.get(of_row.pair) else {
            continue;
        };
        let row = pair.head(of_row.payload()).row(durations);
        let floor = pair.floor.and_then(|floor| {
            let floor = Wanted {
                pair: floor,
                ..*of_row
            };
            wanted.iter().position(|wanted| *wanted == floor)
        });
        rows.push(match floor.and_then(|floor| rows.get(floor)) {
            Some(floor) => row.over(floor),
            None => row,
        });
    }
    Ok(rows)
}

/// One round of one pair.
fn measure(
    pair: &Pair,
    setting: &Setting<'_>,
    samples: u64,
    wanted: Vec<(&Wanted, &mut Samples)>,
    interrupted: &AtomicBool,
) -> Result<(), BenchError> {
    let server = pair.start(setting)?;
    let mut connection = pair.connect(server.ready(), setting)?;
    let _seat = Seat::take(setting.cores.client_core(pair.placement))?;
    for (wanted, durations) in wanted {
        let payload = wanted.payload();
        round_trip::measure(&mut *connection, payload, samples, durations, interrupted)?;
    }
    Ok(())
}

/// Which round it is, on the error output of a terminal, until this is dropped.
struct Progress {
    rounds: u32,
    shown: bool,
}

impl Progress {
    fn new(rounds: u32) -> Self {
        Self {
            rounds,
            shown: std::io::stderr().is_terminal(),
        }
    }

    fn show(&self, round: u32) {
        if self.shown {
            let mut out = std::io::stderr().lock();
            let _ = write!(out, "\rround {} of {} …", round + 1, self.rounds);
            let _ = out.flush();
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if self.shown {
            // To the beginning of the line, and erase it (ECMA-48).
            eprint!("\r\x1b[K");
        }
    }
}
