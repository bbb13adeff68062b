//! Description of a queueing discipline: its texts and tables.

use crate::quantity::Duration;
use crate::shape::{Field, FieldsOfKind};

/// Description of a queueing discipline: its name, its help text, its fields in scenario files, and its part of a template.
#[derive(Debug)]
pub struct DisciplineDescription {
    /// Name for `tc` and in scenario files. The kernel's module is `sch_` with this name, its option `CONFIG_NET_SCH_`.
    pub name: &'static str,
    /// Help text in a few words.
    pub help: &'static str,
    /// Fields in scenario files that only this discipline has.
    pub(crate) fields: &'static [Field],
    /// Part of a scenario file to begin with.
    pub(crate) template: DisciplineTemplate,
}

/// Part of a scenario file to begin with, for one discipline.
#[derive(Debug)]
pub(crate) struct DisciplineTemplate {
    /// Scheduler of the discipline in the file.
    pub(crate) scheduler: &'static str,
    /// Comment behind the scheduler.
    pub(crate) comment: &'static str,
    /// Fields of the highest class behind its priorities, in which `{provisioning}` is replaced. `None` for a discipline without
    /// classes.
    pub(crate) class: Option<&'static str>,
    /// Lines behind the classes.
    pub(crate) more: &'static str,
    /// True if it needs frames with a txtime of their socket, which those that a bridge forwards do not have.
    pub(crate) hosts_only: bool,
    /// Shift of the gates at each hop; `None` without gates.
    pub(crate) shift_per_hop: Option<Duration>,
    /// Cycle of the application.
    pub(crate) cycle: Duration,
    /// Offset of the application.
    pub(crate) offset: Duration,
}

impl DisciplineTemplate {
    /// A FIFO queue below `mqprio`, with cycle and offset of the papers.
    pub(crate) const FIFO: Self = Self {
        scheduler: "mqprio",
        comment: "",
        class: Some("queue = \"fifo\""),
        more: "",
        hosts_only: false,
        shift_per_hop: None,
        cycle: Duration(250_000_000),
        offset: Duration(150_000_000),
    };
}

impl DisciplineDescription {
    /// Returns true if templates of it have a share by which the idleSlope exceeds the needed one.
    pub fn has_provisioning(&self) -> bool {
        let class = self.template.class;
        class.is_some_and(|fields| fields.contains("{provisioning}"))
    }
}

/// Returns the names of disciplines.
pub(super) const fn names<const N: usize>(
    all: &'static [DisciplineDescription; N],
) -> [&'static str; N] {
    let mut names = [""; N];
    let mut index = 0;
    // A `const fn` has neither iterators nor `for`.
    while index < N {
        names[index] = all[index].name;
        index += 1;
    }
    names
}

/// Returns the fields of disciplines.
pub(super) const fn fields<const N: usize>(
    all: &'static [DisciplineDescription; N],
) -> [FieldsOfKind; N] {
    let mut fields = [FieldsOfKind {
        kind: "",
        fields: &[],
    }; N];
    let mut index = 0;
    while index < N {
        fields[index] = FieldsOfKind {
            kind: all[index].name,
            fields: all[index].fields,
        };
        index += 1;
    }
    fields
}
