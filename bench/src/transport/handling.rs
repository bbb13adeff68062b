//! Handling of a request without a transport, from its bytes to the bytes of its response.
//!
//! It consists of decoding, Session, access check, node, value and encoding, all of them in [`takt_services::Server::handle`].
//! The response goes into a buffer that is reused. Counting allocations needs a program that has replaced malloc. `takt-bench`
//! does not replace it, as `takt` does not. So `takt bench transport` starts a small program of its own that is built and installed beside it.

use std::hint::black_box;
use std::io::Write;
use std::sync::atomic::AtomicBool;

use super::filter::Filter;
use super::row::{Head, Row};
use crate::error::{BenchError, check_interrupt};
use crate::floors::in_process::{self, BATCH};
use crate::local_session::LocalSession;
use crate::measure::Samples;
use crate::payload::Payload;
use crate::round_trip::{Access, Service};
use crate::seat::{CorePair, Seat};

/// Name of the program that counts allocations, beside this program.
pub const PROGRAM: &str = "takt-bench-handling";

/// Function that returns the number of allocations of this process so far.
pub type CountAllocations = fn() -> u64;

/// Number of requests whose allocations are counted.
const COUNTED: u32 = 10_000;

/// Heads of the rows: first the floors, then the subjects.
const HEADS: [Head; 6] = [
    Head::new("floor", "system call", "getppid", 0),
    Head::new("floor", "clock", "read", 0),
    Head::new("floor", "memory", "memcpy", Payload::ARRAY.bytes()),
    Head::new("takt", "in-process", "Read", Payload::SCALAR.bytes()),
    Head::new("takt", "in-process", "Read", Payload::ARRAY.bytes()),
    Head::new("takt", "in-process", "Write", Payload::SCALAR.bytes()),
];
/// Floors of the subjects: small values are compared with a system call, and the large one with a copy of its bytes.
const FLOORS: [usize; 3] = [0, 2, 0];

/// Returns true if one of the rows is wanted.
pub(super) fn is_wanted(filter: &Filter) -> bool {
    HEADS.iter().any(|head| filter.matches(&head.label()))
}

/// Measures the floors and the handling, in turns.
///
/// # Errors
/// [`BenchError`]; [`BenchError::Interrupted`] soon after `interrupted` is set.
pub fn measure(
    batches: u64,
    rounds: u32,
    count: Option<CountAllocations>,
    interrupted: &AtomicBool,
) -> Result<Vec<Row>, BenchError> {
    let mut session = LocalSession::open(&Payload::ALL)?;
    for (service, payload) in [
        (Service::Read, Payload::SCALAR),
        (Service::Read, Payload::ARRAY),
        (Service::Write, Payload::SCALAR),
    ] {
        session.operation(service, payload, Access::Bytes)?;
    }
    let requests = [
        session.read_message(Payload::SCALAR),
        session.read_message(Payload::ARRAY),
        session.write_message(Payload::SCALAR),
    ];
    let per_round = batches.div_ceil(u64::from(rounds));
    let mut floors = [(); 3].map(|()| Samples::batched(BATCH));
    let mut subjects = [(); 3].map(|()| Samples::batched(BATCH));
    for _ in 0..rounds {
        check_interrupt(interrupted)?;
        let _seat = Seat::take(CorePair::choose()?.server)?;
        let [system_call, clock, memcpy] = &mut floors;
        in_process::system_call(system_call, per_round);
        in_process::clock_read(clock, per_round);
        in_process::memcpy(memcpy, per_round, Payload::ARRAY.bytes());
        for (durations, request) in subjects.iter_mut().zip(&requests) {
            in_process::batched(durations, per_round, || {
                black_box(session.handle(black_box(request)));
            });
        }
    }
    let durations = floors.iter().chain(&subjects);
    let mut rows: Vec<Row> = durations
        .zip(HEADS)
        .map(|(durations, head)| head.row(durations))
        .collect();
    let (floors, subjects) = rows.split_at_mut(3);
    for ((row, request), floor) in subjects.iter_mut().zip(&requests).zip(FLOORS) {
        if let Some(floor) = floors.get(floor) {
            *row = row.clone().over(floor);
        }
        row.allocations = count.map(|count| allocations(&mut session, request, count));
    }
    Ok(rows)
}

/// Returns the number of allocations per request.
fn allocations(session: &mut LocalSession, request: &[u8], count: CountAllocations) -> f64 {
    let before = count();
    for _ in 0..COUNTED {
        black_box(session.handle(black_box(request)));
    }
    #[allow(clippy::cast_precision_loss, reason = "far fewer than 2^53")]
    let allocations = (count() - before) as f64;
    allocations / f64::from(COUNTED)
}

/// Runs the program that counts allocations: measures (arguments: batches and rounds) and prints one row per line as JSON.
/// Returns its exit code.
pub fn main(
    arguments: impl IntoIterator<Item = String>,
    count: CountAllocations,
) -> std::process::ExitCode {
    let numbers: Option<Vec<u64>> = arguments
        .into_iter()
        .map(|argument| argument.parse().ok())
        .collect();
    let (batches, rounds) = match numbers.as_deref() {
        Some(&[batches, rounds]) if batches > 0 && rounds > 0 => (batches, rounds),
        _ => {
            eprintln!(
                "usage: {PROGRAM} BATCHES ROUNDS: for `takt bench transport`, which reads what it prints"
            );
            return std::process::ExitCode::from(2);
        }
    };
    let rounds = u32::try_from(rounds).unwrap_or(u32::MAX);
    let rows = match measure(batches, rounds, Some(count), &AtomicBool::new(false)) {
        Ok(rows) => rows,
        Err(error) => {
            eprintln!("{error}");
            return std::process::ExitCode::FAILURE;
        }
    };
    for row in rows {
        let line = serde_json::to_string(&row).map_err(std::io::Error::from);
        let mut out = std::io::stdout().lock();
        let written = line.and_then(|line| writeln!(out, "{line}"));
        if let Err(error) = written {
            eprintln!("{error}");
            return std::process::ExitCode::FAILURE;
        }
    }
    std::process::ExitCode::SUCCESS
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn floors_and_subjects_side_by_side() {
        let rows = measure(4, 2, None, &AtomicBool::new(false)).unwrap();
        let labels: Vec<String> = rows.iter().map(Row::label).collect();
        assert_eq!(
            labels,
            [
                "floor system call getppid 0 none none",
                "floor clock read 0 none none",
                "floor memory memcpy 4096 none none",
                "takt in-process Read 4 none none",
                "takt in-process Read 4096 none none",
                "takt in-process Write 4 none none",
            ]
        );
        for row in &rows {
            assert!(row.percentiles.p50 > 0.0, "{row:?}");
            assert_eq!(row.percentiles.samples, 4, "{row:?}");
            assert_eq!(row.ratio_to_floor.is_some(), row.peer == "takt", "{row:?}");
            assert_eq!(row.allocations, None, "{row:?}");
        }
    }

    #[test]
    fn an_interrupt_ends_the_measurement() {
        let interrupted = AtomicBool::new(true);
        assert!(matches!(
            measure(4, 2, None, &interrupted),
            Err(BenchError::Interrupted)
        ));
    }
}
