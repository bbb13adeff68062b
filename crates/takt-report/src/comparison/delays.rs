//! Events of a run that can delay the messages of an application.

use takt_analysis::RunAnalysis;
use takt_lab::{CaseRecord, EndRecord};

/// Returns the events at the ends of an application and in its traces. Other applications, cross traffic and the analysis of files
/// delay none of its messages beyond the bound: the bound counts their frames.
pub(super) fn of(record: &CaseRecord, application: &str, run: &RunAnalysis) -> Vec<String> {
    let mut lines = at_ends(record, application);
    lines.extend(set_back(run));
    lines
}

fn at_ends(record: &CaseRecord, application: &str) -> Vec<String> {
    let mut lines = Vec::new();
    for end in record
        .ends
        .iter()
        .filter(|it| it.application == application)
    {
        lines.extend(skipped(end));
        lines.extend(set(end));
        lines.extend(not_sent(end));
        lines.extend(withheld(end));
        // A loopback sends a dropped message again in its next cycle. A Publisher does not.
        lines.extend((end.end == "loopback").then(|| dropped(end)).flatten());
    }
    lines
}

/// Returns the name of an end.
pub(super) fn end_name(end: &EndRecord) -> String {
    format!("{} of {}", end.end, end.application)
}

/// Returns the number of skipped cycles, if any.
pub(super) fn skipped(end: &EndRecord) -> Option<String> {
    let line = || format!("{}: {} cycles skipped", end_name(end), end.overruns);
    (end.overruns > 0).then(line)
}

/// Returns how often the clock was set, if ever.
pub(super) fn set(end: &EndRecord) -> Option<String> {
    let (of, steps) = (end_name(end), end.clock_steps);
    (steps > 0).then(|| format!("{of}: the clock was set {steps} times in the run"))
}

/// Returns the number of messages that the kernel did not take, if any.
pub(super) fn not_sent(end: &EndRecord) -> Option<String> {
    let (of, errors) = (end_name(end), end.send_errors);
    let error = end.last_error.as_deref().unwrap_or("unknown error");
    (errors > 0).then(|| format!("{of}: {errors} messages not sent: {error}"))
}

/// Returns the number of messages that were to be sent, with those that did not come to the kernel; `None` for records of earlier versions.
pub(super) fn attempts(end: &EndRecord) -> Option<String> {
    let (of, sent) = (end_name(end), end.sent);
    let attempts = end.attempts?;
    let count = |count: Option<u64>| count.map_or_else(|| "?".to_owned(), |it| it.to_string());
    let (unmade, overflowed) = (count(end.unmade), count(end.overflowed));
    Some(format!(
        "{of}: {attempts} messages to send, {sent} sent, {unmade} not made, {overflowed} without room in the queue of the link"
    ))
}

/// Returns the number of messages that were not made, or had no room in the queue of the link, if any.
fn withheld(end: &EndRecord) -> Option<String> {
    let count = end
        .unmade
        .unwrap_or(0)
        .saturating_add(end.overflowed.unwrap_or(0));
    let of = end_name(end);
    (count > 0).then(|| {
        format!("{of}: {count} messages not made, or without room in the queue of the link")
    })
}

/// Returns the number of messages that were dropped for their launch time, if any.
pub(super) fn dropped(end: &EndRecord) -> Option<String> {
    let refused = [end.launch_refused, end.launch_invalid, end.launch_missed];
    // The counts come from a file, and may be any numbers.
    let refused = refused.into_iter().fold(0, u64::saturating_add);
    let of = end_name(end);
    (refused > 0).then(|| format!("{of}: {refused} messages dropped for their launch time"))
}

/// Returns how often the clock went back at each trace point.
fn set_back(run: &RunAnalysis) -> Vec<String> {
    let points = run.points.iter().filter(|it| it.clock_steps > 0);
    points
        .map(takt_analysis::PointQuantities::set_back)
        .collect()
}

#[cfg(test)]
mod tests {
    use takt_lab::TrafficRecord;

    use super::*;

    #[test]
    fn counts_of_an_end_are_shown_as_far_as_they_are_known() {
        let mut end = EndRecord {
            application: "control".to_owned(),
            end: "publisher".to_owned(),
            sent: 7,
            ..EndRecord::default()
        };
        assert_eq!((attempts(&end), withheld(&end)), (None, None));
        (end.attempts, end.overflowed) = (Some(9), Some(2));
        assert_eq!(
            attempts(&end).as_deref(),
            Some(
                "publisher of control: 9 messages to send, 7 sent, ? not made, 2 without room in the queue of the link"
            )
        );
        assert_eq!(
            withheld(&end).as_deref(),
            Some(
                "publisher of control: 2 messages not made, or without room in the queue of the link"
            )
        );
    }

    #[test]
    fn only_the_own_ends_delay_an_application() {
        let end = |application: &str, end: &str| EndRecord {
            application: application.to_owned(),
            end: end.to_owned(),
            overruns: 2,
            launch_missed: 1,
            ..EndRecord::default()
        };
        let record = CaseRecord {
            ends: vec![
                end("control", "publisher"),
                end("control", "loopback"),
                end("other", "loopback"),
            ],
            cross_traffic: vec![TrafficRecord {
                name: "load".to_owned(),
                late: 9,
                ..TrafficRecord::default()
            }],
            ..CaseRecord::default()
        };
        assert_eq!(
            at_ends(&record, "control"),
            [
                "publisher of control: 2 cycles skipped",
                "loopback of control: 2 cycles skipped",
                "loopback of control: 1 messages dropped for their launch time",
            ]
        );
    }
}
