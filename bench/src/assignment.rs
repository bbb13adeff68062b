//! Assignments of the processes of benchmarks. Each process is this program again, with its assignment on the command line.

use std::path::Path;
use std::process::Command;

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::error::BenchError;

/// Assignment of a process of a benchmark.
pub(crate) trait Assignment: Serialize + DeserializeOwned {
    /// Name of this kind of assignment on the command line.
    const NAME: &'static str;

    /// Carries the assignment out until the standard input ends.
    fn carry_out(self) -> Result<(), BenchError>;

    /// Returns the command that runs `program`, this program, with this assignment.
    fn command(&self, program: &Path) -> Result<Command, BenchError> {
        let assignment =
            serde_json::to_string(self).map_err(|error| BenchError::Option(error.to_string()))?;
        let mut command = Command::new(program);
        command.args(["process", Self::NAME, &assignment]);
        Ok(command)
    }

    /// Carries out an assignment from the command line.
    fn run(assignment: &str) -> Result<(), BenchError> {
        let assignment: Self = serde_json::from_str(assignment)
            .map_err(|error| BenchError::Option(format!("no assignment: {error}")))?;
        assignment.carry_out()
    }
}
