//! Leftovers: what a peer leaves behind when its programs are killed, and the time until a new server answers.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use crate::environment::Environment;
use crate::own::Mode;
use crate::protocol::SessionError;
use crate::row::{Leftovers, Subject};
use crate::session::Session;
use crate::table::PeerTable;

/// Folder of POSIX shared memory (shm_overview(7)).
const SHARED: &str = "/dev/shm";
/// Depth of the folders that are looked at.
const DEPTH: u32 = 4;
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

/// Returns the files below a folder.
fn files(folder: &Path) -> BTreeSet<PathBuf> {
    let mut found = BTreeSet::new();
    collect(folder, DEPTH, &mut found);
    found
}

fn collect(folder: &Path, depth: u32, found: &mut BTreeSet<PathBuf>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        match entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            true if depth > 0 => collect(&entry.path(), depth - 1, found),
            true => {}
            false => {
                found.insert(entry.path());
            }
        }
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

/// Adds the files that a process has open or mapped.
fn hold(process: u32, held: &mut BTreeSet<PathBuf>) {
    let maps = fs::read_to_string(format!("/proc/{process}/maps")).unwrap_or_default();
    // proc_pid_maps(5): address, permissions, offset, device, inode, path.
    let paths = maps.lines().filter_map(|line| line.splitn(6, ' ').nth(5));
    held.extend(paths.map(|path| PathBuf::from(path.trim_start())));
    let descriptors = fs::read_dir(format!("/proc/{process}/fd"));
    let open = descriptors.into_iter().flatten().flatten();
    held.extend(open.filter_map(|entry| fs::read_link(entry.path()).ok()));
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    #[test]
    fn open_files_and_files_below_a_folder_are_found() {
        let folder = tempfile::tempdir().unwrap();
        let (open, closed) = (
            folder.path().join("open"),
            folder.path().join("deep/closed"),
        );
        fs::create_dir(folder.path().join("deep")).unwrap();
        let file = fs::File::create(&open).unwrap();
        fs::write(&closed, "x").unwrap();
        assert_eq!(
            files(folder.path()),
            BTreeSet::from([open.clone(), closed.clone()])
        );
        let mut held = BTreeSet::new();
        hold(std::process::id(), &mut held);
        assert!(held.contains(&open) && !held.contains(&closed), "{held:?}");
        drop(file);
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
