//! Links of a run made by hand: their speed and duplex beside the scenario.

use takt_scenario::{ApplicationIndex, FlowSource, Rate, Scenario};

use crate::host::{DUPLEX, HALF, SPEED};
use crate::run_directory::{RunCase, RunDescription};
use crate::scenario_loop::LoopEnd;

/// Returns what the ports of the hosts have otherwise than the links of the scenario: another speed, one that the host does not tell, or
/// half duplex. Bounds are those of the scenario's links.
#[must_use]
pub fn link_faults(run: &RunDescription, case: &RunCase, scenario: &Scenario) -> Vec<String> {
    let mut faults = Vec::new();
    for application in &case.applications {
        let mut known = scenario.applications.iter();
        let Some(index) = known.position(|it| it.name == application.name) else {
            continue;
        };
        let index = ApplicationIndex(index);
        let ends = [
            (LoopEnd::Publisher, FlowSource::Publish(index)),
            (LoopEnd::Loopback, FlowSource::Return(index)),
        ];
        for (end, source) in ends {
            let Some(rate) = rate_at(scenario, source) else {
                continue;
            };
            let fact = |name: &str| {
                let of_end = format!("{}: {name}", end.name());
                let of_application = format!("{} of {}: {name}", end.name(), application.name);
                let names = [of_application.as_str(), of_end.as_str(), name];
                let found = names.into_iter().find_map(|name| run.host.get(name));
                found.map(String::as_str)
            };
            let port = format!("the port of the {} of {}", end.name(), application.name);
            match fact(SPEED) {
                None => faults.push(format!(
                    "{port} does not tell its speed, the scenario has {rate}"
                )),
                Some(speed) if megabits(speed).map(Rate) != Some(rate) => {
                    faults.push(format!("{port} has {speed}, the scenario has {rate}"));
                }
                Some(_) => {}
            }
            if fact(DUPLEX) == Some(HALF) {
                faults.push(format!("{port} has half duplex"));
            }
        }
    }
    faults
}

/// Returns the rate of the first link of a flow.
fn rate_at(scenario: &Scenario, source: FlowSource) -> Option<Rate> {
    let mut flows = scenario.flows().iter();
    let flow = flows.find(|it| it.source == source)?;
    let port = scenario.ports.get(flow.ports.first()?.0)?;
    scenario.links.get(port.link.0).map(|link| link.rate)
}

/// Returns the bits per second of a speed as a host tells it: `1000 Mbit/s`.
fn megabits(speed: &str) -> Option<u64> {
    let number: u64 = speed.strip_suffix(" Mbit/s")?.parse().ok()?;
    number.checked_mul(1_000_000)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use std::collections::BTreeMap;

    use super::*;
    use crate::run_directory::{BY_HAND, RunApplication};

    const SCENARIO: &str = r#"
version = 1
name = "two"
topology = { kind = "p2p", rate = "1 Gbit/s" }
[[applications]]
name = "control"
publisher = "host1"
loopback = "host2"
cycle = "1 ms"
payload = "59 B"
"#;

    fn faults(host: &[(&str, &str)]) -> Vec<String> {
        let scenario = Scenario::parse(SCENARIO, "two.toml").unwrap();
        let host = host.iter();
        let host = host.map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        let host: BTreeMap<String, String> = host.collect();
        let run = RunDescription::new("two", BY_HAND, host, 0);
        let case = RunCase {
            directory: "001".into(),
            settings: Vec::new(),
            messages: 1,
            seed: None,
            synchronized: false,
            clocks: None,
            failure: None,
            is_of_scenario: false,
            applications: vec![RunApplication {
                name: "control".to_owned(),
                one_way: false,
                publisher_id: 1,
                loopback_id: 2,
                publisher_trace: "p".into(),
                loopback_trace: "l".into(),
                publisher_capture: None,
                loopback_capture: None,
                card_stamps: [false; 2],
            }],
        };
        link_faults(&run, &case, &scenario)
    }

    #[test]
    fn links_of_the_scenario_have_no_faults() {
        assert_eq!(faults(&[("speed", "1000 Mbit/s")]), [""; 0]);
        let both = [
            ("publisher: speed", "1000 Mbit/s"),
            ("loopback: speed", "1000 Mbit/s"),
        ];
        assert_eq!(faults(&both), [""; 0]);
        let several = [
            ("publisher of control: speed", "1000 Mbit/s"),
            ("loopback of control: speed", "1000 Mbit/s"),
        ];
        assert_eq!(faults(&several), [""; 0]);
        assert_eq!(
            faults(&[("speed", "1000 Mbit/s"), ("duplex", "full")]),
            [""; 0]
        );
    }

    #[test]
    fn another_speed_half_duplex_and_an_unknown_speed_are_faults() {
        let slow = faults(&[
            ("publisher: speed", "1000 Mbit/s"),
            ("loopback: speed", "100 Mbit/s"),
            ("loopback: duplex", "half"),
        ]);
        assert_eq!(
            slow,
            [
                "the port of the loopback of control has 100 Mbit/s, the scenario has 1 Gbit/s",
                "the port of the loopback of control has half duplex",
            ]
        );
        let unknown = faults(&[
            ("publisher: speed", "1000 Mbit/s"),
            ("loopback: speed", "fast"),
        ]);
        assert_eq!(
            unknown,
            ["the port of the loopback of control has fast, the scenario has 1 Gbit/s"]
        );
        let missing = faults(&[("publisher: speed", "1000 Mbit/s")]);
        assert_eq!(
            missing,
            [
                "the port of the loopback of control does not tell its speed, the scenario has 1 Gbit/s"
            ]
        );
    }
}
