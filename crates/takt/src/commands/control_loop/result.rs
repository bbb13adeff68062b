//! Result of one end: a table for people, or an object for programs.

use serde_json::json;
use takt_control::ControlReport;
use takt_figures::{Column, Table};
use takt_lab::{LoopEnd, RoundTrips, ScenarioApplication, ScenarioLoop};
use takt_statistics::Quantile;

use crate::commands::pubsub::{advice as pubsub_advice, reports};
use crate::{explain, output};

/// Result of one end.
pub(super) struct LoopResult<'a> {
    pub(super) end: LoopEnd,
    pub(super) control: &'a ScenarioLoop,
    pub(super) report: &'a ControlReport,
    pub(super) application: &'a ScenarioApplication,
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
        if reports::are_all_lost(report.sent, &report.send_losses) {
            let text = format!("none of {} messages was delivered", report.sent);
            return Err(explain::with_help(text, shown_above));
        }
        match report.received == 0 && report.refused > 0 {
            true => Err(explain::with_help("no message was accepted", shown_above)),
            false => Ok(()),
        }
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
            "sent": report.sent,
            "sendErrors": report.send_errors,
            "lastError": report.last_error,
            "launchDrops": {
                "refused": report.launch_drops.refused,
                "invalid": report.launch_drops.invalid,
                "missed": report.launch_drops.missed,
            },
            "sendLosses": reports::losses_json(&report.send_losses),
            "pageFaults": report.page_faults,
            "received": report.received,
            "refused": report.refused,
            "lastRefusal": report.last_refusal,
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
            ("messages sent", report.sent),
            ("errors of sending", report.send_errors),
            (
                "  dropped: refused by the queue",
                report.launch_drops.refused,
            ),
            (
                "  dropped: launch time too early or too late",
                report.launch_drops.invalid,
            ),
            (
                "  dropped: launch time missed in the queue",
                report.launch_drops.missed,
            ),
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
        if report.received == 0 {
            output::warning(
                "no message came: start the other end with the same scenario and addresses",
            );
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
