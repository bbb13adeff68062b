//! Queueing disciplines as they are written in the file, before they are resolved for a port.

use std::ops::Range;

use super::Reader;
use crate::document::{Item, Table};
use crate::model::{FqCodelParameters, GateEntry, Limit, Queue, Scheduler, Taprio, class_of};
use crate::quantity::{Credit, Duration, Rate, Share, Size};

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

/// Queue as it is written in the file.
pub(super) enum WrittenQueue {
    /// A queue that is the same at each port.
    Complete(Queue),
    /// A Credit-Based Shaper, with slopes and credits of its own at each port.
    Shaped(Shaper),
}

/// Fields of a Credit-Based Shaper in the file.
pub(super) struct Shaper {
    pub(super) limit: Limit,
    pub(super) provisioning: Share,
    pub(super) idle_slope: Option<Rate>,
    pub(super) send_slope: Option<Rate>,
    pub(super) hi_credit: Option<Credit>,
    pub(super) lo_credit: Option<Credit>,
    pub(super) span: Range<usize>,
}

/// Fields that only one kind of table has.
const OF_SCHEDULER: [(&str, &[&str]); 2] = [
    (
        "fq_codel",
        &[
            "limit",
            "flows",
            "quantum",
            "target",
            "interval",
            "memory_limit",
            "ecn",
        ],
    ),
    (
        "taprio",
        &[
            "base_time",
            "cycle_time",
            "entries",
            "txtime_assist",
            "guard_band",
        ],
    ),
];
const OF_QUEUE: [(&str, &[&str]); 2] = [
    (
        "cbs",
        &[
            "provisioning",
            "idle_slope",
            "send_slope",
            "hi_credit",
            "lo_credit",
        ],
    ),
    (
        "etf",
        &["delta", "deadline_mode", "skip_sock_check", "offload"],
    ),
];

impl Reader<'_> {
    pub(super) fn disciplines(&mut self) -> Vec<Written> {
        let document = self.document;
        let usual = Written {
            name: "fq_codel".to_owned(),
            span: 0..0,
            scheduler: Scheduler::FqCodel(FqCodelParameters::default()),
            classes: vec![everything(Limit::Frames(
                FqCodelParameters::default().limit,
            ))],
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
        all.push(usual);
        all
    }

    /// Reports fields that belong to another kind.
    fn stray(&mut self, what: &str, kind: &str, table: &Table, kinds: &[(&str, &[&str])]) {
        for (key, _) in &table.fields {
            let owner = kinds
                .iter()
                .find(|(_, fields)| fields.contains(&key.name.as_str()));
            if let Some((owner, _)) = owner.filter(|(owner, _)| *owner != kind) {
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
        let assist: Option<Duration> = table.quantity("txtime_assist");
        let mut classes = Vec::new();
        if kind == "fq_codel" {
            if let Some(item) = table.get("classes") {
                self.problem("fq_codel has no classes", &item.span);
            }
        } else {
            self.distinct("classes", table.tables("classes").map(|(_, table)| table));
            for (item, class) in table.tables("classes") {
                classes.push(self.class(item, class, assist.is_some()));
            }
            self.priorities(&mut classes, table);
        }
        let scheduler = match kind {
            "fq_codel" => {
                let fq_codel = fq_codel(table);
                classes.push(everything(Limit::Frames(fq_codel.limit)));
                Scheduler::FqCodel(fq_codel)
            }
            "taprio" => Scheduler::Taprio(self.taprio(table, &span, &classes)),
            _ => Scheduler::Mqprio,
        };
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
        let limit = limit(table);
        let queue = match kind {
            "cbs" => {
                if let (Some(item), Some(_)) = (table.get("provisioning"), table.get("idle_slope"))
                {
                    self.problem(
                        "idleSlope is given twice: use only one of `idle_slope`, `provisioning`",
                        &item.span,
                    );
                }
                let provisioning: Share = table.quantity("provisioning").unwrap_or_default();
                if let Some(item) = table.get("provisioning")
                    && provisioning.0 <= -Share::ONE.0
                {
                    self.problem(
                        "no idleSlope is left: the share must be above -100%",
                        &item.span,
                    );
                }
                WrittenQueue::Shaped(Shaper {
                    limit,
                    provisioning,
                    idle_slope: table.quantity("idle_slope"),
                    send_slope: table.quantity("send_slope"),
                    hi_credit: table.quantity("hi_credit"),
                    lo_credit: table.quantity("lo_credit"),
                    span: table.get("idle_slope").unwrap_or(item).span.clone(),
                })
            }
            "etf" => WrittenQueue::Complete(Queue::Etf {
                delta: table.quantity("delta").unwrap_or_default(),
                deadline_mode: table.boolean("deadline_mode").unwrap_or(false),
                skip_sock_check: table.boolean("skip_sock_check").unwrap_or(assisted),
                offload: table.boolean("offload").unwrap_or(true),
            }),
            _ => WrittenQueue::Complete(Queue::Fifo { limit }),
        };
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

    fn taprio(&mut self, table: &Table, span: &Range<usize>, classes: &[WrittenClass]) -> Taprio {
        let mut entries = Vec::new();
        for (_, entry) in table.tables("entries") {
            let mut gates = 0u8;
            for gate in entry.get("gates").map(Item::list).unwrap_or_default() {
                let name = gate.text().unwrap_or_default();
                match classes.iter().position(|class| class.name == name) {
                    Some(class) => {
                        gates |= 1u8
                            .checked_shl(u32::try_from(class).unwrap_or(8))
                            .unwrap_or(0)
                    }
                    None => {
                        let message = format!("there is no class `{name}` in this discipline");
                        let problem = crate::error::Problem::new(message, gate.span.clone());
                        let names = classes.iter().map(|class| class.name.as_str());
                        self.problems.push(problem.did_you_mean(name, names));
                    }
                }
            }
            let interval = entry.quantity("interval").unwrap_or_default();
            entries.push(GateEntry { gates, interval });
        }
        if entries.is_empty() {
            self.problem("taprio needs `entries`", span);
        }
        let sum = entries
            .iter()
            .fold(Duration::ZERO, |sum, entry| sum.plus(entry.interval));
        let cycle_time = table.quantity("cycle_time").unwrap_or(sum);
        fit(&mut entries, cycle_time);
        Taprio {
            base_time: table.quantity("base_time").unwrap_or_default(),
            cycle_time,
            entries,
            txtime_assist: table.quantity("txtime_assist"),
            guard_band: table.quantity("guard_band").unwrap_or_default(),
        }
    }
}

/// Extends the last entry until the cycle ends, and cuts off entries behind that.
fn fit(entries: &mut Vec<GateEntry>, cycle_time: Duration) {
    let mut left = cycle_time.0;
    for entry in entries.iter_mut() {
        entry.interval.0 = entry.interval.0.min(left);
        left -= entry.interval.0;
    }
    entries.retain(|entry| entry.interval.0 > 0);
    if let Some(last) = entries.last_mut() {
        last.interval.0 += left;
    }
}

fn limit(table: &Table) -> Limit {
    let size = || table.quantity::<Size>("limit").map(Limit::Bytes);
    let frames = table.integer("limit").map(Limit::Frames);
    frames.or_else(size).unwrap_or_default()
}

fn everything(limit: Limit) -> WrittenClass {
    WrittenClass {
        name: "all".to_owned(),
        priorities: (0..8).collect(),
        queue: WrittenQueue::Complete(Queue::Fifo { limit }),
    }
}

fn fq_codel(table: &Table) -> FqCodelParameters {
    let usual = FqCodelParameters::default();
    FqCodelParameters {
        limit: table.integer("limit").unwrap_or(usual.limit),
        flows: table.integer("flows").unwrap_or(usual.flows),
        quantum: table.quantity("quantum").unwrap_or(usual.quantum),
        target: table.quantity("target").unwrap_or(usual.target),
        interval: table.quantity("interval").unwrap_or(usual.interval),
        memory_limit: table.quantity("memory_limit").unwrap_or(usual.memory_limit),
        ecn: table.boolean("ecn").unwrap_or(usual.ecn),
    }
}
