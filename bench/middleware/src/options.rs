//! Options of `takt bench middleware`.

use std::path::PathBuf;

use clap::Args;

use crate::condition::ConditionOptions;
use crate::environment::{HostOptions, LinkSetting};

/// Rounds of a comparison: the least number whose intervals have 95 %.
const ROUNDS: u32 = 6;

/// Options of the comparison.
#[derive(Debug, Clone, Args)]
pub struct MiddlewareOptions {
    /// Measure only the peers whose label contains one of these texts.
    #[arg(long, value_name = "TEXT,...", value_delimiter = ',')]
    pub only: Vec<String>,
    /// Sizes of the payload in bytes; by default those of the paper.
    #[arg(long, value_name = "BYTES,...", value_delimiter = ',', value_parser = clap::value_parser!(u32).range(2..=1 << 20))]
    pub sizes: Vec<u32>,
    /// Requests of each peer, kind and size; by default 5000.
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u32).range(10..=1_000_000))]
    pub samples: Option<u32>,
    /// Three sizes and 200 requests, without variants that poll unless --only names them: some minutes.
    #[arg(long)]
    pub quick: bool,
    /// Go on with the comparison whose results are in the folder: its options must be the same.
    #[arg(long)]
    pub resume: bool,
    /// Loads, rest and scheduler.
    #[command(flatten)]
    pub conditions: ConditionOptions,
    /// Folder of the results.
    #[arg(long, value_name = "FOLDER", default_value = "results")]
    pub output: PathBuf,
    /// Table of foreign peers; by default that of the repository.
    #[arg(long, value_name = "FILE")]
    pub peers: Option<PathBuf>,
    /// Seed of the order of measurements.
    #[arg(long, value_name = "NUMBER", default_value = "1")]
    pub seed: u64,
    /// Run both sides in two network namespaces with a link between them: `veth[,rate=1gbit][,delay=2ms][,loss=1%][,reorder=1%]`.
    #[arg(long, value_name = "LINK")]
    pub link: Option<LinkSetting>,
    /// Other host for the servers.
    #[command(flatten)]
    pub host: HostOptions,
    /// Fail if a required peer was not measured, or not without fault. Peers that only root may run count for root only.
    #[arg(long)]
    pub require: bool,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
}

impl MiddlewareOptions {
    /// Returns true if a variant of a peer is to be measured. Variants that poll need a processor for each process, and take long
    /// without.
    pub(crate) fn wants(&self, label: &str) -> bool {
        let is_named = |text: &String| label.contains(text.as_str());
        let polls = |text: &str| text.contains("poll=true");
        let is_left_out = self.quick && polls(label) && !self.only.iter().any(|text| polls(text));
        (self.only.is_empty() || self.only.iter().any(is_named)) && !is_left_out
    }

    /// Returns the sizes in ascending order.
    pub(crate) fn all_sizes(&self) -> Vec<u32> {
        let mut sizes = match (self.sizes.is_empty(), self.quick) {
            (false, _) => self.sizes.clone(),
            (true, true) => vec![2, 1024, 32_768],
            (true, false) => (1..=15).map(|power| 1 << power).collect(),
        };
        sizes.sort_unstable();
        sizes.dedup();
        sizes
    }

    /// Returns the text of the options that choose the place.
    pub(crate) fn place(&self) -> String {
        match (&self.host.server_host, &self.link) {
            (Some(host), _) => host.clone(),
            (None, Some(link)) => link.to_string(),
            (None, None) => "loopback".to_owned(),
        }
    }

    /// Returns the number of requests of each case, and the number of rounds that they are spread over.
    pub(crate) fn requests(&self) -> (u32, u32) {
        match (self.samples, self.quick) {
            (Some(samples), quick) => (samples, if quick { 2 } else { ROUNDS }),
            (None, true) => (200, 2),
            (None, false) => (5000, ROUNDS),
        }
    }
}
