//! Arguments of `takt bounds`.

use std::path::PathBuf;

use clap::Args;
use takt_scenario::Analysis;

use super::ModelName;
use super::values::setting;

#[derive(Debug, Args)]
pub struct BoundsArguments {
    /// Scenario file (TOML).
    #[arg(value_name = "SCENARIO")]
    pub file: PathBuf,
    /// Other value of a field of the scenario, for example discipline=cbs; it replaces the sweep of this field.
    #[arg(long = "field", value_name = "FIELD=VALUE", value_parser = setting)]
    pub settings: Vec<(String, String)>,
    /// Assumptions; default is those of the scenario.
    #[arg(long)]
    pub model: Option<ModelName>,
    /// Analyses, separated by commas: tfa, tfa++, sfa, pmoo, plp, schedule, or all; default is those of the scenario. The smallest of
    /// their bounds holds. The model of the paper has only tfa.
    #[arg(long, value_name = "NAMES", value_parser = analyses)]
    pub analysis: Option<Analyses>,
    /// Number of frames that a driver of Linux holds besides the one on the link: all of them can be before a frame at a port with
    /// FQ_CoDel.
    #[arg(long, value_name = "FRAMES", default_value = "1", value_parser = clap::value_parser!(u16).range(1..=4096))]
    pub driver_queue: u16,
    /// Bounds of Linux's gates and shapers in software (sch_taprio and sch_cbs without offload), with so many frames in each driver.
    /// By default, gates and shapers are those of the device, as IEEE 802.1Q describes them.
    #[arg(long)]
    pub software: bool,
    /// Draw charts into this file (.png or .svg): the bounds over swept values, or without sweeps the arrival and service curves at
    /// each queue of the flows, with the longest delay and the greatest backlog.
    #[arg(long, value_name = "FILE")]
    pub plot: Option<takt_figures::Picture>,
    /// Colours of the charts: auto, light or dark. With auto, SVG files follow the theme of the viewer, and PNG files are light.
    #[arg(
        long,
        default_value = "auto",
        hide_default_value = true,
        requires = "plot"
    )]
    pub theme: takt_figures::Theme,
    /// Print all rows of tables. By default, a table of more than 100 rows shows the 20 with the longest delays.
    #[arg(long)]
    pub all: bool,
    /// Print JSON, one object for each combination of swept values.
    #[arg(long)]
    pub json: bool,
}

/// Analyses that the user wants.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Analyses(pub Vec<Analysis>);

fn analyses(text: &str) -> Result<Analyses, String> {
    if text == "all" {
        return Ok(Analyses(Analysis::ALL.to_vec()));
    }
    let names = Analysis::ALL.map(Analysis::name).join(", ");
    let read = |name: &str| {
        Analysis::of_name(name.trim())
            .ok_or_else(|| format!("`{name}` is not an analysis: use {names}, or all"))
    };
    let mut analyses: Vec<Analysis> = Vec::new();
    for name in text.split(',') {
        let analysis = read(name)?;
        if !analyses.contains(&analysis) {
            analyses.push(analysis);
        }
    }
    Ok(Analyses(analyses))
}
