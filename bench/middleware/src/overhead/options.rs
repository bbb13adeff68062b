//! Options of `takt bench overhead`.

use std::path::PathBuf;

use clap::Args;

/// Options of the count.
#[derive(Debug, Clone, Args)]
pub struct OverheadOptions {
    /// Count only the peers whose label contains one of these texts.
    #[arg(long, value_name = "TEXT,...", value_delimiter = ',')]
    pub only: Vec<String>,
    /// Sizes of the payload in bytes. The smallest one of the line protocol is 2.
    #[arg(long, value_name = "BYTES,...", value_delimiter = ',', default_values_t = [2, 100, 1000, 10_000],
          value_parser = clap::value_parser!(u32).range(2..=65_000))]
    pub sizes: Vec<u32>,
    /// Pause after each request in ms: late acknowledgements and discovery belong to it.
    #[arg(long, value_name = "MS", default_value = "400", value_parser = clap::value_parser!(u16).range(20..))]
    pub pause: u16,
    /// Folder of the results.
    #[arg(long, value_name = "FOLDER", default_value = "results")]
    pub output: PathBuf,
    /// Table of foreign peers; by default that of the repository.
    #[arg(long, value_name = "FILE")]
    pub peers: Option<PathBuf>,
    /// Print the tables as Markdown, beside those of the paper.
    #[arg(long)]
    pub markdown: bool,
    /// Median round trips for Table III: `rows.jsonl` of `takt bench middleware`.
    #[arg(long, value_name = "FILE", requires = "markdown")]
    pub round_trips: Option<PathBuf>,
    /// Fail if a required peer was not counted.
    #[arg(long)]
    pub require: bool,
    /// Print JSON.
    #[arg(long, conflicts_with = "markdown")]
    pub json: bool,
}
