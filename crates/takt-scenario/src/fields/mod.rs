//! All fields of a scenario file.

mod network;
mod traffic;

pub(crate) use network::{LATENCY, LINK, NODE, PORT, TOPOLOGY};
pub(crate) use traffic::{APPLICATION, CROSS_TRAFFIC, MESSAGES, PACES, PACKETS, RECEIVERS};

use crate::discipline::DISCIPLINE;
use crate::shape::{COUNT, Kind, Shape, may, need};

pub(crate) const SCENARIO: Shape = Shape {
    name: "a scenario",
    description: "One file, from which bounds, simulations and experiments are made.",
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
            "Queueing disciplines, with names of your choice.",
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
            "applications",
            Kind::List(&Kind::Table(&APPLICATION)),
            "PubSub applications.",
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
        may(
            "sweeps",
            Kind::List(&Kind::Table(&SWEEP)),
            "Fields with several values: each combination is a scenario.",
        ),
    ],
    of_kinds: &[],
};

pub(crate) const BOUNDS: Shape = Shape {
    name: "bounds",
    description: "Computation of bounds; docs/bounds.md derives them.",
    one_of: &[],
    fields: &[
        may(
            "model",
            Kind::Choice(&["sound", "paper"]),
            "Assumptions: those that hold, or those of the paper; by default sound.",
        ),
        may(
            "analyses",
            Kind::List(&ANALYSIS),
            "Analyses; by default tfa, tfa++ and sfa. Each gives an upper bound; the smallest one holds.",
        ),
        may(
            "lower_priority",
            Kind::Size,
            "Longest frame, in bytes on the wire, of traffic outside the scenario, with lower priority than all classes. It can occupy every port without gates, and the driver behind gates in software. By default there is none.",
        ),
    ],
    of_kinds: &[],
};

const ANALYSIS: Kind = Kind::Choice(&["tfa", "tfa++", "sfa", "pmoo", "plp", "schedule"]);

pub(crate) const SIMULATION: Shape = Shape {
    name: "a simulation",
    description: "Options of the simulation. The same seed gives the same run.",
    one_of: &[],
    fields: &[
        may(
            "seed",
            Kind::Integer(0, i64::MAX),
            "Seed of the random numbers; by default 1.",
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
    of_kinds: &[],
};

pub(crate) const MEASURE: Kind = Kind::Choice(&[
    "round_trip_time",
    "one_way_delay",
    "jitter",
    "inter_frame_spacing",
    "drops",
    "counters",
]);

pub(crate) const SWEEP: Shape = Shape {
    name: "a sweep",
    description: "A field and its values.",
    one_of: &[],
    fields: &[
        need(
            "parameter",
            Kind::Text,
            "Path of the field: `topology.hops`, `applications.control.cycle`. An element of a list is given by its name, or by its number from 0; `*` means all elements.",
        ),
        need("values", Kind::List(&Kind::Any), "Values of the field."),
    ],
    of_kinds: &[],
};
