//! Applications and cross traffic.

use crate::shape::{Kind, PCP, Shape, VLAN, may, need};

/// Fields with the receiver of an application's messages.
pub(crate) const RECEIVERS: &[&str] = &["loopback", "subscriber", "subscribers"];
/// Fields with the length of an application's messages.
pub(crate) const MESSAGES: &[&str] = &["payload", "repeated_node_count", "fields", "writers"];
/// Fields with the length of packets of cross traffic.
pub(crate) const PACKETS: &[&str] = &["payload", "udp_payload"];
/// Fields with the frequency of packets of cross traffic.
pub(crate) const PACES: &[&str] = &["rate", "interval"];

pub(crate) const APPLICATION: Shape = Shape {
    name: "an application",
    description: "A Publisher that sends a message in every cycle, and its receivers. Exactly one of `payload`, `repeated_node_count`, `fields` and `writers` gives the size of its message, to which `security` adds.",
    one_of: &[RECEIVERS, MESSAGES],
    fields: &[
        need("name", Kind::Name, "Name."),
        need("publisher", Kind::Text, "Node that publishes."),
        may(
            "loopback",
            Kind::Text,
            "Node that sends each message back; either this, `subscriber` or `subscribers`.",
        ),
        may(
            "subscriber",
            Kind::Text,
            "Node that receives the messages and does not send them back.",
        ),
        may(
            "subscribers",
            Kind::List(&Kind::OneOf(&[Kind::Text, Kind::Table(&SUBSCRIBER)])),
            "Nodes that receive the messages: the Publisher sends one frame, and bridges replicate it (multicast).",
        ),
        need(
            "cycle",
            Kind::Interval,
            "Cycle c of publisher and loopback.",
        ),
        may(
            "offset",
            Kind::Duration,
            "Offset o: time from the end of a cycle until its messages are sent; by default 0.",
        ),
        may(
            "phases",
            Kind::Table(&PHASES),
            "Start of the threads in a cycle; by default at 0, 0.3 and 0.6 of the cycle, as in the example of open62541.",
        ),
        may("payload", Kind::Size, "Payload of the Ethernet frame."),
        may(
            "repeated_node_count",
            Kind::Integer(0, 1_000_000),
            "Message of open62541's example with REPEATED_NODECOUNTS n: 32 + 9 (1 + n) bytes.",
        ),
        may(
            "fields",
            Kind::Integer(1, 1_000_000),
            "The same message with n fields: 32 + 9 n bytes.",
        ),
        may(
            "writers",
            Kind::List(&Kind::Integer(1, 1_000_000)),
            "The same message with a DataSetMessage of each of several DataSetWriters: number of fields of each. With w writers and n fields in all it has 16 + 18 w + 9 n bytes; with one writer it is that of `fields`.",
        ),
        may(
            "security",
            Kind::OneOf(&[Kind::Choice(SECURITY_MODES), Kind::Table(&SECURITY)]),
            "SecurityMode of the messages. Sign and SignAndEncrypt add 46 B; by default None.",
        ),
        may(
            "group",
            Kind::Text,
            "Group of receivers to which messages are sent, but not back: of Ethernet (01-00-5E-00-54-01) or IP (239.0.0.1). By default each application has an Ethernet group of its own, from 01-00-5E-00-54-01 on. Applications share a group of a VLAN only if bridges forward all of their messages to the same ports.",
        ),
        may("vlan", VLAN, "VLAN; by default 1."),
        may(
            "pcp",
            PCP,
            "Priority Code Point; by default 3, class A in the table of IEEE 802.1Q.",
        ),
        may(
            "path",
            Kind::List(&Kind::Text),
            "Names of all nodes from publisher to receiver; by default the shortest path, or the first one in the file if there are several. Each of several `subscribers` has a path of its own.",
        ),
        may(
            "return_path",
            Kind::List(&Kind::Text),
            "Names of all nodes from the loopback back to the publisher; by default the reversed path.",
        ),
        may(
            "immediate",
            Kind::Boolean,
            "True if a message is sent as soon as the publisher thread has made it, at any offset. It has no effect with `txtime`. The example of open62541 does this without etf. By default false.",
        ),
        may(
            "txtime",
            Kind::Boolean,
            "True if frames are given to the kernel early, with the time at which the kernel sends them. By default true if the queue of the first port is etf and requires it.",
        ),
    ],
    of_kinds: &[],
};

/// SecurityModes, spelled as in OPC 10000-14.
const SECURITY_MODES: &[&str] = &["None", "Sign", "SignAndEncrypt"];

const SUBSCRIBER: Shape = Shape {
    name: "a subscriber",
    description: "A node that receives the messages of an application, with its path.",
    one_of: &[],
    fields: &[
        need("node", Kind::Text, "Node that receives."),
        may(
            "path",
            Kind::List(&Kind::Text),
            "Names of all nodes from publisher to subscriber; by default the shortest path. All paths of an application are one tree.",
        ),
    ],
    of_kinds: &[],
};

const SECURITY: Shape = Shape {
    name: "security",
    description: "Security of messages, with its processor time. `Sign` and `SignAndEncrypt` both add a SecurityHeader of 14 B with its nonce, and a signature of 32 B; there is no padding.",
    one_of: &[],
    fields: &[
        need("mode", Kind::Choice(SECURITY_MODES), "SecurityMode."),
        may(
            "protect",
            Kind::Duration,
            "Processor time of a sender for each message: the message is handed on that much later; by default 0, as always with `None`.",
        ),
        may(
            "verify",
            Kind::Duration,
            "Processor time of a receiver for each message: the application has the message that much later; by default 0, as always with `None`.",
        ),
    ],
    of_kinds: &[],
};

const PHASES: Shape = Shape {
    name: "phases",
    description: "Shares of the cycle: at least 0, below 1, in ascending order.",
    one_of: &[],
    fields: &[
        may(
            "subscriber",
            Kind::Share,
            "Start of the subscriber thread, which receives; by default 0.",
        ),
        may(
            "user",
            Kind::Share,
            "Start of the user thread, which takes the received messages; by default 0.3.",
        ),
        may(
            "publisher",
            Kind::Share,
            "Start of the publisher thread, which makes the message; by default 0.6.",
        ),
    ],
    of_kinds: &[],
};

pub(crate) const CROSS_TRAFFIC: Shape = Shape {
    name: "a flow of cross traffic",
    description: "Packets of one size. Exactly one of `payload` and `udp_payload` gives the size, and exactly one of `rate` and `interval` the frequency.",
    one_of: &[PACKETS, PACES],
    fields: &[
        need("name", Kind::Name, "Name."),
        need("from", Kind::Text, "Node that sends."),
        need("to", Kind::Text, "Node that receives."),
        may("payload", Kind::Size, "Payload of the Ethernet frame."),
        may(
            "udp_payload",
            Kind::Size,
            "Payload of a UDP datagram in the frame: 28 B less, because of the headers of IPv4 and UDP.",
        ),
        may(
            "rate",
            Kind::TrafficRate,
            "Mean number of bits on the wire per second; with 0, the scenario is without this flow.",
        ),
        may("interval", Kind::Interval, "Mean time between two packets."),
        may("vlan", VLAN, "VLAN; by default 1."),
        may(
            "pcp",
            PCP,
            "Priority Code Point; by default 0, best effort.",
        ),
        may(
            "pattern",
            Kind::OneOf(&[Kind::Choice(&["constant", "poisson"]), Kind::Table(&BURST)]),
            "Pattern of the packets; by default constant.",
        ),
        may(
            "path",
            Kind::List(&Kind::Text),
            "Names of all nodes on its path; by default the shortest path.",
        ),
    ],
    of_kinds: &[],
};

const BURST: Shape = Shape {
    name: "a pattern",
    description: "Several packets at once, then a pause of as many intervals.",
    one_of: &[],
    fields: &[need(
        "burst",
        Kind::Integer(1, 1_000_000),
        "Number of packets at once.",
    )],
    of_kinds: &[],
};
