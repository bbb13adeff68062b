//! Saved states: the disciplines that an interface had before the first change, on disk, so that they can be restored
//! even after the process was killed.

use std::fs::{self, File};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::qdisc::Qdisc;
use crate::read_back::{ReadBackError, read_qdiscs};
use crate::system::InterfacePlace;

/// Version of the files.
const VERSION: u64 = 1;

/// Directory of saved states, one file for each interface.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SavedStates {
    directory: PathBuf,
}

/// State of an interface before the first change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SavedState {
    /// Place of the interface.
    pub place: InterfacePlace,
    /// Output of `tc -j -s -d qdisc show`.
    pub qdiscs: String,
    /// True if there was room for filters of received frames.
    pub clsact: bool,
    /// VLAN interfaces that did not exist.
    pub vlan_interfaces: Vec<String>,
}

/// Failure of the directory of saved states.
#[derive(Debug, thiserror::Error)]
pub enum SavedStateError {
    /// The file system refuses.
    #[error("cannot keep the earlier state in {}: {source}", path.display())]
    Io {
        /// File or directory.
        path: PathBuf,
        /// Cause.
        #[source]
        source: std::io::Error,
    },
    /// A file that Takt did not write.
    #[error("{} is damaged", path.display())]
    Damaged {
        /// File.
        path: PathBuf,
    },
    /// A discipline that cannot be made again.
    #[error("the interface has a discipline `{kind}`, which could not be restored afterwards")]
    NotRestorable {
        /// Name of its kind.
        kind: String,
    },
}

impl SavedState {
    /// Returns the disciplines to be attached again, parents first. Empty if the kernel's default was there.
    ///
    /// # Errors
    /// A discipline of a kind whose parameters are not known.
    pub fn tree(&self) -> Result<Vec<Qdisc>, SavedStateError> {
        let unreadable = |_: ReadBackError| SavedStateError::NotRestorable {
            kind: "unreadable".to_owned(),
        };
        let qdiscs = read_qdiscs(&self.qdiscs).map_err(unreadable)?;
        let attached = qdiscs
            .into_iter()
            .filter(|qdisc| !qdisc.is_default() && !qdisc.is_ingress());
        let tree = attached.map(|qdisc| match qdisc.kind {
            Some(kind) => Ok(Qdisc {
                handle: qdisc.handle,
                parent: qdisc.parent,
                kind,
            }),
            None => Err(SavedStateError::NotRestorable { kind: qdisc.name }),
        });
        let mut tree: Vec<Qdisc> = tree.collect::<Result<_, _>>()?;
        let parents = tree.clone();
        tree.sort_by_key(|qdisc| depth(qdisc, &parents));
        Ok(tree)
    }
}

/// Returns the number of disciplines above one.
fn depth(qdisc: &Qdisc, all: &[Qdisc]) -> usize {
    let mut depth = 0;
    let mut here = qdisc;
    while let crate::qdisc::QdiscParent::Class(handle, _) = here.parent {
        depth += 1;
        match all.iter().find(|other| other.handle == handle) {
            // In a file that was tampered with, parents may form a circle.
            Some(parent) if depth <= all.len() => here = parent,
            _ => break,
        }
    }
    depth
}

impl SavedStates {
    /// Names the directory. It is made when the first state is saved.
    pub fn new(directory: impl Into<PathBuf>) -> Self {
        Self {
            directory: directory.into(),
        }
    }

    /// Returns the file of an interface in a network namespace.
    pub fn file(&self, namespace: &str, interface: &str) -> PathBuf {
        // The inode identifies the namespace. Colon and brackets of `net:[…]` have no place in the name of a file.
        let digits: String = namespace.chars().filter(char::is_ascii_digit).collect();
        self.directory.join(format!("{digits}-{interface}.json"))
    }

    /// Saves a state. When this returns, it is on the disk.
    ///
    /// # Errors
    /// The file system refuses.
    pub fn save(&self, state: &SavedState) -> Result<(), SavedStateError> {
        let path = self.file(&state.place.namespace, &state.place.interface);
        let text = format!("{:#}\n", to_json(state));
        let written = fs::create_dir_all(&self.directory)
            .and_then(|()| write_durably(&self.directory, &path, &text));
        written.map_err(|source| SavedStateError::Io { path, source })
    }

    /// Returns the saved state of an interface. A state of another boot, or of an interface that has gone, does not
    /// count, and its file is removed.
    ///
    /// # Errors
    /// The file cannot be read, or is damaged.
    pub fn load(&self, place: &InterfacePlace) -> Result<Option<SavedState>, SavedStateError> {
        let path = self.file(&place.namespace, &place.interface);
        let text = match fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(source) => return Err(SavedStateError::Io { path, source }),
        };
        let state = serde_json::from_str(&text)
            .ok()
            .and_then(|value| of_json(&value));
        let state = state.ok_or(SavedStateError::Damaged { path })?;
        if state.place == *place {
            return Ok(Some(state));
        }
        self.remove(place)?;
        Ok(None)
    }

    /// Removes the saved state of an interface, if there is one.
    ///
    /// # Errors
    /// The file system refuses.
    pub fn remove(&self, place: &InterfacePlace) -> Result<(), SavedStateError> {
        let path = self.file(&place.namespace, &place.interface);
        match fs::remove_file(&path) {
            Err(error) if error.kind() != ErrorKind::NotFound => Err(SavedStateError::Io {
                path,
                source: error,
            }),
            _ => Ok(()),
        }
    }

    /// Returns the names of the interfaces in a network namespace that have a saved state, in order.
    ///
    /// # Errors
    /// The directory cannot be read.
    pub fn interfaces(&self, namespace: &str) -> Result<Vec<String>, SavedStateError> {
        let fault = |source| SavedStateError::Io {
            path: self.directory.clone(),
            source,
        };
        let entries = match fs::read_dir(&self.directory) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
            entries => entries.map_err(fault)?,
        };
        // All files of this namespace begin as the one without an interface does.
        let empty = self.file(namespace, "");
        let prefix = empty
            .file_stem()
            .map(|stem| stem.to_string_lossy().into_owned())
            .unwrap_or_default();
        let mut names = Vec::new();
        for entry in entries {
            let name = entry
                .map_err(fault)?
                .file_name()
                .to_string_lossy()
                .into_owned();
            let interface = name
                .strip_prefix(&prefix)
                .and_then(|name| name.strip_suffix(".json"));
            names.extend(interface.map(str::to_owned));
        }
        names.sort();
        Ok(names)
    }
}

/// Writes a file, so that after a crash there is either nothing or the whole text under the name.
fn write_durably(directory: &Path, path: &Path, text: &str) -> std::io::Result<()> {
    let new = path.with_extension("new");
    let mut file = File::create(&new)?;
    file.write_all(text.as_bytes())?;
    // Otherwise the new name could reach the disk before the contents do.
    file.sync_all()?;
    fs::rename(&new, path)?;
    // The new name is durable only when the directory is, too.
    File::open(directory)?.sync_all()
}

fn to_json(state: &SavedState) -> Value {
    json!({
        "version": VERSION,
        "interface": state.place.interface,
        "index": state.place.index,
        "namespace": state.place.namespace,
        "boot": state.place.boot,
        "clsact": state.clsact,
        "vlan_interfaces": state.vlan_interfaces,
        "qdiscs": state.qdiscs,
    })
}

fn of_json(value: &Value) -> Option<SavedState> {
    let text = |name: &str| value.get(name)?.as_str().map(str::to_owned);
    if value.get("version")?.as_u64()? != VERSION {
        return None;
    }
    let names = value.get("vlan_interfaces")?.as_array()?.iter();
    Some(SavedState {
        place: InterfacePlace {
            interface: text("interface")?,
            index: value.get("index")?.as_u64()?,
            namespace: text("namespace")?,
            boot: text("boot")?,
        },
        qdiscs: text("qdiscs")?,
        clsact: value.get("clsact")?.as_bool()?,
        vlan_interfaces: names
            .filter_map(|name| name.as_str().map(str::to_owned))
            .collect(),
    })
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    fn state(index: u64, qdiscs: &str) -> SavedState {
        SavedState {
            place: InterfacePlace {
                interface: "eth0".to_owned(),
                index,
                namespace: "net:[42]".to_owned(),
                boot: "b".to_owned(),
            },
            qdiscs: qdiscs.to_owned(),
            clsact: true,
            vlan_interfaces: vec!["eth0.5".to_owned()],
        }
    }

    #[test]
    fn a_state_is_found_again_until_its_interface_is_another_one() {
        let directory = tempfile::tempdir().unwrap();
        let states = SavedStates::new(directory.path().join("tsn"));
        let saved = state(7, "[]");
        assert_eq!(states.load(&saved.place).unwrap(), None);
        states.save(&saved).unwrap();
        assert_eq!(states.load(&saved.place).unwrap(), Some(saved.clone()));
        assert_eq!(states.interfaces("net:[42]").unwrap(), ["eth0"]);
        assert_eq!(states.interfaces("net:[4]").unwrap(), [""; 0]);
        assert_eq!(states.load(&state(8, "").place).unwrap(), None);
        assert_eq!(
            states.load(&saved.place).unwrap(),
            None,
            "the file is removed"
        );
        states.remove(&saved.place).unwrap();
    }

    #[test]
    fn a_damaged_file_is_an_error() {
        let directory = tempfile::tempdir().unwrap();
        let states = SavedStates::new(directory.path());
        let saved = state(7, "[]");
        fs::write(states.file("net:[42]", "eth0"), "{\"version\":1}").unwrap();
        assert!(matches!(
            states.load(&saved.place),
            Err(SavedStateError::Damaged { .. })
        ));
    }

    #[test]
    fn parents_come_before_children() {
        let text = include_str!("../tests/kernel_6_1/cbs.json");
        let names: Vec<String> = state(7, text)
            .tree()
            .unwrap()
            .iter()
            .map(|qdisc| qdisc.handle.to_string())
            .collect();
        assert_eq!(names, ["100:", "102:", "101:", "111:"]);
        let default = r#"[{"kind":"noqueue","handle":"0:","root":true,"options":{}}]"#;
        assert_eq!(state(7, default).tree().unwrap(), []);
        let foreign = r#"[{"kind":"htb","handle":"1:","root":true,"options":{}}]"#;
        assert!(matches!(
            state(7, foreign).tree(),
            Err(SavedStateError::NotRestorable { .. })
        ));
    }
}
