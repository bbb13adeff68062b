//! `takt campaign check`.

use serde_json::json;
use takt_campaign::CampaignPlan;

use super::advice;
use crate::arguments::CampaignCheckArguments;
use crate::output;

pub(super) fn run(arguments: &CampaignCheckArguments) -> miette::Result<()> {
    let plan = CampaignPlan::read(&arguments.file).map_err(|error| advice::plan(&error))?;
    let (cases, rows) = (plan.cases.len(), plan.most_rows());
    let backends: Vec<&str> = plan.backends().iter().map(|it| it.name()).collect();
    output::tell(
        arguments.json,
        || {
            json!({
                "name": plan.file.name,
                "scenarios": plan.scenarios.iter().map(|it| it.name.clone()).collect::<Vec<_>>(),
                "backends": backends,
                "cases": cases,
                "rows": rows,
            })
        },
        format_args!(
            "{}: {cases} cases on {}, {} {rows} rows",
            output::printable(&plan.file.name),
            backends.join(" and "),
            if plan.file.stop.is_some() {
                "at most"
            } else {
                "together"
            },
        ),
    );
    Ok(())
}
