//! Measured delays as a Parquet file.

use std::path::Path;

use takt_comparison::RunSample;
use takt_parquet::{DelayFile, DelayFileError, DelayRow};

use crate::explain;

/// File that gets all delays.
pub(super) struct Samples(DelayFile);

pub(super) fn create(path: &Path) -> miette::Result<Samples> {
    DelayFile::create(path).map(Samples).map_err(refused)
}

impl Samples {
    pub(super) fn add(&mut self, sample: &RunSample<'_>) {
        self.0.add(&DelayRow {
            run: &sample.run.to_string_lossy(),
            case: &sample.case.directory.to_string_lossy(),
            application: sample.application,
            interval: sample.delay.interval.name,
            counter: sample.delay.counter,
            began: sample.delay.began,
            nanos: sample.delay.nanos,
            is_counted: sample.delay.is_counted,
        });
    }

    pub(super) fn finish(self) -> miette::Result<()> {
        self.0.finish().map_err(refused)
    }
}

fn refused(error: DelayFileError) -> miette::Report {
    explain::with_help(
        error,
        "Use --parquet with a file in an existing directory with enough free space.",
    )
}
