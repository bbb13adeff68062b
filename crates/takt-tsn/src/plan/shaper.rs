//! Numbers of `cbs`, which computes in kbit/s and bytes.

use takt_scenario::{Credit, Frame, Queue, Rate};

use super::derivation::Derivation;
use super::error::PlanError;
use super::input::{PortFlow, PortInput};
use super::options::{HardwareOffload, PlanOptions};
use crate::qdisc::ShaperNumbers;

/// Slopes and credits of a class in the scenario.
#[derive(Debug, Clone, Copy)]
struct Reserved {
    idle_slope: Rate,
    send_slope: Rate,
    hi_credit: Credit,
    lo_credit: Credit,
}

fn reserved(queue: &Queue) -> Option<Reserved> {
    match *queue {
        Queue::Cbs {
            idle_slope,
            send_slope,
            hi_credit,
            lo_credit,
            ..
        } => Some(Reserved {
            idle_slope,
            send_slope,
            hi_credit,
            lo_credit,
        }),
        _ => None,
    }
}

/// Returns the numbers of the shaper of a class, with their derivations; `None` if the class has none.
///
/// # Errors
/// An idleSlope that is not below the speed of the interface.
pub(crate) fn shaper(
    input: &PortInput,
    class: usize,
    options: &PlanOptions,
) -> Result<Option<(ShaperNumbers, Vec<Derivation>)>, PlanError> {
    let Some(here) = input.discipline.classes.get(class) else {
        return Ok(None);
    };
    let Some(scenario) = reserved(&here.queue) else {
        return Ok(None);
    };
    let speed = options.speed.unwrap_or(input.rate);
    let idle_slope = kilobits_up(scenario.idle_slope);
    let port = kilobits(speed);
    if idle_slope >= port {
        return Err(PlanError::IdleSlope {
            class: here.name.clone(),
            idle_slope: scenario.idle_slope,
            speed,
        });
    }
    let usual = input.rate.0.saturating_sub(scenario.idle_slope.0);
    let is_usual = scenario.send_slope.0 == usual || speed != input.rate;
    let send_slope = match is_usual {
        true => idle_slope - port,
        false => -kilobits_up(scenario.send_slope),
    };
    let flows: Vec<&PortFlow> = flows_of(input, class);
    let longest = longest(&flows);
    let mut derivations = vec![Derivation::new(
        format!("idleslope {idle_slope}"),
        idle_slope_origin(&flows, scenario.idle_slope),
    )];
    let origin = match is_usual {
        true => format!("kbit/s: idleSlope - speed of the interface = {idle_slope} - {port}"),
        false => format!(
            "kbit/s: `send_slope` of the scenario, {}",
            scenario.send_slope
        ),
    };
    derivations.push(Derivation::new(format!("sendslope {send_slope}"), origin));
    let (hi_credit, origin) = hi_credit(input, class, scenario, speed);
    derivations.push(Derivation::new(format!("hicredit {hi_credit}"), origin));
    let (lo_credit, origin) = lo_credit(scenario, longest, send_slope, (input.rate, port));
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

/// Returns the length on the wire of the longest frame, in bytes: that of Ethernet if no flow is known.
fn longest(flows: &[&PortFlow]) -> u32 {
    let lengths = flows.iter().map(|flow| flow.frame.physical());
    lengths.max().unwrap_or(Frame::LONGEST.physical())
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

/// Returns `bytes · slope / rate`, rounded up.
fn portion(bytes: u32, slope: u64, rate: u64) -> i64 {
    let portion = (u128::from(bytes) * u128::from(slope)).div_ceil(u128::from(rate.max(1)));
    i64::try_from(portion).unwrap_or(i64::MAX)
}

fn hi_credit(input: &PortInput, class: usize, scenario: Reserved, speed: Rate) -> (i64, String) {
    let mut waits = Frame::LONGEST.physical();
    let mut slopes = 0u64;
    let mut terms = vec![format!("{waits} B (longest frame below)")];
    for (above, other) in input.discipline.classes.iter().enumerate().take(class) {
        if let Some(other) = reserved(&other.queue) {
            let frame = longest(&flows_of(input, above));
            waits += Frame::LONGEST.physical() + frame;
            slopes += other.idle_slope.0;
            terms.push(format!(
                "{} B + {frame} B (class above)",
                Frame::LONGEST.physical()
            ));
        }
    }
    let credit = |rate: Rate| portion(waits, scenario.idle_slope.0, rate.0.saturating_sub(slopes));
    if scenario.hi_credit.0 != credit(input.rate) {
        return (scenario.hi_credit.0, "bytes: from the scenario".to_owned());
    }
    let left = match slopes {
        0 => format!("{speed}"),
        slopes => format!("({speed} - {})", Rate(slopes)),
    };
    let origin = format!(
        "bytes: idleSlope · delay by other frames (IEEE 802.1Q, L.3) = {} · ({}) / {left}",
        scenario.idle_slope,
        terms.join(" + ")
    );
    (credit(speed), origin)
}

fn lo_credit(
    scenario: Reserved,
    longest: u32,
    send_slope: i64,
    (rate, port): (Rate, i64),
) -> (i64, String) {
    if scenario.lo_credit.0 != -portion(longest, scenario.send_slope.0, rate.0) {
        return (scenario.lo_credit.0, "bytes: from the scenario".to_owned());
    }
    let credit = -portion(longest, send_slope.unsigned_abs(), port.unsigned_abs());
    let origin = format!(
        "bytes: longest frame · sendSlope / speed (IEEE 802.1Q, L.3) = {longest} B · {send_slope} / {port}"
    );
    (credit, origin)
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
    use super::*;
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
        shaper(&input, 0, &options).map(|found| found.unwrap().0)
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

    #[test]
    fn credits_of_the_scenario_are_kept() {
        let queue = r#"queue = "cbs", hi_credit = "400 B", lo_credit = "-700 B""#;
        let text = LINE.replace(r#"queue = "cbs""#, queue);
        let given = numbers(&text, Some(Rate(10_000_000_000))).unwrap();
        assert_eq!((given.hi_credit, given.lo_credit), (400, -700));
    }
}
