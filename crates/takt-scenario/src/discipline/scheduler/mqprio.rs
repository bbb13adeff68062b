//! `mqprio`: strict priority between classes. It has no parameters but the classes.

use super::super::description::{DisciplineDescription, DisciplineTemplate};

pub(super) const DESCRIPTION: DisciplineDescription = DisciplineDescription {
    name: "mqprio",
    help: "Strict priority",
    fields: &[],
    template: DisciplineTemplate::FIFO,
};
