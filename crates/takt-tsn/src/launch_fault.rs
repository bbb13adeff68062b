//! Reasons why a port does not keep launch times (SO_TXTIME).

/// Reason why messages do not leave at their launch times.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LaunchFault {
    /// The discipline is no `etf`.
    #[error(
        "{interface} has no ETF for launch times: frames of priority {priority} wait in `{discipline}`"
    )]
    NoEtf {
        /// Interface with the discipline.
        interface: String,
        /// Priority of the socket.
        priority: u32,
        /// Name of the discipline.
        discipline: String,
    },
    /// Another class has an `etf`.
    #[error(
        "ETF of {interface} is for {}, and frames have priority {priority}: these wait in `{discipline}`",
        priorities(etf_priorities)
    )]
    OtherClass {
        /// Interface with the discipline.
        interface: String,
        /// Priority of the socket.
        priority: u32,
        /// Name of the discipline of its class.
        discipline: String,
        /// Priorities of the classes with `etf`, ascending.
        etf_priorities: Vec<u32>,
    },
    /// The discipline has launch times of another clock.
    #[error(
        "`{discipline}` of {interface} has launch times of {clock}, and those of the messages are of CLOCK_TAI"
    )]
    OtherClock {
        /// Interface with the discipline.
        interface: String,
        /// Name of the discipline.
        discipline: String,
        /// Name of its clock.
        clock: String,
    },
    /// The mode of the discipline is not that of the socket. It drops all messages; with `skip_sock_check` it treats
    /// them by its own mode (`is_packet_valid` and `etf_dequeue_timesortedlist` of `sch_etf.c`).
    #[error(
        "ETF of {interface} {} deadline mode, and the launch times {} deadlines: {}",
        if *deadline_mode { "is in" } else { "is not in" },
        if *deadline_mode { "are no" } else { "are" },
        match (drops, deadline_mode) {
            (true, _) => "it drops every frame",
            (false, true) => "it sends every frame at once",
            (false, false) => "it keeps every frame until its deadline",
        }
    )]
    Mode {
        /// Interface with the discipline.
        interface: String,
        /// True if the discipline is in deadline mode.
        deadline_mode: bool,
        /// True if the discipline compares the modes, and drops messages of the other one: not with `skip_sock_check`.
        drops: bool,
    },
    /// A message is made so late that the discipline does not keep it.
    ///
    /// ETF hands over a frame from `delta` before its launch time. Without offload, that is the time at which it leaves.
    #[error(
        "messages are made {} us before their launch time, and `delta` of ETF at {interface} is {} us: {}",
        micros(*lead),
        micros(*delta),
        match offload {
            true => "it hands frames to the hardware as soon as they are made, perhaps too late",
            false => "frames leave as soon as they are made, not `delta` before their launch time",
        }
    )]
    ShortLead {
        /// Interface with the discipline.
        interface: String,
        /// Time before the launch time at which a message is made, in nanoseconds.
        lead: u64,
        /// `delta` of the discipline, in nanoseconds.
        delta: u64,
        /// True if the hardware keeps the launch times, which it can if the frame comes in time.
        offload: bool,
    },
    /// The interface of a VLAN writes another PCP than the priority.
    #[error(
        "{interface} writes PCP {pcp} into frames of priority {priority}, according to the {entries} entries of its egress-qos-map"
    )]
    EgressMap {
        /// Interface of the VLAN.
        interface: String,
        /// Priority of the socket.
        priority: u32,
        /// PCP on the wire.
        pcp: u8,
        /// Number of entries of the map.
        entries: usize,
    },
    /// The sender and the interface of a VLAN write a tag each.
    #[error(
        "frames would have two tags: the address has a VLAN, and {interface} is the interface of one, upon {lower}"
    )]
    TaggedTwice {
        /// Interface of the VLAN.
        interface: String,
        /// Its lower device.
        lower: String,
    },
    /// The lower device cannot be asked.
    #[error(
        "the lower device of {interface} is in another network namespace, where its discipline cannot be read"
    )]
    LowerDevice {
        /// Interface upon it.
        interface: String,
    },
}

impl LaunchFault {
    /// Returns true if messages can leave at their launch times nevertheless.
    #[must_use]
    pub fn is_warning(&self) -> bool {
        matches!(self, Self::ShortLead { offload: true, .. })
    }
}

fn priorities(all: &[u32]) -> String {
    let numbers: Vec<String> = all.iter().map(ToString::to_string).collect();
    match numbers.as_slice() {
        [] => "no priority".to_owned(),
        [only] => format!("priority {only}"),
        _ => format!("priorities {}", numbers.join(" ")),
    }
}

/// Returns nanoseconds in microseconds, without zeros at the end.
fn micros(nanos: u64) -> String {
    format!("{}", nanos as f64 / 1e3)
}
