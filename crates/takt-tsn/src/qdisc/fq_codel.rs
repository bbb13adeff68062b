//! `fq_codel`, with the parameters of a scenario.

use serde_json::Value;
use takt_scenario::{Duration, FqCodelParameters, Size};

use super::json::{flag, number};
use super::words::pair;
use crate::derivation::Derivation;

const PICOS_PER_MICRO: u64 = 1_000_000;

/// Returns the words of a `tc` command.
pub(super) fn phrases(fq: &FqCodelParameters) -> Vec<String> {
    vec![
        format!("limit {}", fq.limit),
        format!("flows {}", fq.flows),
        format!("quantum {}", fq.quantum.0),
        format!("target {}us", fq.target.0 / PICOS_PER_MICRO),
        format!("interval {}us", fq.interval.0 / PICOS_PER_MICRO),
        format!("memory_limit {}", fq.memory_limit.0),
        if fq.ecn { "ecn" } else { "noecn" }.to_owned(),
    ]
}

/// Returns names and values of the parameters, as the kernel keeps them.
pub(super) fn parameters(fq: &FqCodelParameters) -> Vec<(String, String)> {
    let time = |time: Duration| codel_micros(time.0 / PICOS_PER_MICRO);
    vec![
        pair("limit", fq.limit),
        pair("flows", fq.flows),
        pair("quantum", fq.quantum.0),
        pair("target", time(fq.target)),
        pair("interval", time(fq.interval)),
        pair("memory_limit", fq.memory_limit.0),
        pair("ecn", fq.ecn),
    ]
}

/// Returns the origin of each parameter: the scenario, or the default of Linux.
pub(super) fn derivations(fq: &FqCodelParameters) -> Vec<Derivation> {
    let usual = phrases(&FqCodelParameters::default());
    let phrases = phrases(fq).into_iter().zip(usual);
    let origins = phrases.map(|(phrase, usual)| {
        let origin = match phrase == usual {
            true => "default of Linux",
            false => "the discipline of the scenario",
        };
        Derivation::new(phrase, origin)
    });
    origins.collect()
}

/// Reads the options of `tc -j`.
pub(super) fn read(options: &Value) -> FqCodelParameters {
    let usual = FqCodelParameters::default();
    let time = |name, usual| {
        number(options, name).map_or(usual, |micros| {
            Duration(kept_micros(micros).saturating_mul(PICOS_PER_MICRO))
        })
    };
    FqCodelParameters {
        limit: number(options, "limit").unwrap_or(usual.limit),
        flows: number(options, "flows").unwrap_or(usual.flows),
        quantum: number(options, "quantum").map_or(usual.quantum, Size),
        target: time("target", usual.target),
        interval: time("interval", usual.interval),
        memory_limit: number(options, "memory_limit").map_or(usual.memory_limit, Size),
        ecn: flag(options, "ecn"),
    }
}

/// Returns a time in microseconds as the kernel keeps it: codel counts in units of 1024 ns.
fn codel_micros(micros: u64) -> u64 {
    let units = micros.saturating_mul(1000) >> 10;
    (units << 10) / 1000
}

/// Returns the least time in microseconds that the kernel keeps as this one.
fn kept_micros(shown: u64) -> u64 {
    // Rounding to units of 1024 ns and back to microseconds loses 2 µs at most.
    let candidates = (0..3).map(|more| shown.saturating_add(more));
    let mut kept = candidates.filter(|micros| codel_micros(*micros) == shown);
    kept.next().unwrap_or(shown)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codel_loses_what_its_unit_cannot_hold() {
        assert_eq!(codel_micros(5000), 4999);
        assert_eq!(codel_micros(100_000), 99_999);
        assert_eq!(codel_micros(1024), 1024);
        for micros in [0, 1, 5, 999, 5000, 100_000] {
            assert_eq!(
                codel_micros(kept_micros(codel_micros(micros))),
                codel_micros(micros)
            );
        }
    }
}
