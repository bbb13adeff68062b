//! The comparison: all peers in rounds, each round in a random order.

use std::sync::atomic::AtomicBool;
use std::time::Duration;

use crate::baseline::baseline;
use crate::calls::calls;
use crate::condition::{Condition, Requests};
use crate::environment::Environment;
use crate::error::MiddlewareError;
use crate::leftovers::leftovers;
use crate::load::Load;
use crate::measure::{RoundPlan, round};
use crate::options::MiddlewareOptions;
use crate::progress::ProgressFile;
use crate::protocol::SessionError;
use crate::random::Random;
use crate::report::{self, Place};
use crate::row::{Subject, rows};
use crate::steps::{StepKind, Steps};
use crate::table::{PeerGroup, PeerNetwork, PeerTable};

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
    let mut environment = Environment::open(
        &options.host,
        options.link,
        options.seed,
        &table,
        interrupted,
    )?;
    let (mut subjects, left_out) = subjects(&table, &environment, options)?;
    Load::check(&options.conditions)?;
    drop(options.conditions.scheduler.enter()?);
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
    let mut steps = Steps::new();
    let measured = measure(
        &mut environment,
        plan,
        (&mut subjects[..], &mut progress),
        &mut steps,
        interrupted,
    );
    match &measured {
        Err(MiddlewareError::Interrupted) => steps.interrupt(),
        _ => steps.clear(),
    }
    measured?;
    let rows = rows(&mut subjects, &progress.rounds);
    let mut report = takt_profile::results(line, options.json);
    let results = (&rows[..], &progress.rounds[..]);
    let all = (&subjects[..], &left_out[..]);
    report::show(&mut report, all, results, &place, options)?;
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
    (subjects, progress): (&mut [Subject], &mut ProgressFile),
    steps: &mut Steps,
    interrupted: &AtomicBool,
) -> Result<(), MiddlewareError> {
    let (samples, rounds) = options.requests();
    let conditions = &options.conditions;
    let all = conditions.requests(&options.all_sizes(), samples);
    let mut random = Random::new(options.seed);
    plan(steps, subjects.len(), rounds, &all);
    for (number, requests) in (0..rounds).flat_map(|number| all.iter().map(move |it| (number, it)))
    {
        let kind = StepKind::Round(requests.condition);
        let mut order: Vec<usize> = (0..subjects.len()).collect();
        random.shuffle(&mut order);
        for place in order {
            let seed = random.next();
            let Some(subject) = subjects.get_mut(place) else {
                continue;
            };
            if subject.missing.is_some() || progress.has(&subject.label, requests.condition, number)
            {
                steps.skip(kind);
                continue;
            }
            steps.begin(kind, &subject.label);
            let plan = RoundPlan {
                number,
                requests,
                count: requests.count.div_ceil(rounds),
                seed,
                options: conditions,
                environment,
            };
            match round(table, subject, plan, interrupted) {
                Ok(result) => progress.add(result)?,
                Err(SessionError::Interrupted) => return Err(MiddlewareError::Interrupted),
                Err(SessionError::Failed(reason)) => {
                    let condition = requests.condition.name();
                    subject.missing = Some(match requests.condition {
                        Condition::Idle => reason,
                        _ => format!("{condition}: {reason}"),
                    });
                }
            }
            environment.check()?;
            steps.end(kind);
        }
    }
    // Files and processes on another host are not looked at, and the first answer may be lost by the link.
    let has_leftovers = environment.is_local() && !environment.loses();
    for subject in &mut *subjects {
        let seed = random.next();
        let known = progress
            .left
            .iter()
            .find(|(label, _)| *label == subject.label);
        if let Some((_, known)) = known {
            subject.leftovers = Some(known.clone());
        }
        if subject.missing.is_some() || known.is_some() || !has_leftovers {
            steps.skip(StepKind::Leftovers);
            continue;
        }
        steps.begin(StepKind::Leftovers, &subject.label);
        let scheduled = conditions.scheduler.enter()?;
        let left = leftovers(environment, table, subject, seed, interrupted);
        drop(scheduled);
        match left {
            Ok(left) => {
                progress.add_left(&subject.label, &left)?;
                subject.leftovers = Some(left);
            }
            Err(SessionError::Interrupted) => return Err(MiddlewareError::Interrupted),
            Err(SessionError::Failed(reason)) => {
                subject.missing = Some(format!("leftovers: {reason}"));
            }
        }
        steps.end(StepKind::Leftovers);
    }
    // The counter of the kernel is that of this host, and a request that is lost waits for seconds.
    let is_countable = environment.is_local() && !environment.loses();
    if let Some(requests) = all.first().filter(|_| is_countable) {
        let plan = RoundPlan {
            number: rounds,
            requests,
            count: requests.count,
            seed: random.next(),
            options: conditions,
            environment,
        };
        calls(table, subjects, plan, (progress, steps), interrupted)?;
    }
    Ok(())
}

/// Adds the steps of the comparison, with the time that each of them probably takes.
fn plan(steps: &mut Steps, subjects: usize, rounds: u32, all: &[Requests]) {
    for requests in all {
        let count = requests.count.div_ceil(rounds);
        let number = subjects * usize::try_from(rounds).unwrap_or(usize::MAX);
        // Processes are started, and a request takes about 100 us. The average wait is half of the longest one.
        let each = Duration::from_micros(100) + Duration::from_millis(requests.wait_ms.into()) / 2;
        let cases = u32::try_from(requests.cases.len()).unwrap_or(u32::MAX);
        let expected = Duration::from_secs(1) + each * count.saturating_mul(cases);
        steps.plan(StepKind::Round(requests.condition), number, expected);
    }
    steps.plan(StepKind::Leftovers, subjects, Duration::from_secs(2));
    steps.plan(StepKind::Calls, subjects, Duration::from_secs(2));
}

/// Returns the wanted variants of all peers, and those that the options leave out.
fn subjects(
    table: &PeerTable,
    environment: &Environment,
    options: &MiddlewareOptions,
) -> Result<(Vec<Subject>, Vec<Subject>), MiddlewareError> {
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
                is_networked: peer.is_networked(variant),
                is_floor: matches!(peer.group, PeerGroup::Floor | PeerGroup::Iceoryx2),
                resources: Vec::new(),
                calls: None,
                leftovers: None,
            });
        }
    }
    let is_wanted = |it: &Subject| options.wants(&it.label);
    let (subjects, left_out): (Vec<_>, Vec<_>) = subjects.into_iter().partition(is_wanted);
    match subjects.is_empty() {
        true => Err(MiddlewareError::NoMatch(options.only.join(","))),
        false => Ok((subjects, left_out)),
    }
}
