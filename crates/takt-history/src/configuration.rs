//! Configuration of aggregates (OPC 10000-13, 4.2.1.2).

use takt_ua::StatusCode;

/// Settings of the aggregates of one Variable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AggregateSettings {
    /// True if an Uncertain value counts as Bad.
    pub treat_uncertain_as_bad: bool,
    /// Percentage of Bad values, or of time with Bad values, from which the result is Bad.
    pub percent_data_bad: u8,
    /// Percentage of Good values, or of time with Good values, from which the result is Good.
    pub percent_data_good: u8,
    /// True if values after the last record continue the slope before it.
    pub use_sloped_extrapolation: bool,
    /// True if a value holds until the next record; otherwise values between two records lie on a line.
    pub stepped: bool,
}

impl AggregateSettings {
    /// Returns the defaults of the standard.
    #[must_use]
    pub const fn new(stepped: bool) -> Self {
        Self {
            treat_uncertain_as_bad: true,
            percent_data_bad: 100,
            percent_data_good: 100,
            use_sloped_extrapolation: false,
            stepped,
        }
    }

    /// Checks the percentages (OPC 10000-13, 4.2.1.2).
    ///
    /// # Errors
    /// `BadAggregateInvalidInputs`: a percentage is above 100, or a result could be Good and Bad.
    pub fn check(&self) -> Result<(), StatusCode> {
        let (bad, good) = (self.percent_data_bad, self.percent_data_good);
        // Below a sum of 100, the shares of Good and of Bad values could both be large enough.
        match bad <= 100 && good <= 100 && u16::from(bad) + u16::from(good) >= 100 {
            true => Ok(()),
            false => Err(StatusCode::BadAggregateInvalidInputs),
        }
    }

    /// Returns true if a value with this status is used in calculations.
    pub(crate) fn is_usable(&self, status: StatusCode) -> bool {
        status.is_good() || (status.is_uncertain() && !self.treat_uncertain_as_bad)
    }
}
