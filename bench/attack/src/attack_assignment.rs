//! Assignment of an attacker: an attacker may start others.

use std::path::Path;
use std::process::Command;

use serde::{Deserialize, Serialize};

use crate::error::AttackError;
use crate::kind::Attack;
use crate::target::AttackTarget;

/// Kind of the assignment on the command line.
pub const ASSIGNMENT: &str = "attack";

/// Assignment of an attacker.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct AttackAssignment {
    pub(crate) attack: Attack,
    pub(crate) target: AttackTarget,
    /// Divisor of the counts.
    pub(crate) divisor: u32,
}

impl AttackAssignment {
    /// Returns the command that runs `program` with this assignment.
    pub(crate) fn command(&self, program: &Path) -> Result<Command, AttackError> {
        let assignment = serde_json::to_string(self)?;
        let mut command = Command::new(program);
        command.args(["process", ASSIGNMENT, &assignment]);
        Ok(command)
    }
}
