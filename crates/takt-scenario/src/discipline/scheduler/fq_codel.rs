//! `fq_codel`: Fair Queuing with Controlled Delay (RFC 8290).

use super::super::description::{DisciplineDescription, DisciplineTemplate};
use crate::document::Table;
use crate::quantity::{Duration, Size};
use crate::shape::{COUNT, Kind, may};

pub(super) const DESCRIPTION: DisciplineDescription = DisciplineDescription {
    name: "fq_codel",
    help: "Default of Linux, without classes",
    fields: &[
        may(
            "limit",
            COUNT,
            "fq_codel: maximum of frames in all queues; by default 10240.",
        ),
        may(
            "flows",
            COUNT,
            "fq_codel: number of queues; by default 1024.",
        ),
        may(
            "quantum",
            Kind::Size,
            "fq_codel: bytes that a queue sends in its turn; by default 1514 B.",
        ),
        may(
            "target",
            Kind::Duration,
            "fq_codel: acceptable standing delay; by default 5 ms.",
        ),
        may(
            "interval",
            Kind::Interval,
            "fq_codel: time for which the delay may exceed the target; by default 100 ms.",
        ),
        may(
            "memory_limit",
            Kind::Size,
            "fq_codel: maximum of bytes in all queues; by default 32 MiB.",
        ),
        may(
            "ecn",
            Kind::Boolean,
            "fq_codel: true if frames are marked instead of dropped; by default true.",
        ),
    ],
    template: DisciplineTemplate {
        scheduler: "fq_codel",
        comment: " # Linux's default",
        class: None,
        ..DisciplineTemplate::FIFO
    },
};

/// Parameters of `fq_codel`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FqCodelParameters {
    /// Maximum number of frames in all queues together.
    pub limit: u64,
    /// Number of queues that flows are hashed to.
    pub flows: u64,
    /// Bytes that a queue may send in its turn.
    pub quantum: Size,
    /// Acceptable standing delay.
    pub target: Duration,
    /// Time for which the delay must exceed the target before a frame is dropped.
    pub interval: Duration,
    /// Maximum number of bytes in all queues together.
    pub memory_limit: Size,
    /// True if frames that support it are marked instead of dropped. Frames of OPC UA do not.
    pub ecn: bool,
}

impl Default for FqCodelParameters {
    /// Returns the defaults of Linux.
    fn default() -> Self {
        Self {
            limit: 10_240,
            flows: 1024,
            quantum: Size(1514),
            target: Duration(5_000_000_000),
            interval: Duration(100_000_000_000),
            memory_limit: Size(32 << 20),
            ecn: true,
        }
    }
}

impl FqCodelParameters {
    pub(super) fn read(table: &Table) -> Self {
        let usual = Self::default();
        Self {
            limit: table.integer("limit").unwrap_or(usual.limit),
            flows: table.integer("flows").unwrap_or(usual.flows),
            quantum: table.quantity("quantum").unwrap_or(usual.quantum),
            target: table.quantity("target").unwrap_or(usual.target),
            interval: table.quantity("interval").unwrap_or(usual.interval),
            memory_limit: table.quantity("memory_limit").unwrap_or(usual.memory_limit),
            ecn: table.boolean("ecn").unwrap_or(usual.ecn),
        }
    }
}
