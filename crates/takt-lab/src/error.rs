//! Errors of the lab.

use std::io;
use std::path::PathBuf;

use takt_scenario::ScenarioError;

use crate::network::NetworkPlanError;
use crate::run_directory::RunDirectoryError;
use crate::scenario_loop::LoopError;

/// Reason why a scenario cannot run in the lab.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LabError {
    /// The process may not make namespaces.
    #[error("this user may not make network namespaces")]
    NotPermitted,
    /// A program is missing.
    #[error("the program `{0}` is missing")]
    NoProgram(&'static str),
    /// The kernel lacks queueing disciplines that the scenario needs.
    #[error("the kernel of this machine lacks {}", .0.join(", "))]
    MissingDisciplines(Vec<String>),
    /// The network cannot be built from the scenario.
    #[error(transparent)]
    Network(#[from] NetworkPlanError),
    /// An application cannot run.
    #[error(transparent)]
    Loop(#[from] LoopError),
    /// A command failed.
    #[error("{node}: `{command}` failed: {message}")]
    Command {
        /// Name of the node.
        node: String,
        /// Command.
        command: String,
        /// Error output.
        message: String,
    },
    /// A step in a node's namespace failed.
    #[error("{node}: cannot {step}: {error}")]
    Step {
        /// Name of the node.
        node: String,
        /// Step.
        step: &'static str,
        /// Error of the operating system.
        #[source]
        error: io::Error,
    },
    /// Bridges of the kernel cannot forward groups.
    #[error(
        "{node}: the kernel's bridges cannot forward groups (CONFIG_BRIDGE_IGMP_SNOOPING): {message}"
    )]
    NoGroups {
        /// Name of the node.
        node: String,
        /// Error output.
        message: String,
    },
    /// A device has no carrier.
    #[error("{node}: the device {device} did not come up within {seconds} s")]
    NoCarrier {
        /// Name of the node.
        node: String,
        /// Name of the device.
        device: String,
        /// Time in which it should have come up.
        seconds: u64,
    },
    /// A port cannot be configured.
    #[error("{port}: {message}")]
    Discipline {
        /// Name of the port.
        port: String,
        /// Reason.
        message: String,
    },
    /// A socket of a capture or of cross traffic failed.
    #[error("{place}: {error}")]
    Link {
        /// Name of the capture or flow.
        place: String,
        /// Reason.
        #[source]
        error: takt_link::LinkError,
    },
    /// An application ended with an error.
    #[error("application {application}: {message}")]
    Application {
        /// Name of the application.
        application: String,
        /// Reason.
        message: String,
    },
    /// A file cannot be read or written.
    #[error("{}: {error}", path.display())]
    Io {
        /// Path of the file.
        path: PathBuf,
        /// Error of the operating system.
        #[source]
        error: io::Error,
    },
    /// The directory already has a run.
    #[error("{} already has a run", .0.display())]
    Occupied(PathBuf),
    /// The directory has files, which the run might overwrite.
    #[error("{} is not empty", .0.display())]
    NotEmpty(PathBuf),
    /// A histogram is not beside the scenario.
    #[error("the histogram {0} is not in the folder of the scenario")]
    HistogramPlace(String),
    /// The run's directory is damaged.
    #[error(transparent)]
    RunDirectory(#[from] RunDirectoryError),
    /// The scenario has mistakes.
    #[error(transparent)]
    Scenario(#[from] ScenarioError),
    /// The run was interrupted.
    #[error("the run was interrupted")]
    Interrupted,
    /// A thread of the lab panicked.
    #[error("a thread of the lab panicked")]
    Panicked,
}

impl LabError {
    /// Returns true if the error follows from the scenario, so that each further run has it as well. Otherwise, the machine or its state may
    /// be the reason: a full disk, a missing right, too much load.
    #[must_use]
    pub const fn is_of_scenario(&self) -> bool {
        matches!(
            self,
            Self::Network(_)
                | Self::Loop(_)
                | Self::Discipline { .. }
                | Self::HistogramPlace(_)
                | Self::Scenario(_)
        )
    }
}
