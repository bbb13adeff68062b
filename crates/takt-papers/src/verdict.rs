//! Verdicts on findings.

use takt_scenario::CampaignBackend;

use crate::cells::PaperTable;
use crate::element::{PaperFinding, PaperRow};
use crate::expression::{CellSide, Expression, Undecided};
use crate::file::PaperExpectation;

/// Kind of a verdict.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PaperVerdictKind {
    /// The finding holds for our results.
    Reproduced,
    /// It holds, because values were chosen so.
    Fitted,
    /// It does not hold.
    NotReproduced,
    /// The results cannot decide it.
    NotDecidable,
}

impl PaperVerdictKind {
    /// Returns the name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Reproduced => "reproduced",
            Self::Fitted => "fitted",
            Self::NotReproduced => "not reproduced",
            Self::NotDecidable => "not decidable",
        }
    }

    const fn of(expected: PaperExpectation) -> Self {
        match expected {
            PaperExpectation::Reproduced => Self::Reproduced,
            PaperExpectation::Fitted => Self::Fitted,
            PaperExpectation::NotReproduced => Self::NotReproduced,
            PaperExpectation::NotDecidable => Self::NotDecidable,
        }
    }
}

/// A verdict on a finding.
#[derive(Debug, Clone, PartialEq)]
pub struct PaperVerdict<'a> {
    /// The finding.
    pub finding: &'a PaperFinding,
    /// Backend whose results were judged; `None` for bounds alone.
    pub backend: Option<String>,
    /// Verdict.
    pub kind: PaperVerdictKind,
    /// Reason, unless it was reproduced.
    pub reason: String,
    /// True if the verdict is not the one that the file of the finding expects of simulations and bounds. A finding that is not decidable
    /// with these results, because messages or a backend are missing, is no surprise; nor is another verdict of a backend that measures.
    pub is_unexpected: bool,
}

impl<'a> PaperVerdict<'a> {
    /// Judges the findings of an element by our table.
    #[must_use]
    pub fn of(table: &PaperTable<'a>) -> Vec<Self> {
        let findings = table.element.findings.iter();
        findings
            .map(|finding| Self::judge(finding, table))
            .collect()
    }

    fn judge(finding: &'a PaperFinding, table: &PaperTable<'a>) -> Self {
        let expected = PaperVerdictKind::of(finding.expected);
        let backend = table.backend.clone();
        let is_foreseen = backend
            .as_ref()
            .is_none_or(|it| it == CampaignBackend::Simulate.name());
        let verdict = |kind: PaperVerdictKind, reason: String| Self {
            finding,
            backend: backend.clone(),
            kind,
            reason,
            is_unexpected: is_foreseen
                && kind != expected
                && kind != PaperVerdictKind::NotDecidable,
        };
        let Some(holds) = &finding.holds else {
            return verdict(PaperVerdictKind::NotDecidable, finding.reason.clone());
        };
        if uses_messages(holds, &table.element.rows) && table.messages < finding.least_messages {
            let reason = format!(
                "it needs {} messages, and there are {}",
                finding.least_messages, table.messages
            );
            return verdict(PaperVerdictKind::NotDecidable, reason);
        }
        match (holds.evaluate(table), &finding.fitted) {
            (Err(Undecided(reason)), _) => verdict(PaperVerdictKind::NotDecidable, reason),
            (Ok(value), _) if !value.truth() => {
                // The reason is about the simulation.
                let reason = match finding.expected {
                    PaperExpectation::NotReproduced if is_foreseen => finding.reason.clone(),
                    _ => "no reason is known".to_owned(),
                };
                verdict(PaperVerdictKind::NotReproduced, reason)
            }
            (Ok(_), Some(fitted)) => verdict(PaperVerdictKind::Fitted, fitted.clone()),
            (Ok(_), None) => verdict(PaperVerdictKind::Reproduced, String::new()),
        }
    }
}

/// Returns true if an expression uses a row that is simulated or measured.
fn uses_messages(expression: &Expression, rows: &[PaperRow]) -> bool {
    expression.rows(CellSide::Ours).into_iter().any(|name| {
        let mut used = rows.iter();
        used.any(|row| !row.is_bound && name.is_none_or(|name| row.name == name))
    })
}
