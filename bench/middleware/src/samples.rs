//! Raw samples: `samples.parquet` with the feature `parquet`, otherwise `samples.csv`.

use std::io::ErrorKind;
use std::path::Path;

use crate::error::MiddlewareError;
use crate::row::MiddlewareRow;

/// Answered request.
struct Sample<'a> {
    row: &'a MiddlewareRow,
    round: usize,
    micros: f64,
}

/// Name of the file that a build with other features writes.
#[cfg(feature = "parquet")]
const OTHER: &str = "samples.csv";
#[cfg(not(feature = "parquet"))]
const OTHER: &str = "samples.parquet";

/// Writes the raw samples, and removes those of an earlier comparison in the other format.
pub(crate) fn write(folder: &Path, rows: &[MiddlewareRow]) -> Result<(), MiddlewareError> {
    write_file(folder, rows.iter().flat_map(of_row))?;
    let path = folder.join(OTHER);
    match std::fs::remove_file(&path) {
        Err(error) if error.kind() != ErrorKind::NotFound => {
            Err(MiddlewareError::file("remove", path)(error))
        }
        _ => Ok(()),
    }
}

fn of_row(row: &MiddlewareRow) -> impl Iterator<Item = Sample<'_>> {
    let rounds = row.rounds.iter().enumerate();
    rounds.flat_map(move |(round, times)| {
        times.iter().map(move |micros| Sample {
            row,
            round,
            micros: *micros,
        })
    })
}

#[cfg(feature = "parquet")]
fn write_file<'a>(
    folder: &Path,
    samples: impl Iterator<Item = Sample<'a>>,
) -> Result<(), MiddlewareError> {
    let rows = samples.map(|it| takt_parquet::SampleRow {
        peer: &it.row.peer,
        mode: it.row.mode.name(),
        condition: it.row.condition.name(),
        bytes: it.row.bytes,
        round: u32::try_from(it.round).unwrap_or(u32::MAX),
        nanos: (it.micros * 1000.0).round() as i64,
    });
    takt_parquet::write_samples(&folder.join("samples.parquet"), rows)
        .map_err(|error| MiddlewareError::Output(error.to_string()))
}

#[cfg(not(feature = "parquet"))]
fn write_file<'a>(
    folder: &Path,
    samples: impl Iterator<Item = Sample<'a>>,
) -> Result<(), MiddlewareError> {
    let output = |error: takt_figures::CsvError| MiddlewareError::Output(error.to_string());
    let heading = ["peer", "mode", "bytes", "round", "micros", "condition"];
    let mut csv =
        takt_figures::CsvFile::create(&folder.join("samples.csv"), &heading).map_err(output)?;
    for it in samples {
        csv.row([
            it.row.peer.clone(),
            it.row.mode.name().to_owned(),
            it.row.bytes.to_string(),
            it.round.to_string(),
            format!("{:.3}", it.micros),
            it.row.condition.name().to_owned(),
        ]);
    }
    csv.finish().map_err(output)
}
