//! Result of one end: a table for people, or an object for programs.

use serde_json::json;
use takt_control::ControlReport;
use takt_figures::{Column, Table};
use takt_lab::{LoopEnd, RoundTrips, ScenarioApplication, ScenarioLoop};
use takt_pubsub::LossCause;
use takt_statistics::Quantile;

use super::strays::{Stray, place_of};
use crate::commands::pubsub::{advice as pubsub_advice, reports};
use crate::{explain, output};

/// Advice if the ends do not belong together.
const SAME_AT_BOTH_ENDS: &str =
    "Start both ends with the same scenario, --field, --application, --there and --back.";

/// Result of one end.
pub(super) struct LoopResult<'a> {
    pub(super) end: LoopEnd,
    pub(super) control: &'a ScenarioLoop,
    pub(super) report: &'a ControlReport,
    pub(super) application: &'a ScenarioApplication,
    /// Reasons why launch times are not kept, which --force ignores.
    pub(super) launch_faults: Vec<String>,
    /// Messages that were heard at the interface while none came here.
    pub(super) strays: Vec<Stray>,
    /// Address at which this end receives.
    pub(super) at: &'a str,
}

impl LoopResult<'_> {
    pub(super) fn print(&self, is_json: bool) {
        let records = self.application.trace.records();
        let trips = (self.end == LoopEnd::Publisher).then(|| RoundTrips::of(records));
        if is_json {
            output::line(self.object(trips.as_ref()));
        } else {
            self.tables(trips.as_ref());
        }
        self.tell_losses();
    }

    /// Logs lost and refused messages, once for each cause, with advice.
    fn tell_losses(&self) {
        let report = self.report;
        let sides = [
            ("sending", &report.send_losses),
            ("receiving", &report.receive_losses),
        ];
        for (side, losses) in sides {
            for (cause, count) in losses.iter() {
                let text = reports::loss_text(side, cause, count);
                tracing::warn!("{text}. {}", pubsub_advice::loss(cause));
            }
        }
        if self.application.other_fields > 0 && self.mismatch().is_none() {
            tracing::warn!("receiving: {}", self.other_fields());
        }
        if report.unread > 0 {
            tracing::warn!(
                "receiving: messages came faster than the thread took them, in {} parts of cycles; values are older then",
                report.unread
            );
        }
        if let Some(reason) = &report.last_refusal {
            tracing::warn!(
                "receiving: {} messages were refused: {reason}",
                report.refused
            );
        }
    }

    /// Returns an error if all messages were lost, or if none was accepted.
    pub(super) fn outcome(&self) -> miette::Result<()> {
        let report = self.report;
        let shown_above = "The reasons are shown above.";
        if report.attempts > 0 && report.sent == 0 {
            let text = format!("none of {} messages was sent", report.attempts);
            return Err(explain::with_help(text, shown_above));
        }
        if report.sent > 0 && self.lost_of_sent() >= report.sent {
            let text = format!("none of {} messages was delivered", report.sent);
            return Err(explain::with_help(text, shown_above));
        }
        if report.received == 0 && report.refused > 0 {
            let reason = report.last_refusal.as_deref().unwrap_or("unknown reason");
            let text = format!("no message was accepted: {}", output::escaped(reason));
            return Err(explain::with_help(text, SAME_AT_BOTH_ENDS));
        }
        match self.mismatch() {
            Some(text) => Err(explain::with_help(text, SAME_AT_BOTH_ENDS)),
            None => Ok(()),
        }
    }

    /// Returns a text about messages of another sender than the other end, if no others were received.
    fn mismatch(&self) -> Option<String> {
        let (report, application) = (self.report, self.application);
        if report.received > application.other_fields {
            return None;
        }
        if application.other_fields > 0 {
            return Some(self.other_fields());
        }
        if let Some(unclaimed) = &report.unclaimed {
            let expected = self.control.received_from(self.end);
            return Some(format!(
                "messages came from {} (PublisherId/WriterGroup/DataSetWriter), and this end takes those of \
                 {expected} only",
                output::escaped(unclaimed)
            ));
        }
        let peer = self.control.received_from(self.end);
        let strays = self.strays.iter().filter(|stray| stray.is_from(&peer));
        let most = strays.max_by_key(|stray| stray.count)?;
        Some(format!(
            "no message came to {}; of those at the interface, {most}",
            place_of(self.at)
        ))
    }

    fn other_fields(&self) -> String {
        let application = self.application;
        format!(
            "{} messages have another number of fields than those of this scenario: {}, not {}",
            application.other_fields,
            application.last_other_fields,
            self.control.fields()
        )
    }

    /// Returns the number of messages that were lost after the kernel, or the link, had taken them.
    fn lost_of_sent(&self) -> u64 {
        let report = self.report;
        let of = |cause| report.send_losses.of(cause);
        // A socket discards messages instead of sending them, MQTT also those that it has sent.
        let not_sent = report.attempts.saturating_sub(report.unmade + report.sent);
        let discarded = of(LossCause::Discard).saturating_sub(not_sent);
        of(LossCause::Refusal) + of(LossCause::LaunchTime) + discarded
    }

    /// Returns the number of messages that the link did not send for another reason than their launch times.
    fn not_taken(&self) -> u64 {
        let drops = &self.report.launch_drops;
        let discarded = self.report.send_losses.of(LossCause::Discard);
        discarded.saturating_sub(drops.refused + drops.invalid)
    }

    /// Returns the numbers of messages by their fate, for the description of a trace.
    pub(super) fn numbers(&self) -> impl Iterator<Item = (&'static str, String)> {
        let report = self.report;
        let of = |cause| report.send_losses.of(cause);
        let numbers = [
            ("messages_to_send", report.attempts),
            ("messages_sent", report.sent),
            ("messages_not_made", report.unmade),
            ("messages_without_room", of(LossCause::Overflow)),
            ("messages_link_down", self.not_taken()),
            ("messages_launch_refused", report.launch_drops.refused),
            ("messages_launch_invalid", report.launch_drops.invalid),
            ("messages_launch_missed", report.launch_drops.missed),
        ];
        numbers
            .map(|(name, count)| (name, count.to_string()))
            .into_iter()
    }

    fn object(&self, trips: Option<&RoundTrips>) -> serde_json::Value {
        let Self {
            report,
            application,
            ..
        } = self;
        let counters = &application.counters;
        let nanos = |quantile| trips.and_then(|trips| trips.quantile(quantile));
        json!({
            "application": self.control.application().name,
            "ending": format!("{:?}", report.ending),
            "cycles": report.cycles,
            "overruns": report.overruns,
            "clockSteps": report.clock_steps,
            "lastClockStepNs": report.last_clock_step_nanos,
            "maxWakeUpLatencyNs": report.max_wake_up_latency_nanos,
            "attempts": report.attempts,
            "notMade": report.unmade,
            "sent": report.sent,
            "sendErrors": report.send_errors,
            "lastError": report.last_error,
            "launchDrops": {
                "refused": report.launch_drops.refused,
                "invalid": report.launch_drops.invalid,
                "missed": report.launch_drops.missed,
            },
            "launchFaults": self.launch_faults,
            "sendLosses": reports::losses_json(&report.send_losses),
            "pageFaults": report.page_faults,
            "received": report.received,
            "refused": report.refused,
            "timesFlooded": report.unread,
            "lastRefusal": report.last_refusal,
            "otherFields": {
                "count": application.other_fields,
                "fields": application.last_other_fields,
            },
            "unclaimed": report.unclaimed,
            "strays": self.strays.iter().map(Stray::object).collect::<Vec<_>>(),
            "receiveLosses": reports::losses_json(&report.receive_losses),
            "missedCycles": report.missed,
            "longestMiss": report.longest_miss,
            "missedCounters": counters.missed,
            "repeatedCounters": counters.repeated,
            "reorderedCounters": counters.reordered,
            "tracePoints": application.trace.records().len(),
            "tracePointsLost": application.trace.lost(),
            "applicationRoundTripNs": trips.map(|trips| json!({
                "count": trips.count(),
                "lost": trips.lost,
                "min": nanos(Quantile::MIN),
                "median": nanos(Quantile::MEDIAN),
                "p99": nanos(Quantile::P99),
                "max": nanos(Quantile::MAX),
            })),
            "settings": report.preparations.iter().map(|it| json!({
                "setting": it.setting,
                "problem": it.problem,
            })).collect::<Vec<_>>(),
        })
    }

    fn tables(&self, trips: Option<&RoundTrips>) {
        let Self {
            report,
            application,
            ..
        } = self;
        let counters = &application.counters;
        let mut table = Table::new([Column::text(""), Column::number("count")]);
        for (name, count) in [
            ("cycles", report.cycles),
            ("cycles skipped (overruns)", report.overruns),
            ("times that the clock was set", report.clock_steps),
            ("messages to send", report.attempts),
            ("messages sent", report.sent),
            ("  not sent: not made", report.unmade),
            (
                "  not sent: no room in the kernel",
                report.send_losses.of(LossCause::Overflow),
            ),
            ("  not sent: the link was down", self.not_taken()),
            (
                "  not sent: refused by the queue",
                report.launch_drops.refused,
            ),
            (
                "  not sent: launch time too early or too late",
                report.launch_drops.invalid,
            ),
            (
                "  dropped: launch time missed in the queue",
                report.launch_drops.missed,
            ),
            ("errors of sending", report.send_errors),
            ("messages received", report.received),
            ("messages refused", report.refused),
            ("cycles without a message", report.missed),
            ("  longest sequence of them", report.longest_miss),
            ("counters missed", counters.missed),
            ("counters repeated", counters.repeated),
            ("counters reordered", counters.reordered),
            ("page faults", report.page_faults),
        ] {
            table.row([name.to_owned(), count.to_string()]);
        }
        for line in table.lines(None) {
            output::line(line);
        }
        let latency = i64::try_from(report.max_wake_up_latency_nanos).ok();
        output::line(format!("woken at most {} \u{b5}s late", micros(latency)));
        if report.clock_steps > 0 {
            output::warning(format!(
                "the clock was set {} times, the last time by {:.6} s: round trips contain the steps",
                report.clock_steps,
                report.last_clock_step_nanos as f64 / 1e9
            ));
        }
        if let Some(error) = &report.last_error {
            output::warning(format!("last error of sending: {error}"));
        }
        if let Some(trips) = trips {
            round_trips(trips);
        }
        if application.trace.lost() > 0 {
            output::line(format!(
                "{} trace points were lost: --trace-points reserves memory for more",
                application.trace.lost()
            ));
        }
        if report.received == 0 && report.refused == 0 && self.mismatch().is_none() {
            output::warning(
                "no message came: start the other end with the same scenario and addresses",
            );
            // Another application, most likely: it is no fault of this end.
            let most = self.strays.iter().max_by_key(|stray| stray.count);
            if let Some(most) = most {
                output::warning(format!("other messages were heard: {most}"));
            }
        }
        for preparation in &report.preparations {
            if let Some(problem) = &preparation.problem {
                output::warning(format!("{} is not set: {problem}", preparation.setting));
            }
        }
    }
}

fn micros(nanos: Option<i64>) -> String {
    nanos.map_or_else(
        || "-".to_owned(),
        |nanos| format!("{:.1}", nanos as f64 / 1e3),
    )
}

fn round_trips(trips: &RoundTrips) {
    output::line("");
    output::line("application round trip (T8 \u{2212} T1), \u{b5}s");
    let mut table = Table::new([
        Column::number("min"),
        Column::number("median"),
        Column::number("p99"),
        Column::number("max"),
        Column::number("returned"),
        Column::number("not returned"),
    ]);
    let time = |quantile| micros(trips.quantile(quantile));
    table.row([
        time(Quantile::MIN),
        time(Quantile::MEDIAN),
        time(Quantile::P99),
        time(Quantile::MAX),
        trips.count().to_string(),
        trips.lost.to_string(),
    ]);
    for line in table.lines(None) {
        output::line(line);
    }
}
