//! Table of peers: a row for each program that can be compared.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde::Deserialize;

use crate::error::MiddlewareError;

/// Takt's own peers and the floors.
const OWN: &str = include_str!("own/own_peers.toml");
/// Name of their file, for errors.
const OWN_FILE: &str = "own_peers.toml";
/// Place of the foreign peers' table below the repository's root.
const FOREIGN: &str = "peers/middleware/peers.toml";
/// Folder of the built peers below the repository's root.
pub(crate) const BUILT: &str = "target/middleware";

/// Kind of middleware.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PeerGroup {
    /// OPC UA.
    OpcUa,
    /// MQTT.
    Mqtt,
    /// DDS.
    Dds,
    /// ROS 1 and 2.
    Ros,
    /// Zenoh.
    Zenoh,
    /// gRPC.
    Rpc,
    /// NATS.
    Nats,
    /// Bare iceoryx2.
    Iceoryx2,
    /// Bare sockets.
    Floor,
}

/// Network in which both sides run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PeerNetwork {
    /// Loopback interface of this host, or the link of the comparison.
    #[default]
    Loopback,
    /// Shared memory of one host.
    Memory,
    /// Two interfaces that are joined, in a network namespace of their own.
    Veth,
}

/// Process that is started before the peer.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(untagged)]
pub enum PeerBroker {
    /// Command line. It is ready when the first port is open.
    Command(Vec<String>),
    /// Command line, and the place of the port that is open when it is ready.
    Described {
        /// Command line.
        command: Vec<String>,
        /// Place of the port among the ten ports.
        #[serde(default)]
        port_offset: u16,
    },
}

impl PeerBroker {
    /// Returns the command line and the place of its port.
    pub(crate) fn parts(&self) -> (&[String], u16) {
        match self {
            Self::Command(command) => (command, 0),
            Self::Described {
                command,
                port_offset,
            } => (command, *port_offset),
        }
    }
}

/// Row of the table.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PeerEntry {
    /// Name in results and filters.
    pub name: String,
    /// Title in tables.
    pub title: String,
    /// Kind of middleware.
    pub group: PeerGroup,
    /// True if a complete report has it.
    #[serde(default)]
    pub required: bool,
    /// Command that builds it, relative to the folder of the table.
    #[serde(default)]
    pub build: Vec<String>,
    /// Beginning of the command line, relative to the repository's root.
    pub program: Vec<String>,
    /// Process that is started before.
    pub broker: Option<PeerBroker>,
    /// Options of further variants. The first variant has none.
    #[serde(default)]
    pub variants: Vec<Vec<String>>,
    /// Debian packages.
    #[serde(default)]
    pub packages: Vec<String>,
    /// Size of the download in MiB.
    #[serde(default)]
    pub download_mib: u32,
    /// Size in MiB of the crates that its build fetches, where cargo does not have them yet.
    #[serde(default)]
    pub crates_mib: u32,
    /// Documentation of its settings for low latency.
    #[serde(default)]
    pub source: String,
    /// Network of both sides.
    #[serde(default)]
    pub environment: PeerNetwork,
    /// Beginning of the command line of a node of `takt bench nodes`, if it has one.
    #[serde(default)]
    pub node: Vec<String>,
    /// True if nodes announce themselves to each other.
    #[serde(default)]
    pub node_discovery: bool,
    /// True if the server sends to an address that it must know: the option `client-address` tells it.
    #[serde(default)]
    pub client_address: bool,
    /// Remark for the report.
    #[serde(default)]
    pub note: String,
}

impl PeerEntry {
    /// Returns true if the messages of a variant pass through a network.
    pub(crate) fn is_networked(&self, options: &[String]) -> bool {
        let is_shared = options.iter().any(|option| option == "transport=shm");
        self.environment != PeerNetwork::Memory && !is_shared
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    peer: Vec<PeerEntry>,
}

/// Peers, and the root of the repository that they are part of.
#[derive(Debug, Clone)]
pub struct PeerTable {
    /// Rows.
    pub peers: Vec<PeerEntry>,
    /// Root of the repository; `None` if the foreign peers' table was not found.
    pub root: Option<PathBuf>,
    /// Folder of the foreign peers' table.
    pub folder: Option<PathBuf>,
}

impl PeerTable {
    /// Reads Takt's own rows, and those of the foreign peers: of `file`, or of the table in the repository that this program or the
    /// current directory belongs to.
    ///
    /// # Errors
    /// [`MiddlewareError`]: a table that cannot be read or is not valid.
    pub fn load(file: Option<&Path>) -> Result<Self, MiddlewareError> {
        let mut peers = parse(Path::new(OWN_FILE), OWN)?;
        let found = file.map(Path::to_path_buf).or_else(find);
        let mut folder = None;
        if let Some(path) = found {
            let text = std::fs::read_to_string(&path);
            let text = text.map_err(MiddlewareError::file("read", &path))?;
            peers.extend(parse(&path, &text)?);
            folder = path
                .canonicalize()
                .ok()
                .and_then(|path| Some(path.parent()?.to_owned()));
        }
        let mut names: Vec<&str> = peers.iter().map(|peer| peer.name.as_str()).collect();
        names.sort_unstable();
        if let Some(twice) = names.windows(2).find(|pair| pair[0] == pair[1]) {
            return Err(MiddlewareError::Table {
                path: PathBuf::from(FOREIGN),
                reason: format!("the peer `{}` is there twice", twice[0]),
            });
        }
        // The table is two folders below the root.
        let root = folder
            .as_deref()
            .and_then(Path::parent)
            .and_then(Path::parent);
        let root = root.map(Path::to_path_buf);
        Ok(Self {
            peers,
            root,
            folder,
        })
    }

    /// Returns the command line of a peer: with this program, and with paths below the root.
    pub(crate) fn program(&self, peer: &PeerEntry) -> Vec<String> {
        self.command_line(&peer.program)
    }

    /// Returns the command line of a node of a peer.
    pub(crate) fn node_program(&self, peer: &PeerEntry) -> Vec<String> {
        self.command_line(&peer.node)
    }

    fn command_line(&self, words: &[String]) -> Vec<String> {
        let place = |(index, word): (usize, &String)| match (word.as_str(), &self.root) {
            ("{takt-bench}", _) => vec![this_program()],
            ("{takt-node}", _) => own_node(),
            (_, Some(root)) if index == 0 && word.contains('/') => {
                vec![root.join(word).to_string_lossy().into_owned()]
            }
            _ => vec![word.clone()],
        };
        words.iter().enumerate().flat_map(place).collect()
    }

    /// Returns the file that the build of a peer writes as its last step, with the checksums of the files that it has used.
    pub(crate) fn mark(&self, peer: &PeerEntry) -> Option<PathBuf> {
        let root = self.root.as_ref().filter(|_| !peer.build.is_empty())?;
        Some(root.join(BUILT).join(&peer.name).join("complete"))
    }

    /// Returns true if a peer was built of the files that are there now (`sha256sum -c`).
    pub(crate) fn is_current(&self, peer: &PeerEntry) -> bool {
        let (Some(mark), Some(folder)) = (self.mark(peer), &self.folder) else {
            return true;
        };
        let mut check = Command::new("sha256sum");
        let check = check.arg("-c").arg(mark).current_dir(folder);
        let check = check.stdin(Stdio::null()).stdout(Stdio::null());
        let status = check.stderr(Stdio::null()).status();
        status.is_ok_and(|status| status.success())
    }

    /// Returns the reason why a peer cannot be started: its program is not there, or its build did not come to its end.
    pub(crate) fn missing(&self, peer: &PeerEntry) -> Option<String> {
        self.missing_program(peer, &self.program(peer))
    }

    /// Returns the reason why the nodes of a peer cannot be started.
    pub(crate) fn missing_node(&self, peer: &PeerEntry) -> Option<String> {
        self.missing_program(peer, &self.node_program(peer))
    }

    fn missing_program(&self, peer: &PeerEntry, program: &[String]) -> Option<String> {
        let first = program.first().map(PathBuf::from).unwrap_or_default();
        let is_there = !first.is_absolute() || first.is_file();
        if is_there && self.mark(peer).is_none_or(|mark| mark.is_file()) {
            return None;
        }
        Some(format!(
            "not installed: takt bench peers install {}",
            peer.name
        ))
    }
}

fn this_program() -> String {
    let program = std::env::current_exe().unwrap_or_else(|_| PathBuf::from("takt-bench"));
    program.to_string_lossy().into_owned()
}

/// Returns the program `takt-node`, if it lies beside this program.
pub(crate) fn small_node() -> Option<PathBuf> {
    let node = Path::new(&this_program()).with_file_name("takt-node");
    node.is_file().then_some(node)
}

/// Returns the beginning of the command line of Takt's own nodes: `takt-node`, or else this program.
fn own_node() -> Vec<String> {
    match small_node() {
        Some(node) => vec![node.to_string_lossy().into_owned()],
        None => vec![this_program(), "node".to_owned()],
    }
}

fn parse(path: &Path, text: &str) -> Result<Vec<PeerEntry>, MiddlewareError> {
    let file: File = toml::from_str(text).map_err(|error| MiddlewareError::Table {
        path: path.to_owned(),
        reason: error.to_string(),
    })?;
    match file.peer.iter().find(|peer| peer.program.is_empty()) {
        Some(peer) => Err(MiddlewareError::Table {
            path: path.to_owned(),
            reason: format!("the peer `{}` has no program", peer.name),
        }),
        None => Ok(file.peer),
    }
}

/// Finds the table in the folders above the current directory, and above this program.
fn find() -> Option<PathBuf> {
    let places = [std::env::current_dir(), std::env::current_exe()];
    let mut above = places.iter().flatten().flat_map(|place| place.ancestors());
    above.find_map(|folder| Some(folder.join(FOREIGN)).filter(|path| path.is_file()))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    #[test]
    fn own_peers_are_in_the_table() {
        let peers = parse(Path::new(OWN_FILE), OWN).unwrap();
        assert!(
            peers
                .iter()
                .all(|peer| peer.required == peer.broker.is_none() && !peer.source.is_empty())
        );
        assert!(
            peers
                .iter()
                .any(|peer| peer.environment == PeerNetwork::Veth)
        );
    }

    #[test]
    fn a_mistake_has_a_line() {
        let text =
            "[[peer]]\nname = \"a\"\ntitle = \"A\"\ngroup = \"unknown\"\nprogram = [\"a\"]\n";
        let error = parse(Path::new("x.toml"), text).unwrap_err().to_string();
        assert!(error.contains("line 4"), "{error}");
        let text = "[[peer]]\nname = \"a\"\ntitle = \"A\"\ngroup = \"mqtt\"\nprogram = []\n";
        assert!(parse(Path::new("x.toml"), text).is_err());
    }
}
