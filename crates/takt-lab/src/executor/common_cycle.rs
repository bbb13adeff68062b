//! Cycle in which applications and gates of a scenario repeat together.

use takt_scenario::Scenario;

/// Longest common cycle to which the beginning is aligned, in nanoseconds.
const LONGEST_COMMON: u64 = 1_000_000_000;

/// Returns the smallest common multiple of the cycles of applications and gates in nanoseconds, or the longest of them if that is too
/// long.
pub(super) fn common_cycle(scenario: &Scenario) -> u64 {
    let applications = scenario.applications.iter().map(|it| it.cycle);
    let gates = scenario
        .ports
        .iter()
        .filter_map(|port| Some(port.discipline.scheduler.gates()?.cycle_time));
    let cycles: Vec<u64> = applications
        .chain(gates)
        .map(|cycle| (cycle.0 / 1000).max(1))
        .collect();
    let common = cycles.iter().try_fold(1_u64, |common, cycle| {
        let multiple = (common / greatest_divisor(common, *cycle)).checked_mul(*cycle);
        multiple.filter(|multiple| *multiple <= LONGEST_COMMON)
    });
    common.unwrap_or_else(|| cycles.iter().copied().max().unwrap_or(1))
}

/// Returns the greatest common divisor of two numbers above 0.
fn greatest_divisor(mut a: u64, mut b: u64) -> u64 {
    while b > 0 {
        (a, b) = (b, a % b);
    }
    a.max(1)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    #[test]
    fn the_beginning_suits_all_cycles() {
        let text = r#"
            version = 1
            topology = { kind = "p2p" }
            discipline = "gates"
            [disciplines.gates]
            scheduler = "taprio"
            classes = [{ name = "A", priorities = [3] }, { name = "B" }]
            entries = [{ gates = ["A"], interval = "40 us" }, { gates = ["B"], interval = "60 us" }]
            [[applications]]
            name = "first"
            publisher = "host1"
            loopback = "host2"
            cycle = "250 us"
            payload = "100 B"
            [[applications]]
            name = "second"
            publisher = "host2"
            loopback = "host1"
            cycle = "700 us"
            payload = "100 B"
            "#;
        let scenario = Scenario::parse(text, "x.toml").unwrap();
        assert_eq!(common_cycle(&scenario), 3_500_000);
        let odd = text
            .replace("700 us", "700001 ns")
            .replace("250 us", "999 ms");
        let scenario = Scenario::parse(&odd, "x.toml").unwrap();
        assert_eq!(common_cycle(&scenario), 999_000_000);
        // Their product exceeds 64 bits.
        let long = text
            .replace("700 us", "18446744073709551 ns")
            .replace("250 us", "999999937 ns");
        let scenario = Scenario::parse(&long, "x.toml").unwrap();
        assert_eq!(common_cycle(&scenario), 18_446_744_073_709_551);
    }
}
