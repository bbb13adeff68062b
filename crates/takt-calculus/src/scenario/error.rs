//! Reasons why a scenario has no bounds.

use takt_scenario::Part;

use crate::ShaperError;
use crate::curve::CurveError;
use crate::port::{PortError, PortNetworkError};

/// Reasons why a scenario has no bounds. Overload is no such reason: bounds are infinite then.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ScenarioBoundsError {
    /// A port without known curves.
    #[error("{port}: {what}")]
    Port {
        /// Name of the port, by [`Scenario::port_name`](takt_scenario::Scenario::port_name).
        port: String,
        /// The reason, with the names of classes.
        what: String,
        /// The discipline or the class.
        part: Part,
        /// The reason.
        #[source]
        reason: Box<PortError>,
    },
    /// A part without known curves, or one that the chosen model leaves out.
    #[error("{place}: {what}")]
    NotModelled {
        /// The port, class or flow.
        place: String,
        /// Description of the part.
        what: String,
        /// The class or discipline.
        part: Part,
    },
    /// An invalid shaper.
    #[error(transparent)]
    Shaper(Box<ShaperError>),
    /// An invalid network.
    #[error(transparent)]
    Network(Box<PortNetworkError>),
    /// A negative size or rate.
    #[error(transparent)]
    Curve(#[from] CurveError),
}

impl ScenarioBoundsError {
    /// Returns the part of the scenario that the error is about, if it is known.
    /// [`ScenarioFile::error_at`](takt_scenario::ScenarioFile::error_at) returns its line.
    pub fn part(&self) -> Option<Part> {
        match self {
            Self::Port { part, .. } | Self::NotModelled { part, .. } => Some(*part),
            Self::Shaper(_) | Self::Network(_) | Self::Curve(_) => None,
        }
    }
}

impl From<PortNetworkError> for ScenarioBoundsError {
    fn from(error: PortNetworkError) -> Self {
        Self::Network(Box::new(error))
    }
}

impl From<ShaperError> for ScenarioBoundsError {
    fn from(error: ShaperError) -> Self {
        Self::Shaper(Box::new(error))
    }
}
