//! Arguments of `takt campaign`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use takt_campaign::Shard;

#[derive(Debug, Subcommand)]
pub enum CampaignCommand {
    /// Check a campaign, and tell how many cases and rows it has.
    #[command(after_help = "Example:\n  takt campaign check scenarios/campaigns/line-load.toml")]
    Check(CampaignCheckArguments),
    /// Compute the rows of a campaign, or one share of them.
    ///
    /// Each row is kept as soon as it is there. With --resume, a run goes on after any interrupt.
    #[command(after_help = "Examples:\n  \
        takt campaign run scenarios/campaigns/line-load.toml --to load\n  \
        takt campaign run scenarios/campaigns/line-load.toml --to load --resume\n  \
        takt campaign run load.toml --backend bounds --jobs 4\n  \
        takt campaign run load.toml --backend uml --backend bounds\n  \
        takt campaign run load.toml --shard 3/16 --to load-03\n\n\
        docs/campaigns.md describes the file and the results.")]
    Run(CampaignRunArguments),
    /// Merge the shares of a campaign into what a single run writes.
    #[command(after_help = "Example:\n  takt campaign merge load-01 load-02 load-03 --to load")]
    Merge(CampaignMergeArguments),
    /// Merge repetitions into means and medians with 95 % confidence intervals.
    #[command(after_help = "Examples:\n  \
        takt campaign summary load\n  \
        takt campaign summary load --quantity control.round_trip.p99_ns")]
    Summary(CampaignSummaryArguments),
    /// Print the JSON Schema of campaigns, for editors.
    #[command(after_help = "Example:\n  takt campaign schema > campaign.schema.json")]
    Schema,
}

/// Backend of a campaign.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum CampaignBackendName {
    /// The simulator.
    Simulate,
    /// Upper bounds by network calculus.
    Bounds,
    /// The lab's kernel of User-Mode Linux, in virtual time (`takt lab setup`): the same in each repeat.
    Uml,
    /// Network namespaces on this host's kernel: measured, one row at a time.
    Netns,
}

#[derive(Debug, Args)]
pub struct CampaignCheckArguments {
    /// Campaign file (TOML).
    pub file: PathBuf,
    /// Print one JSON object.
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct CampaignRunArguments {
    /// Campaign file (TOML).
    pub file: PathBuf,
    /// Backend of each case; may be given several times. Default is those of the file.
    #[arg(long = "backend", value_name = "NAME")]
    pub backends: Vec<CampaignBackendName>,
    /// Directory of the results; default is campaign-NAME in the current directory.
    #[arg(long = "to", value_name = "DIRECTORY")]
    pub directory: Option<PathBuf>,
    /// Go on with the campaign that is in the directory, if there is one. Rows that are there are not computed again.
    #[arg(long)]
    pub resume: bool,
    /// Number of rows that are computed at the same time; default is the number of processors. The results do not depend on it. Machines of
    /// uml are at most as many as the memory is enough for; nothing runs beside a row of netns.
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub jobs: Option<u16>,
    /// Compute one share, for example 3/16. `takt campaign merge` puts all shares together.
    #[arg(long, value_name = "NUMBER/COUNT")]
    pub shard: Option<Shard>,
    /// Write the rows to this Parquet file as well.
    #[cfg(feature = "parquet")]
    #[arg(long, value_name = "FILE")]
    pub parquet: Option<PathBuf>,
    /// Print JSON, one object for each event: started; row, with its results; ended.
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct CampaignMergeArguments {
    /// Directories with all shares of a campaign, in any order.
    #[arg(required = true, value_name = "DIRECTORY")]
    pub directories: Vec<PathBuf>,
    /// Directory of the result, which is made.
    #[arg(long = "to", value_name = "DIRECTORY")]
    pub to: PathBuf,
    /// Write the rows to this Parquet file as well.
    #[cfg(feature = "parquet")]
    #[arg(long, value_name = "FILE")]
    pub parquet: Option<PathBuf>,
    /// Print one JSON object.
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct CampaignSummaryArguments {
    /// Directory of a campaign, as `takt campaign run` and `takt campaign merge` make it.
    pub directory: PathBuf,
    /// Quantity to show; may be given several times. Default is those of the campaign's file, or its round trips.
    #[arg(long = "quantity", value_name = "NAME")]
    pub quantities: Vec<String>,
    /// Print JSON, one object for each quantity, case and backend.
    #[arg(long)]
    pub json: bool,
}
