//! Traces of a run: the two sides of each application.

use std::path::{Path, PathBuf};

use takt_analysis::{FileSurvey, RecordSpan};
use takt_control::TracePoint;
use takt_scenario::{Scenario, ScenarioFile};

use super::error::CollectError;
use super::request::CollectRequest;
use crate::clock_agreement::ClockAgreement;
use crate::error::LabError;
use crate::run_id::RunId;
use crate::scenario_loop::LoopEnd;
use crate::trace_notes::TraceNotes;

/// Largest distance of the times of two sides with one clock, in nanoseconds: both run at the same time, and messages take less
/// than a second.
const CLOCK_TOLERANCE: i64 = 1_000_000_000;

/// Trace of one side.
#[derive(Debug, Clone)]
pub(super) struct RunTrace {
    pub(super) path: PathBuf,
    pub(super) side: LoopEnd,
    pub(super) notes: TraceNotes,
    /// Times of all records, in UTC; `None` without records.
    pub(super) span: Option<RecordSpan>,
    /// Number of messages that it has sent: records at T1 or T5.
    pub(super) sent: u64,
    /// Seconds by which its CLOCK_TAI was ahead of UTC.
    pub(super) tai_offset: i64,
}

impl RunTrace {
    pub(super) fn of(path: &Path, survey: &FileSurvey) -> Result<Self, CollectError> {
        let no_notes = |reason| CollectError::NoNotes {
            path: path.to_owned(),
            reason,
        };
        let notes = TraceNotes::of(&survey.description).map_err(no_notes)?;
        let side = notes.side().unwrap_or(LoopEnd::Publisher);
        let sends = match side {
            LoopEnd::Publisher => TracePoint::T1,
            LoopEnd::Loopback => TracePoint::T5,
        };
        let spans = survey.points.iter().map(|(_, span)| *span);
        let sent = survey.points.iter().find(|(point, _)| *point == sends);
        let tai_offset = survey.description.iter();
        let tai_offset = tai_offset.filter(|(name, _)| name == "tai_offset_s");
        Ok(Self {
            path: path.to_owned(),
            side,
            span: spans.reduce(|one, other| RecordSpan {
                count: one.count.saturating_add(other.count),
                begin: one.begin.min(other.begin),
                end: one.end.max(other.end),
            }),
            sent: sent.map_or(0, |(_, span)| span.count),
            tai_offset: tai_offset
                .filter_map(|(_, value)| value.parse().ok())
                .next()
                .unwrap_or(0),
            notes,
        })
    }

    fn application(&self) -> &str {
        &self.notes.end.application
    }
}

/// Returns the scenario of the run with the settings of its traces. All of them must be of this scenario, with the same settings.
pub(super) fn check_scenario(
    request: &CollectRequest<'_>,
    traces: &[RunTrace],
) -> Result<Scenario, CollectError> {
    let first = traces.first().ok_or(CollectError::NoTrace)?;
    let digest = TraceNotes::digest_of(request.text);
    for trace in traces {
        if trace.notes.scenario_digest != digest {
            return Err(CollectError::OtherScenario {
                path: trace.path.clone(),
                scenario: request.scenario.name().into(),
            });
        }
        if trace.notes.settings != first.notes.settings {
            return Err(CollectError::OtherSettings {
                path: trace.path.clone(),
                settings: settings_text(&trace.notes.settings),
                other: first.path.clone(),
                other_settings: settings_text(&first.notes.settings),
            });
        }
    }
    let file: ScenarioFile = request
        .scenario
        .with_settings(&first.notes.settings)
        .map_err(LabError::from)?;
    Ok(file.scenario().clone())
}

fn settings_text(settings: &[(String, String)]) -> String {
    match settings {
        [] => "none".to_owned(),
        settings => {
            let settings = settings.iter();
            let texts = settings.map(|(field, value)| format!("{field}={value}"));
            texts.collect::<Vec<_>>().join(" ")
        }
    }
}

/// Both sides of an application.
#[derive(Debug, Clone)]
pub(super) struct TracePair {
    pub(super) run: RunId,
    pub(super) publisher: RunTrace,
    pub(super) loopback: RunTrace,
    /// True if both sides have one clock, or are said to have synchronized ones.
    pub(super) is_synchronized: bool,
    /// Agreement of both clocks.
    pub(super) clocks: ClockAgreement,
}

impl TracePair {
    /// Returns the pairs of the traces, in the order of the scenario's applications.
    pub(super) fn of(
        traces: Vec<RunTrace>,
        scenario: &Scenario,
        is_synchronized: bool,
    ) -> Result<Vec<Self>, CollectError> {
        let names = scenario.applications.iter().map(|it| it.name.as_str());
        let names: Vec<&str> = names.collect();
        let unknown = traces.iter().find(|it| !names.contains(&it.application()));
        if let Some(trace) = unknown {
            return Err(CollectError::UnknownApplication {
                path: trace.path.clone(),
                application: trace.application().to_owned(),
            });
        }
        let mut pairs: Vec<Self> = Vec::new();
        for name in names {
            let of_side = |side: LoopEnd| {
                let mut found = traces.iter();
                let mut next = || found.find(|it| it.application() == name && it.side == side);
                match (next(), next()) {
                    (Some(first), Some(second)) => Err(CollectError::SameSide {
                        side: side.name(),
                        application: name.to_owned(),
                        first: first.path.clone(),
                        second: second.path.clone(),
                    }),
                    (found, _) => Ok(found.cloned()),
                }
            };
            let missing = |side: LoopEnd, other: &RunTrace| CollectError::MissingSide {
                missing: side.name(),
                application: name.to_owned(),
                path: other.path.clone(),
            };
            let pair = match (of_side(LoopEnd::Publisher)?, of_side(LoopEnd::Loopback)?) {
                (None, None) => continue,
                (Some(only), None) => return Err(missing(LoopEnd::Loopback, &only)),
                (None, Some(only)) => return Err(missing(LoopEnd::Publisher, &only)),
                (Some(publisher), Some(loopback)) => {
                    Self::joined(publisher, loopback, is_synchronized)?
                }
            };
            pairs.push(pair);
        }
        // Applications of one run run at the same time, as far as their clocks tell.
        if let Some((first, others)) = pairs.split_first() {
            for other in others {
                if first.publisher.notes.boot == other.publisher.notes.boot {
                    check_overlap(&other.publisher, &first.publisher)?;
                }
            }
        }
        Ok(pairs)
    }

    fn joined(
        publisher: RunTrace,
        loopback: RunTrace,
        is_synchronized: bool,
    ) -> Result<Self, CollectError> {
        let several = |trace: &RunTrace| CollectError::SeveralRuns {
            path: trace.path.clone(),
            runs: trace.notes.runs.clone(),
        };
        let run = match publisher.notes.runs.as_slice() {
            [run] => *run,
            _ => return Err(several(&publisher)),
        };
        let path = loopback.path.clone();
        match loopback.notes.runs.as_slice() {
            [] => return Err(CollectError::NothingReceived { path }),
            [found] if *found == run => {}
            [found] => {
                return Err(CollectError::OtherRun {
                    path,
                    found: *found,
                    publisher: publisher.path,
                    run,
                });
            }
            _ => return Err(several(&loopback)),
        }
        let boots = (&publisher.notes.boot, &loopback.notes.boot);
        let is_one_host = matches!(boots, (Some(one), Some(other)) if one == other);
        let clocks = match is_one_host {
            true => ClockAgreement::One,
            false => ClockAgreement::of_hosts(&publisher.notes.host, &loopback.notes.host),
        };
        let is_synchronized = is_synchronized || clocks != ClockAgreement::Unknown;
        if is_synchronized {
            check_overlap(&loopback, &publisher)?;
        }
        Ok(Self {
            run,
            publisher,
            loopback,
            is_synchronized,
            clocks,
        })
    }
}

fn check_overlap(trace: &RunTrace, with: &RunTrace) -> Result<(), CollectError> {
    match (trace.span, with.span) {
        (Some(span), Some(other)) => apart(&trace.path, span, &with.path, other),
        _ => Ok(()),
    }
}

/// Checks that the times of a file overlap with those of a trace.
pub(super) fn apart(
    path: &Path,
    span: RecordSpan,
    trace: &Path,
    other: RecordSpan,
) -> Result<(), CollectError> {
    let later = span.begin.saturating_sub(other.end);
    let earlier = other.begin.saturating_sub(span.end);
    let distance = later.max(earlier);
    match distance > CLOCK_TOLERANCE {
        false => Ok(()),
        true => Err(CollectError::Apart {
            path: path.to_owned(),
            trace: trace.to_owned(),
            distance: distance as f64 / 1e9,
            is_later: later > earlier,
        }),
    }
}
