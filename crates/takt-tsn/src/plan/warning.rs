//! Warnings about a plan.

use takt_scenario::{Duration, GroupAddress};

fn numbers(numbers: &[u16]) -> String {
    let numbers: Vec<String> = numbers.iter().map(ToString::to_string).collect();
    numbers.join(", ")
}

/// Returns a list of classes for people.
fn named(classes: &[String]) -> String {
    let quoted: Vec<String> = classes.iter().map(|class| format!("`{class}`")).collect();
    quoted.join(" and ")
}

/// Something that a plan cannot do, or that prevents what was probably meant.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PlanWarning {
    /// A bridge without VLANs has one entry for a group of several.
    #[error(
        "a bridge without VLANs forwards messages to {group} of VLAN {} to this port as well, where no bound counts them: plan with \
         VLANs (vlan_filtering 1), or choose another group",
        numbers(.vlans)
    )]
    SharedGroup {
        /// The group.
        group: GroupAddress,
        /// VLANs of the messages that have other ports.
        vlans: Vec<u16>,
    },
    /// Traffic that the network itself needs has priority 0, and no gate is open for it.
    #[error(
        "no gate is open for {traffic}: its frames have priority 0, class `{class}`, whose gate never opens. \
         Give the class a window, or send {traffic} with the priority of another class (ptp4l: socket_priority)"
    )]
    NoGate {
        /// PTP or ARP.
        traffic: &'static str,
        /// Name of the class.
        class: String,
    },
    /// The same, with windows that are too short.
    #[error(
        "no window is long enough for {traffic}: a frame takes {needed}, the longest window of class `{class}` is \
         {longest}"
    )]
    ShortWindow {
        /// PTP or ARP.
        traffic: &'static str,
        /// Name of the class.
        class: String,
        /// Time that a frame takes.
        needed: Duration,
        /// Longest window.
        longest: Duration,
    },
    /// Traffic of priority 0 is given to an etf that drops it.
    #[error(
        "etf of class `{class}` drops {traffic}, which has priority 0 and no txtime: set skip_sock_check, or use \
         another class"
    )]
    Untimed {
        /// PTP or ARP.
        traffic: &'static str,
        /// Name of the class.
        class: String,
    },
    /// A class without etf under txtime-assist.
    #[error(
        "class `{class}` has no etf: with txtime-assist its frames leave at once, in any window"
    )]
    NotTimed {
        /// Name of the class.
        class: String,
    },
    /// An etf under txtime-assist that drops all frames without their own txtime.
    #[error(
        "etf of class `{class}` drops frames to which taprio gave a txtime: set skip_sock_check"
    )]
    SocketCheck {
        /// Name of the class.
        class: String,
    },
    /// A txtime-delay that does not cover delta.
    #[error(
        "txtime-delay {delay} is not above the delta of etf in class `{class}`, {delta}: frames come too late to it"
    )]
    ShortDelay {
        /// Name of the class.
        class: String,
        /// `txtime-delay`.
        delay: Duration,
        /// `delta` of etf.
        delta: Duration,
    },
    /// Shapers below gates in software.
    #[error(
        "taprio in software with cbs below is faulty on Linux 6.1, but not on 6.12: a frame stays in the queue \
         until another one comes{}",
        if *.known { ", and this kernel is older than 6.12" } else { "" }
    )]
    ShapersBelowGates {
        /// True if the kernel is known to be older than 6.12.
        known: bool,
    },
    /// Gates in software that are open together: the kernel chooses among their classes by the driver.
    #[error(
        "the gates of {} are open together: since Linux 6.3, taprio in software sends the class with the highest \
         number first, which is the lowest one here, unless the driver tells otherwise (igb and igc do, veth does not). \
         Give each class windows of its own, or leave them to the hardware (full offload)",
        named(.classes)
    )]
    SharedWindows {
        /// Names of the classes.
        classes: Vec<String>,
    },
    /// An etf whose frames leave early.
    #[error(
        "etf of class `{class}` is not offloaded: frames leave {delta} (delta) before their txtime"
    )]
    EarlyLaunch {
        /// Name of the class.
        class: String,
        /// `delta` of etf.
        delta: Duration,
    },
    /// Offloaded gates.
    #[error(
        "taprio with full offload needs an interface with gates and a PTP clock; untested on hardware"
    )]
    FullOffload,
    /// Gates on an interface that is down.
    #[error("the interface is down: its gates freeze when it goes up. Apply the plan again then")]
    LinkDown,
    /// A shaper on an interface whose speed is not known.
    #[error(
        "the speed of the interface is unknown, and cbs in software computes with 10 Mbit/s until it is known: \
         the plan assumes the rate of the link. Set the link up, or state the speed"
    )]
    UnknownSpeed,
}
