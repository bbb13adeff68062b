//! `takt campaign`: many cases of scenarios.

pub(in crate::commands) mod advice;
mod check;
mod merge;
#[cfg(feature = "parquet")]
mod parquet;
pub(super) mod run;
mod schema;
mod summary;

use crate::arguments::CampaignCommand;

pub(super) fn run(command: &CampaignCommand) -> miette::Result<()> {
    match command {
        CampaignCommand::Check(arguments) => check::run(arguments),
        CampaignCommand::Run(arguments) => run::run(arguments),
        CampaignCommand::Merge(arguments) => merge::run(arguments),
        CampaignCommand::Summary(arguments) => summary::run(arguments),
        CampaignCommand::Schema => {
            schema::run();
            Ok(())
        }
    }
}
