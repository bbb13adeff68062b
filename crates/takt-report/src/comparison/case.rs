//! Comparison of a case of a run.

use std::path::Path;

use takt_analysis::{AnalysisError, DelaySample, SentStamp};
use takt_control::TracePoint::{T2, T3, T6, T7};
use takt_lab::run_directory::{RunApplication, RunCase};
use takt_lab::{CaptureRecord, CaseRecord, ClockAgreement, EndRecord};
use takt_scenario::{ApplicationIndex, FlowSource, Scenario};

use super::application::{
    ComparedApplication, ComparedDelay, OneWayComparison, RoundTripComparison,
};
use super::bound::CaseBounds;
use super::delays;
use super::late;
use super::loss::LossShares;
use super::measured::Measurement;
use super::resolution::Resolution;
use super::settings::{self, CaseOffload};
use super::simulated::{self, CaseSimulation};
use super::times::RoundTripKind;

/// Comparison of a case: one combination of settings.
#[derive(Debug)]
pub struct ComparedCase {
    /// Name of its directory.
    pub directory: String,
    /// Values of the scenario's fields.
    pub settings: Vec<(String, String)>,
    /// Published messages of each application.
    pub messages: u64,
    /// Seed of cross traffic, of the simulation and, where the backend generates it, of the latency of threads.
    pub seed: u64,
    /// Number of messages that are left out at each end, in simulation and measurement.
    pub trim: u64,
    /// Names and values of the settings that bound, simulation and measurement have in common.
    pub configuration: Vec<(String, String)>,
    /// Assumptions of the bounds that are not checked.
    pub assumptions: Vec<&'static str>,
    /// Assumptions of the bounds that Linux in software breaks.
    pub broken: Vec<&'static str>,
    /// Kind of the devices that joined the nodes.
    pub device: String,
    /// Time that captures have of sent frames. Delays on the wire begin there, in all three answers.
    pub sent_stamp: SentStamp,
    /// Clocks that stamped the captures, each with its step.
    pub capture_clocks: Vec<String>,
    /// Resolution of measured times.
    pub resolution: Resolution,
    /// Remarks of the run about the configuration, and counts of cross traffic.
    pub remarks: Vec<String>,
    /// Reason why the run had no result for this case.
    pub failure: Option<String>,
    /// Reason why files of the case cannot be read.
    pub damage: Option<String>,
    /// Applications.
    pub applications: Vec<ComparedApplication>,
}

/// Receiver of the samples of a case: name of the application, and a delay.
pub(crate) type CaseSink<'a> = dyn FnMut(&str, &DelaySample) + 'a;

impl ComparedCase {
    /// Compares a case. `trim` is the largest number of messages to leave out at each end.
    pub(crate) fn of(
        run: &Path,
        case: &RunCase,
        scenario: &Scenario,
        trim: u64,
        (resolution, clocks): (Resolution, ClockAgreement),
        sink: &mut CaseSink<'_>,
    ) -> Self {
        let directory = run.join(&case.directory);
        let record = CaseRecord::read(&directory);
        let resolution = resolution.of_case(clocks, record.as_ref().ok());
        // A case that has not run has no record, and no results either.
        let offload = record.as_ref().map_or(CaseOffload::None, CaseOffload::of);
        let scenario = &settings::as_run(scenario, offload);
        // The default is that of long runs; a short run keeps at least four fifths of its messages.
        let trim = trim.min(case.messages / 10);
        let seed = case.seed.unwrap_or(scenario.simulation.seed);
        let options = simulated::options(scenario, seed, case.messages, trim, offload);
        let mut compared = Self {
            directory: case.directory.display().to_string(),
            settings: case.settings.clone(),
            messages: case.messages,
            seed,
            trim,
            configuration: settings::of(scenario, &options, offload),
            assumptions: Vec::new(),
            broken: Vec::new(),
            device: String::new(),
            sent_stamp: SentStamp::default(),
            capture_clocks: Vec::new(),
            resolution,
            remarks: Vec::new(),
            failure: case.failure.clone(),
            damage: None,
            applications: Vec::new(),
        };
        if case.failure.is_some() {
            return compared;
        }
        if let Err(damage) = check_messages(case, &directory) {
            compared.damage = Some(damage);
            return compared;
        }
        let record = match record {
            Ok(record) => record,
            Err(error) => {
                compared.damage = Some(error.to_string());
                return compared;
            }
        };
        compared.device.clone_from(&record.device);
        compared.sent_stamp = record.sent_stamp;
        compared.capture_clocks = capture_clocks(&record);
        compared.remarks = remarks(&record);
        let bounds = CaseBounds::of(scenario, &options, offload);
        compared.assumptions = bounds.assumptions().to_vec();
        compared.broken = bounds.broken().to_vec();
        let simulation = CaseSimulation::of(scenario, options, record.sent_stamp);
        let joined = Joined {
            directory: &directory,
            case,
            scenario,
            trim,
            record: &record,
            bounds: &bounds,
            simulation: &simulation,
            resolution,
        };
        for application in &case.applications {
            match joined.application(application, sink) {
                Ok(application) => compared.applications.push(application),
                // The other applications are compared all the same.
                Err(reason) => compared.damage = Some(reason),
            }
        }
        compared
    }
}

/// Number of messages that a case may have without a trace of each: their simulation takes some minutes at most.
const FEW_MESSAGES: u64 = 10_000_000;

/// Checks the number of messages, which decides how long the simulation takes: each has left a record in a trace file.
fn check_messages(case: &RunCase, directory: &Path) -> Result<(), String> {
    let length = |path: &Path| std::fs::metadata(directory.join(path)).map_or(0, |file| file.len());
    let traces = case.applications.iter();
    let longest = traces.map(|it| length(&it.publisher_trace)).max();
    let most = longest.unwrap_or(0).max(FEW_MESSAGES);
    match case.messages <= most {
        true => Ok(()),
        false => Err(format!(
            "the run has {} messages, but its longest trace file has {} bytes",
            case.messages,
            longest.unwrap_or(0)
        )),
    }
}

/// Three answers for a case, before they are joined.
struct Joined<'a> {
    directory: &'a Path,
    case: &'a RunCase,
    scenario: &'a Scenario,
    trim: u64,
    record: &'a CaseRecord,
    bounds: &'a CaseBounds,
    simulation: &'a CaseSimulation<'a>,
    resolution: Resolution,
}

/// Returns the application of a run's files with this name, and its flow from the Publisher: the name is that of the application or, if
/// it has several subscribers, of the flow to one of them.
fn there(scenario: &Scenario, name: &str) -> Option<(ApplicationIndex, FlowSource)> {
    let flows = scenario.flows().iter().map(|flow| flow.source);
    let mut flows = flows.filter_map(|source| match source {
        FlowSource::Publish(id) | FlowSource::Branch(id, _) => Some((id, source)),
        FlowSource::Return(_) | FlowSource::Cross(_) => None,
    });
    flows.find(|(_, source)| scenario.flow_name(*source) == name)
}

impl Joined<'_> {
    fn application(
        &self,
        of_run: &RunApplication,
        sink: &mut CaseSink<'_>,
    ) -> Result<ComparedApplication, String> {
        let scenario = self.scenario;
        let (index, there) = there(scenario, &of_run.name)
            .ok_or_else(|| format!("the scenario has no application {}", of_run.name))?;
        let application = &scenario.applications[index.0];
        let stamp = self.record.sent_stamp;
        let bounds = RoundTripKind::ALL.map(|kind| self.bounds.round_trip(index, kind, stamp));
        let ways = [there, FlowSource::Return(index)];
        let links = |source: FlowSource| {
            let flow = scenario.flows().iter().find(|it| it.source == source);
            flow.map_or(0, |flow| flow.ports.len())
        };
        let [links_there, links_back] = ways.map(links);
        let resolutions = [
            self.resolution
                .round_trip(RoundTripKind::Wire, links_there + links_back),
            self.resolution
                .round_trip(RoundTripKind::Application, links_there + links_back),
            self.resolution.one_way(links_there),
            self.resolution.one_way(links_back),
        ];
        let [of_wire, of_application, of_there, of_back] = resolutions;
        let way_bounds = ways.map(|source| self.bounds.of_way(source, stamp));
        let [wire_bound, application_bound] = bounds.each_ref();
        let [there_bound, back_bound] = way_bounds.each_ref();
        let measurement = Measurement::of(
            self.directory,
            self.case,
            of_run,
            self.trim,
            [
                (wire_bound, of_wire),
                (application_bound, of_application),
                (there_bound, of_there),
                (back_bound, of_back),
            ],
            &mut |sample| sink(&of_run.name, sample),
        );
        let mut measurement =
            measurement.map_err(|error: AnalysisError| format!("{}: {error}", of_run.name))?;
        let against = std::mem::take(&mut measurement.against);
        let [on_the_wire, of_threads, on_way, on_way_back] = against;
        // All have the order of `RoundTripKind::ALL`.
        let mut parts = bounds
            .into_iter()
            .zip([on_the_wire, of_threads])
            .zip(resolutions);
        let round_trips = RoundTripKind::ALL.map(|kind| {
            let (from, to) = kind.points();
            let ((bound, against), resolution) = parts.next().unwrap_or_else(|| {
                let unknown = super::ComparedBound::Unknown(String::new());
                ((unknown, super::measured::AgainstBound::default()), 1)
            });
            RoundTripComparison {
                kind,
                delay: ComparedDelay {
                    bound,
                    simulated: self.simulation.round_trip(index, kind),
                    measured: measurement.times(from, to),
                    longest: against.longest,
                    above_bound: against.above,
                    count: against.count,
                    resolution,
                    clock_margin: Some(0),
                },
            }
        });
        // A message that arrives before it is sent tells that the clocks differ by more than their hosts have measured.
        let margin = self.resolution.clock_margin();
        let known = margin.and_then(|margin| u64::try_from(margin).ok());
        let contradicts = |from, to| {
            let found = measurement.run.impossible_delays(known.unwrap_or(0));
            let mut ways = found.iter().map(|it| it.interval);
            ways.any(|it| (it.from, it.to) == (from, to))
        };
        let clock_margin = margin.filter(|_| !contradicts(T2, T3) && !contradicts(T6, T7));
        let names = [
            ("one way on the wire", T2, T3, on_way, of_there),
            ("one way back on the wire", T6, T7, on_way_back, of_back),
        ];
        let one_way = names.into_iter().zip(ways).zip(way_bounds);
        let one_way = one_way.map(|(((name, from, to, against, resolution), source), bound)| {
            OneWayComparison {
                name,
                delay: ComparedDelay {
                    bound,
                    simulated: self.simulation.of_way(source),
                    measured: measurement.times(from, to),
                    longest: against.longest,
                    above_bound: clock_margin.map_or(0, |_| against.above),
                    count: against.count,
                    resolution,
                    clock_margin,
                },
            }
        });
        let one_way: Vec<OneWayComparison> = one_way.collect();
        let intervals = measurement.run.intervals.iter().map(|it| it.interval);
        let others = intervals.filter(|it| RoundTripKind::of(*it).is_none());
        let parts = others.filter_map(|it| measurement.times(it.from, it.to));
        // The Publisher of several subscribers has the name of the application, and each subscriber that of its flow.
        let is_own = |it: &&EndRecord| {
            let sends = it.end == "publisher" && it.application == application.name;
            sends || it.application == of_run.name
        };
        let ends = self.record.ends.iter().filter(is_own);
        let late = ends.clone().map(|it| it.max_wake_up_latency_nanos).max();
        let flows = scenario.flows().iter();
        let own = flows.filter(|it| ways.contains(&it.source));
        let receivers = application.receiver.nodes().iter();
        let nodes = std::iter::once(&application.publisher).chain(receivers);
        let allowed = nodes.filter_map(|it| scenario.nodes.get(it.0));
        let allowed = allowed
            .map(|node| node.wake_up_latency.most().picos())
            .max();
        Ok(ComparedApplication {
            name: of_run.name.clone(),
            hops: own.map(|flow| flow.ports.len()).max().unwrap_or(0),
            payload: application.frame.payload(),
            cycle_nanos: application.cycle.picos() as f64 / 1e3,
            round_trips,
            one_way,
            parts: parts.collect(),
            simulated_losses: self.simulation.losses(index),
            measured_losses: LossShares::of_measured(&measurement.run),
            simulated_counters: self.simulation.counters(index),
            points: measurement.points(),
            wake_up_latency_nanos: late.map(|nanos| nanos as f64),
            allowed_latency_nanos: allowed.unwrap_or(0) as f64 / 1e3,
            ends: ends.cloned().collect(),
            began: measurement.began,
            delayed_by: delays::of(self.record, &of_run.name, &measurement.run),
            late_wake_ups: late::of(&measurement.run, self.case.synchronized),
            remarks: measurement.run.doubts(),
            is_damaged: measurement.run.files.iter().any(|it| it.damage.is_some()),
        })
    }
}

/// Returns the clocks of captures with the step of their times, each once, with the port if they differ.
fn capture_clocks(record: &CaseRecord) -> Vec<String> {
    let described = |it: &CaptureRecord| {
        let step = it.resolution_nanos;
        format!("{}, in steps of {step} ns", it.clock)
    };
    let mut captures = record.captures.iter();
    let Some(first) = captures.next().map(described) else {
        return Vec::new();
    };
    if captures.all(|it| described(it) == first) {
        return vec![first];
    }
    let captures = record.captures.iter();
    let named = captures.map(|it| format!("{}: {}", it.port, described(it)));
    named.collect()
}

/// Returns the remarks of a record.
fn remarks(record: &CaseRecord) -> Vec<String> {
    let mut lines = record.remarks.clone();
    for end in &record.ends {
        let of = delays::end_name(end);
        lines.extend(delays::attempts(end));
        lines.extend(delays::skipped(end));
        lines.extend(delays::set(end));
        lines.extend(delays::not_sent(end));
        lines.extend(delays::dropped(end));
        for setting in &end.unset {
            lines.push(format!("{of}: {setting}"));
        }
    }
    for flow in &record.cross_traffic {
        lines.push(format!(
            "cross traffic {}: {} frames sent, {} refused, {} arrived",
            flow.name, flow.sent, flow.refused, flow.received
        ));
    }
    for flow in record.cross_traffic.iter().filter(|it| it.late > 0) {
        lines.push(format!(
            "cross traffic {}: {} frames were due and not sent when the run ended, because its thread was too slow",
            flow.name, flow.late
        ));
    }
    for capture in record.captures.iter().filter(|it| it.lost > 0) {
        lines.push(format!("{} lacks {} frames", capture.file, capture.lost));
    }
    lines
}

#[cfg(test)]
pub(crate) mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use std::collections::BTreeMap;

    use takt_lab::run_directory::RunDescription;
    use takt_scenario::ScenarioFile;

    use super::*;

    /// A number of a damaged file does not decide how long the report takes.
    #[test]
    fn a_case_has_as_many_messages_as_its_traces() {
        let text = "version = 1\nname = \"x\"\ndiscipline = \"d\"\n[topology]\nkind = \"p2p\"\n\
                    [disciplines.d]\nscheduler = \"mqprio\"\n\
                    classes = [{ name = \"A\", priorities = [3] }, { name = \"b\" }]\n\
                    [[applications]]\nname = \"a\"\npublisher = \"host1\"\nloopback = \"host2\"\n\
                    cycle = \"250 us\"\nfields = 3\n";
        let file = ScenarioFile::parse(text, "x.toml").unwrap();
        let directory = tempfile::tempdir().unwrap();
        let case = |messages| RunCase {
            directory: "001".into(),
            settings: Vec::new(),
            messages,
            seed: None,
            synchronized: true,
            clocks: None,
            failure: None,
            is_of_scenario: false,
            applications: Vec::new(),
        };
        for messages in [FEW_MESSAGES + 1, 1 << 63, u64::MAX] {
            let case = case(messages);
            let compared = ComparedCase::of(
                directory.path(),
                &case,
                file.scenario(),
                u64::MAX,
                (
                    Resolution::of(&RunDescription::new("x", "uml", BTreeMap::new(), 0)),
                    ClockAgreement::One,
                ),
                &mut |_, _| {},
            );
            let damage = compared.damage.unwrap();
            assert!(damage.contains(&messages.to_string()), "{damage}");
        }
        assert!(check_messages(&case(FEW_MESSAGES), directory.path()).is_ok());
    }

    #[test]
    fn counts_of_a_record_may_be_any() {
        let end = EndRecord {
            launch_refused: u64::MAX,
            launch_invalid: 1,
            launch_missed: u64::MAX,
            ..EndRecord::default()
        };
        let record = CaseRecord {
            ends: vec![end],
            ..CaseRecord::default()
        };
        let lines = remarks(&record);
        assert!(
            lines
                .concat()
                .contains("18446744073709551615 messages dropped"),
            "{lines:?}"
        );
    }

    /// Returns a case without applications.
    pub(crate) fn case() -> ComparedCase {
        ComparedCase {
            directory: "case".to_owned(),
            settings: Vec::new(),
            messages: 1000,
            seed: 0,
            trim: 100,
            configuration: Vec::new(),
            assumptions: Vec::new(),
            broken: Vec::new(),
            device: String::new(),
            sent_stamp: SentStamp::default(),
            capture_clocks: Vec::new(),
            resolution: Resolution::of(&RunDescription::new("x", "uml", BTreeMap::new(), 0)),
            remarks: Vec::new(),
            failure: None,
            damage: None,
            applications: Vec::new(),
        }
    }
}
