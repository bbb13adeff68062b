//! A campaign as its file describes it.

use std::ops::Range;

use super::derived::DerivedField;
use crate::error::{Problem, ScenarioError};
use crate::quantity::Share;

/// A campaign, as its file describes it.
#[derive(Debug, Clone)]
pub struct CampaignFile {
    /// Name; by default that of the file.
    pub name: String,
    /// Description.
    pub description: String,
    /// Scenario files, as they are written: relative to the folder of the campaign's file.
    pub scenarios: Vec<CampaignText>,
    /// Backends, each once.
    pub backends: Vec<CampaignBackend>,
    /// Sweeps in the order of the file.
    pub sweeps: Vec<CampaignSweep>,
    /// Fields whose values follow from swept ones, in the order of the file.
    pub derived: Vec<DerivedField>,
    /// Repetitions of each case; at least 1.
    pub repetitions: u32,
    /// Seed of the first repetition. The next one has the next seed.
    pub seed: u64,
    /// Messages of each application; by default those of the scenario.
    pub messages: Option<u64>,
    /// True if the simulation has the model of IEEE 802.1Q, false for that of Linux.
    pub ieee_model: bool,
    /// True if the lab gives ports the queueing disciplines of the scenario, false if they keep the kernel's default.
    pub disciplines: bool,
    /// True if a simulated loopback sends one message in each cycle, the latest one; false if it sends all that came.
    pub latest_loopback: bool,
    /// Seed of the order in which rows are computed; `None` for the order of the file.
    pub order_seed: Option<u64>,
    /// Rule that ends the repetitions of a case early.
    pub stop: Option<StopRule>,
    /// Quantities of the summary; by default all round trips and ways.
    pub quantities: Vec<String>,
    pub(super) file_name: String,
    pub(super) source: String,
}

/// A text of a campaign file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CampaignText {
    /// The text.
    pub text: String,
    /// Position in bytes.
    pub span: Range<usize>,
}

/// Place in which a case is computed or measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum CampaignBackend {
    /// The simulator.
    Simulate,
    /// Upper bounds by network calculus.
    Bounds,
    /// The lab's kernel of User-Mode Linux, in virtual time.
    Uml,
    /// Network namespaces on the kernel of the host, in its time.
    Netns,
}

impl CampaignBackend {
    /// All backends.
    pub const ALL: [Self; 4] = [Self::Simulate, Self::Bounds, Self::Uml, Self::Netns];

    /// Returns the name in campaign files and rows.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Simulate => "simulate",
            Self::Bounds => "bounds",
            Self::Uml => "uml",
            Self::Netns => "netns",
        }
    }

    /// Returns the backend of a name.
    #[must_use]
    pub fn of_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|it| it.name() == name)
    }

    /// Returns true if a row depends on a seed. Without one, a second repetition would be the first one.
    #[must_use]
    pub const fn has_seed(self) -> bool {
        !matches!(self, Self::Bounds)
    }

    /// Returns true if the rows are those of a run on Linux's own network (`takt lab`).
    #[must_use]
    pub const fn is_of_lab(self) -> bool {
        matches!(self, Self::Uml | Self::Netns)
    }

    /// Returns true if rows are measured in the time of a host: a second run gives other times.
    #[must_use]
    pub const fn is_measured(self) -> bool {
        matches!(self, Self::Netns)
    }
}

/// One or more names, whose values change together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CampaignSweep {
    /// Fields, or one name of the campaign's own.
    pub names: Vec<SweptName>,
    /// Values of all names in each step, as they are written.
    pub values: Vec<Vec<String>>,
}

/// Name of a swept value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SweptName {
    /// Path of a field, or a name of the campaign's own.
    pub name: String,
    /// False for a name of the campaign's own: other fields are derived from it.
    pub is_field: bool,
    /// Position in bytes.
    pub span: Range<usize>,
}

/// Rule that ends the repetitions of a case and backend.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StopRule {
    /// Quantity of the rows, for example `control.round_trip.mean_ns`.
    pub quantity: CampaignText,
    /// Width of the 95 % confidence interval of the quantity's mean, as a share of this mean, below which it is known well enough.
    pub interval: Share,
    /// Smallest number of repetitions; at least 2.
    pub least: u32,
}

impl CampaignFile {
    /// Returns the name of the file.
    #[must_use]
    pub fn file_name(&self) -> &str {
        &self.file_name
    }

    /// Returns the text of the file.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.source
    }

    /// Returns a mistake at a position of the file.
    #[must_use]
    pub fn error_at(
        &self,
        span: &Range<usize>,
        message: impl Into<String>,
        help: Option<String>,
    ) -> ScenarioError {
        let mut problem = Problem::new(message, span.clone());
        problem.help = help;
        ScenarioError::new(&self.file_name, &self.source, vec![problem])
    }
}
