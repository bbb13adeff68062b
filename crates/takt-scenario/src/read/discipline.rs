//! Queueing disciplines as they are written in the file, before they are resolved for a port.

use std::ops::Range;

use super::Reader;
use crate::discipline::{
    Limit, OF_QUEUE, OF_SCHEDULER, Queue, Scheduler, WrittenQueue, class_of, has_classes,
};
use crate::document::{Item, Table};
use crate::shape::FieldsOfKind;

/// Discipline as it is written in the file. A port completes it: slopes and credits of a shaper follow from the flows that pass
/// the port.
pub(super) struct Written {
    pub(super) name: String,
    pub(super) span: Range<usize>,
    pub(super) scheduler: Scheduler,
    pub(super) classes: Vec<WrittenClass>,
}

impl Written {
    /// Returns the index of the class for frames of this PCP.
    pub(super) fn class_of(&self, pcp: u8) -> usize {
        class_of(self.classes.iter().map(|class| &class.priorities), pcp)
    }
}

/// Traffic class as it is written in the file.
pub(super) struct WrittenClass {
    pub(super) name: String,
    pub(super) priorities: Vec<u8>,
    pub(super) queue: WrittenQueue,
}

impl Reader<'_> {
    pub(super) fn disciplines(&mut self) -> Vec<Written> {
        let document = self.document;
        let scheduler = Scheduler::default();
        let usual = Written {
            name: "fq_codel".to_owned(),
            span: 0..0,
            classes: vec![everything(scheduler.only_queue().unwrap_or_default())],
            scheduler,
        };
        let mut all = Vec::new();
        for (key, item) in document
            .table("disciplines")
            .into_iter()
            .flat_map(|table| &table.fields)
        {
            if let Some(table) = item.table() {
                all.push(self.discipline(&key.name, key.span.clone(), table));
            }
        }
        // The usual one comes behind those of the file, so that one of the same name replaces it.
        all.push(usual);
        all
    }

    /// Reports fields that belong to another kind.
    fn stray(&mut self, what: &str, kind: &str, table: &Table, kinds: &[FieldsOfKind]) {
        for (key, _) in &table.fields {
            let is_there = |of: &&FieldsOfKind| of.fields.iter().any(|it| it.name == key.name);
            let owner = kinds.iter().find(is_there);
            if let Some(owner) = owner.filter(|owner| owner.kind != kind) {
                let owner = owner.kind;
                self.problem(
                    format!("`{}` is for {owner}; this {what} is {kind}", key.name),
                    &key.span,
                );
            }
        }
    }

    fn discipline(&mut self, name: &str, span: Range<usize>, table: &Table) -> Written {
        let kind = table.text("scheduler").unwrap_or_default();
        self.stray("discipline", kind, table, &OF_SCHEDULER);
        let mut classes = Vec::new();
        if has_classes(kind) {
            self.distinct("classes", table.tables("classes").map(|(_, table)| table));
            let assisted = table.get("txtime_assist").is_some();
            for (item, class) in table.tables("classes") {
                classes.push(self.class(item, class, assisted));
            }
            self.priorities(&mut classes, table);
        } else if let Some(item) = table.get("classes") {
            self.problem(format!("{kind} has no classes"), &item.span);
        }
        let names: Vec<&str> = classes.iter().map(|class| class.name.as_str()).collect();
        let scheduler = Scheduler::read(kind, table, &names, &span, &mut self.problems);
        classes.extend(scheduler.only_queue().map(everything));
        if classes.is_empty() {
            self.problem(format!("{kind} needs `classes`"), &span);
            classes.push(everything(Limit::default()));
        }
        Written {
            name: name.to_owned(),
            span,
            scheduler,
            classes,
        }
    }

    /// Assigns the remaining PCPs to the last class, and reports PCPs in two classes.
    fn priorities(&mut self, classes: &mut [WrittenClass], table: &Table) {
        let mut seen: Vec<(u8, &str)> = Vec::new();
        for (item, class) in table.tables("classes") {
            let name = class.text("name").unwrap_or_default();
            let Some(priorities) = class.get("priorities") else {
                continue;
            };
            for priority in priorities.list() {
                // `check` has verified that it is a number from 0 to 7.
                let pcp = priority.value.show().parse().unwrap_or(0);
                match seen.iter().find(|(other, _)| *other == pcp) {
                    Some((_, other)) => {
                        self.problem(
                            format!("PCP {pcp} is in class `{other}` already"),
                            &priority.span,
                        );
                    }
                    None => seen.push((pcp, name)),
                }
            }
            if priorities.list().is_empty() {
                self.problem("a class without a PCP gets no frames", &item.span);
            }
        }
        let others: Vec<u8> = (0..8)
            .filter(|pcp| seen.iter().all(|(other, _)| other != pcp))
            .collect();
        if classes.len() > 8 {
            let place = table.get("classes").map_or(0..0, |item| item.span.clone());
            self.problem("there are eight PCPs, so at most eight classes", &place);
        }
        if let Some(last) = classes.last_mut() {
            last.priorities.extend(others);
        }
    }

    fn class(&mut self, item: &Item, table: &Table, assisted: bool) -> WrittenClass {
        let kind = table.text("queue").unwrap_or("fifo");
        self.stray("queue", kind, table, &OF_QUEUE);
        let queue = WrittenQueue::read(kind, item, table, assisted, &mut self.problems);
        let priorities = table.get("priorities").map(Item::list).unwrap_or_default();
        WrittenClass {
            name: table.text("name").unwrap_or_default().to_owned(),
            priorities: priorities
                .iter()
                .filter_map(|item| item.value.show().parse().ok())
                .collect(),
            queue,
        }
    }
}

fn everything(limit: Limit) -> WrittenClass {
    WrittenClass {
        name: "all".to_owned(),
        priorities: (0..8).collect(),
        queue: WrittenQueue::Complete(Queue::Fifo(limit)),
    }
}
