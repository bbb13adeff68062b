//! Conversion of the document to the campaign.

use std::collections::BTreeSet;
use std::path::Path;

use super::derived::DerivedField;
use super::fields::CAMPAIGN;
use super::file::{
    CampaignBackend, CampaignFile, CampaignSweep, CampaignText, StopRule, SweptName,
};
use crate::document::{self, Item, Table, Value};
use crate::error::{Problem, ScenarioError};
use crate::quantity::Share;
use crate::scenario_file::check_lines;

/// Smallest number of repetitions by default, if a rule ends them.
const LEAST: u32 = 3;

impl CampaignFile {
    /// Reads a campaign.
    ///
    /// # Errors
    /// All mistakes, with line and column.
    pub fn parse(text: &str, file_name: &str) -> Result<Self, ScenarioError> {
        let failed = |problems| ScenarioError::new(file_name, text, problems);
        check_lines(text).map_err(|problem| failed(vec![problem]))?;
        let document = document::parse(text).map_err(failed)?;
        campaign(&document, text, file_name).map_err(failed)
    }
}

/// Returns the campaign of a document, or all mistakes.
fn campaign(document: &Table, text: &str, file_name: &str) -> Result<CampaignFile, Vec<Problem>> {
    let mut problems = Vec::new();
    CAMPAIGN.check(document, 0..0, &mut problems);
    // What follows takes types and ranges for granted.
    if !problems.is_empty() {
        return Err(problems);
    }
    let mut reader = Reader {
        document,
        problems,
        names: Vec::new(),
    };
    let scenarios = reader.texts("scenarios", "scenarios");
    let backends = reader.texts("backends", "backends").into_iter();
    let backends = backends.filter_map(|it| CampaignBackend::of_name(&it.text));
    let mut backends: Vec<CampaignBackend> = backends.collect();
    if document.get("backends").is_none() {
        backends.push(CampaignBackend::Simulate);
    }
    let quantities = reader.texts("quantities", "quantities").into_iter();
    let quantities = quantities.map(|it| it.text).collect();
    let sweeps = reader.sweeps();
    let derived = reader.derived();
    let repetitions = document.integer("repetitions").unwrap_or(1);
    let stop = reader.stop(repetitions);
    let is_random = document.text("order") == Some("random");
    if let (false, Some(seed)) = (is_random, document.get("order_seed")) {
        reader.problem("`order_seed` is for `order = \"random\"`", seed);
    }
    if !reader.problems.is_empty() {
        return Err(reader.problems);
    }
    let stem = Path::new(file_name).file_stem();
    let stem = stem.map_or_else(String::new, |stem| stem.to_string_lossy().into_owned());
    Ok(CampaignFile {
        name: document.text("name").map_or(stem, str::to_owned),
        description: document.text("description").unwrap_or_default().to_owned(),
        scenarios,
        backends,
        sweeps,
        derived,
        repetitions,
        seed: document.integer("seed").unwrap_or(1),
        messages: document.integer("messages"),
        ieee_model: document.text("model") == Some("ieee"),
        disciplines: document.boolean("disciplines").unwrap_or(true),
        latest_loopback: document.text("loopback") == Some("latest"),
        order_seed: is_random.then(|| document.integer("order_seed").unwrap_or(1)),
        stop,
        quantities,
        file_name: file_name.to_owned(),
        source: text.to_owned(),
    })
}

struct Reader<'a> {
    document: &'a Table,
    problems: Vec<Problem>,
    /// Swept fields, variables and derived fields so far.
    names: Vec<String>,
}

impl Reader<'_> {
    fn problem(&mut self, message: impl Into<String>, at: &Item) {
        self.problems.push(Problem::new(message, at.span.clone()));
    }

    /// Returns the texts of a list, which is not empty and has each text once.
    fn texts(&mut self, field: &str, what: &str) -> Vec<CampaignText> {
        let Some(list) = self.document.get(field) else {
            return Vec::new();
        };
        if list.list().is_empty() {
            self.problem(format!("a campaign needs {what} here"), list);
        }
        let mut texts: Vec<CampaignText> = Vec::new();
        for item in list.list() {
            let text = item.text().unwrap_or_default();
            if texts.iter().any(|it| it.text == text) {
                self.problem(format!("`{text}` occurs twice"), item);
            }
            texts.push(CampaignText {
                text: text.to_owned(),
                span: item.span.clone(),
            });
        }
        texts
    }

    /// Notes the name of a swept or derived value.
    fn name(&mut self, name: &str, item: &Item) {
        if self.names.iter().any(|it| it == name) {
            self.problem(format!("`{name}` has values already"), item);
        }
        if name == "version" || name.split('.').next() == Some("sweeps") {
            self.problem(format!("`{name}` cannot be swept"), item);
        }
        self.names.push(name.to_owned());
    }

    fn sweeps(&mut self) -> Vec<CampaignSweep> {
        let document = self.document;
        let sweeps = document.tables("sweeps");
        sweeps
            .map(|(item, table)| self.sweep(item, table))
            .collect()
    }

    fn sweep(&mut self, item: &Item, table: &Table) -> CampaignSweep {
        let kinds = ["field", "fields", "variable"].map(|kind| table.get(kind));
        let given: Vec<&Item> = kinds.into_iter().flatten().collect();
        let is_field = kinds[2].is_none();
        let items: &[Item] = match (given.as_slice(), kinds[1]) {
            ([_], Some(fields)) => fields.list(),
            ([one], None) => std::slice::from_ref(*one),
            _ => {
                let message = "a sweep needs one of `field`, `fields` and `variable`";
                self.problem(message, given.last().copied().unwrap_or(item));
                &[]
            }
        };
        let names = items.iter().map(|item| {
            let name = item.text().unwrap_or_default();
            self.name(name, item);
            SweptName {
                name: name.to_owned(),
                is_field,
                span: item.span.clone(),
            }
        });
        let names: Vec<SweptName> = names.collect();
        if let (Some(fields), true) = (kinds[1], names.len() < 2) {
            self.problem("coupled fields are at least two; `field` has one", fields);
        }
        let values = table.get("values");
        if let (Some(values), true) = (values, table.get("values").is_some_and(is_empty)) {
            self.problem("a sweep needs values", values);
        }
        let values = values.map(Item::list).unwrap_or_default();
        let mut seen = BTreeSet::new();
        let mut steps = Vec::with_capacity(values.len());
        for value in values {
            let elements = match kinds[1] {
                Some(_) => value.list(),
                None => std::slice::from_ref(value),
            };
            if elements.len() != names.len() && !names.is_empty() {
                let message = format!("expected a list of {} values", names.len());
                self.problem(message, value);
            }
            let step: Vec<String> = elements.iter().map(|it| self.scalar(it)).collect();
            if !seen.insert(step.clone()) {
                self.problem(format!("`{}` occurs twice", step.join(", ")), value);
            }
            steps.push(step);
        }
        CampaignSweep {
            names,
            values: steps,
        }
    }

    /// Returns a value of a sweep as a text.
    fn scalar(&mut self, item: &Item) -> String {
        let has_control = |text: &str| text.chars().any(char::is_control);
        match &item.value {
            Value::Text(text) if has_control(text) => {
                self.problem("a text must not contain control characters", item);
            }
            Value::Text(_) | Value::Integer(_) | Value::Float(_) | Value::Boolean(_) => {}
            other => {
                let message = format!(
                    "expected a text, a number, or true or false, not {}",
                    other.describe()
                );
                self.problem(message, item);
            }
        }
        item.value.show()
    }

    fn derived(&mut self) -> Vec<DerivedField> {
        let document = self.document;
        let mut all = Vec::new();
        for (item, table) in document.tables("derived") {
            let (Some(field), Some(of)) = (table.get("field"), table.get("of")) else {
                continue;
            };
            let name = of.text().unwrap_or_default();
            if !self.names.iter().any(|it| it == name) {
                let message = format!("there is no value of `{name}` before this field");
                let problem = Problem::new(message, of.span.clone());
                let known = self.names.iter().map(String::as_str);
                let problem = problem.did_you_mean(name, known);
                self.problems.push(problem);
            }
            let path = field.text().unwrap_or_default();
            self.name(path, field);
            if table.get("times").is_none() && table.get("plus").is_none() {
                self.problem("a derived field needs `times` or `plus`", item);
            }
            all.push(DerivedField {
                field: path.to_owned(),
                of: name.to_owned(),
                times: table.quantity("times").unwrap_or(Share::ONE),
                plus: table.text("plus").map(str::to_owned),
                span: field.span.clone(),
            });
        }
        all
    }

    fn stop(&mut self, repetitions: u32) -> Option<StopRule> {
        let item = self.document.get("stop")?;
        let table = item.table()?;
        let least = table.integer("least").unwrap_or(LEAST);
        if repetitions <= least {
            let message = format!(
                "a stop rule has no effect: it needs {least} repetitions, and there are {repetitions}"
            );
            self.problem(message, item);
        }
        let interval: Share = table.quantity("interval")?;
        if let (Some(item), true) = (table.get("interval"), interval.0 <= 0) {
            self.problem("an interval is more than 0", item);
        }
        let quantity = table.get("quantity")?;
        Some(StopRule {
            quantity: CampaignText {
                text: quantity.text()?.to_owned(),
                span: quantity.span.clone(),
            },
            interval,
            least,
        })
    }
}

fn is_empty(item: &Item) -> bool {
    item.list().is_empty()
}
