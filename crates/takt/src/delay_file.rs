//! Measured delays as a Parquet file, with the feature `parquet`.

use std::path::Path;

use takt_analysis::{DelaySample, SampleObserver};
use takt_parquet::{DelayFile, DelayFileError, DelayRow};
use takt_report::RunSample;

use crate::explain;

/// File that gets all delays.
pub struct Delays(DelayFile);

impl Delays {
    /// Creates the file.
    ///
    /// # Errors
    /// The file cannot be created.
    pub fn create(path: &Path) -> miette::Result<Self> {
        DelayFile::create(path).map(Self).map_err(refused)
    }

    /// Adds a delay of a run.
    pub fn add(&mut self, sample: &RunSample<'_>) {
        let run = sample.run.to_string_lossy();
        let case = sample.case.directory.to_string_lossy();
        self.add_row(&run, &case, sample.application, sample.delay);
    }

    fn add_row(&mut self, run: &str, case: &str, application: &str, delay: &DelaySample) {
        self.0.add(&DelayRow {
            run,
            case,
            application,
            interval: delay.interval.name,
            counter: delay.counter,
            began: delay.began,
            nanos: delay.nanos,
            is_counted: delay.is_counted,
        });
    }

    /// Completes the file.
    ///
    /// # Errors
    /// The file could not be written.
    pub fn finish(self) -> miette::Result<()> {
        self.0.finish().map_err(refused)
    }
}

/// Delays of files that belong to no run of the lab.
impl SampleObserver for Delays {
    fn delay(&mut self, sample: &DelaySample) {
        self.add_row("", "", "", sample);
    }
}

fn refused(error: DelayFileError) -> miette::Report {
    explain::with_help(
        error,
        "Use --parquet with a file in an existing directory with enough free space.",
    )
}
