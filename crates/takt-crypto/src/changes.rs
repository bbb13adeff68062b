//! Changes of several files of a store as a whole: after a crash or a full disk, either all of them are made, or none.
//!
//! The new files are written beside the old ones first, and brought to the disk. Then a journal, `changes.json`, lists which files
//! take their final names, and which ones are removed: from now on the change is made. A change that was interrupted is completed
//! when the folders are opened, and before the next change.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use zeroize::Zeroizing;

use crate::certificate::{Certificate, Thumbprint};
use crate::folder::{
    ISSUER_LISTS, ISSUERS, REJECTED, StoreError, TRUSTED, TRUSTED_LISTS, decoded, files, name_of,
    write_file,
};
use crate::revocation::RevocationList;

const JOURNAL: &str = "changes.json";

/// Lock of the journal: one process changes the folders at a time.
const LOCK: &str = "changes.lock";

/// New contents of the lists of a store. `None` leaves a list as it is.
#[derive(Debug, Clone, Default)]
pub struct StoredLists {
    /// Certificates that are trusted.
    pub trusted: Option<Vec<Certificate>>,
    /// Revocation lists of trusted issuers.
    pub trusted_revocations: Option<Vec<RevocationList>>,
    /// Certificates of issuers that complete chains.
    pub issuers: Option<Vec<Certificate>>,
    /// Their revocation lists.
    pub issuer_revocations: Option<Vec<RevocationList>>,
}

impl StoredLists {
    /// Returns true if no list is changed.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.trusted.is_none()
            && self.trusted_revocations.is_none()
            && self.issuers.is_none()
            && self.issuer_revocations.is_none()
    }
}

/// Files of an own certificate that replace others. Paths are below the root of the store.
#[derive(Debug, Clone, Default)]
pub struct OwnFiles {
    /// Files with their new contents.
    pub(crate) written: Vec<(PathBuf, Zeroizing<Vec<u8>>)>,
    /// Files that are removed.
    pub(crate) removed: Vec<PathBuf>,
}

/// Makes a change as a whole.
pub(crate) fn apply(root: &Path, lists: &StoredLists, own: &OwnFiles) -> Result<(), StoreError> {
    let lock = lock(root)?;
    // A change that was interrupted comes first, or its journal would be overwritten.
    finish(root)?;
    let mut change = Change::default();
    change.certificates(root, TRUSTED, lists.trusted.as_deref());
    change.certificates(root, ISSUERS, lists.issuers.as_deref());
    change.revocations(root, TRUSTED_LISTS, lists.trusted_revocations.as_deref());
    change.revocations(root, ISSUER_LISTS, lists.issuer_revocations.as_deref());
    let own_files = own.written.iter();
    change
        .written
        .extend(own_files.map(|(path, bytes)| (path.clone(), bytes.clone())));
    change.removed.extend(own.removed.iter().cloned());
    change.commit(root, &sync)?;
    let finished = finish(root);
    drop(lock);
    finished
}

/// Completes a change that was interrupted, and removes what another one has left behind.
pub(crate) fn recover(root: &Path) -> Result<(), StoreError> {
    // Without a journal there is nothing to complete, and no lock file is made.
    if !root.join(JOURNAL).exists() {
        return Ok(());
    }
    let _lock = lock(root)?;
    finish(root)
}

fn io_error(path: &Path) -> impl FnOnce(io::Error) -> StoreError {
    let path = path.to_owned();
    move |source| StoreError::Io { path, source }
}

fn lock(root: &Path) -> Result<File, StoreError> {
    let path = root.join(LOCK);
    let opened = File::options()
        .create(true)
        .truncate(false)
        .write(true)
        .open(&path);
    let file = opened.map_err(io_error(&path))?;
    // The lock ends with the descriptor, also after a crash.
    file.lock().map_err(io_error(&path))?;
    Ok(file)
}

/// Files below the root of a store that change together.
#[derive(Default)]
struct Change {
    written: Vec<(PathBuf, Zeroizing<Vec<u8>>)>,
    removed: Vec<PathBuf>,
}

impl Change {
    fn certificates(&mut self, root: &Path, folder: &str, wanted: Option<&[Certificate]>) {
        let Some(wanted) = wanted else { return };
        let named = wanted.iter().map(|one| (name_of(one), one.der().to_vec()));
        self.replace(root, folder, named.collect());
        for path in files(&root.join(REJECTED)) {
            let rejected = decoded(&path).unwrap_or_default();
            if wanted.iter().any(|wanted| wanted.der() == rejected)
                && let Ok(path) = path.strip_prefix(root)
            {
                // A certificate that is trusted now is no longer a rejected one.
                self.removed.push(path.to_owned());
            }
        }
    }

    fn revocations(&mut self, root: &Path, folder: &str, wanted: Option<&[RevocationList]>) {
        let Some(wanted) = wanted else { return };
        let mut named = BTreeMap::new();
        for list in wanted {
            // A hash makes a file name of every issuer, whatever characters its name has.
            let issuer = Thumbprint::of(list.issuer.as_bytes());
            let usual = format!("{issuer}.crl");
            let name = match named.contains_key(&usual) {
                // Another issuer with the same name.
                true => format!("{issuer} {}.crl", Thumbprint::of(list.der())),
                false => usual,
            };
            named.insert(name, list.der().to_vec());
        }
        self.replace(root, folder, named);
    }

    /// Replaces the files of a folder. A file that has a wanted content already is kept.
    fn replace(&mut self, root: &Path, folder: &str, mut wanted: BTreeMap<String, Vec<u8>>) {
        let mut removed = Vec::new();
        for path in files(&root.join(folder)) {
            let content = decoded(&path).unwrap_or_default();
            let known = wanted.iter().find(|(_, wanted)| **wanted == content);
            match known.map(|(name, _)| name.clone()) {
                Some(name) => drop(wanted.remove(&name)),
                None => removed.push(path),
            }
        }
        let below = removed
            .iter()
            .filter_map(|path| path.strip_prefix(root).ok());
        self.removed.extend(below.map(Path::to_owned));
        let written = wanted.into_iter();
        let written = written.map(|(name, bytes)| (Path::new(folder).join(name), bytes.into()));
        self.written.extend(written);
        // A file with a new content keeps its name.
        self.removed
            .retain(|path| self.written.iter().all(|(written, _)| written != path));
    }

    /// Writes the new files and the journal. After an error nothing is changed. `sync` brings the entries of a folder to the disk.
    fn commit(self, root: &Path, sync: &SyncFolder) -> Result<(), StoreError> {
        if self.written.is_empty() && self.removed.is_empty() {
            return Ok(());
        }
        let mut prepared = Vec::new();
        let committed = self.prepare(root, &mut prepared, sync);
        // A journal without the files that it names would remove others.
        if committed.is_err() && withdraw(root, sync).is_ok() {
            for path in prepared {
                let _ = fs::remove_file(path);
            }
        }
        committed
    }

    fn prepare(
        &self,
        root: &Path,
        prepared: &mut Vec<PathBuf>,
        sync: &SyncFolder,
    ) -> Result<(), StoreError> {
        let mut renamed = Vec::new();
        let mut folders = BTreeSet::new();
        for (number, (path, bytes)) in self.written.iter().enumerate() {
            let folder = path.parent().unwrap_or(Path::new(""));
            // Files with this ending are not read by anybody.
            let unfinished = folder.join(format!("change-{number}.tmp"));
            prepared.push(root.join(&unfinished));
            write_file(&root.join(&unfinished), bytes)?;
            renamed.push(json!([text(&unfinished)?, text(path)?]));
            folders.insert(root.join(folder));
        }
        // A loss of power must not leave a journal without its files.
        for folder in &folders {
            sync(folder)?;
        }
        let removed = self.removed.iter().map(|path| text(path));
        let removed = removed.collect::<Result<Vec<_>, _>>()?;
        let journal = json!({"renamed": renamed, "removed": removed});
        write_file(&root.join(JOURNAL), journal.to_string().as_bytes())?;
        sync(root)
    }
}

/// Removes a journal that is not certain to be on the disk.
fn withdraw(root: &Path, sync: &SyncFolder) -> Result<(), StoreError> {
    let journal = root.join(JOURNAL);
    match fs::remove_file(&journal) {
        Ok(()) => sync(root),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(io_error(&journal)(error)),
    }
}

/// Returns a path as text.
fn text(path: &Path) -> Result<&str, StoreError> {
    path.to_str().ok_or_else(|| StoreError::Io {
        path: path.to_owned(),
        source: io::ErrorKind::InvalidFilename.into(),
    })
}

/// Function that brings the entries of a folder to the disk.
type SyncFolder = dyn Fn(&Path) -> Result<(), StoreError>;

/// Brings the entries of a folder to the disk.
fn sync(folder: &Path) -> Result<(), StoreError> {
    let synced = File::open(folder).and_then(|folder| folder.sync_all());
    synced.map_err(io_error(folder))
}

/// Does what the journal says, and removes it. Each step may have been done before.
fn finish(root: &Path) -> Result<(), StoreError> {
    let path = root.join(JOURNAL);
    let bytes = match fs::read(&path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(io_error(&path)(error)),
    };
    let damaged = || StoreError::Io {
        path: path.clone(),
        source: io::ErrorKind::InvalidData.into(),
    };
    let journal: Value = serde_json::from_slice(&bytes).map_err(|_| damaged())?;
    let steps = |name: &str| journal[name].as_array().into_iter().flatten();
    let below = |step: &Value| step.as_str().map(|step| root.join(step));
    let mut folders: Vec<PathBuf> = Vec::new();
    let mut touched = |path: &Path| {
        folders.extend(path.parent().map(Path::to_owned));
    };
    for step in steps("renamed") {
        let (from, to) = below(&step[0]).zip(below(&step[1])).ok_or_else(damaged)?;
        done(fs::rename(&from, &to), &to)?;
        touched(&to);
    }
    for step in steps("removed") {
        let removed = below(step).ok_or_else(damaged)?;
        done(fs::remove_file(&removed), &removed)?;
        touched(&removed);
    }
    folders.sort();
    folders.dedup();
    for folder in folders {
        sync(&folder)?;
    }
    // Last of all: a crash before that finds the journal and repeats the steps.
    fs::remove_file(&path).map_err(io_error(&path))?;
    sync(root)
}

/// Returns the error of a step, unless it had been done before.
fn done(step: io::Result<()>, path: &Path) -> Result<(), StoreError> {
    match step {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(io_error(path)(error)),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(folder: &str, name: &str, content: &[u8]) -> OwnFiles {
        OwnFiles {
            written: vec![(Path::new(folder).join(name), content.to_vec().into())],
            removed: Vec::new(),
        }
    }

    fn folders() -> tempfile::TempDir {
        let root = tempfile::tempdir().unwrap();
        for folder in [TRUSTED, TRUSTED_LISTS, ISSUERS, ISSUER_LISTS, REJECTED] {
            fs::create_dir_all(root.path().join(folder)).unwrap();
        }
        root
    }

    #[test]
    fn a_change_that_was_interrupted_is_completed_from_each_step_on() {
        // A crash before the journal, after it, after each rename and removal.
        for steps in 0..5 {
            let root = folders();
            let path = |name: &str| root.path().join(TRUSTED).join(name);
            fs::write(path("a"), b"old a").unwrap();
            fs::write(path("b"), b"old b").unwrap();
            let mut change = Change::default();
            for name in ["a", "c"] {
                let to = Path::new(TRUSTED).join(name);
                change.written.push((to, b"new".to_vec().into()));
            }
            change.removed.push(Path::new(TRUSTED).join("b"));
            change.commit(root.path(), &sync).unwrap();
            let do_step: [&dyn Fn(); 4] = [
                &|| fs::remove_file(root.path().join(JOURNAL)).unwrap(),
                &|| fs::rename(path("change-0.tmp"), path("a")).unwrap(),
                &|| fs::rename(path("change-1.tmp"), path("c")).unwrap(),
                &|| fs::remove_file(path("b")).unwrap(),
            ];
            match steps {
                0 => do_step[0](),
                _ => do_step[1..steps].iter().for_each(|step| step()),
            }
            recover(root.path()).unwrap();
            let read = |name| fs::read(path(name)).ok();
            let now = (read("a"), read("b"), read("c"));
            let some = |content: &[u8]| Some(content.to_vec());
            let (old, new) = (
                (some(b"old a"), some(b"old b"), None),
                (some(b"new"), None, some(b"new")),
            );
            assert_eq!(now, if steps == 0 { old } else { new }, "{steps}");
            assert!(!root.path().join(JOURNAL).exists());
        }
    }

    #[test]
    fn a_journal_that_does_not_reach_the_disk_changes_nothing() {
        // The folder cannot be brought to the disk once, or never again.
        for failures in [1, usize::MAX] {
            let root = folders();
            let path = |name: &str| root.path().join(TRUSTED).join(name);
            fs::write(path("old"), b"old").unwrap();
            let change = Change {
                written: written(TRUSTED, "new", b"new").written,
                removed: vec![Path::new(TRUSTED).join("old")],
            };
            let left = std::cell::Cell::new(failures);
            let journal = root.path().join(JOURNAL);
            let folder = root.path().to_owned();
            let disk = {
                let journal = journal.clone();
                move |synced: &Path| {
                    if synced != folder {
                        assert!(!journal.exists(), "the prepared files come first");
                        return sync(synced);
                    }
                    match left.get() {
                        0 => sync(synced),
                        some => {
                            left.set(some - 1);
                            Err(io_error(synced)(io::ErrorKind::StorageFull.into()))
                        }
                    }
                }
            };
            change.commit(root.path(), &disk).unwrap_err();
            assert!(!journal.exists());
            recover(root.path()).unwrap();
            assert_eq!(files(&root.path().join(TRUSTED)), [path("old")]);
        }
    }

    #[test]
    fn the_prepared_files_are_on_the_disk_before_the_journal() {
        let root = folders();
        let synced = std::rc::Rc::new(std::cell::RefCell::new(Vec::new()));
        let seen = std::rc::Rc::clone(&synced);
        let mut own = written(TRUSTED, "a", b"new");
        own.written.extend(written(ISSUERS, "b", b"new").written);
        own.written.extend(written(ISSUERS, "c", b"new").written);
        let change = Change {
            written: own.written,
            removed: Vec::new(),
        };
        let journal = root.path().join(JOURNAL);
        let disk = move |folder: &Path| {
            seen.borrow_mut()
                .push((folder.to_owned(), journal.exists()));
            Ok(())
        };
        change.commit(root.path(), &disk).unwrap();
        let folder = |name: &str| root.path().join(name);
        let expected = [
            (folder(ISSUERS), false),
            (folder(TRUSTED), false),
            (root.path().to_owned(), true),
        ];
        assert_eq!(*synced.borrow(), expected);
    }

    #[test]
    fn a_change_that_cannot_be_written_changes_nothing() {
        let root = folders();
        fs::write(root.path().join(TRUSTED).join("a"), b"old").unwrap();
        let mut own = written(TRUSTED, "a", b"new");
        own.written
            .extend(written("missing folder", "b", b"new").written);
        assert!(apply(root.path(), &StoredLists::default(), &own).is_err());
        let left: Vec<_> = files(&root.path().join(TRUSTED));
        assert_eq!(left, [root.path().join(TRUSTED).join("a")]);
        assert_eq!(fs::read(&left[0]).unwrap(), b"old");
        assert!(!root.path().join(TRUSTED).join("change-0.tmp").exists());
    }
}
