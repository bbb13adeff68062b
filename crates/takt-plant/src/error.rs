//! Reasons why there is no scenario.

use std::fmt;

use takt_scenario::ScenarioError;
use takt_scenario::toml_text::visible;

use crate::configuration::ValueOrigin;

/// Reason why configurations and a network file make no scenario.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PlantError {
    /// The network file, with all mistakes that were found.
    #[error(transparent)]
    Network(ScenarioError),
    /// The configurations: all faults that were found.
    #[error("{}", .0.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))]
    Configurations(Vec<ConfigurationFault>),
    /// The scenario that they make is not valid.
    #[error("{error}")]
    Scenario {
        /// Text of the scenario.
        text: String,
        /// Its mistakes.
        error: ScenarioError,
    },
}

/// Part of a configuration that a scenario cannot have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfigurationFault {
    /// Place of the part.
    pub origin: ValueOrigin,
    /// Name of the part, from the outside in: `UDP/Fast`; without control characters.
    pub entry: String,
    /// Description of the fault.
    pub message: String,
    /// Instruction.
    pub help: String,
}

impl fmt::Display for ConfigurationFault {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            origin,
            entry,
            message,
            help,
        } = self;
        let entry = match entry.as_str() {
            "" => String::new(),
            entry => format!("{entry}: "),
        };
        let text = format!("{entry}{message}. {help}");
        write!(formatter, "{origin}: {}", visible(&text))
    }
}
