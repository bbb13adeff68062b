//! Section of a campaign in the page.

use takt_figures::{Notice, Page};

use super::charts::{self, QuantityGroup};
use super::dimensions::CampaignDimension;
use super::ranking::{Ranking, heading};
use super::reported::ReportedCampaign;
use super::tables;
use crate::charts::{NamedPicture, plain};
use crate::comparison::Requirement;

/// Adds the section of a campaign to a page, and returns its pictures.
pub(crate) fn add(
    page: &mut Page,
    campaign: &ReportedCampaign,
    requirements: &[Requirement],
) -> Vec<NamedPicture> {
    let summary = &campaign.summary;
    let name = &summary.description.name;
    page.section(&format!("Campaign {name}"));
    notices(page, campaign);
    page.terms(terms(campaign));
    page.paragraph(
        "Repetitions of a case are merged: the mean has the 95 % interval of Student's t-distribution, the median that of order statistics. \
         One repetition has no interval.",
    );
    let dimensions = CampaignDimension::all(summary);
    let mut pictures = Vec::new();
    for group in QuantityGroup::all(summary) {
        page.subsection(&group.title());
        if dimensions.is_empty() {
            let table = tables::over(summary, &group, None, &dimensions);
            page.table(&table.table, &format!("{}. {name}", group.title()));
        }
        for (number, field) in (1..).zip(&dimensions) {
            let drawn = charts::over(summary, &group, field, &dimensions);
            let caption = format!(
                "{}, by {}. Points: mean of the repetitions; bars: its 95 % interval. Diamonds: longest of all repetitions. Red: bound. {name}",
                group.title(),
                field.name
            );
            let own: Vec<NamedPicture> = (1..)
                .zip(drawn.figures)
                .map(|(chart, figure)| NamedPicture {
                    name: format!("{}-{}-{number}-{chart}", plain(name), plain(&group.name)),
                    caption: caption.clone(),
                    figure,
                })
                .collect();
            page.figures(own.iter().map(|it| (&it.figure, it.caption.as_str())));
            pictures.extend(own);
            if drawn.left_out > 0 {
                page.paragraph(&format!(
                    "{} further combinations have no chart; the table has them.",
                    drawn.left_out
                ));
            }
            let table = tables::over(summary, &group, Some(field), &dimensions);
            let caption = format!("{}, by {}. {name}", group.title(), field.name);
            page.table(&table.table, &caption);
            if table.left_out > 0 {
                page.paragraph(&format!("{} further rows are in rows.csv.", table.left_out));
            }
        }
    }
    rankings(page, campaign, &dimensions, requirements);
    pictures
}

/// Adds what a reader has to know before the numbers.
fn notices(page: &mut Page, campaign: &ReportedCampaign) {
    let summary = &campaign.summary;
    let mut rows = summary.quantities.iter().flat_map(|it| &it.rows);
    if rows.any(|row| row.measured) {
        page.notice(
            Notice::Warning,
            "Rows of netns were measured on a host",
            ["Another run gives other times. Their links have no rate, so they say nothing about bounds."],
        );
    }
    if summary.failed > 0 {
        let title = format!(
            "{} of {} rows have no quantities",
            summary.failed, summary.rows
        );
        page.notice(Notice::Warning, &title, &campaign.failures);
    }
    if !summary.absent.is_empty() {
        page.notice(
            Notice::Warning,
            "Quantities of the campaign that no row has",
            &summary.absent,
        );
    }
}

fn terms(campaign: &ReportedCampaign) -> Vec<(String, String)> {
    let mut terms = vec![
        (
            "directory".to_owned(),
            campaign.directory.display().to_string(),
        ),
        ("rows".to_owned(), campaign.summary.rows.to_string()),
    ];
    terms.extend(campaign.facts.iter().cloned());
    terms
}

/// Adds the rankings of these requirements, or of all that rows can be judged by.
fn rankings(
    page: &mut Page,
    campaign: &ReportedCampaign,
    dimensions: &[CampaignDimension],
    requirements: &[Requirement],
) {
    let is_asked = !requirements.is_empty();
    let all: &[Requirement] = match is_asked {
        true => requirements,
        false => &Requirement::ALL,
    };
    for requirement in all {
        let rankings = Ranking::of(requirement.name, &campaign.judged.cases, dimensions);
        if rankings.is_empty() && !is_asked {
            continue;
        }
        let title = format!("Requirement {}", requirement.title);
        page.subsection(&title);
        page.paragraph(&format!(
            "Source: {}. Each {} has the case in which it is worst. A rank is a range where intervals overlap: the repetitions do not \
             decide then.",
            requirement.source,
            match heading(dimensions) {
                "cases" => "line",
                name => name,
            }
        ));
        if rankings.is_empty() {
            page.paragraph("No row has a quantity that this requirement is about.");
        }
        for ranking in rankings {
            let caption = format!(
                "{}, {}, backend {}. Requirement {}.",
                ranking.quantity,
                ranking.limit(),
                ranking.backend,
                requirement.name
            );
            page.table(&ranking.table(dimensions), &caption);
        }
    }
}
