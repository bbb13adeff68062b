//! Progress of a run, one line per case.

use takt_lab::RunObserver;
use takt_lab::run_directory::RunCase;

use crate::output;

/// Lines for people about the cases of a run.
pub(super) struct CaseLines;

impl RunObserver for CaseLines {
    fn begins(&mut self, index: usize, count: usize, case: &RunCase) {
        let settings = settings(&case.settings);
        let messages = case.messages;
        output::line(format_args!(
            "case {} of {count}{settings}: {messages} messages",
            index + 1
        ));
    }

    fn ends(&mut self, _: usize, _: usize, case: &RunCase) {
        if let Some(failure) = &case.failure {
            output::line(format_args!("  failed: {failure}"));
        }
    }
}

/// Returns values of fields for people, behind a comma.
fn settings(settings: &[(String, String)]) -> String {
    let settings = settings.iter();
    settings
        .map(|(field, value)| format!(", {} {value}", crate::scenario_file::parameter_name(field)))
        .collect()
}
