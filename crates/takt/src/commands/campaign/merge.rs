//! `takt campaign merge`.

use serde_json::json;
use takt_campaign::merge_shards;

use super::advice;
use crate::arguments::CampaignMergeArguments;
use crate::output;

pub(super) fn run(arguments: &CampaignMergeArguments) -> miette::Result<()> {
    let rows = merge_shards(&arguments.directories, &arguments.to)
        .map_err(|error| advice::explained(&error))?;
    #[cfg(feature = "parquet")]
    if let Some(file) = &arguments.parquet {
        super::parquet::write(&arguments.to, file)?;
    }
    let shards = arguments.directories.len();
    output::tell(
        arguments.json,
        || {
            json!({
                "directory": arguments.to.display().to_string(),
                "shards": shards,
                "rows": rows,
            })
        },
        format_args!(
            "{rows} rows of {shards} shares in {}",
            arguments.to.display()
        ),
    );
    Ok(())
}
