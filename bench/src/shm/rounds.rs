//! Measurement series, one after the other, each with fresh processes.

use std::sync::atomic::AtomicBool;
use std::time::Duration;

use takt_figures::Progress;

use super::options::Options;
use super::row::Row;
use super::subjects::Measured;
use crate::assignment::Assignment;
use crate::error::{BenchError, check_interrupt};
use crate::idle::IdleConsumers;
use crate::local_session::LocalSession;
use crate::measure::Samples;
use crate::pace::Pace;
use crate::pair::Setting;
use crate::process::Process;
use crate::round_trip::{self, Operation, Wait};
use crate::seat::Seat;

/// A planned row: subject, operation, and the samples of each series.
#[derive(Debug)]
pub(super) struct Measurement {
    measured: Measured,
    operation: Operation,
    series: Vec<Samples>,
}

impl Measurement {
    /// Returns the row.
    pub(super) fn row(&self, options: &Options) -> Row {
        Row::new(&self.measured, &self.operation, options.rate, &self.series)
    }

    /// Returns all samples, for a picture.
    pub(super) fn samples(&self) -> Samples {
        let mut all = Samples::nanos();
        for series in &self.series {
            all.add(series);
        }
        all
    }
}

/// Number of idle Consumers in a process. Under the usual limits, the process has enough file descriptors for them.
const CONSUMERS_OF_A_PROCESS: usize = 64;
/// Longest time for all of them to connect.
const CONNECTING: Duration = Duration::from_secs(120);

/// Measures everything in the list, in each series in the opposite order of the previous one.
pub(super) fn run(
    options: &Options,
    setting: &Setting<'_>,
    list: &[Measured],
    interrupted: &AtomicBool,
) -> Result<Vec<Measurement>, BenchError> {
    let mut session = LocalSession::open(setting.payloads)?;
    let mut measurements: Vec<Vec<Measurement>> = Vec::new();
    for measured in list {
        let operations = measured.operations(setting.payloads, &mut session)?;
        let of_one = operations.into_iter().map(|operation| Measurement {
            measured: *measured,
            operation,
            series: Vec::new(),
        });
        measurements.push(of_one.collect());
    }
    let progress = Progress::new("series", options.series);
    for series in 0..options.series {
        progress.show(series);
        let mut turn: Vec<_> = list.iter().zip(&mut measurements).collect();
        if series % 2 == 1 {
            turn.reverse();
        }
        for (measured, measurements) in turn {
            check_interrupt(interrupted)?;
            measure(options, setting, measured, measurements, interrupted)?;
        }
    }
    drop(progress);
    Ok(measurements.into_iter().flatten().collect())
}

/// Measures one series of one pair.
fn measure(
    options: &Options,
    setting: &Setting<'_>,
    measured: &Measured,
    measurements: &mut [Measurement],
    interrupted: &AtomicBool,
) -> Result<(), BenchError> {
    let pair = measured.pair;
    let server = pair.start(setting)?;
    let mut idle = Vec::new();
    let mut left = measured.idle_consumers;
    while left > 0 {
        check_interrupt(interrupted)?;
        let count = left.min(CONSUMERS_OF_A_PROCESS);
        let consumers = IdleConsumers {
            endpoint: server.ready().endpoint.clone(),
            count,
        };
        let mut command = consumers.command(setting.program)?;
        let process =
            Process::start_within("idle Consumers", &mut command, CONNECTING, interrupted)?;
        idle.push(process);
        left -= count;
    }
    let mut connection = pair.connect(server.ready(), setting)?;
    let _seat = Seat::take(setting.cores.client_core(pair.placement))?;
    let mut pace = Pace::new(options.rate, pair.wait == Wait::Spin);
    for measurement in measurements {
        let mut durations = Samples::nanos();
        round_trip::measure_at(
            &mut *connection,
            &measurement.operation,
            &mut pace,
            options.iterations,
            &mut durations,
            interrupted,
        )?;
        measurement.series.push(durations);
    }
    Ok(())
}
