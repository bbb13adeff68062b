//! The plan of a campaign: its scenarios and cases, read from its files.

use std::collections::{BTreeMap, HashSet};
use std::path::Path;

use takt_scenario::{
    CampaignBackend, CampaignFile, CampaignSweep, Scenario, ScenarioError, ScenarioFile,
};

use crate::case::{CampaignCase, RowKey};
use crate::digest;
use crate::error::CampaignPlanError;
use crate::planned_scenario::{PlannedScenario, read, scenario};

/// Most rows of a campaign.
pub const MOST_ROWS: usize = 1_000_000;

/// Scenarios and cases of a campaign.
#[derive(Debug, Clone)]
pub struct CampaignPlan {
    /// File of the campaign.
    pub file: CampaignFile,
    /// Scenarios in the order of the file.
    pub scenarios: Vec<PlannedScenario>,
    /// Cases in the order of the rows: the scenario changes slowest, the last sweep fastest.
    pub cases: Vec<CampaignCase>,
    /// Backends of each case. The number of rows follows from them.
    backends: Vec<CampaignBackend>,
    /// Digests of histograms to which values of cases lead, besides those of the unchanged scenarios.
    pub(crate) histograms: BTreeMap<String, String>,
}

impl CampaignPlan {
    /// Reads a campaign and its scenarios, and makes its cases. All of them are valid scenarios with messages.
    ///
    /// # Errors
    /// [`CampaignPlanError`].
    pub fn read(path: &Path) -> Result<Self, CampaignPlanError> {
        let name = path.display().to_string();
        let text = ScenarioFile::text(read(path)?, &name).map_err(|error| {
            let text = String::new();
            CampaignPlanError::Campaign { error, text }
        })?;
        let file = CampaignFile::parse(&text, &name)
            .map_err(|error| CampaignPlanError::Campaign { error, text })?;
        let folder = path.parent().unwrap_or(Path::new(""));
        let scenarios = file.scenarios.iter().map(|it| scenario(&file, folder, it));
        let scenarios = scenarios.collect::<Result<Vec<_>, _>>()?;
        let mut plan = Self {
            backends: file.backends.clone(),
            file,
            scenarios,
            cases: Vec::new(),
            histograms: BTreeMap::new(),
        };
        plan.check_size(0, 1)?;
        for index in 0..plan.scenarios.len() {
            plan.check_paths(index)?;
            plan.add_cases(index)?;
        }
        plan.check_ids()?;
        Ok(plan)
    }

    /// Checks that each case has an id of its own: rows are found by it. A scenario's own sweep can have a value twice.
    fn check_ids(&self) -> Result<(), CampaignPlanError> {
        let mut ids = HashSet::with_capacity(self.cases.len());
        let Some(twice) = self.cases.iter().find(|case| !ids.insert(&case.id)) else {
            return Ok(());
        };
        let values = twice.values.iter();
        let values = values.map(|(name, value)| format!("{name} = {value}"));
        Err(CampaignPlanError::CaseTwice {
            scenario: self.scenarios[twice.scenario].name.clone(),
            case: twice.id.clone(),
            values: values.collect::<Vec<_>>().join(", "),
        })
    }

    /// Returns the number of combinations of the campaign's own values.
    fn combinations(&self) -> usize {
        let sweeps = self.file.sweeps.iter();
        sweeps.fold(1, |count, sweep| count.saturating_mul(sweep.values.len()))
    }

    /// Checks the number of rows, before cases are made: few lines can ask for billions of them. The scenarios before `index` have
    /// their cases. `swept` is the number of combinations in this scenario, and each one after it has at least one.
    fn check_size(&self, index: usize, swept: usize) -> Result<(), CampaignPlanError> {
        let after = self.scenarios.len().saturating_sub(index + 1);
        let combinations = swept.saturating_add(after);
        let cases = self.combinations().saturating_mul(combinations);
        self.check_rows(self.cases.len().saturating_add(cases))
    }

    /// Checks the number of rows of this number of cases.
    fn check_rows(&self, cases: usize) -> Result<(), CampaignPlanError> {
        let rows = cases.saturating_mul(self.rows_of_case());
        if rows <= MOST_ROWS {
            return Ok(());
        }
        let message =
            format!("the campaign has at least {rows} rows; at most {MOST_ROWS} are allowed");
        Err(self.mistake(&(0..0), message, None))
    }

    /// Returns the number of rows of a case without a stop rule.
    fn rows_of_case(&self) -> usize {
        let backends = self.backends.iter();
        backends.map(|it| self.repetitions(*it) as usize).sum()
    }

    /// Returns the backends of each case.
    #[must_use]
    pub fn backends(&self) -> &[CampaignBackend] {
        &self.backends
    }

    /// Sets the backends of each case.
    ///
    /// # Errors
    /// The campaign has too many rows with them.
    pub fn set_backends(
        &mut self,
        backends: Vec<CampaignBackend>,
    ) -> Result<(), CampaignPlanError> {
        self.backends = backends;
        self.check_rows(self.cases.len())
    }

    /// Checks that each field of the campaign is one of a scenario.
    fn check_paths(&self, scenario: usize) -> Result<(), CampaignPlanError> {
        let Some(scenario) = self.scenarios.get(scenario) else {
            return Ok(());
        };
        let swept = self.file.sweeps.iter().flat_map(|sweep| &sweep.names);
        let swept = swept.filter(|name| name.is_field);
        let swept = swept.map(|name| (&name.name, &name.span));
        let derived = self.file.derived.iter().map(|it| (&it.field, &it.span));
        for (path, span) in swept.chain(derived) {
            if let Err(error) = scenario.file.check_path(path) {
                return Err(self.at(span, scenario, error));
            }
        }
        Ok(())
    }

    fn add_cases(&mut self, index: usize) -> Result<(), CampaignPlanError> {
        let Some(scenario) = self.scenarios.get(index).cloned() else {
            return Ok(());
        };
        for combination in 0..self.combinations() {
            let (values, settings) = self.values(combination)?;
            let variants = scenario.file.with_settings(&settings);
            let variants = variants.and_then(|file| file.variants());
            let variants = variants.map_err(|error| self.of_scenario(&scenario, error))?;
            if combination == 0 {
                self.check_size(index, variants.len())?;
            }
            for variant in variants {
                if variant.scenario.flows().is_empty() {
                    let message = format!("{} has a case without messages", scenario.name);
                    let span = self.span_of(index);
                    return Err(self.mistake(&span, message, None));
                }
                self.add_histograms(&scenario, &variant.histogram_files);
                // A setting is a text, which cannot be a list or a table.
                let own = variant.settings;
                if let Some((path, _)) = own.iter().find(|(_, it)| it.starts_with(['[', '{'])) {
                    let message = format!(
                        "{} sweeps `{path}` over lists or tables, which a campaign cannot",
                        scenario.name
                    );
                    let help = Some("sweep a field in them".to_owned());
                    let span = self.span_of(index);
                    return Err(self.mistake(&span, message, help));
                }
                let with = |given: &[(String, String)]| [given, own.as_slice()].concat();
                let (values, settings) = (with(&values), with(&settings));
                let case = CampaignCase::new(index, &scenario.name, values, settings);
                self.cases.push(case);
            }
        }
        Ok(())
    }

    /// Adds the digests of the histograms of a case that neither the unchanged scenario nor an earlier case has.
    fn add_histograms(&mut self, scenario: &PlannedScenario, names: &[String]) {
        for name in names {
            let key = format!("{}: {name}", scenario.name);
            let is_digested = scenario.file.histogram_files().contains(&name.as_str());
            if !is_digested && !self.histograms.contains_key(&key) {
                let digest = scenario.histogram_digest(name);
                self.histograms.insert(key, digest);
            }
        }
    }

    /// Returns the digests of all histograms, by scenario and file. Rows are computed with these contents, whatever the files have later.
    pub(crate) fn histogram_digests(&self) -> BTreeMap<String, String> {
        let mut digests = self.histograms.clone();
        for scenario in &self.scenarios {
            for name in scenario.file.histogram_files() {
                let key = format!("{}: {name}", scenario.name);
                digests.insert(key, scenario.histogram_digest(name));
            }
        }
        digests
    }

    /// Returns the values of a combination, and those of them that are fields.
    #[allow(clippy::type_complexity, reason = "names and values, twice")]
    fn values(
        &self,
        combination: usize,
    ) -> Result<(Vec<(String, String)>, Vec<(String, String)>), CampaignPlanError> {
        let steps = steps(&self.file.sweeps, combination);
        let (mut values, mut settings) = (Vec::new(), Vec::new());
        for (sweep, step) in self.file.sweeps.iter().zip(steps) {
            for (name, value) in sweep.names.iter().zip(step) {
                let pair = (name.name.clone(), value.clone());
                if name.is_field {
                    settings.push(pair.clone());
                }
                values.push(pair);
            }
        }
        for field in &self.file.derived {
            let of = values.iter().find(|(name, _)| *name == field.of);
            let of = of.map_or("", |(_, value)| value.as_str());
            let value = field.value(of).map_err(|error| {
                let message = format!("`{}` has no value: {error}", field.field);
                self.mistake(&field.span, message, None)
            })?;
            let pair = (field.field.clone(), value);
            settings.push(pair.clone());
            values.push(pair);
        }
        Ok((values, settings))
    }

    fn span_of(&self, scenario: usize) -> std::ops::Range<usize> {
        let written = self.file.scenarios.get(scenario);
        written.map_or(0..0, |it| it.span.clone())
    }

    fn mistake(
        &self,
        span: &std::ops::Range<usize>,
        message: String,
        help: Option<String>,
    ) -> CampaignPlanError {
        CampaignPlanError::Campaign {
            error: self.file.error_at(span, message, help),
            text: self.file.text().to_owned(),
        }
    }

    /// Returns the mistake of a scenario that a field of the campaign leads to.
    fn at(
        &self,
        span: &std::ops::Range<usize>,
        scenario: &PlannedScenario,
        mut error: ScenarioError,
    ) -> CampaignPlanError {
        let mistake = match error.mistakes.is_empty() {
            true => return self.of_scenario(scenario, error),
            false => error.mistakes.remove(0),
        };
        let message = format!("in {}: {}", scenario.name, mistake.message);
        self.mistake(span, message, mistake.help)
    }

    /// Returns mistakes in a scenario, at the campaign's first field if they have no place in the scenario's file.
    fn of_scenario(&self, scenario: &PlannedScenario, error: ScenarioError) -> CampaignPlanError {
        let has_place = error.mistakes.first().is_some_and(|it| it.span != (0..0));
        let first = self.file.sweeps.first().and_then(|it| it.names.first());
        match (has_place, first) {
            (false, Some(first)) if !error.mistakes.is_empty() => {
                self.at(&first.span, scenario, error)
            }
            _ => CampaignPlanError::Scenario {
                error,
                text: scenario.text.clone(),
            },
        }
    }

    /// Returns the number of repetitions of a case by a backend.
    #[must_use]
    pub fn repetitions(&self, backend: CampaignBackend) -> u32 {
        match backend.has_seed() {
            true => self.file.repetitions,
            false => 1,
        }
    }

    /// Returns the seed of a repetition, counted from 1.
    #[must_use]
    pub fn seed(&self, backend: CampaignBackend, repetition: u32) -> Option<u64> {
        let seed = self.file.seed;
        let next = u64::from(repetition.saturating_sub(1));
        backend.has_seed().then(|| seed.saturating_add(next))
    }

    /// Returns the cases with each of their backends, in the order of the rows. Shares consist of them.
    pub fn items(&self) -> impl Iterator<Item = (&CampaignCase, CampaignBackend)> {
        let backends = &self.backends;
        let cases = self.cases.iter();
        cases.flat_map(move |case| backends.iter().map(move |backend| (case, *backend)))
    }

    /// Returns the number of rows without a stop rule.
    #[must_use]
    pub fn most_rows(&self) -> usize {
        self.cases.len() * self.rows_of_case()
    }

    /// Returns the key of a repetition of an item.
    #[must_use]
    pub fn key(case: &CampaignCase, backend: CampaignBackend, repetition: u32) -> RowKey {
        RowKey {
            case: case.id.clone(),
            backend,
            repetition,
        }
    }

    /// Returns the scenario of a case. Its histograms are those that the plan was made with.
    ///
    /// # Errors
    /// The case is one of another plan.
    pub fn scenario_of(&self, case: &CampaignCase) -> Result<Scenario, ScenarioError> {
        let file = self.file_of(case);
        Ok(file.with_settings(&case.settings)?.scenario().clone())
    }

    /// Returns the scenario file of a case, without the values of the case.
    pub(crate) fn file_of(&self, case: &CampaignCase) -> &ScenarioFile {
        &self.scenarios[case.scenario].file
    }

    /// Returns the text of this file.
    pub(crate) fn text_of(&self, case: &CampaignCase) -> &str {
        &self.scenarios[case.scenario].text
    }

    /// Returns a digest of everything that changes the contents of rows, besides the values of cases and the version of Takt.
    #[must_use]
    pub fn base(&self) -> String {
        let scenarios = self.scenarios.iter();
        let scenarios = scenarios.flat_map(|it| [it.name.clone(), it.digest.clone()]);
        let options = [
            format!("{:?}", self.file.messages),
            self.file.ieee_model.to_string(),
            self.file.seed.to_string(),
        ];
        // Campaigns without these fields keep their digest.
        let disciplines = (!self.file.disciplines).then(|| "without disciplines".to_owned());
        let latest = self.file.latest_loopback.then(|| "latest".to_owned());
        digest::of_parts(scenarios.chain(options).chain(disciplines).chain(latest))
    }

    /// Returns a digest of all rows: campaigns with the same digest have the same result.
    pub(crate) fn digest(&self) -> String {
        let cases = self.cases.iter().map(|case| case.id.clone());
        let backends = self.backends.iter().map(|it| it.name().to_owned());
        let options = [
            self.base(),
            self.file.repetitions.to_string(),
            stop_text(&self.file),
        ];
        let histograms = self.histograms.iter();
        let histograms = histograms.flat_map(|(name, digest)| [name.clone(), digest.clone()]);
        let parts = options.into_iter().chain(backends).chain(cases);
        digest::of_parts(parts.chain(histograms))
    }
}

/// Returns the stop rule of a campaign as a text, which is empty without a rule.
pub(crate) fn stop_text(file: &CampaignFile) -> String {
    file.stop.as_ref().map_or(String::new(), |stop| {
        let interval = stop.interval.0;
        format!("{} {interval} {}", stop.quantity.text, stop.least)
    })
}

/// Returns the values of each sweep in a combination. The last sweep changes fastest.
fn steps(sweeps: &[CampaignSweep], mut combination: usize) -> Vec<&[String]> {
    let mut steps: Vec<&[String]> = Vec::with_capacity(sweeps.len());
    for sweep in sweeps.iter().rev() {
        let count = sweep.values.len().max(1);
        let step = sweep.values.get(combination % count);
        steps.push(step.map(Vec::as_slice).unwrap_or_default());
        combination /= count;
    }
    steps.reverse();
    steps
}
