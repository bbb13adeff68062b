//! Leftovers: what a peer leaves behind when its programs are killed, and the time until a new server answers.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use serde::{Deserialize, Serialize};

use crate::own::Mode;
use crate::row::Subject;
use crate::session::{FOLDER_PREFIX, Session, SessionError};
use crate::table::PeerTable;

/// Folders in which peers of one host keep what they share.
const PLACES: [&str; 2] = ["/dev/shm", "/tmp"];
/// Depth of the folders that are looked at.
const DEPTH: u32 = 4;
/// Bytes of the requests before the end and after it.
const BYTES: u32 = 64;
/// Largest number of names that are kept.
const NAMES: usize = 8;

/// Leftovers of a server and a client that were killed (SIGKILL). A broker goes on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Leftovers {
    /// Number of new files in `/dev/shm` and `/tmp`, and of the peer's memory in its own folder.
    pub(crate) files: usize,
    /// Names of some of them.
    pub(crate) names: Vec<String>,
    /// Number of ports that cannot be bound.
    pub(crate) ports: usize,
    /// Time in ms from the start of a new server until its client has the first right answer.
    pub(crate) answer_ms: Option<f64>,
    /// Reason why there was no answer.
    pub(crate) reason: Option<String>,
}

/// Kills a peer while it is connected, counts what is left, and starts it again with the same ports and folder.
pub(crate) fn leftovers(
    table: &PeerTable,
    subject: &Subject,
    seed: u64,
    interrupted: &AtomicBool,
) -> Result<Leftovers, SessionError> {
    let peer = table.peers.get(subject.place);
    let peer = peer.ok_or_else(|| SessionError::failed("the row is gone"))?;
    let before = files();
    let mut session = Session::start(table, peer, &subject.options, seed, interrupted)?;
    session.run((Mode::Echo, BYTES), 20, 0, seed, interrupted)?;
    let held = mapped(&session.processes());
    session.kill();
    let mut left = files();
    left.extend(held.iter().filter(|path| path.exists()).cloned());
    left.retain(|path| !before.contains(path));
    let ports = session.bound_ports();
    let begin = Instant::now();
    let answer = answers(&mut session, seed, interrupted);
    let answer_ms = begin.elapsed().as_secs_f64() * 1000.0;
    drop(session);
    let names = left.iter().take(NAMES);
    let names = names
        .map(|path| path.to_string_lossy().into_owned())
        .collect();
    // Memory that the killed programs had mapped has no owner any more, unless the new ones have removed it.
    for path in left.iter().filter(|path| held.contains(*path)) {
        let _ = fs::remove_file(path);
    }
    let reason = match answer {
        Ok(()) => None,
        Err(SessionError::Interrupted) => return Err(SessionError::Interrupted),
        Err(SessionError::Failed(reason)) => Some(reason),
    };
    Ok(Leftovers {
        files: left.len(),
        names,
        ports,
        answer_ms: reason.is_none().then_some(answer_ms),
        reason,
    })
}

/// Starts both sides anew and asks for one answer.
fn answers(session: &mut Session, seed: u64, interrupted: &AtomicBool) -> Result<(), SessionError> {
    session.start_server(interrupted)?;
    session.start_client(interrupted)?;
    let result = session.run((Mode::Echo, BYTES), 1, 0, seed, interrupted)?;
    match (result.wrong, result.lost) {
        (0, 0) => Ok(()),
        _ => Err(SessionError::failed("the first answer was wrong or lost")),
    }
}

/// Returns the files of shared places. Private folders of peers are left out.
fn files() -> BTreeSet<PathBuf> {
    let mut found = BTreeSet::new();
    for place in PLACES {
        collect(Path::new(place), DEPTH, &mut found);
    }
    found
}

fn collect(folder: &Path, depth: u32, found: &mut BTreeSet<PathBuf>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let is_private = entry
            .file_name()
            .to_string_lossy()
            .starts_with(FOLDER_PREFIX);
        let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
        match is_folder {
            true if depth > 0 && !is_private => collect(&entry.path(), depth - 1, found),
            true => {}
            false => {
                found.insert(entry.path());
            }
        }
    }
}

/// Returns the files of shared places that processes have mapped into their memory.
fn mapped(processes: &[u32]) -> BTreeSet<PathBuf> {
    let mut paths = BTreeSet::new();
    for process in processes {
        let maps = fs::read_to_string(format!("/proc/{process}/maps")).unwrap_or_default();
        // proc_pid_maps(5): address, permissions, offset, device, inode, path.
        let fields = maps.lines().filter_map(|line| line.splitn(6, ' ').nth(5));
        paths.extend(fields.map(|path| PathBuf::from(path.trim_start())));
    }
    paths.retain(|path: &PathBuf| PLACES.iter().any(|place| path.starts_with(place)));
    paths
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    #[test]
    fn new_files_are_found_but_not_those_of_private_folders() {
        let before = files();
        let folder = tempfile::tempdir().unwrap();
        let private = tempfile::Builder::new()
            .prefix(FOLDER_PREFIX)
            .tempdir()
            .unwrap();
        let new = folder.path().join("left");
        fs::write(&new, "x").unwrap();
        fs::write(private.path().join("left"), "x").unwrap();
        let after = files();
        let found: Vec<&PathBuf> = after.difference(&before).collect();
        assert!(found.contains(&&new), "{found:?}");
        assert!(found.iter().all(|path| !path.starts_with(private.path())));
    }
}
