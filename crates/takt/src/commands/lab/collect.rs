//! `takt lab collect DIRECTORY FILE...`.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use miette::Report;
use serde_json::json;
use takt_analysis::RunFileFormat;
use takt_lab::collect::{CollectError, CollectRequest, collect};
use takt_lab::{ClockAgreement, UnfinishedDirectory};

use super::advice;
use super::signals::EndAtSignal;
use crate::arguments::LabCollectArguments;
use crate::commands::control_loop::is_scenario;
use crate::{explain, output, scenario_file};

/// Most bytes of a file that are read to find out whether it is a scenario.
const LONGEST_SCENARIO: u64 = 1 << 20;

pub(super) fn run(arguments: &LabCollectArguments) -> miette::Result<()> {
    let directory = &arguments.directory;
    let unfinished = UnfinishedDirectory::new(directory);
    let signals = EndAtSignal::install()?;
    signals.start(unfinished.removal(), "nothing was collected")?;
    let (scenarios, files): (Vec<_>, Vec<_>) = arguments
        .files
        .iter()
        .cloned()
        .partition(|path| is_scenario_file(path));
    let path = only_scenario(&scenarios)?;
    let (scenario, text) = scenario_file::read(path)?;
    let request = CollectRequest {
        scenario: &scenario,
        text: &text,
        files: &files,
        at_loopback: &arguments.at_loopback,
        card_stamps: &arguments.card_stamps,
        is_synchronized: arguments.synchronized,
    };
    let collected = collect(&request, &unfinished).map_err(|error| explained(&error));
    let collected = signals.outcome(collected)?;
    let run = &collected.description;
    let case = run.cases.first();
    let names = case.iter().flat_map(|case| &case.applications);
    let names: Vec<&str> = names.map(|it| it.name.as_str()).collect();
    let messages = case.map_or(0, |case| case.messages);
    let synchronized = case.is_some_and(|case| case.synchronized);
    let clocks = case.map_or_else(ClockAgreement::default, |case| run.clocks(case));
    if arguments.json {
        output::line(json!({
            "directory": directory.display().to_string(),
            "scenario": run.scenario,
            "run": run.host.get("run"),
            "applications": names,
            "messages": messages,
            "synchronized": synchronized,
            "clock_margin_ns": clocks.margin_nanos(),
            "disciplines": run.disciplines,
            "doubts": collected.doubts,
        }));
        return Ok(());
    }
    let clocks = match clocks {
        ClockAgreement::One => "one clock".to_owned(),
        ClockAgreement::Within { margin_nanos } => format!(
            "clocks that differ by {:.3} \u{b5}s at most, as both hosts measured",
            margin_nanos as f64 / 1e3
        ),
        ClockAgreement::Unknown if synchronized => {
            "clocks that differ by an unknown time: times of one way have no verdict".to_owned()
        }
        ClockAgreement::Unknown => {
            "clocks that are not synchronized: no times of one way (--synchronized)".to_owned()
        }
    };
    output::line(format_args!(
        "{}: {} of {}, {messages} messages, {clocks}",
        directory.display(),
        names.join(", "),
        run.scenario
    ));
    if !run.disciplines {
        output::warning(
            "the ports did not have the disciplines of the scenario, or could not be compared with it: times are not comparable \
             with bounds (`takt report` shows the facts)",
        );
    }
    for doubt in &collected.doubts {
        output::warning(doubt);
    }
    output::line(format_args!(
        "takt report {0}; takt analyze {0}",
        explain::shell_path(directory)
    ));
    Ok(())
}

/// Returns true for a file that is to be the scenario: neither trace nor capture, and a text with its tables or its name.
fn is_scenario_file(path: &Path) -> bool {
    if !matches!(RunFileFormat::of(path), Ok(None)) {
        return false;
    }
    let is_toml = path.extension().is_some_and(|it| it == "toml");
    is_toml || beginning(path).is_ok_and(|content| is_scenario(&content))
}

/// Returns the beginning of a file, which may be very long: as much as a scenario may have.
fn beginning(path: &Path) -> std::io::Result<Vec<u8>> {
    let mut content = Vec::new();
    File::open(path)?
        .take(LONGEST_SCENARIO)
        .read_to_end(&mut content)?;
    Ok(content)
}

fn only_scenario(scenarios: &[PathBuf]) -> miette::Result<&Path> {
    match scenarios {
        [only] => Ok(only),
        [] => Err(explain::with_help(
            "none of the files is a scenario",
            "Add the scenario file (TOML) of `takt publish` and `takt loopback`: the report needs it for bounds and simulation.",
        )),
        [first, second, ..] => Err(explain::with_help(
            format!(
                "{} and {} are both scenarios",
                first.display(),
                second.display()
            ),
            "Name the one that both ends had.",
        )),
    }
}

fn explained(error: &CollectError) -> Report {
    let help = match error {
        CollectError::Lab(error) => return advice::explained_collected(error),
        CollectError::Analysis(_) | CollectError::Damaged { .. } => {
            "Copy the file again from its host: it may have been written while it was copied. Or leave it out, if it is a capture."
        }
        CollectError::NoNotes { .. } => {
            "`takt publish SCENARIO --trace FILE` and `takt loopback SCENARIO --trace FILE` of this version write it. \
             `takt analyze` takes older traces."
        }
        CollectError::NoTrace => {
            "Add the traces of both ends: `takt publish` and `takt loopback` with --trace FILE."
        }
        CollectError::TraceAsCapture(_) => {
            "Name captures of tcpdump with --card-stamps and --at-loopback, and the trace without an option."
        }
        CollectError::OtherScenario { .. } => {
            "Name the file that both ends had, unchanged since then, or run again with this one."
        }
        CollectError::UnknownApplication { .. } => "Leave the file out, or name its scenario.",
        CollectError::OtherSettings { .. } => {
            "Run both ends again, with the same values of --field."
        }
        CollectError::SameSide { .. } => {
            "Leave out the one that is of another run; `takt lab collect` makes a directory for each run."
        }
        CollectError::MissingSide { missing, .. } => {
            let option = match *missing {
                "loopback" => "`takt loopback SCENARIO --trace FILE`",
                _ => "`takt publish SCENARIO --trace FILE`",
            };
            return explain::with_help(
                error,
                format!("Add the trace of {option} from the other host."),
            );
        }
        CollectError::NothingReceived { .. } => {
            "Check addresses, VLAN and cables; `takt loopback` tells what it has refused."
        }
        CollectError::SeveralRuns { .. } => {
            "Start `takt loopback` and captures anew for each run of `takt publish`. editcap -A and -B cut a capture."
        }
        CollectError::OtherRun { .. } => {
            "Leave the file out, and take the one of the same run: the time is the beginning of the Publisher."
        }
        CollectError::Apart { .. } => {
            "The files are of different runs, or the clock of a host was set between them. Take files of one run."
        }
        CollectError::ForeignCapture { .. } => {
            "Capture at the interface of the run while it goes on, with all EtherTypes and VLANs: `tcpdump -i INTERFACE -w FILE`. \
             Or leave the file out."
        }
        CollectError::Strangers { .. } => {
            "Another device sends with this PublisherId. Keep the packets of both hosts only: \
             `tcpdump -r FILE -w NEW 'ether src ADDRESS or ether src ADDRESS'`."
        }
        CollectError::SentNotStamped { .. } => {
            "On the sending host, `tcpdump -j adapter_unsynced` has the card's time for received frames only. Capture at a tap or mirror, \
             or take the kernel's time (tcpdump without -j, no --card-stamps)."
        }
        CollectError::MixedStamps { .. } => {
            "The report has one kind of time stamp for the sent frames of all applications. Name all captures at the port of a \
             Publisher with --card-stamps, if the card stamped them, or take the kernel's stamps for all."
        }
        CollectError::OtherClock { .. } => {
            "A capture has the times of the kernel, in UTC (tcpdump without -j), unless --card-stamps FILE tells that the network card \
             stamped it. If the clock of the host was set in the run, run again."
        }
        CollectError::NotSynchronized { .. } => {
            "Leave out --synchronized: round trips need no common clock. For times of one way, synchronize the clocks (ptp4l and \
             phc2sys, CLOCK_TAI included) and run again."
        }
        CollectError::SamePort { .. } => {
            "Name the one at the port of the loopback with --at-loopback FILE, or leave one out."
        }
        CollectError::Copy { .. } | CollectError::RunDirectory(_) => {
            "Nothing was collected. Check for free space and permissions, and try again."
        }
        _ => "docs/analysis.md describes the files.",
    };
    explain::with_help(error, help)
}
