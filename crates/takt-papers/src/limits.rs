//! Limits of the numbers in the file of a table or figure.

use std::ops::RangeInclusive;

use takt_scenario::Duration;
use toml::Spanned;

use crate::error::PaperError;
use crate::file::QuickFile;
use crate::place::FileText;

/// Most decimals of a cell: a double has no more.
const MOST_DECIMALS: usize = 15;

/// Most messages of a trace, whose frames are in memory.
const MOST_MESSAGES: u64 = 10_000_000;

/// Most repetitions of a quick run.
const MOST_REPETITIONS: u32 = 1000;

/// Text of a file whose numbers are checked.
pub(crate) struct Limits<'a>(pub(crate) &'a FileText);

impl Limits<'_> {
    fn within<T: Copy + PartialOrd + std::fmt::Display>(
        &self,
        written: &Spanned<T>,
        range: &RangeInclusive<T>,
    ) -> Result<T, PaperError> {
        let value = *written.get_ref();
        if range.contains(&value) {
            return Ok(value);
        }
        let message = format!(
            "expected a number from {} to {}",
            range.start(),
            range.end()
        );
        Err(self.0.mistake(&written.span(), message))
    }

    /// Returns the number of decimals of a row.
    pub(crate) fn decimals(
        &self,
        written: Option<&Spanned<usize>>,
    ) -> Result<Option<usize>, PaperError> {
        written
            .map(|it| self.within(it, &(0..=MOST_DECIMALS)))
            .transpose()
    }

    /// Returns the number of messages of a trace.
    pub(crate) fn messages(&self, written: &Spanned<u64>) -> Result<u64, PaperError> {
        self.within(written, &(1..=MOST_MESSAGES))
    }

    /// Returns messages and repetitions of a quick run.
    pub(crate) fn quick(
        &self,
        written: Option<&Spanned<QuickFile>>,
    ) -> Result<(Option<u64>, Option<u32>), PaperError> {
        let Some(written) = written else {
            return Ok((None, None));
        };
        let QuickFile {
            messages,
            repetitions,
        } = *written.get_ref();
        let is_allowed = messages.is_none_or(|it| it > 0)
            && repetitions.is_none_or(|it| (1..=MOST_REPETITIONS).contains(&it));
        match is_allowed {
            true => Ok((messages, repetitions)),
            false => {
                let message = format!(
                    "expected at least one message, and 1 to {MOST_REPETITIONS} repetitions"
                );
                Err(self.0.mistake(&written.span(), message))
            }
        }
    }

    /// Returns the period of a trace in nanoseconds.
    pub(crate) fn period(&self, written: &Spanned<String>) -> Result<f64, PaperError> {
        let time: Option<Duration> = written.get_ref().parse().ok();
        match time.filter(|it| it.0 > 0) {
            Some(time) => Ok(time.0 as f64 / 1e3),
            None => Err(self.0.mistake(&written.span(), "expected a time above 0")),
        }
    }

    /// Returns the beginning of an axis.
    pub(crate) fn begin(&self, written: Option<&Spanned<f64>>) -> Result<Option<f64>, PaperError> {
        match written {
            Some(it) if !it.get_ref().is_finite() => {
                Err(self.0.mistake(&it.span(), "expected a finite number"))
            }
            other => Ok(other.map(|it| *it.get_ref())),
        }
    }

    /// Returns the range of an axis.
    pub(crate) fn range(
        &self,
        written: Option<&Spanned<(f64, f64)>>,
    ) -> Result<Option<(f64, f64)>, PaperError> {
        let Some(written) = written else {
            return Ok(None);
        };
        let (from, to) = *written.get_ref();
        match from.is_finite() && to.is_finite() && from < to {
            true => Ok(Some((from, to))),
            false => {
                let message = "expected two finite numbers, the smaller one first";
                Err(self.0.mistake(&written.span(), message))
            }
        }
    }
}
