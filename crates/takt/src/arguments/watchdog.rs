//! Arguments of `takt publish` and `takt subscribe` with a scenario that proves the times of their messages.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use takt_watchdog::WatchOptions;

use super::values::{duration, setting};

#[derive(Debug, Args)]
#[command(next_help_heading = "With --scenario")]
pub struct WatchdogArguments {
    /// Scenario file (TOML) that has the messages of the configuration: others are refused, and the share of their proven times is
    /// counted. Its sweeps do not take place.
    #[arg(long, value_name = "FILE", help_heading = None::<&str>)]
    pub scenario: Option<PathBuf>,
    /// Flow of a WriterGroup or DataSetReader, where the names differ: an application of the scenario, or `NAME (return)` for the
    /// way back from its loopback. Can be given several times.
    #[arg(long, value_name = "NAME=APPLICATION", requires = "scenario", value_parser = setting)]
    pub flow: Vec<(String, String)>,
    /// Share of a proven time from which on a message is reported, above 0 and at most 1.
    #[arg(long, value_name = "SHARE", requires = "scenario", default_value_t = WatchOptions::SHARE, value_parser = share)]
    pub warn_at: f64,
    /// Greatest difference of the clocks of all hosts, for example as PTP measures it: delays are then measured, with this
    /// uncertainty. Without it, only messages that stay on this host have a measured delay.
    #[arg(long, value_name = "TIME", requires = "scenario", value_parser = duration)]
    pub clocks_within: Option<Duration>,
    /// Prove the times for gates and shapers of the kernel (sch_taprio and sch_cbs without offload).
    #[arg(long, requires = "scenario")]
    pub software: bool,
    /// Run although times are not proven; the reasons are warnings then.
    #[arg(long, requires = "scenario")]
    pub unproven: bool,
    /// Serve the numbers as Variables of a Provider with this ApplicationName, at opc.iox2://NAME; `takt ps` shows it.
    #[arg(long, value_name = "NAME", requires = "scenario")]
    pub serve: Option<String>,
}

/// Parses a share.
fn share(text: &str) -> Result<f64, String> {
    let share = text.parse::<f64>().ok();
    share
        .filter(|share| *share > 0.0 && *share <= 1.0)
        .ok_or_else(|| "write a number above 0 and at most 1, for example 0.8".to_owned())
}

#[cfg(test)]
mod tests {
    use super::share;

    #[test]
    fn a_share_is_above_0_and_at_most_1() {
        assert_eq!(share("0.8"), Ok(0.8));
        assert_eq!(share("1"), Ok(1.0));
        for wrong in ["0", "-0.5", "1.01", "80%", "NaN", "inf", ""] {
            assert!(share(wrong).is_err(), "{wrong}");
        }
    }
}
