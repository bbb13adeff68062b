//! Kinds of assignments, each with the handler that its benchmark brings.

use super::assignment::Assignment;
use super::directory::Part;
use super::error::BenchError;
use super::idle::IdleConsumers;
use super::reads::{ReadFloor, ReadServer};
use super::serve::ServerAssignment;
use super::sessions::CountingServer;
use super::shm::waiting::Busy;

/// Carries out an assignment of the kind `name`, a JSON text, until the standard input ends.
///
/// # Errors
/// [`BenchError`].
pub fn carry_out(name: &str, assignment: &str) -> Result<(), BenchError> {
    let run = match name {
        takt_attack::ASSIGNMENT => return Ok(takt_attack::carry_out(assignment)?),
        ServerAssignment::NAME => ServerAssignment::run,
        IdleConsumers::NAME => IdleConsumers::run,
        Busy::NAME => Busy::run,
        Part::NAME => Part::run,
        CountingServer::NAME => CountingServer::run,
        ReadServer::NAME => ReadServer::run,
        ReadFloor::NAME => ReadFloor::run,
        _ => return Err(BenchError::Option(format!("no assignment: `{name}`"))),
    };
    // Connections take several descriptors each. With too few, each failure to open one is an error of its own.
    takt_rt::descriptors::raise_limit();
    run(assignment)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::payload::Payload;
    use crate::round_trip::Wait;
    use crate::serve::Role;

    #[test]
    fn assignments_survive_the_command_line() {
        let assignment = ServerAssignment {
            role: Role::TaktSharedMemory,
            wait: Wait::Adaptive,
            ordinary: false,
            core: 1,
            payloads: Payload::ALL.to_vec(),
            longest: 5000,
        };
        let command = assignment.command(std::path::Path::new("takt")).unwrap();
        let arguments: Vec<&str> = command.get_args().filter_map(|it| it.to_str()).collect();
        let [.., "server", text] = arguments[..] else {
            panic!("{arguments:?}");
        };
        let read: ServerAssignment = serde_json::from_str(text).unwrap();
        assert_eq!(read, assignment);
        for (name, text) in [("server", "nonsense"), ("nonsense", text)] {
            assert!(matches!(carry_out(name, text), Err(BenchError::Option(_))));
        }
    }
}
