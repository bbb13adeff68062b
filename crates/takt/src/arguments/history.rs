//! Arguments of `takt history`.

use std::time::Duration;

use clap::Args;
use takt_app::Aggregate;
use takt_ua::DateTime;

use super::ConnectArguments;
use super::values::{count, duration};

#[derive(Debug, Args)]
pub struct HistoryArguments {
    #[command(flatten)]
    pub connect: ConnectArguments,
    /// Variable, or notifier of --events: a NodeId or a path below the Objects folder.
    pub node: String,
    /// Begin of the values: a time such as 2026-05-01T12:00:00Z, or an age such as 10min.
    #[arg(long, value_name = "TIME", value_parser = moment)]
    pub from: Option<Moment>,
    /// End of the values, a time or an age; default is now.
    #[arg(long, value_name = "TIME", value_parser = moment)]
    pub to: Option<Moment>,
    /// The last COUNT values before the end [default: 20, if there is no --from].
    #[arg(long, value_name = "COUNT", value_parser = count, conflicts_with_all = ["from", "aggregate", "at"])]
    pub last: Option<u64>,
    /// The value at this time, interpolated if none was recorded; can be given several times.
    #[arg(long, value_name = "TIME", value_parser = moment, conflicts_with_all = ["from", "to", "aggregate"])]
    pub at: Vec<Moment>,
    /// Aggregate of each interval: average, timeaverage, minimum, maximum, count, range, delta and others (docs/history.md).
    #[arg(long, value_name = "NAME", value_parser = aggregate, requires = "from")]
    pub aggregate: Option<Aggregate>,
    /// Length of the intervals [default: one interval from the begin to the end].
    #[arg(long, value_name = "TIME", value_parser = duration, requires = "aggregate")]
    pub interval: Option<Duration>,
    /// Print recorded Events; the node is a notifier, Server for all Events.
    #[arg(long, conflicts_with_all = ["aggregate", "at", "csv"])]
    pub events: bool,
    /// Only Events of this type and its subtypes: a NodeId, or a name such as AlarmConditionType. --json then prints all
    /// fields that the type and its supertypes declare.
    #[arg(long = "type", value_name = "TYPE", requires = "events")]
    pub event_type: Option<String>,
    /// Only Events for which this holds: FIELD, one of = > >= < <= ~ (like), and VALUE. Repeatable; all must hold. A field of
    /// another namespace has its index: 7:Torque>=10.
    #[arg(long = "where", value_name = "CONDITION", requires = "events")]
    pub conditions: Vec<String>,
    /// Print CSV: time, value, status.
    #[arg(long, conflicts_with = "json")]
    pub csv: bool,
}

/// A time, or an age.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Moment {
    At(DateTime),
    Ago(Duration),
}

impl Moment {
    /// Returns the time, from which ages count back.
    pub fn from(self, now: DateTime) -> DateTime {
        match self {
            Self::At(time) => time,
            Self::Ago(age) => {
                // A DateTime counts intervals of 100 ns (OPC 10000-6, 5.2.2.5).
                let ticks = i64::try_from(age.as_nanos() / 100).unwrap_or(i64::MAX);
                DateTime(now.0.saturating_sub(ticks))
            }
        }
    }
}

fn moment(text: &str) -> Result<Moment, String> {
    if let Ok(age) = duration(text) {
        return Ok(Moment::Ago(age));
    }
    text.parse().map(Moment::At).map_err(|_| {
        format!("`{text}` is not a time: write 2026-05-01T12:00:00Z, or an age such as 10min")
    })
}

fn aggregate(text: &str) -> Result<Aggregate, String> {
    Aggregate::of_name(text).ok_or_else(|| {
        let names = Aggregate::ALL.map(|(.., name)| name.to_lowercase());
        format!(
            "`{text}` is not an aggregate: write one of {}",
            names.join(", ")
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moment_is_a_time_or_an_age() {
        let now: DateTime = "2026-05-01T12:00:00Z".parse().unwrap();
        let time = |text: &str| moment(text).unwrap().from(now).to_iso8601();
        assert_eq!(time("2min"), "2026-05-01T11:58:00Z");
        assert_eq!(time("2026-05-01T11:00:00Z"), "2026-05-01T11:00:00Z");
        assert!(moment("yesterday").unwrap_err().contains("10min"));
    }

    #[test]
    fn aggregates_have_the_names_of_the_standard() {
        assert_eq!(aggregate("average"), Ok(Aggregate::Average));
        assert_eq!(
            aggregate("MinimumActualTime"),
            Ok(Aggregate::MinimumActualTime)
        );
        assert!(aggregate("median").unwrap_err().contains("timeaverage"));
    }
}
