//! Options of bounds, simulations and measurements.

use super::Reader;
use crate::Frame;
use crate::document::{Item, Table};
use crate::model::{
    Analysis, BoundsModel, BoundsOptions, LowerPriority, Measure, SimulationOptions,
};
use crate::quantity::Size;
use crate::settings::{self, Marked};
use crate::sweep::Sweep;

impl Reader<'_> {
    pub(super) fn bounds(&mut self) -> BoundsOptions {
        let empty = Table::default();
        let table = self.document.table("bounds").unwrap_or(&empty);
        let names = table.get("analyses").map(Item::list).unwrap_or_default();
        let mut analyses: Vec<Analysis> = names
            .iter()
            .filter_map(|item| Analysis::of_name(item.text()?))
            .collect();
        if analyses.is_empty() {
            analyses = vec![
                Analysis::TotalFlow,
                Analysis::TotalFlowShaped,
                Analysis::SeparateFlow,
            ];
        }
        let lower_priority = table.get("lower_priority").and_then(|item| {
            let bytes = item.quantity::<Size>()?.0;
            let payload = bytes
                .checked_sub(Frame::OVERHEAD.into())
                .and_then(|payload| u32::try_from(payload).ok());
            match payload.map(Frame::new) {
                // A shorter frame would be padded, and so be longer than the given size.
                Some(Ok(frame)) if u64::from(frame.physical()) == bytes => {
                    Some(LowerPriority::AtMost(frame))
                }
                _ => {
                    let message = "a frame has 88 B to 1542 B on the wire";
                    self.problem(message, &item.span);
                    None
                }
            }
        });
        BoundsOptions {
            model: match table.text("model") {
                Some("paper") => BoundsModel::Paper,
                _ => BoundsModel::Sound,
            },
            analyses,
            lower_priority: lower_priority.unwrap_or(LowerPriority::Declared),
        }
    }

    pub(super) fn simulation(&mut self) -> SimulationOptions {
        let empty = Table::default();
        let table = self.document.table("simulation").unwrap_or(&empty);
        let options = SimulationOptions {
            seed: table.integer("seed").unwrap_or(1),
            cycles: table.integer("cycles").unwrap_or(10_000),
            trim: table.integer("trim").unwrap_or(0),
        };
        if let Some(item) = table.get("trim")
            && options.trim.saturating_mul(2) >= options.cycles
        {
            self.problem(
                "it must be less than half of the cycles: it is cut off at both ends",
                &item.span,
            );
        }
        options
    }

    pub(super) fn measure(&self) -> Vec<Measure> {
        match self.document.get("measure") {
            None => Measure::ALL.to_vec(),
            Some(item) => item
                .list()
                .iter()
                .filter_map(|item| Measure::of_name(item.text()?))
                .collect(),
        }
    }

    pub(super) fn sweeps(&mut self) -> Vec<Sweep> {
        let document = self.document;
        let mut sweeps: Vec<Sweep> = Vec::new();
        // `find` adds optional tables that are missing, so it works on a copy.
        let mut swept = document.clone();
        for (_, table) in document.tables("sweeps") {
            let (Some(parameter), Some(values)) = (table.get("parameter"), table.get("values"))
            else {
                continue;
            };
            let path = parameter.text().unwrap_or_default();
            if values.list().is_empty() {
                self.problem("a sweep needs values", &values.span);
            }
            if path == "version" || path.split('.').next() == Some("sweeps") {
                self.problem(format!("`{path}` cannot be swept"), &parameter.span);
            }
            match settings::mark(&mut swept, path) {
                Ok(Marked::None) => {}
                // Also by another path: a name, a number and `*` can lead to the same element.
                Ok(_) => self.problem(format!("`{path}` is swept already"), &parameter.span),
                Err(problem) => self.problems.push(problem.at(parameter.span.clone())),
            }
            sweeps.push(Sweep {
                parameter: path.to_owned(),
                values: values.list().iter().map(|item| item.value.show()).collect(),
            });
        }
        sweeps
    }
}
