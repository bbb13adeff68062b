//! Results of campaigns on the terminal, or as rows for programs.

use serde_json::{Value, json};
use takt_figures::Report;

use super::charts::QuantityGroup;
use super::dimensions::CampaignDimension;
use super::ranking::{RankedRow, Ranking};
use super::reported::ReportedCampaign;
use super::tables;
use crate::comparison::Requirement;

/// Prints the merged rows of a campaign, and the rankings by these requirements.
///
/// # Errors
/// A number cannot be represented as JSON.
pub fn print_campaign(
    campaign: &ReportedCampaign,
    required: &[Requirement],
    report: &mut Report<impl FnMut(String)>,
) -> Result<(), serde_json::Error> {
    let summary = &campaign.summary;
    let name = &summary.description.name;
    report.note(&format!("campaign {name}: {} rows", summary.rows));
    let dimensions = CampaignDimension::all(summary);
    for group in QuantityGroup::all(summary) {
        report.line("");
        report.line(group.title());
        let field = dimensions.last();
        report.table(&tables::over(summary, &group, field, &dimensions).table);
    }
    for requirement in required {
        report.line("");
        report.line(format!("{} ({})", requirement.title, requirement.source));
        for ranking in Ranking::of(requirement.name, &campaign.judged.cases, &dimensions) {
            report.line(format!(
                "{}, {}, backend {}",
                ranking.quantity,
                ranking.limit(),
                ranking.backend
            ));
            report.table(&ranking.table(&dimensions));
        }
    }
    for quantity in &summary.quantities {
        for row in &quantity.rows {
            let mut object = row.object(&quantity.quantity);
            object["campaign"] = name.clone().into();
            report.row(&object)?;
        }
    }
    for requirement in required {
        for ranking in Ranking::of(requirement.name, &campaign.judged.cases, &dimensions) {
            for row in ranking.rows(&dimensions) {
                report.row(&object(name, requirement, &ranking, &row))?;
            }
        }
    }
    Ok(())
}

fn object(
    campaign: &str,
    requirement: &Requirement,
    ranking: &Ranking<'_>,
    row: &RankedRow,
) -> Value {
    let finite = |value: f64| value.is_finite().then_some(value);
    json!({
        "campaign": campaign,
        "requirement": requirement.name,
        "quantity": ranking.quantity,
        "limit": ranking.limit(),
        "backend": ranking.backend,
        "name": row.name,
        "worst_at": row.place,
        "rank": {"best": row.ranks.0, "worst": row.ranks.1},
        "mean": {
            "value": finite(row.estimate.value),
            "low": finite(row.estimate.low),
            "high": finite(row.estimate.high),
        },
        "met": row.met,
        "count": row.count,
    })
}
