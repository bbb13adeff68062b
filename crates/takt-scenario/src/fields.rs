//! The fields of a scenario file, all of them.

use crate::shape::{Field, Kind, Shape};

const fn need(name: &'static str, kind: Kind, description: &'static str) -> Field {
    Field {
        name,
        kind,
        required: true,
        description,
    }
}

const fn may(name: &'static str, kind: Kind, description: &'static str) -> Field {
    Field {
        name,
        kind,
        required: false,
        description,
    }
}

const COUNT: Kind = Kind::Integer(1, i64::MAX);
const PCP: Kind = Kind::Integer(0, 7);
const VLAN: Kind = Kind::Integer(1, 4094);

pub(crate) const SCENARIO: Shape = Shape {
    name: "a scenario",
    description: "One file that bounds, simulations and experiments are made from.",
    fields: &[
        need(
            "version",
            Kind::Integer(1, 1),
            "The version of this format: 1.",
        ),
        may(
            "name",
            Kind::Text,
            "What to call the scenario; by default the file's name.",
        ),
        may("description", Kind::Text, "What it is about."),
        may(
            "topology",
            Kind::Table(&TOPOLOGY),
            "Nodes and links of a usual form.",
        ),
        may(
            "nodes",
            Kind::List(&Kind::Table(&NODE)),
            "Hosts and bridges besides; or more about one that the topology has.",
        ),
        may(
            "links",
            Kind::List(&Kind::Table(&LINK)),
            "Links besides those of the topology.",
        ),
        may(
            "disciplines",
            Kind::Named(&DISCIPLINE),
            "Queueing disciplines, by names of one's own.",
        ),
        may(
            "discipline",
            Kind::Text,
            "The discipline of every port that has no other; by default Linux's, fq_codel.",
        ),
        may(
            "ports",
            Kind::List(&Kind::Table(&PORT)),
            "Ports with a discipline of their own. Later ones count.",
        ),
        may(
            "applications",
            Kind::List(&Kind::Table(&APPLICATION)),
            "PubSub applications.",
        ),
        may(
            "cross_traffic",
            Kind::List(&Kind::Table(&CROSS_TRAFFIC)),
            "What else is on the links.",
        ),
        may(
            "bounds",
            Kind::Table(&BOUNDS),
            "What `takt bounds` takes into account.",
        ),
        may(
            "simulation",
            Kind::Table(&SIMULATION),
            "What `takt simulate` does.",
        ),
        may(
            "measure",
            Kind::List(&MEASURE),
            "What is measured; by default everything.",
        ),
        may(
            "sweeps",
            Kind::List(&Kind::Table(&SWEEP)),
            "Fields to try with several values: each combination is a scenario.",
        ),
    ],
};

pub(crate) const TOPOLOGY: Shape = Shape {
    name: "a topology",
    description: "Hosts are called host1, host2 and so on, bridges bridge1, bridge2 and so on.",
    fields: &[
        need(
            "kind",
            Kind::Choice(&["p2p", "bridged", "line", "ring", "star"]),
            "Two hosts at one link; with a bridge between them; a line of bridges between two hosts; a ring of bridges with a host at each; a bridge with hosts around it.",
        ),
        may(
            "hops",
            Kind::Integer(1, 1000),
            "Links between both hosts of a line.",
        ),
        may("bridges", Kind::Integer(3, 1000), "Bridges in a ring."),
        may("hosts", Kind::Integer(2, 1000), "Hosts around a star."),
        may(
            "rate",
            Kind::Rate,
            "The rate of each link; by default 1 Gbit/s.",
        ),
        may(
            "length",
            Kind::Length,
            "The length of each link; by default none.",
        ),
        may(
            "forwarding_delay",
            FORWARDING_DELAY,
            "What each bridge needs from a frame's last bit until the frame is in the next queue.",
        ),
        may(
            "shift_per_hop",
            Kind::Duration,
            "How much later gates open at each hop, both ways; not in a ring.",
        ),
    ],
};

const FORWARDING_DELAY: Kind = Kind::OneOf(&[Kind::Duration, Kind::Table(&RANGE)]);

const RANGE: Shape = Shape {
    name: "a range of times",
    description: "All times from the least to the most.",
    fields: &[
        need("least", Kind::Duration, "The least."),
        need("most", Kind::Duration, "The most."),
    ],
};

pub(crate) const NODE: Shape = Shape {
    name: "a node",
    description: "A host, on which applications run, or a bridge, which forwards as well.",
    fields: &[
        need("name", Kind::Text, "Its name."),
        may(
            "kind",
            Kind::Choice(&["host", "bridge"]),
            "What it is; by default a host.",
        ),
        may(
            "forwarding_delay",
            FORWARDING_DELAY,
            "What a bridge needs from a frame's last bit until the frame is in the next queue.",
        ),
        may(
            "clock",
            Kind::Table(&CLOCK),
            "What its clock shows; by default the time.",
        ),
        may(
            "wake_up_latency",
            Kind::OneOf(&[Kind::Duration, Kind::Table(&LATENCY)]),
            "How much later than it should a thread runs; by default nothing.",
        ),
    ],
};

const CLOCK: Shape = Shape {
    name: "a clock",
    description: "A clock that is not perfect.",
    fields: &[
        may(
            "offset",
            Kind::SignedDuration,
            "What it shows more than the time.",
        ),
        may("drift", Kind::Drift, "What it gains on the time."),
    ],
};

pub(crate) const LATENCY: Shape = Shape {
    name: "a latency",
    description: "Either a range, in which all times are as likely, or a histogram.",
    fields: &[
        may("least", Kind::Duration, "The least."),
        may("most", Kind::Duration, "The most."),
        may(
            "histogram",
            Kind::OneOf(&[Kind::Text, Kind::List(&Kind::List(&BIN))]),
            "A CSV file beside this one, or a list of bins: a lower bound and a count, `[\"2 us\", 3401]`.",
        ),
    ],
};

const BIN: Kind = Kind::OneOf(&[Kind::Duration, Kind::Integer(0, i64::MAX)]);

pub(crate) const LINK: Shape = Shape {
    name: "a link",
    description: "A full-duplex link.",
    fields: &[
        need(
            "ends",
            Kind::List(&Kind::Text),
            "The names of the two nodes that it joins.",
        ),
        may("rate", Kind::Rate, "Its rate; by default 1 Gbit/s."),
        may(
            "length",
            Kind::Length,
            "Its length, which takes 5 ns per metre; by default none.",
        ),
    ],
};

pub(crate) const PORT: Shape = Shape {
    name: "a port",
    description: "The end of a link at which frames leave a node.",
    fields: &[
        need("node", Kind::Text, "The node that frames leave."),
        may(
            "to",
            Kind::Text,
            "The node at the other end; without it, all ports of the node.",
        ),
        may("discipline", Kind::Text, "The name of its discipline."),
        may(
            "shift",
            Kind::Duration,
            "How much later than the discipline says its gates open.",
        ),
    ],
};

pub(crate) const DISCIPLINE: Shape = Shape {
    name: "a discipline",
    description: "A queueing discipline, as Linux has them.",
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
    fields: &[
        need("name", Kind::Text, "Its name in this discipline."),
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
            "cbs: the most credit; by default what a 1542 B frame in the way gives.",
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
    fields: &[
        need(
            "gates",
            Kind::List(&Kind::Text),
            "The names of the classes whose gates are open.",
        ),
        need("interval", Kind::Interval, "How long."),
    ],
};

pub(crate) const APPLICATION: Shape = Shape {
    name: "an application",
    description: "A Publisher that sends a message in every cycle, and who receives it. Its frame is said in one of the ways `payload`, `repeated_node_count`, `fields`.",
    fields: &[
        need("name", Kind::Text, "Its name."),
        need("publisher", Kind::Text, "The node that publishes."),
        may(
            "loopback",
            Kind::Text,
            "The node that sends each message back; either this or `subscriber`.",
        ),
        may("subscriber", Kind::Text, "The node that keeps messages."),
        need(
            "cycle",
            Kind::Interval,
            "The cycle c of publisher and loopback.",
        ),
        may(
            "offset",
            Kind::Duration,
            "From the end of a cycle until its messages are sent: o; by default 0.",
        ),
        may(
            "phases",
            Kind::Table(&PHASES),
            "When threads run in a cycle; by default at 0, 0.3 and 0.6 of it, as in open62541's example.",
        ),
        may("payload", Kind::Size, "What the Ethernet frame carries."),
        may(
            "repeated_node_count",
            Kind::Integer(0, 1_000_000),
            "The message of open62541's example with REPEATED_NODECOUNTS of this: 32 + 9 (1 + n) bytes.",
        ),
        may(
            "fields",
            Kind::Integer(1, 1_000_000),
            "The same message with so many fields: 32 + 9 n bytes.",
        ),
        may("vlan", VLAN, "The VLAN; by default 1."),
        may(
            "pcp",
            PCP,
            "The Priority Code Point; by default 3, class A of IEEE 802.1Q's table.",
        ),
        may(
            "path",
            Kind::List(&Kind::Text),
            "The names of all nodes from publisher to receiver; by default the shortest path, the first in the file if there are several.",
        ),
        may(
            "return_path",
            Kind::List(&Kind::Text),
            "From the loopback back to the publisher; by default the way there, reversed.",
        ),
        may(
            "immediate",
            Kind::Boolean,
            "Whether a message is sent as soon as the publisher thread has made it, whatever the offset, where `txtime` does not hold, as open62541's example does without etf; by default false.",
        ),
        may(
            "txtime",
            Kind::Boolean,
            "Whether frames are given to the kernel early with the time at which to send them; by default where the first port's queue is etf and wants that.",
        ),
    ],
};

const PHASES: Shape = Shape {
    name: "phases",
    description: "Parts of the cycle, from 0 up to but not including 1, not falling.",
    fields: &[
        may(
            "subscriber",
            Kind::Share,
            "The subscriber thread begins to receive; by default 0.",
        ),
        may(
            "user",
            Kind::Share,
            "The user thread takes what was received; by default 0.3.",
        ),
        may(
            "publisher",
            Kind::Share,
            "The publisher thread makes the message; by default 0.6.",
        ),
    ],
};

pub(crate) const CROSS_TRAFFIC: Shape = Shape {
    name: "a flow of cross traffic",
    description: "Packets of one size. Its frame is said in one of the ways `payload`, `udp_payload`; how often in one of `rate`, `interval`.",
    fields: &[
        need("name", Kind::Text, "Its name."),
        need("from", Kind::Text, "The node that it comes from."),
        need("to", Kind::Text, "The node that it goes to."),
        may("payload", Kind::Size, "What the Ethernet frame carries."),
        may(
            "udp_payload",
            Kind::Size,
            "What a UDP datagram in it carries: 28 B of IPv4 and UDP less.",
        ),
        may(
            "rate",
            Kind::Rate,
            "Bits on the wire in a second, in the mean.",
        ),
        may(
            "interval",
            Kind::Interval,
            "Between two packets, in the mean.",
        ),
        may("vlan", VLAN, "The VLAN; by default 1."),
        may(
            "pcp",
            PCP,
            "The Priority Code Point; by default 0, best effort.",
        ),
        may(
            "pattern",
            Kind::OneOf(&[Kind::Choice(&["constant", "poisson"]), Kind::Table(&BURST)]),
            "How packets come; by default constant.",
        ),
        may(
            "path",
            Kind::List(&Kind::Text),
            "The names of all nodes on its way; by default the shortest path.",
        ),
    ],
};

const BURST: Shape = Shape {
    name: "a pattern",
    description: "Packets that come at once, then nothing for as many intervals.",
    fields: &[need(
        "burst",
        Kind::Integer(1, 1_000_000),
        "How many come at once.",
    )],
};

pub(crate) const BOUNDS: Shape = Shape {
    name: "bounds",
    description: "docs/bounds.md derives what they mean.",
    fields: &[
        may(
            "model",
            Kind::Choice(&["sound", "paper"]),
            "The assumptions: those that hold, or the paper's; by default sound.",
        ),
        may(
            "analyses",
            Kind::List(&ANALYSIS),
            "The analyses; by default tfa, tfa++ and sfa. The least of their bounds is the answer.",
        ),
        may(
            "lower_priority",
            Kind::Size,
            "The longest frame, in bytes on the wire, that comes from somewhere else, below all classes, and that every port without gates can be busy with; by default there is none.",
        ),
    ],
};

const ANALYSIS: Kind = Kind::Choice(&["tfa", "tfa++", "sfa", "pmoo", "plp"]);

pub(crate) const SIMULATION: Shape = Shape {
    name: "a simulation",
    description: "The same seed gives the same run.",
    fields: &[
        may(
            "seed",
            Kind::Integer(0, i64::MAX),
            "What random numbers begin with; by default 1.",
        ),
        may(
            "cycles",
            COUNT,
            "Cycles of each application; by default 10000.",
        ),
        may(
            "trim",
            Kind::Integer(0, i64::MAX),
            "Cycles at the beginning and at the end that are not counted; by default 0.",
        ),
    ],
};

const MEASURE: Kind = Kind::Choice(&[
    "round_trip_time",
    "one_way_delay",
    "jitter",
    "inter_frame_spacing",
    "drops",
    "counters",
]);

pub(crate) const SWEEP: Shape = Shape {
    name: "a sweep",
    description: "A field and the values that it has in turn.",
    fields: &[
        need(
            "parameter",
            Kind::Text,
            "The path of the field: `topology.hops`, `applications.control.cycle`. What is in a list is named by its name, or by its number from 0; `*` is all of a list.",
        ),
        need("values", Kind::List(&Kind::Any), "Its values."),
    ],
};
