//! Queueing disciplines.

use super::{COUNT, Kind, PCP, Shape, may, need};

pub(crate) const DISCIPLINE: Shape = Shape {
    name: "a discipline",
    description: "A queueing discipline, as Linux has them.",
    one_of: &[],
    fields: &[
        need(
            "scheduler",
            Kind::Choice(&["fq_codel", "mqprio", "taprio"]),
            "What chooses between classes.",
        ),
        may(
            "classes",
            Kind::List(&Kind::Table(&CLASS)),
            "The traffic classes of mqprio and taprio, highest first.",
        ),
        may(
            "base_time",
            Kind::Duration,
            "taprio: when a cycle begins; by default 0.",
        ),
        may(
            "cycle_time",
            Kind::Interval,
            "taprio: how long a cycle is; by default the sum of the entries. The last entry is longer or entries are cut if it is another.",
        ),
        may(
            "entries",
            Kind::List(&Kind::Table(&GATE_ENTRY)),
            "taprio: what happens in a cycle.",
        ),
        may(
            "txtime_assist",
            Kind::Duration,
            "taprio: flags 0x1 with this txtime-delay, and etf below.",
        ),
        may(
            "guard_band",
            Kind::Duration,
            "taprio: a time at the end of each window in which no frame begins; by default 0.",
        ),
        may(
            "limit",
            COUNT,
            "fq_codel: frames in all queues; by default 10240.",
        ),
        may("flows", COUNT, "fq_codel: queues; by default 1024."),
        may(
            "quantum",
            Kind::Size,
            "fq_codel: what a queue sends in its turn; by default 1514 B.",
        ),
        may(
            "target",
            Kind::Duration,
            "fq_codel: the standing delay that is acceptable; by default 5 ms.",
        ),
        may(
            "interval",
            Kind::Interval,
            "fq_codel: how long it may be more; by default 100 ms.",
        ),
        may(
            "memory_limit",
            Kind::Size,
            "fq_codel: bytes in all queues; by default 32 MiB.",
        ),
        may(
            "ecn",
            Kind::Boolean,
            "fq_codel: mark instead of drop; by default true.",
        ),
    ],
};

pub(crate) const CLASS: Shape = Shape {
    name: "a traffic class",
    description: "What PCPs are treated alike, and how.",
    one_of: &[],
    fields: &[
        need("name", Kind::Name, "Its name in this discipline."),
        may(
            "priorities",
            Kind::List(&PCP),
            "The PCPs in it. The last class has all that no other names.",
        ),
        may(
            "queue",
            Kind::Choice(&["fifo", "cbs", "etf"]),
            "How frames wait; by default fifo.",
        ),
        may(
            "limit",
            Kind::OneOf(&[COUNT, Kind::Size]),
            "What the queue holds, as a number of frames or as a size; by default 1000 frames.",
        ),
        may(
            "provisioning",
            Kind::Share,
            "cbs: how much more idleSlope than one frame on the wire per cycle, for all flows of the class at the port; by default 0%.",
        ),
        may("idle_slope", Kind::Rate, "cbs: instead, idleSlope itself."),
        may(
            "send_slope",
            Kind::Rate,
            "cbs: what the credit loses while a frame is sent, without its sign; by default the link's rate less idleSlope.",
        ),
        may(
            "hi_credit",
            Kind::Credit,
            "cbs: the most credit, in bytes on the wire as everything that the shaper counts; by default enough for what can be in the way, a frame of 1542 B and the classes above.",
        ),
        may(
            "lo_credit",
            Kind::Credit,
            "cbs: the least credit; by default what the longest frame of the class at the port costs.",
        ),
        may(
            "delta",
            Kind::Duration,
            "etf: how long before its time a frame is given to the hardware; by default 0.",
        ),
        may(
            "deadline_mode",
            Kind::Boolean,
            "etf: whether the time is a deadline; by default false.",
        ),
        may(
            "skip_sock_check",
            Kind::Boolean,
            "etf: whether frames without a time of their own are taken; by default only below txtime_assist.",
        ),
        may(
            "offload",
            Kind::Boolean,
            "etf: whether the hardware waits for the time; by default true.",
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
            "The names of the classes whose gates are open.",
        ),
        need("interval", Kind::Interval, "How long."),
    ],
};
