//! Tables of a scenario file that describe disciplines and their classes.

use super::{queue, scheduler};
use crate::shape::{COUNT, Kind, PCP, Shape, may, need};

pub(crate) const DISCIPLINE: Shape = Shape {
    name: "a discipline",
    description: "A queueing discipline of Linux.",
    one_of: &[],
    fields: &[
        need(
            "scheduler",
            Kind::Choice(&scheduler::NAMES),
            "Scheduler, which chooses between classes.",
        ),
        may(
            "classes",
            Kind::List(&Kind::Table(&CLASS)),
            "Traffic classes of mqprio and taprio, highest first.",
        ),
    ],
    of_kinds: &scheduler::FIELDS,
};

const CLASS: Shape = Shape {
    name: "a traffic class",
    description: "A group of PCPs with the same treatment.",
    one_of: &[],
    fields: &[
        need("name", Kind::Name, "Name in this discipline."),
        may(
            "priorities",
            Kind::List(&PCP),
            "PCPs of the class. The last class also has all PCPs that no class names.",
        ),
        may(
            "queue",
            Kind::Choice(&queue::NAMES),
            "Queue of the class; by default fifo.",
        ),
        may(
            "limit",
            Kind::OneOf(&[COUNT, Kind::Size]),
            "Capacity of the queue, as a number of frames or as a size; by default 1000 frames.",
        ),
    ],
    of_kinds: &queue::FIELDS,
};
