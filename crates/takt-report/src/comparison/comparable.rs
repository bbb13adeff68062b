//! Comparability of the times of a run with bounds and simulation.

use std::fmt;

use takt_lab::collect::BY_HAND;
use takt_lab::link_faults;
use takt_lab::run_directory::{RunCase, RunDescription};
use takt_scenario::Scenario;

/// Reason why a measured time says nothing about a bound.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum NotComparable {
    /// Ports kept the kernel's default.
    NoDisciplines,
    /// Ports of hosts did not have the disciplines of the scenario, or could not be compared with it.
    OtherDisciplines,
    /// Links have no rate.
    NoLinkRate,
    /// A port of a host has another link than the scenario: its speed or duplex, in words.
    OtherLink(String),
}

impl NotComparable {
    /// Returns the reasons of a run.
    #[must_use]
    pub fn of(run: &RunDescription) -> Vec<Self> {
        let links = run.host.get("links");
        let is_virtual = |link: &str| ["veth", "netdevsim", "dummy", "tun"].contains(&link);
        let is_veth = links.is_some_and(|it| it.split(", ").any(is_virtual));
        let no_rate = (is_veth || run.backend == "netns").then_some(Self::NoLinkRate);
        let lacking = match run.backend == BY_HAND {
            true => Self::OtherDisciplines,
            false => Self::NoDisciplines,
        };
        let no_disciplines = (!run.disciplines).then_some(lacking);
        no_disciplines.into_iter().chain(no_rate).collect()
    }

    /// Returns the reasons of a case that was made by hand, whose links have a rate: another speed than that of the scenario, or half
    /// duplex.
    #[must_use]
    pub fn of_links(run: &RunDescription, case: &RunCase, scenario: &Scenario) -> Vec<Self> {
        let is_by_hand = run.backend == BY_HAND && !Self::of(run).contains(&Self::NoLinkRate);
        let faults = match is_by_hand {
            true => link_faults(run, case, scenario),
            false => Vec::new(),
        };
        faults.into_iter().map(Self::OtherLink).collect()
    }
}

impl fmt::Display for NotComparable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::OtherLink(fault) => {
                return write!(f, "The links are not those of the scenario: {fault}.");
            }
            Self::NoDisciplines => {
                "The run had no queueing disciplines: its ports kept the kernel's default."
            }
            Self::OtherDisciplines => {
                "Ports of the hosts did not have the queueing disciplines of the scenario, or could not be compared with it (facts below)."
            }
            Self::NoLinkRate => {
                "The links of the run have no rate (veth), and its times are those of threads on the processor of this host."
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    #[test]
    fn veth_and_missing_disciplines_are_reasons() {
        let run = |backend: &str, links: &str, disciplines| {
            let host = BTreeMap::from([("links".to_owned(), links.to_owned())]);
            let mut run = RunDescription::new("line", backend, host, 0);
            run.disciplines = disciplines;
            NotComparable::of(&run)
        };
        use NotComparable::{NoDisciplines, NoLinkRate, OtherDisciplines};
        assert_eq!(run("uml", "takt-link", true), []);
        assert_eq!(run("uml", "takt-link", false), [NoDisciplines]);
        assert_eq!(run("uml", "veth", true), [NoLinkRate]);
        assert_eq!(run("netns", "", true), [NoLinkRate]);
        assert_eq!(run("netns", "veth", false), [NoDisciplines, NoLinkRate]);
        assert_eq!(run("hosts", "igb", true), []);
        assert_eq!(run("hosts", "igb, igc", false), [OtherDisciplines]);
        assert_eq!(run("hosts", "igb, veth", true), [NoLinkRate]);
    }
}
