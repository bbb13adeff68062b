//! Nodes, links and ports.

use crate::shape::{Kind, Shape, may, need};

pub(crate) const TOPOLOGY: Shape = Shape {
    name: "a topology",
    description: "Nodes and links in a common form. Hosts have the names host1, host2 and so on, bridges bridge1, bridge2 and so on.",
    one_of: &[],
    fields: &[
        need(
            "kind",
            Kind::Choice(&["p2p", "bridged", "line", "ring", "star"]),
            "Form, in this order: two hosts at one link; two hosts with a bridge between them; two hosts with a line of bridges between them; a ring of bridges with one host at each; a bridge with hosts around it.",
        ),
        may(
            "hops",
            Kind::Integer(1, 1000),
            "Number of links between both hosts of a line.",
        ),
        may(
            "bridges",
            Kind::Integer(3, 1000),
            "Number of bridges in a ring.",
        ),
        may(
            "hosts",
            Kind::Integer(2, 1000),
            "Number of hosts of a star.",
        ),
        may(
            "rate",
            Kind::Rate,
            "Rate of each link; by default 1 Gbit/s.",
        ),
        may("length", Kind::Length, "Length of each link; by default 0."),
        may(
            "forwarding_delay",
            FORWARDING_DELAY,
            "Time of each bridge from the last bit of a frame until the frame is in the next queue.",
        ),
        may(
            "shift_per_hop",
            Kind::Duration,
            "Delay of the gates at each hop after those of the hop before, in both directions; not in a ring.",
        ),
    ],
    of_kinds: &[],
};

const FORWARDING_DELAY: Kind = Kind::OneOf(&[Kind::Duration, Kind::Table(&RANGE)]);

const RANGE: Shape = Shape {
    name: "a range of times",
    description: "All times from the minimum to the maximum.",
    one_of: &[],
    fields: &[
        need("least", Kind::Duration, "Minimum."),
        need("most", Kind::Duration, "Maximum."),
    ],
    of_kinds: &[],
};

pub(crate) const NODE: Shape = Shape {
    name: "a node",
    description: "A host, which runs applications, or a bridge, which also forwards frames.",
    one_of: &[],
    fields: &[
        need("name", Kind::Name, "Name."),
        may(
            "kind",
            Kind::Choice(&["host", "bridge"]),
            "Kind of node; by default a host.",
        ),
        may(
            "forwarding_delay",
            FORWARDING_DELAY,
            "Time of a bridge from the last bit of a frame until the frame is in the next queue.",
        ),
        may(
            "clock",
            Kind::Table(&CLOCK),
            "Error of its clock; by default none.",
        ),
        may(
            "wake_up_latency",
            Kind::OneOf(&[Kind::Duration, Kind::Table(&LATENCY)]),
            "Delay of a thread after its planned start; by default 0.",
        ),
    ],
    of_kinds: &[],
};

const CLOCK: Shape = Shape {
    name: "a clock",
    description: "A clock with an error.",
    one_of: &[],
    fields: &[
        may(
            "offset",
            Kind::SignedDuration,
            "Time that it shows minus the true time.",
        ),
        may("drift", Kind::Drift, "Rate at which it gains time."),
    ],
    of_kinds: &[],
};

pub(crate) const LATENCY: Shape = Shape {
    name: "a latency",
    description: "A range, in which all times have the same probability, or a histogram.",
    one_of: &[],
    fields: &[
        may("least", Kind::Duration, "Minimum."),
        may("most", Kind::Duration, "Maximum."),
        may(
            "histogram",
            Kind::OneOf(&[Kind::Text, Kind::List(&Kind::Pair(&BIN))]),
            "A CSV file in the same folder, or a list of bins: a lower bound and a count, `[\"2 us\", 3401]`.",
        ),
    ],
    of_kinds: &[],
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
            "Names of the two nodes at its ends.",
        ),
        may("rate", Kind::Rate, "Rate; by default 1 Gbit/s."),
        may(
            "length",
            Kind::Length,
            "Length; a signal takes 5 ns per metre; by default 0.",
        ),
    ],
    of_kinds: &[],
};

pub(crate) const PORT: Shape = Shape {
    name: "a port",
    description: "One end of a link: the place at which frames leave a node.",
    one_of: &[],
    fields: &[
        need("node", Kind::Text, "Node that the frames leave."),
        may(
            "to",
            Kind::Text,
            "Node at the other end of the link; without it, all ports of the node.",
        ),
        may("discipline", Kind::Text, "Name of its discipline."),
        may(
            "shift",
            Kind::Duration,
            "Delay of its gates after the times of the discipline.",
        ),
    ],
    of_kinds: &[],
};
