//! Options of the command line.

use std::path::PathBuf;

use takt_attack::Attack;

use crate::error::BenchError;

/// Options of the measurement and of its output.
#[derive(Debug, Clone, clap::Args)]
pub struct Options {
    /// Only these attacks, by name or a part of it; --list names them.
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub only: Vec<String>,
    /// Rounds of an idle phase and one with the attack. Fewer than 6 decide no goal.
    #[arg(long, default_value_t = 6, value_parser = clap::value_parser!(u32).range(1..=100))]
    pub rounds: u32,
    /// Duration of each phase in seconds.
    #[arg(long, default_value_t = 2, value_parser = clap::value_parser!(u32).range(1..=60))]
    pub seconds: u32,
    /// Reads per second of each second client.
    #[arg(long, value_name = "HZ", default_value_t = 200, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub rate: u32,
    /// Divide the counts of the attacks by this.
    #[arg(long, value_name = "NUMBER", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub divide: u32,
    /// Attack the servers of another `takt`, for example an earlier one; default is the one beside this program.
    #[arg(long, value_name = "FILE")]
    pub server: Option<PathBuf>,
    /// Print the names of the attacks with descriptions.
    #[arg(long)]
    pub list: bool,
    /// Print JSON, one object an attack.
    #[arg(long)]
    pub json: bool,
    /// Be a server of this name with a large value, for the benchmark itself.
    #[arg(long, hide = true, value_name = "NAME", conflicts_with_all = ["only", "json", "list"])]
    pub serve: Option<String>,
}

impl Options {
    pub(super) fn attacks(&self) -> Result<Vec<Attack>, BenchError> {
        for wanted in &self.only {
            if !Attack::ALL
                .iter()
                .any(|attack| attack.name().contains(wanted))
            {
                return Err(BenchError::Option(format!(
                    "no attack has `{wanted}` in its name; `takt bench attack --list` lists all names"
                )));
            }
        }
        let is_wanted = |attack: &Attack| {
            let named = self.only.iter().any(|only| attack.name().contains(only));
            named || self.only.is_empty()
        };
        Ok(Attack::ALL.iter().copied().filter(is_wanted).collect())
    }
}
