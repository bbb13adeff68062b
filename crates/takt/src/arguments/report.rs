//! Arguments of `takt report`.

use std::path::PathBuf;

use clap::Args;
use takt_report::Requirement;

#[derive(Debug, Args)]
pub struct ReportArguments {
    /// Directories of runs, as `takt lab run` makes them, and of campaigns, as `takt campaign run` and `takt campaign merge` make them.
    #[arg(required_unless_present = "requirements", value_name = "DIRECTORY")]
    pub directories: Vec<PathBuf>,
    /// HTML file to write; default is report.html in the only directory, or in the current one for several.
    #[arg(long = "to", value_name = "FILE")]
    pub file: Option<PathBuf>,
    /// Write each picture into this directory, as SVG and as PNG.
    #[arg(long, value_name = "DIRECTORY")]
    pub pictures: Option<PathBuf>,
    /// Requirement to judge the runs by; may be given several times. --requirements lists the names.
    #[arg(long = "requirement", value_name = "NAME", value_parser = requirement)]
    pub required: Vec<Requirement>,
    /// List the requirements, with their sources.
    #[arg(long, conflicts_with_all = ["directories", "file", "pictures", "required", "quantities", "trim", "all"])]
    pub requirements: bool,
    /// Quantity of campaigns to show; may be given several times. Default is those of the campaign's file, or its round trips.
    #[arg(long = "quantity", value_name = "NAME")]
    pub quantities: Vec<String>,
    /// Largest number of messages to leave out at each end; never more than a tenth of a run's messages.
    #[arg(long, value_name = "COUNT", default_value = "20000")]
    pub trim: u64,
    /// Show pictures and settings of all cases; default is those of 12 cases, with the longest round trips.
    #[arg(long)]
    pub all: bool,
    /// Write each delay of each message to this Parquet file.
    #[cfg(feature = "parquet")]
    #[arg(long, value_name = "FILE")]
    pub parquet: Option<PathBuf>,
    /// Print JSON, one object for each application and kind of round trip, and for each quantity, case and backend of a campaign.
    #[arg(long)]
    pub json: bool,
}

fn requirement(name: &str) -> Result<Requirement, String> {
    Requirement::of_name(name).ok_or_else(|| {
        let names = Requirement::ALL.map(|it| it.name).join(", ");
        format!("possible values: {names}")
    })
}
