//! All fields of a campaign file.

use crate::shape::{COUNT, Kind, Shape, may, need};

pub(crate) const CAMPAIGN: Shape = Shape {
    name: "a campaign",
    description: "Cases are all combinations of scenarios and swept values. Each case is computed by each backend, in several repetitions.",
    one_of: &[],
    fields: &[
        need(
            "version",
            Kind::Integer(1, 1),
            "The version of this format: 1.",
        ),
        may(
            "name",
            Kind::Name,
            "Name of the campaign; by default the name of the file.",
        ),
        may("description", Kind::Prose, "Description of the campaign."),
        need(
            "scenarios",
            Kind::List(&Kind::Name),
            "Scenario files, relative to the folder of this file. Sweeps in them are cases as well.",
        ),
        may(
            "backends",
            Kind::List(&Kind::Choice(&["simulate", "bounds", "uml", "netns"])),
            "Backends of each case; by default simulate.",
        ),
        may(
            "sweeps",
            Kind::List(&Kind::Table(&SWEEP)),
            "Fields with several values. The values of the last sweep change fastest.",
        ),
        may(
            "derived",
            Kind::List(&Kind::Table(&DERIVED)),
            "Fields whose values follow from others.",
        ),
        may(
            "repetitions",
            Kind::Integer(1, 1_000_000),
            "Repetitions of each case; by default 1. A bound has one, because a second one would be the same.",
        ),
        may(
            "seed",
            Kind::Integer(0, i64::MAX),
            "Seed of the first repetition; by default 1. The next repetition has the next seed.",
        ),
        may(
            "messages",
            COUNT,
            "Messages of each application; by default the cycles of the scenario.",
        ),
        may(
            "model",
            Kind::Choice(&["linux", "ieee"]),
            "Model of the simulated queueing disciplines; by default linux. Bounds assume ieee.",
        ),
        may(
            "disciplines",
            Kind::Boolean,
            "False if ports on uml and netns keep the kernel's default, because it lacks the queueing disciplines of the scenario; by \
             default true. Times are then not comparable with bounds and simulations.",
        ),
        may(
            "loopback",
            Kind::Choice(&["all", "latest"]),
            "Messages that a simulated loopback sends: all that came, or one in each cycle, the latest, as the example of open62541 does; by default all. Bounds assume all.",
        ),
        may(
            "order",
            Kind::Choice(&["file", "random"]),
            "Order in which rows are computed; by default that of the file. The written rows have the order of the file.",
        ),
        may(
            "order_seed",
            Kind::Integer(0, i64::MAX),
            "Seed of a random order; by default 1.",
        ),
        may(
            "stop",
            Kind::Table(&STOP),
            "Rule that ends the repetitions of a case early.",
        ),
        may(
            "quantities",
            Kind::List(&Kind::Name),
            "Quantities of the summary; by default the mean and the longest delay of each application, and bounds.",
        ),
    ],
    of_kinds: &[],
};

const SWEEP: Shape = Shape {
    name: "a sweep",
    description: "A field and its values, or several fields whose values change together.",
    one_of: &[&["field", "fields", "variable"]],
    fields: &[
        may(
            "field",
            Kind::Name,
            "Path of a field of all scenarios: `topology.hops`, `applications.control.cycle`.",
        ),
        may(
            "fields",
            Kind::List(&Kind::Name),
            "Paths of coupled fields. Each value is a list with an element for each of them.",
        ),
        may(
            "variable",
            Kind::Name,
            "Name of your choice, for a value that is no field: fields are derived from it.",
        ),
        need(
            "values",
            Kind::List(&Kind::Any),
            "Values, each once: texts, numbers, or true and false.",
        ),
    ],
    of_kinds: &[],
};

const DERIVED: Shape = Shape {
    name: "a derived field",
    description: "The value of the field is `of` × `times` + `plus`. A payload follows from the size of its frame in this way.",
    one_of: &[],
    fields: &[
        need("field", Kind::Name, "Path of a field of all scenarios."),
        need(
            "of",
            Kind::Name,
            "A swept field, a variable, or an earlier derived field. Its values are sizes, times, rates, or integers.",
        ),
        may("times", Kind::Share, "Factor; by default 1."),
        may(
            "plus",
            Kind::Text,
            "Summand with the unit of the value: `\"-22 B\"`; by default nothing.",
        ),
    ],
    of_kinds: &[],
};

const STOP: Shape = Shape {
    name: "a stop rule",
    description: "The repetitions of a case end when the 95 % confidence interval of a quantity's mean is narrow.",
    one_of: &[],
    fields: &[
        need(
            "quantity",
            Kind::Name,
            "Quantity of the rows, for example `control.round_trip.mean_ns`. Cases without it have all repetitions.",
        ),
        need(
            "interval",
            Kind::Share,
            "Width of the interval, from its lower to its upper end, as a share of the mean.",
        ),
        may(
            "least",
            Kind::Integer(2, 1_000_000),
            "Smallest number of repetitions; by default 3.",
        ),
    ],
    of_kinds: &[],
};
