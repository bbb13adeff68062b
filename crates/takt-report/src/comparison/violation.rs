//! Delays above their sound bounds, with the message, its time and the probable cause.

use takt_ua::DateTime;

use super::application::{ComparedApplication, ComparedDelay};
use super::bound::ComparedBound;
use super::case::ComparedCase;

/// A delay above its sound bound, in words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Violation {
    /// The answer, the round trip, the application and the case.
    pub title: String,
    /// Message, time, delay and bound; then the cause.
    pub lines: Vec<String>,
}

impl Violation {
    /// Describes the longest of the measured delays above the bound. `name` is that of the round trip or way.
    pub(super) fn measured(
        number: usize,
        case: &ComparedCase,
        application: &ComparedApplication,
        name: &str,
        delay: &ComparedDelay,
    ) -> Self {
        Self {
            title: title("measurement", number, case, application, name),
            lines: measured_lines(case, application, delay),
        }
    }

    /// Describes the longest of the simulated delays above the bound.
    pub(super) fn simulated(
        number: usize,
        case: &ComparedCase,
        application: &ComparedApplication,
        name: &str,
        delay: &ComparedDelay,
    ) -> Self {
        Self {
            title: title("simulation", number, case, application, name),
            lines: simulated_lines(case, delay),
        }
    }
}

fn measured_lines(
    case: &ComparedCase,
    application: &ComparedApplication,
    delay: &ComparedDelay,
) -> Vec<String> {
    let mut lines = Vec::new();
    if let Some(longest) = delay.longest.first() {
        let began = DateTime::from_unix_nanos(longest.began).to_iso8601();
        let since = application.since_the_first(longest) as f64 / 1e6;
        let clock = match longest.is_of_card {
            true => " by the clock of the network card",
            false => "",
        };
        lines.push(format!(
            "Message {} took {} \u{b5}s. It began at {began}{clock}, {since:.3} ms after the first one. Sound bound: {} \u{b5}s. \
             {} of {} messages are above the bound.",
            longest.counter,
            micros(longest.nanos as f64),
            bound(&delay.bound),
            delay.above_bound,
            delay.count
        ));
    }
    if let Some(late) = application.wake_up_latency_nanos {
        lines.push(format!(
            "Longest recorded wake-up latency: {} \u{b5}s; the scenario allows {} \u{b5}s.",
            micros(late),
            micros(application.allowed_latency_nanos)
        ));
    }
    lines.push(format!("Cause: {}.", cause(case, application)));
    lines
}

fn simulated_lines(case: &ComparedCase, delay: &ComparedDelay) -> Vec<String> {
    let mut lines = Vec::new();
    if let Some(simulated) = &delay.simulated {
        let message = simulated.worst.map_or_else(
            || "The longest simulated message".to_owned(),
            |worst| {
                let published = worst.published as f64 / 1e6;
                format!(
                    "Message {}, published {published:.6} ms after the simulation began,",
                    worst.counter
                )
            },
        );
        lines.push(format!(
            "{message} took {} \u{b5}s. Sound bound: {} \u{b5}s.",
            micros(simulated.longest),
            bound(&delay.bound)
        ));
    }
    let cause = match case.broken.as_slice() {
        [] => "no assumption of the bound is broken in the simulation: the bound is wrong, please report the scenario".to_owned(),
        broken => format!("Linux in software breaks an assumption of the bound ({})", broken.join("; ")),
    };
    lines.push(format!("Cause: {cause}."));
    lines
}

fn title(
    answer: &str,
    number: usize,
    case: &ComparedCase,
    application: &ComparedApplication,
    quantity: &str,
) -> String {
    let settings = case.settings.iter();
    let settings: Vec<String> = settings
        .map(|(name, value)| format!("{name} = {value}"))
        .collect();
    let settings = match settings.as_slice() {
        [] => String::new(),
        settings => format!(" ({})", settings.join(", ")),
    };
    format!(
        "A {answer} is above its sound bound: {quantity} of {}, case {number}{settings}",
        application.name
    )
}

/// Returns the cause of a measurement above its bound, as far as the run recorded it.
fn cause(case: &ComparedCase, application: &ComparedApplication) -> String {
    let mut causes = Vec::new();
    let allowed = application.allowed_latency_nanos;
    if let Some(late) = application.wake_up_latency_nanos
        && late > allowed
    {
        causes.push(format!(
            "a thread was {} \u{b5}s late, and the scenario allows {} \u{b5}s",
            micros(late),
            micros(allowed)
        ));
    }
    causes.extend(application.delayed_by.iter().cloned());
    causes.extend(
        (case.broken.iter())
            .map(|it| format!("Linux in software may break an assumption of the bound ({it})")),
    );
    if causes.is_empty() {
        return "the run recorded none: threads were on time and no clock was set, so that the clocks, traffic outside the \
                scenario, or the bound itself is wrong"
            .to_owned();
    }
    causes.join("; ")
}

/// Formats a bound in microseconds, rounded up to nanoseconds.
fn bound(bound: &ComparedBound) -> String {
    match bound {
        ComparedBound::Finite(picos) => micros(picos.div_ceil(1000) as f64),
        ComparedBound::Infinite(_) | ComparedBound::Unknown(_) => "none".to_owned(),
    }
}

fn micros(nanos: f64) -> String {
    format!("{:.3}", nanos / 1e3)
}

#[cfg(test)]
mod tests {
    use super::super::application::tests::application;
    use super::super::case::tests::case;
    use super::super::samples::{ClockedTimes, LongDelay};
    use super::*;

    #[test]
    fn a_violation_names_message_time_and_cause() {
        let mut application = application();
        // The clock of the card is 37 s ahead, as one of TAI is.
        application.began = ClockedTimes {
            system: Some(1_700_000_000_000_000_000),
            card: Some(1_700_000_037_000_000_000),
        };
        application.wake_up_latency_nanos = Some(812_000.0);
        application.allowed_latency_nanos = 50_000.0;
        let delay = &mut application.round_trips[0].delay;
        delay.longest.push(LongDelay {
            nanos: 2_297_000,
            began: 1_700_000_000_012_500_000,
            counter: 51,
            is_of_card: false,
        });
        (delay.above_bound, delay.count) = (1, 1000);
        let (name, delay) = application.delays().next().unwrap();
        let delay = delay.clone();
        let violation = Violation::measured(3, &case(), &application, &name, &delay);
        assert_eq!(
            violation.title,
            "A measurement is above its sound bound: round trip (wire) of control, case 3"
        );
        assert!(
            violation.lines[0].starts_with(
                "Message 51 took 2297.000 \u{b5}s. It began at 2023-11-14T22:13:20.0125"
            ),
            "{:?}",
            violation.lines
        );
        assert!(
            violation.lines[0].contains("12.500 ms after the first one. Sound bound: 2000.000")
        );
        assert_eq!(
            violation.lines[2],
            "Cause: a thread was 812.000 \u{b5}s late, and the scenario allows 50.000 \u{b5}s."
        );
        let mut of_card = delay.clone();
        of_card.longest[0].is_of_card = true;
        of_card.longest[0].began += 37_000_000_000;
        let violation = Violation::measured(3, &case(), &application, &name, &of_card);
        for part in [
            "by the clock of the network card",
            " 12.500 ms after the first one",
        ] {
            assert!(violation.lines[0].contains(part), "{:?}", violation.lines);
        }
        application.wake_up_latency_nanos = Some(1_000.0);
        // A remark is no cause, whatever its words.
        let mut case = case();
        case.remarks =
            vec!["cross traffic load: 9 frames sent, 0 refused, 0 too late, 9 arrived".to_owned()];
        application.remarks = vec!["2 records came too late to be matched".to_owned()];
        let violation = Violation::measured(3, &case, &application, &name, &delay);
        assert!(violation.lines[2].starts_with("Cause: the run recorded none"));
        application.delayed_by = vec!["loopback of control: 3 cycles skipped".to_owned()];
        let violation = Violation::measured(3, &case, &application, &name, &delay);
        assert_eq!(
            violation.lines[2],
            "Cause: loopback of control: 3 cycles skipped."
        );
    }
}
