//! Charts of bounds: without sweeps the arrival and service curves at each hop, with sweeps the bounds over their values.

mod hops;
mod numbers;
mod sweeps;

use takt_figures::{Figure, Picture, Theme};

use super::row::Row;
use crate::explain;

/// Draws the charts of the rows.
pub(super) fn draw(picture: &Picture, theme: Theme, rows: &[Row]) -> miette::Result<()> {
    let charts = match rows {
        [row] => hops::charts(row),
        rows => sweeps::charts(rows),
    };
    let figure = Figure { charts, columns: 2 };
    picture.draw(&figure, theme).map_err(|error| {
        explain::with_help(
            error,
            "Check that the directory exists and that this user may write to it.",
        )
    })
}
