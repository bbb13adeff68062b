//! Files of a run that was made by hand.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use takt_scenario::Scenario;

use super::captures::AssignedCaptures;
use super::error::CollectError;
use super::request::CollectRequest;
use super::traces::{RunTrace, TracePair};
use crate::case_record::{CaptureRecord, CaseRecord, StampClock};
use crate::clock_agreement::ClockAgreement;
use crate::error::LabError;
use crate::host::{HostFact, PTP_CLOCK};
use crate::preparation::copy_scenario;
use crate::run_directory::{BY_HAND, RunApplication, RunCase, RunDescription};
use crate::scenario_loop::LoopEnd;
use crate::trace_name::trace_name;
use crate::unfinished_directory::UnfinishedDirectory;
use takt_analysis::SentStamp;

/// Name of the directory of the only case.
const CASE: &str = "001";

/// Name of a fact: whether a port had the disciplines of the scenario.
pub(crate) const DISCIPLINES: &str = "disciplines";

/// This fact if it had, with the offloads of the scenario.
const AS_PLANNED: &str = "as planned";

/// This fact if the network card does all that it can, also what the scenario does not offload to it.
const FULL_OFFLOAD: &str = "as planned, full offload";

/// Drivers that take offloads and do nothing, or have no link.
const WITHOUT_HARDWARE: [&str; 5] = ["veth", "netdevsim", "dummy", "tun", "bridge"];

/// This fact if the kernel does the work of offloads that the scenario has.
const WITHOUT_OFFLOAD: &str = "as planned, without offload";

/// Remark of every run that was made by hand.
pub(crate) const REMARK: &str =
    "made by hand: the disciplines of bridges and the cross traffic are not checked";

/// Writes the directory of a run, and finishes it.
pub(super) fn write(
    request: &CollectRequest<'_>,
    unfinished: &UnfinishedDirectory,
    scenario: &Scenario,
    pairs: &[TracePair],
    assigned: &AssignedCaptures,
) -> Result<RunDescription, CollectError> {
    // The settings of the traces can lead to other histograms than the scenario.
    let settings = pairs.iter().map(|it| &it.publisher.notes.settings);
    let mut histograms = Vec::new();
    for settings in settings {
        let file = request.scenario.with_settings(settings);
        let file = file.map_err(LabError::from)?;
        histograms.extend(file.histogram_files().into_iter().map(str::to_owned));
    }
    copy_scenario(unfinished, request.scenario, request.text, &histograms)?;
    let case = unfinished.path().join(CASE);
    let failed = |path: &Path, error| CollectError::Copy {
        path: path.to_owned(),
        error,
    };
    let copy = |from: &Path, name: &str| {
        let copied = unfinished.copy(from, &case.join(name));
        copied.map_err(|error| failed(from, error))
    };
    let made = unfinished.step(|| fs::create_dir(&case));
    made.map_err(|error| failed(&case, error))?;
    let mut captures = Vec::new();
    for (number, capture) in (1..).zip(&assigned.captures) {
        let port = match capture.is_loopback {
            true => LoopEnd::Loopback,
            false => LoopEnd::Publisher,
        };
        let name = format!("{}-port-{number}.pcapng", port.name());
        copy(&capture.path, &name)?;
        captures.push(CaptureRecord {
            port: format!("port of the {}", port.name()),
            file: name,
            clock: match capture.has_card_stamps {
                true => StampClock::Card {
                    ptp: card_clock(pairs, port),
                },
                false => StampClock::Kernel,
            },
            resolution_nanos: capture.step_nanos,
            ..CaptureRecord::default()
        });
    }
    let is_of_card = |index: Option<usize>| {
        let capture = index.and_then(|index| assigned.captures.get(index));
        capture.is_some_and(|it| it.has_card_stamps)
    };
    let file = |index: Option<usize>| Some(PathBuf::from(&captures.get(index?)?.file));
    let mut applications = Vec::new();
    for (pair, own) in pairs.iter().zip(&assigned.of_pairs) {
        let name = &pair.publisher.notes.end.application;
        let trace = |end| trace_name(scenario, name, end);
        let publisher_trace = trace(LoopEnd::Publisher);
        let loopback_trace = trace(LoopEnd::Loopback);
        copy(&pair.publisher.path, &publisher_trace)?;
        copy(&pair.loopback.path, &loopback_trace)?;
        let (publisher_id, loopback_id) = pair.publisher.notes.publisher_ids;
        applications.push(RunApplication {
            name: name.clone(),
            one_way: false,
            publisher_id,
            loopback_id,
            publisher_trace: publisher_trace.into(),
            loopback_trace: loopback_trace.into(),
            publisher_capture: file(own.publisher),
            loopback_capture: file(own.loopback),
            card_stamps: [is_of_card(own.publisher), is_of_card(own.loopback)],
        });
    }
    let description = description(scenario, pairs, applications);
    // The description comes last, because a directory that has one counts as a run.
    let finished = || -> Result<(), CollectError> {
        record(pairs, captures, scenario).write(&case)?;
        Ok(description.write(unfinished.path())?)
    };
    unfinished.finish(finished, |error| failed(unfinished.path(), error))?;
    Ok(description)
}

fn description(
    scenario: &Scenario,
    pairs: &[TracePair],
    applications: Vec<RunApplication>,
) -> RunDescription {
    let spans = pairs.iter().filter_map(|it| it.publisher.span);
    let started = spans.map(|it| it.begin / 1_000_000_000).min();
    let started = started.and_then(|seconds| u64::try_from(seconds).ok());
    let mut host = facts(pairs);
    let runs = pairs.iter().map(|it| it.run.to_string());
    host.insert("run".to_owned(), joined(runs));
    host.insert("links".to_owned(), joined(values(pairs, "driver")));
    let started = started.unwrap_or(0);
    let mut description = RunDescription::new(&scenario.name, BY_HAND, host, started);
    let is_full = disciplines(pairs).contains(&Some(FULL_OFFLOAD));
    description.disciplines =
        has_disciplines(&disciplines(pairs)) && (!is_full || have_hardware(pairs));
    let settings = pairs.first().map(|it| it.publisher.notes.settings.clone());
    description.cases = vec![RunCase {
        directory: CASE.into(),
        settings: settings.unwrap_or_default(),
        messages: pairs.iter().map(|it| it.publisher.sent).max().unwrap_or(0),
        seed: None,
        synchronized: pairs.iter().all(|it| it.is_synchronized),
        clocks: pairs
            .iter()
            .map(|it| it.clocks)
            .reduce(ClockAgreement::weaker),
        failure: None,
        is_of_scenario: false,
        applications,
    }];
    description
}

/// Returns the fact about disciplines at each side.
fn disciplines(pairs: &[TracePair]) -> Vec<Option<&str>> {
    let sides = pairs
        .iter()
        .flat_map(|pair| [&pair.publisher, &pair.loopback]);
    let found = sides.map(|side| {
        let mut facts = side.notes.host.iter();
        let found = facts.find(|(name, _)| name == DISCIPLINES);
        found.map(|(_, value)| value.as_str())
    });
    found.collect()
}

/// Returns true if bound and simulation have the disciplines of all ports. They have the offloads of the scenario, none, or all: not
/// those of some ports.
fn has_disciplines(of_sides: &[Option<&str>]) -> bool {
    [AS_PLANNED, WITHOUT_OFFLOAD, FULL_OFFLOAD]
        .iter()
        .any(|wanted| of_sides.iter().all(|found| *found == Some(*wanted)))
}

/// Returns true if all ports are those of network cards with a PTP clock, which launch times and gates need.
fn have_hardware(pairs: &[TracePair]) -> bool {
    sides(pairs).iter().all(|(_, side)| {
        let fact = |wanted: &str| {
            let mut facts = side.notes.host.iter();
            let found = facts.find(|(name, _)| name == wanted);
            found.map(|(_, value)| value.as_str())
        };
        let is_card = fact("driver").is_some_and(|driver| !WITHOUT_HARDWARE.contains(&driver));
        is_card && fact(PTP_CLOCK).is_some()
    })
}

/// Returns the sides of all applications, with their names.
fn sides(pairs: &[TracePair]) -> Vec<(String, &RunTrace)> {
    let several = pairs.len() > 1;
    let sides = pairs
        .iter()
        .flat_map(|pair| [&pair.publisher, &pair.loopback]);
    let named = sides.map(|side| {
        let end = side.side.name();
        let name = match several {
            true => format!("{} of {}", end, side.notes.end.application),
            false => end.to_owned(),
        };
        (name, side)
    });
    named.collect()
}

/// Returns the facts about the hosts. A fact that all sides share stands once, others with the side.
fn facts(pairs: &[TracePair]) -> BTreeMap<String, String> {
    let sides = sides(pairs);
    let mut facts = BTreeMap::new();
    for (name, side) in &sides {
        for (fact, value) in &side.notes.host {
            let is_shared = sides.iter().all(|(_, other)| has(other, fact, value));
            let key = match is_shared {
                true => fact.clone(),
                false => format!("{name}: {fact}"),
            };
            facts.insert(key, value.clone());
        }
    }
    facts
}

fn has(side: &RunTrace, fact: &str, value: &str) -> bool {
    let host: &[HostFact] = &side.notes.host;
    host.iter()
        .any(|(name, other)| name == fact && other == value)
}

/// Returns the values of a fact at all sides.
fn values(pairs: &[TracePair], fact: &str) -> Vec<String> {
    let sides = sides(pairs);
    let facts = sides.iter().flat_map(|(_, side)| &side.notes.host);
    let values = facts.filter(|(name, _)| name == fact);
    values.map(|(_, value)| value.clone()).collect()
}

/// Returns different texts, each once.
fn joined(texts: impl IntoIterator<Item = String>) -> String {
    let mut different: Vec<String> = Vec::new();
    for text in texts {
        if !different.contains(&text) {
            different.push(text);
        }
    }
    different.join(", ")
}

/// Returns true for a capture at the port of a Publisher, whose packets the network card stamped. Wire round trips begin there.
fn is_sent_by_card(capture: &CaptureRecord) -> bool {
    let is_publisher = capture.file.starts_with(LoopEnd::Publisher.name());
    is_publisher && matches!(capture.clock, StampClock::Card { .. })
}

/// Returns the number of the PTP clock of a side's network card.
fn card_clock(pairs: &[TracePair], port: LoopEnd) -> Option<u32> {
    let sides = pairs.iter().map(|pair| match port {
        LoopEnd::Publisher => &pair.publisher,
        LoopEnd::Loopback => &pair.loopback,
    });
    let mut facts = sides.flat_map(|side| &side.notes.host);
    let (_, device) = facts.find(|(name, _)| name == PTP_CLOCK)?;
    device.strip_prefix("/dev/ptp")?.parse().ok()
}

fn record(pairs: &[TracePair], captures: Vec<CaptureRecord>, scenario: &Scenario) -> CaseRecord {
    let first = pairs.first().map(|it| &it.publisher);
    let tai_offset = first.map_or(0, |it| it.tai_offset);
    let cycles = scenario.applications.iter().map(|it| it.cycle.0 / 1000);
    let cycle = cycles.max().and_then(|it| i64::try_from(it).ok());
    let begins = first.and_then(|it| it.span).map_or(0, |it| it.begin);
    let begins = begins.saturating_add(tai_offset.saturating_mul(1_000_000_000));
    CaseRecord {
        device: joined(values(pairs, "driver")),
        has_offloads: !disciplines(pairs).contains(&Some(WITHOUT_OFFLOAD)),
        has_full_offload: disciplines(pairs)
            .iter()
            .all(|it| *it == Some(FULL_OFFLOAD)),
        // A stamp of the card belongs to the end of the preamble, shortly after the first bit. All captures at the ports of Publishers
        // have such stamps, or none.
        sent_stamp: match captures.iter().any(is_sent_by_card) {
            true => SentStamp::FirstBit,
            false => SentStamp::Driver,
        },
        // Cycles begin at whole multiples of their length on CLOCK_TAI.
        beginning_nanos: begins - begins.rem_euclid(cycle.unwrap_or(1).max(1)),
        tai_offset_seconds: tai_offset,
        remarks: vec![REMARK.to_owned()],
        ends: pairs
            .iter()
            .flat_map(|pair| {
                [
                    pair.publisher.notes.end.clone(),
                    pair.loopback.notes.end.clone(),
                ]
            })
            .collect(),
        cross_traffic: Vec::new(),
        captures,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_have_the_offloads_of_the_scenario_or_none() {
        let full = FULL_OFFLOAD;
        for (sides, expected) in [
            ([AS_PLANNED, AS_PLANNED], true),
            ([WITHOUT_OFFLOAD, WITHOUT_OFFLOAD], true),
            ([AS_PLANNED, WITHOUT_OFFLOAD], false),
            ([full, full], true),
            ([full, WITHOUT_OFFLOAD], false),
            ([AS_PLANNED, full], false),
            ([AS_PLANNED, "not as planned: x"], false),
            (["unknown motion of gates, as planned", AS_PLANNED], false),
        ] {
            assert_eq!(has_disciplines(&sides.map(Some)), expected, "{sides:?}");
        }
        assert!(!has_disciplines(&[Some(AS_PLANNED), None]));
    }
}
