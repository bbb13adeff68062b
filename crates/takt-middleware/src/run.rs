//! The comparison: all peers in rounds, each round in a random order.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use takt_report::Report;

use crate::error::MiddlewareError;
use crate::options::MiddlewareOptions;
use crate::own::Mode;
use crate::report;
use crate::row::{MiddlewareRow, Subject};
use crate::session::{Session, SessionError};
use crate::statistics::Random;
use crate::table::PeerTable;
use crate::usage::MachineTime;

/// Share of a processor that others may use before a round counts as disturbed.
const LOAD: f64 = 0.2;

/// Runs the comparison, prints its lines and writes its files.
///
/// # Errors
/// [`MiddlewareError`]: a table or file that cannot be used, an interrupt, or a required peer that was not measured.
pub fn run(
    options: &MiddlewareOptions,
    interrupted: &AtomicBool,
    line: impl FnMut(String),
) -> Result<(), MiddlewareError> {
    let table = PeerTable::load(options.peers.as_deref())?;
    let mut subjects = subjects(&table, options)?;
    let folder = &options.output;
    std::fs::create_dir_all(folder).map_err(MiddlewareError::file("create", folder))?;
    let mut rows = Vec::new();
    let (samples, rounds) = options.requests();
    let mut random = Random::new(options.seed);
    let begin = Instant::now();
    let (total, mut done) = (subjects.len() * usize::try_from(rounds).unwrap_or(1), 0);
    for _ in 0..rounds {
        let mut order: Vec<usize> = (0..subjects.len()).collect();
        random.shuffle(&mut order);
        for place in order {
            let Some(subject) = subjects.get_mut(place) else {
                continue;
            };
            show(done, total, begin);
            done += 1;
            if subject.missing.is_some() {
                continue;
            }
            let count = samples.div_ceil(rounds);
            let seed = random.next();
            let measured = round(
                &table,
                subject,
                (options, count, seed),
                interrupted,
                &mut rows,
            );
            match measured {
                Ok(()) => {}
                Err(SessionError::Interrupted) => return Err(MiddlewareError::Interrupted),
                Err(SessionError::Failed(reason)) => subject.missing = Some(reason),
            }
        }
    }
    rows.iter_mut().for_each(MiddlewareRow::finish);
    rows.sort_by(|one, other| {
        let key = |row: &MiddlewareRow| (row.mode, row.bytes);
        let median = |row: &MiddlewareRow| row.median_us.map_or(f64::MAX, |it| it.value);
        key(one)
            .cmp(&key(other))
            .then(median(one).total_cmp(&median(other)))
    });
    report::show(
        &mut Report::new(line, options.json),
        &subjects,
        &rows,
        options,
    )?;
    let wrong = rows
        .iter()
        .filter(|row| !row.is_right())
        .map(|row| &row.peer);
    let faulty: Vec<&str> = subjects
        .iter()
        .filter(|it| {
            it.required && (it.missing.is_some() || wrong.clone().any(|peer| *peer == it.label))
        })
        .map(|it| it.label.as_str())
        .collect();
    match options.require && !faulty.is_empty() {
        true => Err(MiddlewareError::Required(faulty.join(", "))),
        false => Ok(()),
    }
}

/// Returns the variants of all wanted peers.
fn subjects(
    table: &PeerTable,
    options: &MiddlewareOptions,
) -> Result<Vec<Subject>, MiddlewareError> {
    let mut subjects = Vec::new();
    for (place, peer) in table.peers.iter().enumerate() {
        let plain = [Vec::new()];
        for variant in plain.iter().chain(&peer.variants) {
            let label = [std::slice::from_ref(&peer.name), variant]
                .concat()
                .join(" ");
            let is_wanted = |text: &String| label.contains(text.as_str());
            if options.only.is_empty() || options.only.iter().any(is_wanted) {
                subjects.push(Subject {
                    place,
                    label,
                    options: variant.clone(),
                    required: peer.required,
                    missing: table.missing(peer),
                    info: Vec::new(),
                    usage: Default::default(),
                    requests: 0,
                });
            }
        }
    }
    match subjects.is_empty() {
        true => Err(MiddlewareError::NoMatch(options.only.join(","))),
        false => Ok(subjects),
    }
}

/// Shows the progress and the remaining time on a terminal.
fn show(done: usize, total: usize, begin: Instant) {
    use std::io::{IsTerminal, Write};
    let mut out = std::io::stderr().lock();
    if !out.is_terminal() {
        return;
    }
    let left = match done {
        0 => String::new(),
        done => {
            let seconds = begin.elapsed().as_secs_f64() / done as f64 * (total - done) as f64;
            format!(", {seconds:.0} s left")
        }
    };
    let end = if done + 1 == total { "\r" } else { "" };
    let _ = write!(out, "\r\x1b[Kpeer {} of {total}{left}{end}", done + 1);
    let _ = out.flush();
}

/// Measures all cases of a peer in a random order, with its processes started anew.
fn round(
    table: &PeerTable,
    subject: &mut Subject,
    (options, count, seed): (&MiddlewareOptions, u32, u64),
    interrupted: &AtomicBool,
    rows: &mut Vec<MiddlewareRow>,
) -> Result<(), SessionError> {
    let peer = table.peers.get(subject.place);
    let peer = peer.ok_or_else(|| SessionError::failed("the row is gone"))?;
    let mut session = Session::start(table, peer, &subject.options, seed, interrupted)?;
    let sizes = options.all_sizes();
    let cases = Mode::ALL
        .iter()
        .flat_map(|mode| sizes.iter().map(|size| (*mode, *size)));
    let mut cases: Vec<(Mode, u32)> = cases.collect();
    let mut random = Random::new(seed);
    random.shuffle(&mut cases);
    let (before, machine, begin) = (session.usage(), MachineTime::read(), Instant::now());
    let mut measured = Vec::new();
    for case in cases {
        if interrupted.load(Ordering::Relaxed) {
            return Err(SessionError::Interrupted);
        }
        // Requests that are not counted: memory, caches and connections are ready after them.
        session.run(case, (count / 10).clamp(10, 100), 0, seed, interrupted)?;
        measured.push((
            case,
            session.run(case, count, 0, random.next(), interrupted)?,
        ));
        subject.requests += u64::from(count);
    }
    let elapsed = begin.elapsed().max(Duration::from_millis(1));
    let after = session.usage();
    let mut own = 0.0;
    for ((usage, after), before) in subject.usage.iter_mut().zip(after).zip(before) {
        let used = after.since(before);
        own += used.cpu_ms;
        usage.add(used);
    }
    let is_loaded = MachineTime::read().others_since(machine, own, elapsed) > LOAD;
    subject.info.clone_from(&session.info);
    for ((mode, bytes), result) in measured {
        let same = |row: &MiddlewareRow| {
            row.peer == subject.label && (row.mode, row.bytes) == (mode, bytes)
        };
        let place = rows.iter().position(same).unwrap_or(rows.len());
        if place == rows.len() {
            rows.push(MiddlewareRow {
                peer: subject.label.clone(),
                title: peer.title.clone(),
                mode,
                bytes,
                median_us: None,
                p99_us: None,
                answered: 0,
                faults: [0; 4],
                is_loaded: false,
                rounds: Vec::new(),
            });
        }
        let Some(row) = rows.get_mut(place) else {
            continue;
        };
        let times = result
            .samples
            .iter()
            .flatten()
            .map(|nanos| *nanos as f64 / 1000.0);
        row.rounds.push(times.collect());
        let faults = [result.wrong, result.lost, result.late, result.duplicate];
        for (sum, fault) in row.faults.iter_mut().zip(faults) {
            *sum += fault;
        }
        row.is_loaded |= is_loaded;
    }
    Ok(())
}
