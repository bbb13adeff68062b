//! Pictures of bounds: without sweeps the arrival and service curves at each hop, with sweeps the bounds over their values.

mod chart;
mod hops;
mod sweeps;

use takt_bench::picture::Picture;
use takt_calculus::{Extended, Rational};

use self::chart::Charts;
use super::Row;
use crate::explain;

/// Draws what the rows have.
pub(super) fn draw(picture: &Picture, rows: &[Row]) -> miette::Result<()> {
    let charts = match rows {
        [row] => hops::charts(row),
        rows => sweeps::charts(rows),
    };
    picture.draw(&Charts { charts }).map_err(|error| {
        explain::with_help(
            error,
            "Is there such a directory, and may it be written to?",
        )
    })
}

/// A rational number, near enough for a picture.
fn near(number: &Rational) -> f64 {
    number.to_f64().value()
}

fn micros(delay: &Extended) -> Option<f64> {
    delay.finite().map(|delay| near(delay) * 1e6)
}
