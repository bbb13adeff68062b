//! Arguments of `takt papers`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::CampaignBackendName;

#[derive(Debug, Subcommand)]
pub enum PapersCommand {
    /// List tables and figures, and those that no scenario can express, with the reason.
    #[command(after_help = "Example:\n  takt papers list")]
    List(PapersListArguments),
    /// Compute the campaigns of tables and figures. Rows that are there are not computed again.
    #[command(after_help = "Examples:\n  \
        takt papers run rt-table-5 --quick\n  \
        takt papers run --quick\n  \
        takt papers run nc-table-4 --backend bounds\n\n\
        docs/papers.md describes the results.")]
    Run(PapersRunArguments),
    /// Put results beside the papers' figures, and judge each finding.
    ///
    /// The page is one HTML file. A verdict other than the expected one is an error.
    #[command(after_help = "Examples:\n  \
        takt papers report --quick\n  \
        takt papers report --to papers.html\n\n\
        docs/papers.md describes findings and verdicts.")]
    Report(PapersReportArguments),
}

#[derive(Debug, Args)]
pub struct PapersListArguments {
    /// Folder of the tables and figures.
    #[arg(
        long = "papers",
        value_name = "DIRECTORY",
        default_value = "scenarios/papers"
    )]
    pub library: PathBuf,
    /// Print JSON, one object for each table and figure.
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct PapersRunArguments {
    /// Names of tables and figures, as `takt papers list` has them; default is all.
    #[arg(value_name = "NAME")]
    pub names: Vec<String>,
    /// Fewer messages and repetitions than the papers.
    #[arg(long)]
    pub quick: bool,
    /// Number of messages of each application, with one repetition.
    #[arg(long, value_name = "COUNT", conflicts_with = "quick", value_parser = clap::value_parser!(u64).range(1..))]
    pub messages: Option<u64>,
    /// Backend of each case; may be given several times. Default is those of the campaigns.
    #[arg(long = "backend", value_name = "NAME")]
    pub backends: Vec<CampaignBackendName>,
    /// Directory of the results.
    #[arg(
        long = "to",
        value_name = "DIRECTORY",
        default_value = "papers-results"
    )]
    pub directory: PathBuf,
    /// Folder of the tables and figures.
    #[arg(
        long = "papers",
        value_name = "DIRECTORY",
        default_value = "scenarios/papers"
    )]
    pub library: PathBuf,
    /// Number of rows that are computed at the same time; default is the number of processors. The results do not depend on it.
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub jobs: Option<u16>,
    /// Print JSON, one object for each campaign.
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct PapersReportArguments {
    /// Judge the results of quick runs.
    #[arg(long)]
    pub quick: bool,
    /// Judge the results of runs with this number of messages.
    #[arg(long, value_name = "COUNT", conflicts_with = "quick", value_parser = clap::value_parser!(u64).range(1..))]
    pub messages: Option<u64>,
    /// Directory of the results, as `takt papers run` makes it.
    #[arg(
        long = "from",
        value_name = "DIRECTORY",
        default_value = "papers-results"
    )]
    pub directory: PathBuf,
    /// HTML file to write; default is report.html in the directory of the results.
    #[arg(long = "to", value_name = "FILE")]
    pub file: Option<PathBuf>,
    /// Folder of the tables and figures.
    #[arg(
        long = "papers",
        value_name = "DIRECTORY",
        default_value = "scenarios/papers"
    )]
    pub library: PathBuf,
    /// Print JSON, one object for each finding and backend.
    #[arg(long)]
    pub json: bool,
}
