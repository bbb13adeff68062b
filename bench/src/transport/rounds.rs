//! Floors and subjects in turns.

use std::sync::atomic::AtomicBool;

use takt_figures::Progress;

use super::filter::Filter;
use super::options::Options;
use super::row::Row;
use super::subjects::Measured;
use crate::error::{BenchError, check_interrupt};
use crate::local_session::LocalSession;
use crate::measure::Samples;
use crate::pair::Setting;
use crate::payload::Payload;
use crate::round_trip::{self, Access, Service};
use crate::seat::Seat;

/// A planned row: the pair, and the payload that is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Wanted {
    pair: usize,
    array: bool,
}

impl Wanted {
    fn payload(self) -> Payload {
        if self.array {
            Payload::ARRAY
        } else {
            Payload::SCALAR
        }
    }
}

/// Returns the rows that match the filter, and their floors, in the order of the rows.
pub(super) fn wanted(pairs: &[Measured], filter: &Filter) -> Vec<Wanted> {
    let mut wanted = Vec::new();
    for (place, pair) in pairs.iter().enumerate() {
        for payload in Payload::ALL {
            if !filter.matches(&pair.head(payload).label()) {
                continue;
            }
            let array = payload == Payload::ARRAY;
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

/// Measures the wanted rows.
pub(super) fn run(
    options: &Options,
    setting: &Setting<'_>,
    pairs: &[Measured],
    wanted: &[Wanted],
    interrupted: &AtomicBool,
) -> Result<Vec<Row>, BenchError> {
    let samples = options.samples.div_ceil(u64::from(options.rounds));
    let mut durations: Vec<Samples> = wanted.iter().map(|_| Samples::nanos()).collect();
    let progress = Progress::new("round", options.rounds);
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

/// Measures one round of one pair.
fn measure(
    pair: &Measured,
    setting: &Setting<'_>,
    samples: u64,
    wanted: Vec<(&Wanted, &mut Samples)>,
    interrupted: &AtomicBool,
) -> Result<(), BenchError> {
    let pair = pair.pair;
    let mut session = LocalSession::open(setting.payloads)?;
    let server = pair.start(setting)?;
    let mut connection = pair.connect(server.ready(), setting)?;
    let _seat = Seat::take(setting.cores.client_core(pair.placement))?;
    for (wanted, durations) in wanted {
        let read = session.operation(Service::Read, wanted.payload(), Access::Bytes)?;
        round_trip::measure(&mut *connection, &read, samples, durations, interrupted)?;
    }
    Ok(())
}
