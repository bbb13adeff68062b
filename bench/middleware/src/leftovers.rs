//! Leftovers: what a peer leaves behind when its programs are killed, and the time until a new server answers.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use crate::environment::Environment;
use crate::own::Mode;
use crate::protocol::SessionError;
use crate::row::{Leftovers, Subject};
use crate::session::{SHARED, Session, files, hold};
use crate::table::PeerTable;

/// Bytes of the requests before the end and after it.
const BYTES: u32 = 64;
/// Length of the beginning that names of files of one program have in common: the name of the middleware and a number.
const BEGINNING: usize = SHARED.len() + 16;
/// Largest number of names that are kept.
const NAMES: usize = 8;

/// Kills a peer while it is connected, counts what is left, and starts it again with the same ports and folder.
pub(crate) fn leftovers(
    environment: &Environment,
    table: &PeerTable,
    subject: &Subject,
    seed: u64,
    interrupted: &AtomicBool,
) -> Result<Leftovers, SessionError> {
    let peer = table.peers.get(subject.place);
    let peer = peer.ok_or_else(|| SessionError::failed("the row is gone"))?;
    let before = files(Path::new(SHARED));
    let mut session = Session::start(
        environment,
        table,
        peer,
        (&subject.options, seed),
        interrupted,
    )?;
    session.run((Mode::Echo, BYTES), 20, 0, seed, interrupted)?;
    let mut held = BTreeSet::new();
    session
        .processes()
        .iter()
        .for_each(|process| hold(*process, &mut held));
    session.kill();
    let mut left = files(Path::new(SHARED));
    left.retain(|path| !before.contains(path) && held.iter().any(|held| are_alike(path, held)));
    // Programs are mapped files, too: in temporary folders, only files of the peer's own folder count.
    let own = held
        .iter()
        .filter(|path| session.owns(path) && path.exists());
    left.extend(own.cloned());
    let ports = session.bound_ports();
    let begin = Instant::now();
    let answer = answers(&mut session, seed, interrupted);
    let answer_ms = begin.elapsed().as_secs_f64() * 1000.0;
    // Programs that find what others left may remove it.
    session.end();
    let kept = left.iter().filter(|path| path.exists()).count();
    drop(session);
    // Shared memory that was made during this measurement, and that the killed programs had open, has no owner any more.
    for path in left
        .iter()
        .filter(|path| path.starts_with(SHARED) && held.contains(*path))
    {
        // New programs may have removed it.
        let _ = fs::remove_file(path);
    }
    let reason = match answer {
        Ok(()) => None,
        Err(SessionError::Interrupted) => return Err(SessionError::Interrupted),
        Err(SessionError::Failed(reason)) => Some(reason),
    };
    let names = left.iter().take(NAMES);
    Ok(Leftovers {
        files: left.len(),
        kept,
        names: names
            .map(|path| path.to_string_lossy().into_owned())
            .collect(),
        ports,
        answer_ms: reason.is_none().then_some(answer_ms),
        reason,
    })
}

/// Starts both sides anew and asks for one answer.
fn answers(
    session: &mut Session<'_>,
    seed: u64,
    interrupted: &AtomicBool,
) -> Result<(), SessionError> {
    session.start_server(interrupted)?;
    session.start_client(interrupted)?;
    let result = session.run((Mode::Echo, BYTES), 1, 0, seed, interrupted)?;
    match (result.wrong, result.lost) {
        (0, 0) => Ok(()),
        _ => Err(SessionError::failed("the first answer was wrong or lost")),
    }
}

/// Returns true if a file is one that a peer had open, or has a name that begins in the same way. Other programs have shared memory,
/// too.
fn are_alike(path: &Path, held: &Path) -> bool {
    let beginning = |path: &Path| {
        path.as_os_str()
            .as_encoded_bytes()
            .get(..BEGINNING)
            .map(<[u8]>::to_vec)
    };
    path == held || (beginning(path).is_some() && beginning(path) == beginning(held))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_one_program_have_names_that_begin_alike() {
        let alike = |one: &str, other: &str| are_alike(Path::new(one), Path::new(other));
        assert!(alike(
            "/dev/shm/takt_fe00_984bc4_a.data",
            "/dev/shm/takt_fe00_984bc4_b.dynamic"
        ));
        assert!(!alike(
            "/dev/shm/takt_fe00_984bc4_a.data",
            "/dev/shm/takt_1b_113_b.dynamic"
        ));
        assert!(alike("/dev/shm/a", "/dev/shm/a") && !alike("/dev/shm/a", "/dev/shm/b"));
    }
}
