//! Output of short commands.

use std::process::Command;

use crate::protocol::SessionError;

/// Runs a command to its end and returns its output. `subject` is the beginning of the error.
pub(super) fn output_of(command: &mut Command, subject: &str) -> Result<String, SessionError> {
    let output = command.output().map_err(SessionError::failed)?;
    match output.status.success() {
        true => Ok(String::from_utf8_lossy(&output.stdout).into_owned()),
        false => {
            let said = String::from_utf8_lossy(&output.stderr);
            Err(SessionError::Failed(format!("{subject}: {}", said.trim())))
        }
    }
}
