//! `etf`: Earliest TxTime First.

use std::fmt;

use super::super::description::{DisciplineDescription, DisciplineTemplate};
use crate::document::Table;
use crate::quantity::Duration;
use crate::shape::{Kind, may};

pub(super) const DESCRIPTION: DisciplineDescription = DisciplineDescription {
    name: "etf",
    help: "Earliest TxTime First",
    fields: &[
        may(
            "delta",
            Kind::Duration,
            "etf: time by which a frame is given to the hardware before its txtime; by default 0.",
        ),
        may(
            "deadline_mode",
            Kind::Boolean,
            "etf: true if the txtime is a deadline; by default false.",
        ),
        may(
            "skip_sock_check",
            Kind::Boolean,
            "etf: true if frames without their own txtime are accepted; by default only with txtime_assist.",
        ),
        may(
            "offload",
            Kind::Boolean,
            "etf: true if the hardware waits for the txtime; by default true.",
        ),
    ],
    template: DisciplineTemplate {
        class: Some("queue = \"etf\", delta = \"150 us\""),
        hosts_only: true,
        ..DisciplineTemplate::FIFO
    },
};

/// Parameters of `etf`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EtfParameters {
    /// Time before the txtime at which a frame is given to the hardware.
    pub delta: Duration,
    /// True if the txtime is a deadline: frames are sent before it, as soon as possible.
    pub deadline_mode: bool,
    /// True if frames without a txtime of their socket are accepted, as below `taprio` with txtime-assist.
    pub skip_sock_check: bool,
    /// True if the hardware waits for the txtime. Otherwise frames leave delta before it.
    pub offload: bool,
}

impl EtfParameters {
    pub(super) fn read(table: &Table, assisted: bool) -> Self {
        Self {
            delta: table.quantity("delta").unwrap_or_default(),
            deadline_mode: table.boolean("deadline_mode").unwrap_or(false),
            skip_sock_check: table.boolean("skip_sock_check").unwrap_or(assisted),
            offload: table.boolean("offload").unwrap_or(true),
        }
    }
}

impl fmt::Display for EtfParameters {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mode = match self.deadline_mode {
            true => ", deadline mode",
            false => "",
        };
        let place = match self.offload {
            true => ", launch times of the device",
            false => "",
        };
        write!(f, "etf, delta {}{mode}{place}", self.delta)
    }
}
