//! Progress of a run, one line per case.

use takt_lab::RunObserver;
use takt_lab::run_directory::RunCase;

use crate::output;

/// Lines for people about the cases of a run.
pub(super) struct CaseLines;

impl RunObserver for CaseLines {
    fn begins(&mut self, index: usize, count: usize, case: &RunCase) {
        output::line(begins(index, count, case));
    }

    fn ends(&mut self, _: usize, _: usize, case: &RunCase) {
        if let Some(line) = ends(case) {
            output::line(line);
        }
    }
}

/// Returns the line at the beginning of a case.
pub(super) fn begins(index: usize, count: usize, case: &RunCase) -> String {
    let settings = settings(&case.settings);
    let messages = case.messages;
    format!(
        "case {} of {count}{settings}: {messages} messages",
        index + 1
    )
}

/// Returns the line at the end of a case, if it failed.
pub(super) fn ends(case: &RunCase) -> Option<String> {
    let failure = case.failure.as_ref()?;
    Some(format!("  failed: {failure}"))
}

/// Returns values of fields for people, behind a comma.
fn settings(settings: &[(String, String)]) -> String {
    let settings = settings.iter();
    settings
        .map(|(field, value)| format!(", {} {value}", takt_scenario::names::parameter_name(field)))
        .collect()
}
