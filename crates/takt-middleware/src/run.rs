//! The comparison: all peers in rounds, each round in a random order.

use std::sync::atomic::AtomicBool;
use std::time::Instant;

use takt_report::Report;

use crate::environment::{Environment, baseline};
use crate::error::MiddlewareError;
use crate::leftovers::leftovers;
use crate::measure::{RoundPlan, round};
use crate::options::MiddlewareOptions;
use crate::progress::ProgressFile;
use crate::protocol::SessionError;
use crate::report::{self, Place};
use crate::row::{Subject, rows};
use crate::statistics::Random;
use crate::table::{PeerNetwork, PeerTable};

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
    let mut environment = Environment::open(options, &table, interrupted)?;
    let mut subjects = subjects(&table, &environment, options)?;
    let folder = &options.output;
    std::fs::create_dir_all(folder).map_err(MiddlewareError::file("create", folder))?;
    let mut progress = ProgressFile::open(options)?;
    let links = baseline(&environment, &table, options.seed, interrupted);
    let links = links.map_err(|error| match error {
        SessionError::Interrupted => MiddlewareError::Interrupted,
        SessionError::Failed(reason) => MiddlewareError::Environment(reason),
    })?;
    let place = Place {
        description: environment.description(),
        links,
    };
    let plan = (&table, options);
    measure(
        &mut environment,
        plan,
        &mut subjects,
        &mut progress,
        interrupted,
    )?;
    let rows = rows(&mut subjects, &progress.rounds);
    let mut report = Report::new(line, options.json);
    report::show(&mut report, &subjects, &rows, &place, options)?;
    let wrong = |label: &String| rows.iter().any(|row| row.peer == *label && !row.is_right());
    let is_faulty = |it: &&Subject| it.required && (it.missing.is_some() || wrong(&it.label));
    let faulty: Vec<&str> = subjects
        .iter()
        .filter(is_faulty)
        .map(|it| it.label.as_str())
        .collect();
    match options.require && !faulty.is_empty() {
        true => Err(MiddlewareError::Required(faulty.join(", "))),
        false => Ok(()),
    }
}

/// Measures what is not in the file of results yet.
fn measure(
    environment: &mut Environment,
    (table, options): (&PeerTable, &MiddlewareOptions),
    subjects: &mut [Subject],
    progress: &mut ProgressFile,
    interrupted: &AtomicBool,
) -> Result<(), MiddlewareError> {
    let (samples, rounds) = options.requests();
    let sizes = options.all_sizes();
    let mut random = Random::new(options.seed);
    let mut steps = Steps::new(subjects.len() * (usize::try_from(rounds).unwrap_or(1) + 1));
    for number in 0..rounds {
        let mut order: Vec<usize> = (0..subjects.len()).collect();
        random.shuffle(&mut order);
        for place in order {
            let seed = random.next();
            let Some(subject) = subjects.get_mut(place) else {
                continue;
            };
            if subject.missing.is_some() || progress.has(&subject.label, number) {
                steps.skip();
                continue;
            }
            steps.show(&subject.label);
            let plan = RoundPlan {
                number,
                sizes: &sizes,
                count: samples.div_ceil(rounds),
                seed,
            };
            match round(environment, table, subject, plan, interrupted) {
                Ok(result) => progress.add(result)?,
                Err(SessionError::Interrupted) => return Err(MiddlewareError::Interrupted),
                Err(SessionError::Failed(reason)) => subject.missing = Some(reason),
            }
            environment.check()?;
            steps.done();
        }
    }
    // Files and processes on another host are not looked at.
    for subject in subjects {
        let seed = random.next();
        let known = progress
            .left
            .iter()
            .find(|(label, _)| *label == subject.label);
        if let Some((_, known)) = known {
            subject.leftovers = Some(known.clone());
        }
        if subject.missing.is_some() || known.is_some() || !environment.is_local() {
            steps.skip();
            continue;
        }
        steps.show(&format!("{}: leftovers", subject.label));
        match leftovers(environment, table, subject, seed, interrupted) {
            Ok(left) => {
                progress.add_left(&subject.label, &left)?;
                subject.leftovers = Some(left);
            }
            Err(SessionError::Interrupted) => return Err(MiddlewareError::Interrupted),
            Err(SessionError::Failed(reason)) => {
                subject.missing = Some(format!("leftovers: {reason}"));
            }
        }
        steps.done();
    }
    steps.clear();
    Ok(())
}

/// Returns the wanted variants of all peers.
fn subjects(
    table: &PeerTable,
    environment: &Environment,
    options: &MiddlewareOptions,
) -> Result<Vec<Subject>, MiddlewareError> {
    let mut subjects = Vec::new();
    for (place, peer) in table.peers.iter().enumerate() {
        let is_forbidden =
            peer.environment == PeerNetwork::Veth && !rustix::process::geteuid().is_root();
        let missing = match is_forbidden {
            true => Some("only root may make its network interfaces".to_owned()),
            false => table.missing(peer),
        };
        let plain = [Vec::new()];
        for variant in plain.iter().chain(&peer.variants) {
            let label = [std::slice::from_ref(&peer.name), variant]
                .concat()
                .join(" ");
            if options.wants(&label) {
                let elsewhere = environment.obstacle(peer, variant);
                subjects.push(Subject {
                    place,
                    label,
                    title: peer.title.clone(),
                    options: variant.clone(),
                    required: peer.required && !is_forbidden && elsewhere.is_none(),
                    source: peer.source.clone(),
                    missing: elsewhere.map(str::to_owned).or_else(|| missing.clone()),
                    is_elsewhere: elsewhere.is_some(),
                    link_loses: environment.loses(),
                    info: Vec::new(),
                    usage: Default::default(),
                    requests: 0,
                    leftovers: None,
                });
            }
        }
    }
    match subjects.is_empty() {
        true => Err(MiddlewareError::NoMatch(options.only.join(","))),
        false => Ok(subjects),
    }
}

/// Steps of the comparison, shown on a terminal with the remaining time.
struct Steps {
    total: usize,
    number: usize,
    measured: usize,
    begin: Instant,
}

impl Steps {
    fn new(total: usize) -> Self {
        Self {
            total,
            number: 0,
            measured: 0,
            begin: Instant::now(),
        }
    }

    /// Leaves out a step that needs no time.
    fn skip(&mut self) {
        self.number += 1;
    }

    fn done(&mut self) {
        self.number += 1;
        self.measured += 1;
    }

    fn show(&self, what: &str) {
        let left = match self.measured {
            0 => String::new(),
            measured => {
                let each = self.begin.elapsed().as_secs_f64() / measured as f64;
                let seconds = each * (self.total - self.number) as f64;
                match seconds < 90.0 {
                    true => format!(", {seconds:.0} s left"),
                    false => format!(", {:.0} min left", seconds / 60.0),
                }
            }
        };
        print(&format!(
            "step {} of {}{left}: {what}",
            self.number + 1,
            self.total
        ));
    }

    fn clear(&self) {
        print("");
    }
}

/// Replaces the line of the progress, if the error output is a terminal.
fn print(text: &str) {
    use std::io::{IsTerminal, Write};
    let mut out = std::io::stderr().lock();
    if out.is_terminal() {
        // A terminal that is gone is no reason to end.
        let _ = write!(out, "\r\x1b[K{text}");
        let _ = out.flush();
    }
}
