//! Numbers of `cbs`, which computes in kbit/s and bytes.

use takt_scenario::{CbsParameters, Discipline, Frame, Rate};

use super::error::PlanError;
use super::input::{PortFlow, PortInput};
use super::options::PlanOptions;
use crate::derivation::Derivation;
use crate::qdisc::{HardwareOffload, ShaperNumbers};

const FROM_SCENARIO: &str = "bytes: from the scenario";

/// Returns the numbers of the shaper of a class, with their derivations; `None` if the class has none. `discipline` is that of the
/// port at an interface of this speed.
///
/// # Errors
/// An idleSlope that is not below the speed of the interface.
pub(crate) fn shaper(
    input: &PortInput,
    (discipline, speed): (&Discipline, Rate),
    class: usize,
    options: &PlanOptions,
) -> Result<Option<(ShaperNumbers, Vec<Derivation>)>, PlanError> {
    let Some(here) = discipline.classes.get(class) else {
        return Ok(None);
    };
    let Some(shaper) = here.queue.shaper() else {
        return Ok(None);
    };
    // `cbs` takes whole kbit/s. Rounded down, the slope would be less than what is reserved.
    let idle_slope = kilobits_up(shaper.idle_slope);
    let port = kilobits(speed);
    // No rate would be left for the other classes, and sendSlope would not be negative.
    if idle_slope >= port {
        return Err(PlanError::IdleSlope {
            class: here.name.clone(),
            idle_slope: shaper.idle_slope,
            speed,
        });
    }
    let flows: Vec<&PortFlow> = flows_of(input, class);
    let origin = idle_slope_origin(&flows, shaper.idle_slope);
    let mut derivations = vec![Derivation::new(format!("idleslope {idle_slope}"), origin)];
    let (send_slope, origin) = match shaper.send_slope.is_given() {
        true => {
            let given = shaper.send_slope.value();
            let origin = format!("kbit/s: `send_slope` of the scenario, {given}");
            (-kilobits_up(given), origin)
        }
        false => {
            let origin =
                format!("kbit/s: idleSlope - speed of the interface = {idle_slope} - {port}");
            (idle_slope - port, origin)
        }
    };
    derivations.push(Derivation::new(format!("sendslope {send_slope}"), origin));
    let hi_credit = shaper.hi_credit.value().0;
    let origin = match shaper.hi_credit.is_given() {
        true => FROM_SCENARIO.to_owned(),
        false => hi_credit_origin(discipline, class, shaper, speed),
    };
    derivations.push(Derivation::new(format!("hicredit {hi_credit}"), origin));
    let (lo_credit, origin) = match shaper.lo_credit.is_given() {
        true => (shaper.lo_credit.value().0, FROM_SCENARIO.to_owned()),
        false => lo_credit(shaper, send_slope, port),
    };
    derivations.push(Derivation::new(format!("locredit {lo_credit}"), origin));
    let offload = options.offload == HardwareOffload::Full;
    let numbers = ShaperNumbers {
        idle_slope,
        send_slope,
        hi_credit,
        lo_credit,
        offload,
    };
    Ok(Some((numbers, derivations)))
}

fn flows_of(input: &PortInput, class: usize) -> Vec<&PortFlow> {
    let flows = input.flows.iter();
    flows
        .filter(|flow| input.discipline.class_of(flow.pcp) == class)
        .collect()
}

fn idle_slope_origin(flows: &[&PortFlow], idle_slope: Rate) -> String {
    if flows.is_empty() {
        return format!("kbit/s: {idle_slope}, as given");
    }
    let mut needed = 0u128;
    let parts = flows.iter().map(|flow| {
        let bytes = flow.frame.physical();
        let rate = u128::from(bytes) * 8 * 1_000_000_000_000;
        needed += rate.div_ceil(u128::from(flow.interval.0.max(1)));
        format!(
            "`{}` {bytes} B on the wire every {}",
            flow.name, flow.interval
        )
    });
    let parts = parts.collect::<Vec<_>>().join(", ");
    let needed = u64::try_from(needed).unwrap_or(u64::MAX);
    let change = idle_slope.0 as f64 / needed.max(1) as f64 - 1.0;
    let change = match idle_slope.0 == needed {
        true => String::new(),
        false => format!(", {:+.4}%: {idle_slope}", 100.0 * change),
    };
    format!("kbit/s, rounded up: {parts} = {}{change}", Rate(needed))
}

fn hi_credit_origin(
    discipline: &Discipline,
    class: usize,
    shaper: &CbsParameters,
    speed: Rate,
) -> String {
    let longest = Frame::LONGEST.physical();
    let mut terms = vec![format!("{longest} B (longest frame below)")];
    let mut rest = shaper.traffic.interference.saturating_sub(longest);
    let above = discipline.classes.iter().take(class);
    for above in above.filter_map(|class| class.queue.shaper()) {
        let frame = above.traffic.longest;
        if frame == 0 {
            continue;
        }
        let rate = above.reserved(speed);
        terms.push(format!("{frame} B · (1 - {rate} / {speed}) (class above)"));
        rest = rest.saturating_sub(frame);
    }
    if rest > 0 {
        terms.push(format!("{rest} B (classes above without a flow)"));
    }
    let left = match discipline.reserved_above(class, speed).rate {
        Rate(0) => format!("{speed}"),
        slopes => format!("({speed} - {slopes})"),
    };
    let drift = shaper.traffic.drift;
    let (idle_slope, clock) = match drift.0 > 0 {
        true => {
            let clock = format!("; slopes by a clock that gains {drift}");
            (shaper.idle_slope_by_clock(), clock)
        }
        false => (shaper.idle_slope, String::new()),
    };
    format!(
        "bytes, rounded up: idleSlope · delay by other frames (IEEE 802.1Q, L.3) = {idle_slope} · ({}) / {left}{clock}",
        terms.join(" + ")
    )
}

/// Returns loCredit for the slopes in whole kbit/s with which `cbs` computes.
fn lo_credit(shaper: &CbsParameters, send_slope: i64, port: i64) -> (i64, String) {
    let rate = |kilobits: i64| Rate(kilobits.unsigned_abs().saturating_mul(1000));
    let credit = shaper.traffic.lo_credit(rate(send_slope), rate(port));
    let longest = shaper.traffic.longest;
    let origin = format!(
        "bytes: longest frame · sendSlope / speed (IEEE 802.1Q, L.3) = {longest} B · {send_slope} / {port}"
    );
    (credit.0, origin)
}

fn kilobits(rate: Rate) -> i64 {
    i64::try_from(rate.0 / 1000).unwrap_or(i64::MAX)
}

fn kilobits_up(rate: Rate) -> i64 {
    i64::try_from(rate.0.div_ceil(1000)).unwrap_or(i64::MAX)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::super::plan_port;
    use super::*;
    use crate::qdisc::QdiscKind;
    use takt_scenario::{PortIndex, Scenario};

    const LINE: &str = r#"
version = 1
discipline = "cbs"
[topology]
kind = "p2p"
rate = "1 Gbit/s"
[disciplines.cbs]
scheduler = "mqprio"
classes = [{ name = "A", priorities = [3], queue = "cbs" }, { name = "BE" }]
[[applications]]
name = "control"
publisher = "host1"
loopback = "host2"
cycle = "250 us"
repeated_node_count = 2
"#;

    fn numbers(text: &str, speed: Option<Rate>) -> Result<ShaperNumbers, PlanError> {
        let scenario = Scenario::parse(text, "line.toml").unwrap();
        let input = PortInput::of_scenario(&scenario, PortIndex(0)).unwrap();
        let options = PlanOptions {
            speed,
            ..PlanOptions::default()
        };
        let plan = plan_port(&input, &options)?;
        let mut kinds = plan.tree.iter().map(|qdisc| &qdisc.kind);
        Ok(kinds
            .find_map(|kind| match kind {
                QdiscKind::Cbs(numbers) => Some(*numbers),
                _ => None,
            })
            .unwrap())
    }

    #[test]
    fn slopes_and_credits_of_a_message_per_cycle() {
        // 101 B every 250 us are 3.232 Mbit/s. hiCredit: 1542 · 3.232 / 1000 = 4.98; loCredit: 101 · 996.768 / 1000 =
        // 100.7.
        let expected = ShaperNumbers {
            idle_slope: 3232,
            send_slope: -996_768,
            hi_credit: 5,
            lo_credit: -101,
            offload: false,
        };
        assert_eq!(numbers(LINE, None), Ok(expected));
    }

    #[test]
    fn slopes_follow_the_speed_of_the_interface() {
        // A veth reports 10 Gbit/s.
        let veth = numbers(LINE, Some(Rate(10_000_000_000))).unwrap();
        assert_eq!((veth.idle_slope, veth.send_slope), (3232, -9_996_768));
        assert_eq!((veth.hi_credit, veth.lo_credit), (1, -101));
        let slow = numbers(LINE, Some(Rate(3_000_000)));
        assert!(matches!(slow, Err(PlanError::IdleSlope { .. })), "{slow:?}");
    }

    /// IEEE 802.1Q, L.3: maxInterferenceSize of the second class is 1542 B and the longest burst of the first one,
    /// C (hiCredit - loCredit) / -sendSlope = 1000 · (1542 · 0.1 + 659 · 0.9) / 900 B = 830.3 B; hiCredit is a tenth of both.
    #[test]
    fn the_second_class_has_the_high_credit_of_the_standard() {
        let text = LINE
            .replace(
                r#"queue = "cbs" }"#,
                r#"queue = "cbs", idle_slope = "100 Mbit/s" }, { name = "B", priorities = [2], queue = "cbs", idle_slope = "100 Mbit/s" }"#,
            )
            .replace("repeated_node_count = 2", "payload = \"617 B\"");
        let scenario = Scenario::parse(&text, "line.toml").unwrap();
        let input = PortInput::of_scenario(&scenario, PortIndex(0)).unwrap();
        let plan = plan_port(&input, &PlanOptions::default()).unwrap();
        let credits: Vec<i64> = plan
            .tree
            .iter()
            .filter_map(|qdisc| match &qdisc.kind {
                QdiscKind::Cbs(numbers) => Some(numbers.hi_credit),
                _ => None,
            })
            .collect();
        assert_eq!(credits, [155, 238]);
    }

    #[test]
    fn credits_of_the_scenario_are_kept() {
        let queue = r#"queue = "cbs", hi_credit = "400 B", lo_credit = "-700 B""#;
        let text = LINE.replace(r#"queue = "cbs""#, queue);
        let given = numbers(&text, Some(Rate(10_000_000_000))).unwrap();
        assert_eq!((given.hi_credit, given.lo_credit), (400, -700));
    }
}
