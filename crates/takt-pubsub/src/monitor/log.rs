//! Reports of flows: each cause at once, and again after longer and longer times.

use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

use takt_rt::clock::after;

use super::watched_flow::{FlowFigures, WatchedFlow, WatchedFlows};
use super::watched_time::{TimeFigures, WatchedQuantity};

/// Time after the first report of a cause until the next one.
const FIRST_WAIT: Duration = Duration::from_secs(10);
/// Longest time between two reports of a cause.
const LONGEST_WAIT: Duration = Duration::from_secs(3600);

/// Cause of a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FlowCause {
    /// A time has reached the given share of its bound, and is not above it.
    Near(WatchedQuantity),
    /// A time is above its bound: an assumption of the proof does not hold.
    Above(WatchedQuantity),
    /// Messages come faster than the cycle permits.
    Early,
    /// Messages arrive before they were sent.
    ClocksDisagree,
}

/// Report of a flow.
#[derive(Debug, Clone)]
pub struct FlowReport {
    /// The flow.
    pub flow: Arc<WatchedFlow>,
    /// Cause of the report.
    pub cause: FlowCause,
    /// Number of messages with this cause since its last report.
    pub count: u64,
    /// Numbers of the quantity that is near its bound or above it.
    pub time: Option<TimeFigures>,
}

/// Writes what has happened: names of flow and component, greatest and proven time, share, number of messages.
impl fmt::Display for FlowReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let description = self.flow.description();
        write!(f, "{} ({}): ", description.name, description.component)?;
        let count = self.count;
        let messages = if count == 1 { "message" } else { "messages" };
        let micros = |time: Duration| time.as_nanos() as f64 / 1000.0;
        let time = self.time.as_ref();
        let share = time.and_then(TimeFigures::share).unwrap_or_default();
        let greatest = time.map_or(0.0, |time| micros(time.greatest));
        let proven = time.and_then(|time| time.proven).map_or(0.0, micros);
        match self.cause {
            FlowCause::Near(quantity) => {
                let late = time.map_or(0, |time| time.late);
                write!(
                    f,
                    "the greatest {quantity} is {share:.3} of its bound, {greatest:.1} of {proven:.1} µs, "
                )?;
                match late {
                    0 => f.write_str("and nothing is late yet")?,
                    late => write!(f, "with {late} above it")?,
                }
                write!(
                    f,
                    "; {count} {messages} reached {} of it",
                    description.share
                )
            }
            FlowCause::Above(quantity) => write!(
                f,
                "{count} {messages} above the bound: the greatest {quantity} is {share:.3} of it, {greatest:.1} of {proven:.1} µs"
            ),
            FlowCause::Early => write!(
                f,
                "{count} {messages} came faster than one in each cycle of {:.1} µs",
                micros(description.cycle)
            ),
            FlowCause::ClocksDisagree => {
                let error = description.clocks.map_or(Duration::ZERO, |it| it.error());
                write!(
                    f,
                    "{count} {messages} arrived before they were sent: the clocks differ by more than {:.1} µs",
                    micros(error)
                )
            }
        }
    }
}

/// Reports of flows. The first occurrence of each cause is reported at once. Further ones are reported together, after 10 s, 20 s, 40 s
/// and so on, at most an hour. When such a time passes without the cause, the next occurrence is again a first one.
#[derive(Debug)]
pub struct FlowLog {
    flows: Vec<(Arc<WatchedFlow>, ToldCauses)>,
}

/// Causes of a flow that occurred, each with what was reported of it.
type ToldCauses = Vec<(FlowCause, Told)>;

/// State of a cause.
#[derive(Debug, Default)]
struct Told {
    /// Number of messages that were reported.
    count: u64,
    /// Earliest time of the next report, and the wait that ends then.
    next: Option<(Instant, Duration)>,
}

impl FlowLog {
    /// Creates the reports of flows.
    #[must_use]
    pub fn new(flows: &WatchedFlows) -> Self {
        let flows = flows.iter().map(|flow| (flow.clone(), Vec::new()));
        Self {
            flows: flows.collect(),
        }
    }

    /// Returns the reports that are due at this time.
    pub fn due(&mut self, now: Instant) -> Vec<FlowReport> {
        let mut reports = Vec::new();
        for (flow, told) in &mut self.flows {
            let figures = flow.figures();
            for (cause, count, time) in causes(&figures) {
                let known = told.iter().position(|(known, _)| *known == cause);
                let place = known.unwrap_or_else(|| {
                    told.push((cause, Told::default()));
                    told.len() - 1
                });
                let Some((_, state)) = told.get_mut(place) else {
                    continue;
                };
                let Some(new) = state.due(now, count) else {
                    continue;
                };
                reports.push(FlowReport {
                    flow: flow.clone(),
                    cause,
                    count: new,
                    time: time.copied(),
                });
            }
        }
        reports
    }
}

/// Returns the causes of a flow with the number of their messages, worst first.
fn causes(
    figures: &FlowFigures,
) -> impl Iterator<Item = (FlowCause, u64, Option<&TimeFigures>)> + '_ {
    let times = figures.times.iter().flat_map(|time| {
        let above = (FlowCause::Above(time.quantity), time.late, Some(time));
        let near = time.near.saturating_sub(time.late);
        let near = (FlowCause::Near(time.quantity), near, Some(time));
        [above, near]
    });
    let others = [
        (FlowCause::Early, figures.early, None),
        (FlowCause::ClocksDisagree, figures.from_the_future, None),
    ];
    times.chain(others)
}

impl Told {
    /// Returns the number of new messages if they are to be reported now.
    fn due(&mut self, now: Instant, count: u64) -> Option<u64> {
        let new = count.saturating_sub(self.count);
        let wait = match (self.next, new) {
            (Some((next, wait)), 0) => {
                if now >= next + wait {
                    self.next = None;
                }
                return None;
            }
            (None, 0) => return None,
            (Some((next, _)), _) if now < next => return None,
            (Some((_, wait)), _) => (wait * 2).min(LONGEST_WAIT),
            (None, _) => FIRST_WAIT,
        };
        self.count = count;
        self.next = Some((after(now, wait), wait));
        Some(new)
    }
}
