//! Queueing disciplines.

use super::field::{COUNT, PCP, may, need};
use crate::shape::{Kind, Shape};

pub(crate) const DISCIPLINE: Shape = Shape {
    name: "a discipline",
    description: "A queueing discipline of Linux.",
    one_of: &[],
    fields: &[
        need(
            "scheduler",
            Kind::Choice(&["fq_codel", "mqprio", "taprio"]),
            "Scheduler, which chooses between classes.",
        ),
        may(
            "classes",
            Kind::List(&Kind::Table(&CLASS)),
            "Traffic classes of mqprio and taprio, highest first.",
        ),
        may(
            "base_time",
            Kind::Duration,
            "taprio: start of a cycle; by default 0.",
        ),
        may(
            "cycle_time",
            Kind::Interval,
            "taprio: length of a cycle; by default the sum of the entries. With another length, the last entry is extended or entries are cut.",
        ),
        may(
            "entries",
            Kind::List(&Kind::Table(&GATE_ENTRY)),
            "taprio: entries of the cycle.",
        ),
        may(
            "txtime_assist",
            Kind::Duration,
            "taprio: flags 0x1 with this txtime-delay; etf queues of classes send their frames at these times.",
        ),
        may(
            "guard_band",
            Kind::Duration,
            "taprio: time at the end of each window in which no frame begins; by default 0.",
        ),
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
};

pub(crate) const CLASS: Shape = Shape {
    name: "a traffic class",
    description: "A group of PCPs with the same treatment.",
    one_of: &[],
    fields: &[
        need("name", Kind::Name, "Name in this discipline."),
        may(
            "priorities",
            Kind::List(&PCP),
            "PCPs of the class. The last class also has all PCPs that no class names.",
        ),
        may(
            "queue",
            Kind::Choice(&["fifo", "cbs", "etf"]),
            "Queue of the class; by default fifo.",
        ),
        may(
            "limit",
            Kind::OneOf(&[COUNT, Kind::Size]),
            "Capacity of the queue, as a number of frames or as a size; by default 1000 frames.",
        ),
        may(
            "provisioning",
            Kind::Share,
            "cbs: share by which idleSlope exceeds one frame on the wire per cycle, summed over all flows of the class at the port; by default 0%.",
        ),
        may(
            "idle_slope",
            Kind::Rate,
            "cbs: idleSlope itself, instead of `provisioning`.",
        ),
        may(
            "send_slope",
            Kind::Rate,
            "cbs: loss of credit while a frame is sent, without its sign; by default the rate of the link minus idleSlope.",
        ),
        may(
            "hi_credit",
            Kind::Credit,
            "cbs: maximum of the credit, in bytes on the wire like all quantities of the shaper; by default enough for the delay by a frame of 1542 B and by the classes above.",
        ),
        may(
            "lo_credit",
            Kind::Credit,
            "cbs: minimum of the credit; by default the cost of the longest frame of the class at the port.",
        ),
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
};

pub(crate) const GATE_ENTRY: Shape = Shape {
    name: "an entry",
    description: "A part of the cycle of gates.",
    one_of: &[],
    fields: &[
        need(
            "gates",
            Kind::List(&Kind::Text),
            "Names of the classes whose gates are open.",
        ),
        need("interval", Kind::Interval, "Length of the entry."),
    ],
};
