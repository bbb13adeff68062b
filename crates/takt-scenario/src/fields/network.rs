//! Nodes, links and ports.

use super::{Kind, Shape, may, need};

pub(crate) const TOPOLOGY: Shape = Shape {
    name: "a topology",
    description: "Hosts are called host1, host2 and so on, bridges bridge1, bridge2 and so on.",
    one_of: &[],
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
    one_of: &[],
    fields: &[
        need("least", Kind::Duration, "The least."),
        need("most", Kind::Duration, "The most."),
    ],
};

pub(crate) const NODE: Shape = Shape {
    name: "a node",
    description: "A host, on which applications run, or a bridge, which forwards as well.",
    one_of: &[],
    fields: &[
        need("name", Kind::Name, "Its name."),
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
    one_of: &[],
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
    one_of: &[],
    fields: &[
        may("least", Kind::Duration, "The least."),
        may("most", Kind::Duration, "The most."),
        may(
            "histogram",
            Kind::OneOf(&[Kind::Text, Kind::List(&Kind::Pair(&BIN))]),
            "A CSV file beside this one, or a list of bins: a lower bound and a count, `[\"2 us\", 3401]`.",
        ),
    ],
};

const BIN: Kind = Kind::OneOf(&[Kind::Duration, Kind::Integer(0, i64::MAX)]);

pub(crate) const LINK: Shape = Shape {
    name: "a link",
    description: "A full-duplex link.",
    one_of: &[],
    fields: &[
        need(
            "ends",
            Kind::Pair(&Kind::Text),
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
    one_of: &[],
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
