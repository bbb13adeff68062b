//! Facts about the clock of a host.

use takt_rt::tai_offset::ClockStatus;

use super::HostFact;

/// Name of a fact: offset of the clock that ptp4l steers from its grandmaster.
pub(crate) const PTP_OFFSET: &str = "PTP offset";

/// Name of a fact: distance of the network card's clock from that of the system.
pub(crate) const PTP_CLOCK_OFFSET: &str = "PTP clock offset";

/// Name of a fact: identity of the grandmaster. It usually has a hardware address.
pub(crate) const GRANDMASTER: &str = "PTP grandmaster";

/// Name of a fact: the clock that ptp4l steers.
pub(crate) const STEERED: &str = "PTP steers";

/// This fact if ptp4l steers the clock of the system: its time stamps are those of software.
pub(crate) const SYSTEM_CLOCK: &str = "system clock";

/// This fact if ptp4l steers the clock of the network card.
const CARD_CLOCK: &str = "clock of the network card";

/// End of the names of facts that are read again when a run has ended.
pub(crate) const AT_END: &str = " at the end";

/// Distance of a network card's PTP clock from CLOCK_TAI.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PtpClockOffset {
    /// Nanoseconds by which the card's clock is ahead.
    pub nanos: i64,
    /// Largest error of this reading, in nanoseconds.
    pub error_nanos: i64,
}

/// Answers of ptp4l.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PtpState {
    /// Offset of the clock that it steers from the grandmaster, in nanoseconds: 0 at the grandmaster itself.
    pub offset_nanos: i64,
    /// Identity of the grandmaster.
    pub grandmaster: String,
    /// True if it steers the clock of a network card, false for that of the system; `None` if it does not tell.
    pub has_hardware_stamps: Option<bool>,
}

/// Returns the facts about the system clock, and those of PTP if ptp4l runs. `card` is the distance of the network card's clock.
#[must_use]
pub fn clock_facts(
    status: Option<&ClockStatus>,
    ptp: Option<&PtpState>,
    card: Option<PtpClockOffset>,
) -> Vec<HostFact> {
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
    if let Some(ptp) = ptp {
        facts.push((GRANDMASTER.to_owned(), ptp.grandmaster.clone()));
        let steered = ptp.has_hardware_stamps.map(|is_card| match is_card {
            true => CARD_CLOCK,
            false => SYSTEM_CLOCK,
        });
        facts.extend(steered.map(|clock| (STEERED.to_owned(), clock.to_owned())));
    }
    facts.extend(offsets(ptp, card, ""));
    facts
}

/// Returns the offsets of the clocks when a run has ended.
#[must_use]
pub fn clock_facts_at_end(ptp: Option<&PtpState>, card: Option<PtpClockOffset>) -> Vec<HostFact> {
    offsets(ptp, card, AT_END)
}

fn offsets(ptp: Option<&PtpState>, card: Option<PtpClockOffset>, when: &str) -> Vec<HostFact> {
    let ptp = ptp.map(|it| {
        let offset = format!("{} ns", it.offset_nanos);
        (format!("{PTP_OFFSET}{when}"), offset)
    });
    let card = card.map(|it| {
        let offset = format!("{} ns, read within {} ns", it.nanos, it.error_nanos);
        (format!("{PTP_CLOCK_OFFSET}{when}"), offset)
    });
    ptp.into_iter().chain(card).collect()
}

/// Returns the state of ptp4l from the outputs of linuxptp's `pmc -u -b 0 "GET TIME_STATUS_NP"`, `"GET DEFAULT_DATA_SET"` and
/// `"GET PORT_PROPERTIES_NP"`; `None` if ptp4l has no grandmaster, and is none itself.
#[must_use]
pub fn ptp_state(status: &str, own: &str, port: &str) -> Option<PtpState> {
    let grandmaster = answer(status, "gmIdentity")?;
    let offset_nanos = match answer(status, "gmPresent")? {
        "true" => answer(status, "master_offset")?.parse().ok()?,
        // A grandmaster has its own identity, and no other clock to be off from.
        _ if answer(own, "clockIdentity") == Some(grandmaster) => 0,
        _ => return None,
    };
    Some(PtpState {
        offset_nanos,
        grandmaster: grandmaster.to_owned(),
        has_hardware_stamps: match answer(port, "timestamping") {
            Some("HARDWARE" | "LEGACY_HW" | "ONE_STEP" | "P2P1STEP") => Some(true),
            Some("SOFTWARE") => Some(false),
            _ => None,
        },
    })
}

/// Returns the value of a name in an output of pmc.
fn answer<'a>(output: &'a str, name: &str) -> Option<&'a str> {
    let mut lines = output.lines().map(str::split_whitespace);
    lines.find_map(|mut words| (words.next()? == name).then(|| words.next())?)
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

    /// Answer of ptp4l, which the identity of the host's own clock follows.
    const OWN: &str = "\t\tclockIdentity           baf1e4.fffe.9bd7f1\n";
    const PORT: &str = "\t\tportState               SLAVE\n\t\ttimestamping            HARDWARE\n";

    #[test]
    fn the_offset_is_that_of_a_grandmaster() {
        let offset = |status: &str, own: &str| {
            let state = ptp_state(status, own, PORT)?;
            assert_eq!(state.has_hardware_stamps, Some(true));
            Some((state.offset_nanos, state.grandmaster))
        };
        let slave = Some((-37, "1e4b6f.fffe.8d2f1c".to_owned()));
        assert_eq!(offset(ANSWER, OWN), slave);
        let without = ANSWER.replace("true", "false");
        assert_eq!(offset(&without, OWN), None);
        // Two hosts on a cable: one of them is the grandmaster.
        let own = OWN.replace("baf1e4.fffe.9bd7f1", "1e4b6f.fffe.8d2f1c");
        let master = Some((0, "1e4b6f.fffe.8d2f1c".to_owned()));
        assert_eq!(offset(&without, &own), master);
        assert_eq!(offset("sending: GET TIME_STATUS_NP\n", OWN), None);
        let damaged = ANSWER.replace("-37", "x");
        assert_eq!(offset(&damaged, OWN), None);
        let software = PORT.replace("HARDWARE", "SOFTWARE");
        let state = ptp_state(ANSWER, OWN, &software);
        assert_eq!(state.map(|it| it.has_hardware_stamps), Some(Some(false)));
        let silent = ptp_state(ANSWER, OWN, "");
        assert_eq!(silent.map(|it| it.has_hardware_stamps), Some(None));
    }

    #[test]
    fn a_clock_says_whether_it_is_synchronized() {
        let status = |is_synchronized| ClockStatus {
            is_synchronized,
            maximum_error_micros: 120,
            tai_offset_seconds: 37,
        };
        let ptp = PtpState {
            offset_nanos: -3,
            grandmaster: "a".to_owned(),
            has_hardware_stamps: Some(true),
        };
        let card = PtpClockOffset {
            nanos: 40,
            error_nanos: 9,
        };
        let facts = |status: ClockStatus| {
            let facts = clock_facts(Some(&status), Some(&ptp), Some(card)).into_iter();
            facts.map(|(_, value)| value).collect::<Vec<_>>()
        };
        let ptp_values = ["a", CARD_CLOCK, "-3 ns", "40 ns, read within 9 ns"];
        let synchronized = "synchronized, error at most 120 \u{b5}s";
        assert_eq!(
            facts(status(true)),
            [&[synchronized, "37 s"][..], &ptp_values].concat()
        );
        assert_eq!(
            facts(status(false)),
            [&["not synchronized", "37 s"][..], &ptp_values].concat()
        );
        assert_eq!(clock_facts(None, None, None), []);
        let names = clock_facts_at_end(Some(&ptp), Some(card)).into_iter();
        let names: Vec<String> = names.map(|(name, _)| name).collect();
        assert_eq!(
            names,
            ["PTP offset at the end", "PTP clock offset at the end"]
        );
    }
}
