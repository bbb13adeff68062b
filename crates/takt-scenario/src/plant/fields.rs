//! All fields of a network file.

use crate::discipline::DISCIPLINE;
use crate::fields::{BOUNDS, CROSS_TRAFFIC, LINK, MEASURE, NODE, PORT, SIMULATION, TOPOLOGY};
use crate::shape::{Kind, PCP, Shape, VLAN, may, need};

/// Fields of a network file that a scenario does not have.
pub(crate) const OWN: &[&str] = &["devices", "writer_groups", "paths", "multicast"];

/// Names of [`PlantMulticast`](super::PlantMulticast).
pub(super) const MULTICAST: &[&str] = &["filtered", "flooded"];

pub(crate) const PLANT: Shape = Shape {
    name: "a network file",
    description: "The network of a scenario, and the devices that run PubSub configurations.",
    one_of: &[],
    fields: &[
        need(
            "version",
            Kind::Integer(1, 1),
            "The version of this format: 1.",
        ),
        may(
            "name",
            Kind::Text,
            "Name of the scenario; by default the name of the file.",
        ),
        may("description", Kind::Prose, "Description of the scenario."),
        need(
            "devices",
            Kind::List(&Kind::Table(&DEVICE)),
            "Nodes that run configurations.",
        ),
        may(
            "writer_groups",
            Kind::List(&Kind::Table(&WRITER_GROUP)),
            "Properties of WriterGroups that their configurations do not state.",
        ),
        may(
            "paths",
            Kind::List(&Kind::Table(&PATH)),
            "Paths between two devices. A path is required where several are equally short.",
        ),
        may(
            "multicast",
            Kind::Choice(MULTICAST),
            "Ports to which bridges send multicast frames: those towards devices that listen at the address, or all; by default filtered.",
        ),
        may(
            "topology",
            Kind::Table(&TOPOLOGY),
            "Nodes and links in a common form.",
        ),
        may(
            "nodes",
            Kind::List(&Kind::Table(&NODE)),
            "Further hosts and bridges, or more fields of a node of the topology.",
        ),
        may("links", Kind::List(&Kind::Table(&LINK)), "Further links."),
        may(
            "disciplines",
            Kind::Named(&DISCIPLINE),
            "Queueing disciplines, with names of your choice; their classes have PCPs.",
        ),
        may(
            "discipline",
            Kind::Text,
            "Discipline of every port without its own; by default that of Linux, fq_codel.",
        ),
        may(
            "ports",
            Kind::List(&Kind::Table(&PORT)),
            "Ports with their own discipline. If a port occurs twice, the last entry is used.",
        ),
        may(
            "cross_traffic",
            Kind::List(&Kind::Table(&CROSS_TRAFFIC)),
            "Other traffic on the links.",
        ),
        may("bounds", Kind::Table(&BOUNDS), "Computation of bounds."),
        may(
            "simulation",
            Kind::Table(&SIMULATION),
            "Options of the simulation.",
        ),
        may(
            "measure",
            Kind::List(&MEASURE),
            "Measured quantities; by default all.",
        ),
    ],
    of_kinds: &[],
};

pub(super) const DEVICE: Shape = Shape {
    name: "a device",
    description: "A node that runs PubSub configurations.",
    one_of: &[],
    fields: &[
        need("node", Kind::Text, "Name of the node."),
        need(
            "configurations",
            Kind::List(&Kind::Name),
            "Names of the files that it runs, or the ends of their paths.",
        ),
        may(
            "processing_time",
            Kind::Duration,
            "Longest time from the wake-up of a thread until its message is in the queue of the port; by default 50 us.",
        ),
        may(
            "vlan",
            VLAN,
            "VLAN of its messages whose addresses have none; by default 1.",
        ),
        may(
            "pcp",
            PCP,
            "Priority Code Point of its messages whose addresses have none; by default 0.",
        ),
    ],
    of_kinds: &[],
};

const WRITER_GROUP: Shape = Shape {
    name: "a WriterGroup",
    description: "Properties of a WriterGroup that its configuration does not state.",
    one_of: &[],
    fields: &[
        need("device", Kind::Text, "Node whose configuration has it."),
        need(
            "name",
            Kind::Text,
            "Name of the WriterGroup; if several have it, with the name of the connection: Cell/Fast.",
        ),
        may(
            "vlan",
            VLAN,
            "VLAN, if the address has none; by default that of the device.",
        ),
        may(
            "pcp",
            PCP,
            "Priority Code Point, if the address has none; by default that of the device.",
        ),
        may(
            "offset",
            Kind::Duration,
            "Offset in the publishing interval, if the configuration has none.",
        ),
        may(
            "payload",
            Kind::Size,
            "Payload of its longest frame, with all headers behind the EtherType, if the metadata does not limit it.",
        ),
        may(
            "left_out",
            Kind::Boolean,
            "True if its messages are not in the scenario; by default false.",
        ),
    ],
    of_kinds: &[],
};

const PATH: Shape = Shape {
    name: "a path",
    description: "The path of frames from one device to another.",
    one_of: &[],
    fields: &[
        need("from", Kind::Text, "First node."),
        need("to", Kind::Text, "Last node."),
        need(
            "path",
            Kind::List(&Kind::Text),
            "Names of all nodes from the first to the last.",
        ),
    ],
    of_kinds: &[],
};
