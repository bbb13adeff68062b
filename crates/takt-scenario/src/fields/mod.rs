//! The fields of a scenario file, all of them.

mod discipline;
mod network;
mod traffic;

pub(crate) use discipline::DISCIPLINE;
pub(crate) use network::{LATENCY, LINK, NODE, PORT, TOPOLOGY};
pub(crate) use traffic::{APPLICATION, CROSS_TRAFFIC, MESSAGES, PACES, PACKETS, RECEIVERS};

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

pub(crate) const BOUNDS: Shape = Shape {
    name: "bounds",
    description: "docs/bounds.md derives what they mean.",
    one_of: &[],
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

const ANALYSIS: Kind = Kind::Choice(&["tfa", "tfa++", "sfa", "pmoo", "plp", "schedule"]);

pub(crate) const SIMULATION: Shape = Shape {
    name: "a simulation",
    description: "The same seed gives the same run.",
    one_of: &[],
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
    one_of: &[],
    fields: &[
        need(
            "parameter",
            Kind::Text,
            "The path of the field: `topology.hops`, `applications.control.cycle`. What is in a list is named by its name, or by its number from 0; `*` is all of a list.",
        ),
        need("values", Kind::List(&Kind::Any), "Its values."),
    ],
};
