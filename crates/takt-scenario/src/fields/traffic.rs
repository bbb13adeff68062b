//! Applications and cross traffic.

use super::{Kind, PCP, Shape, VLAN, may, need};

/// Who an application's messages are for.
pub(crate) const RECEIVERS: &[&str] = &["loopback", "subscriber"];
/// How long an application's messages are.
pub(crate) const MESSAGES: &[&str] = &["payload", "repeated_node_count", "fields"];
/// How long packets of cross traffic are.
pub(crate) const PACKETS: &[&str] = &["payload", "udp_payload"];
/// How often they come.
pub(crate) const PACES: &[&str] = &["rate", "interval"];

pub(crate) const APPLICATION: Shape = Shape {
    name: "an application",
    description: "A Publisher that sends a message in every cycle, and who receives it. Its frame is said in one of the ways `payload`, `repeated_node_count`, `fields`.",
    one_of: &[RECEIVERS, MESSAGES],
    fields: &[
        need("name", Kind::Name, "Its name."),
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
    one_of: &[],
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
    one_of: &[PACKETS, PACES],
    fields: &[
        need("name", Kind::Name, "Its name."),
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
    one_of: &[],
    fields: &[need(
        "burst",
        Kind::Integer(1, 1_000_000),
        "How many come at once.",
    )],
};
