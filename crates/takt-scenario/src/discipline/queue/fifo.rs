//! `pfifo` and `bfifo`: first in, first out. Its capacity is its only parameter.

use super::super::description::{DisciplineDescription, DisciplineTemplate};

pub(super) const DESCRIPTION: DisciplineDescription = DisciplineDescription {
    name: "fifo",
    help: "First in, first out",
    fields: &[],
    template: DisciplineTemplate::FIFO,
};
