//! Facts about the clock of a host.

use takt_rt::tai_offset::ClockStatus;

use super::HostFact;

/// Returns the facts about the system clock, and its offset from the grandmaster if ptp4l runs ([`ptp_offset_nanos`]).
#[must_use]
pub fn clock_facts(status: Option<&ClockStatus>, ptp_offset: Option<i64>) -> Vec<HostFact> {
    let mut facts: Vec<HostFact> = Vec::new();
    if let Some(status) = status {
        let state = match status.is_synchronized {
            true => format!(
                "synchronized, error at most {} \u{b5}s",
                status.maximum_error_micros
            ),
            false => "not synchronized".to_owned(),
        };
        facts.push(("system clock".to_owned(), state));
        let offset = format!("{} s", status.tai_offset_seconds);
        facts.push(("TAI offset".to_owned(), offset));
    }
    let offset = ptp_offset.map(|nanos| format!("{nanos} ns"));
    facts.extend(offset.map(|offset| ("PTP offset".to_owned(), offset)));
    facts
}

/// Returns the offset from the grandmaster in nanoseconds, from the output of `pmc -u -b 0 "GET TIME_STATUS_NP"` of linuxptp;
/// `None` if ptp4l has no grandmaster.
#[must_use]
pub fn ptp_offset_nanos(output: &str) -> Option<i64> {
    let value = |name: &str| {
        let mut lines = output.lines().map(str::split_whitespace);
        lines.find_map(|mut words| (words.next()? == name).then(|| words.next())?)
    };
    match value("gmPresent")? {
        "true" => value("master_offset")?.parse().ok(),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ANSWER: &str = "sending: GET TIME_STATUS_NP\n\
        \tbaf1e4.fffe.9bd7f1-0 seq 0 RESPONSE MANAGEMENT TIME_STATUS_NP \n\
        \t\tmaster_offset              -37\n\
        \t\tingress_time               1796037834050000000\n\
        \t\tcumulativeScaledRateOffset +0.000000000\n\
        \t\tscaledLastGmPhaseChange    0\n\
        \t\tgmTimeBaseIndicator        0\n\
        \t\tlastGmPhaseChange          0x0000'0000000000000000.0000\n\
        \t\tgmPresent                  true\n\
        \t\tgmIdentity                 1e4b6f.fffe.8d2f1c\n";

    #[test]
    fn the_offset_is_that_of_a_grandmaster() {
        assert_eq!(ptp_offset_nanos(ANSWER), Some(-37));
        let without = ANSWER.replace("true", "false");
        assert_eq!(ptp_offset_nanos(&without), None);
        assert_eq!(ptp_offset_nanos("sending: GET TIME_STATUS_NP\n"), None);
        let damaged = ANSWER.replace("-37", "x");
        assert_eq!(ptp_offset_nanos(&damaged), None);
    }

    #[test]
    fn a_clock_says_whether_it_is_synchronized() {
        let status = |is_synchronized| ClockStatus {
            is_synchronized,
            maximum_error_micros: 120,
            tai_offset_seconds: 37,
        };
        let facts = |status: ClockStatus| {
            let facts = clock_facts(Some(&status), Some(-3)).into_iter();
            facts.map(|(_, value)| value).collect::<Vec<_>>()
        };
        let synchronized = "synchronized, error at most 120 \u{b5}s";
        assert_eq!(facts(status(true)), [synchronized, "37 s", "-3 ns"]);
        assert_eq!(facts(status(false)), ["not synchronized", "37 s", "-3 ns"]);
        assert_eq!(clock_facts(None, None), []);
    }
}
