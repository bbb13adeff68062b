//! A peer that runs: broker, server and client, and the line protocol between them and the runner.

mod broker;
mod resources;
mod shared_memory;

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use takt_rt::child::{ChildProcess, Ending};

use crate::environment::{Environment, INTERFACES, PROCESS, RemoteFolder, Side, joined_interfaces};
use crate::own::{Mode, PORTS};
use crate::place::free_ports;
use crate::protocol::{END, RunResult, START, SessionError};
use crate::table::{PeerEntry, PeerNetwork, PeerTable};
use crate::usage::{kill_group, members};
use shared_memory::SharedMemory;
pub(crate) use shared_memory::{SHARED, files, hold};

/// Time after which a client gives up an answer, and some time to go on.
const LOST: Duration = Duration::from_millis(2500);
/// Largest number of round trips that a request takes: with a broker and acknowledgements, and a large message.
const ROUND_TRIPS: u32 = 8;

/// Largest number of lines of information that are kept.
const MOST_INFO: usize = 64;

/// Server and client of a peer, and its broker.
pub(crate) struct Session<'a> {
    environment: &'a Environment,
    // The order matters for Drop: the client ends first, the network last.
    client: Option<ChildProcess>,
    server: Option<ChildProcess>,
    broker: Option<ChildProcess>,
    network: Option<ChildProcess>,
    folder: tempfile::TempDir,
    /// Folder of the server, if it is on another host.
    server_folder: Option<RemoteFolder>,
    /// Process groups of server and broker there.
    remote: [Option<u32>; 2],
    /// First of the ports.
    port: u16,
    /// Number of ports that the broker uses.
    broker_ports: usize,
    /// Beginnings of the command lines of server and client.
    programs: [Vec<String>; 2],
    options: Vec<String>,
    shared_memory: SharedMemory,
    /// Information that the broker and both sides have printed.
    pub(crate) info: Vec<(String, String)>,
}

impl<'a> Session<'a> {
    /// Starts a peer and waits until its client is connected.
    pub(crate) fn start(
        environment: &'a Environment,
        table: &PeerTable,
        peer: &PeerEntry,
        (options, seed): (&[String], u64),
        interrupted: &AtomicBool,
    ) -> Result<Self, SessionError> {
        let network = |folder: &Path| match (peer.environment, environment) {
            (PeerNetwork::Veth, Environment::Loopback) => {
                joined_interfaces(folder, interrupted).map(Some)
            }
            _ => Ok(None),
        };
        let arguments = (options, seed);
        let mut session = Self::prepare(environment, table, peer, arguments, network, interrupted)?;
        session.start_server(interrupted)?;
        if let Some(folder) = &session.server_folder
            && options.iter().any(|option| option.starts_with("security="))
        {
            environment.fetch(folder, session.folder.path())?;
        }
        session.start_client(interrupted)?;
        Ok(session)
    }

    /// Starts the broker of a peer. Server and client come later. `network` starts the holder of their network namespace, if they get
    /// one; its argument is the private folder.
    pub(crate) fn prepare(
        environment: &'a Environment,
        table: &PeerTable,
        peer: &PeerEntry,
        (options, seed): (&[String], u64),
        network: impl FnOnce(&Path) -> Result<Option<ChildProcess>, SessionError>,
        interrupted: &AtomicBool,
    ) -> Result<Self, SessionError> {
        let folder = tempfile::Builder::new().prefix("takt-peer-").tempdir();
        let is_free = environment.free()?;
        let port = free_ports(seed, is_free);
        let mut session = Self {
            environment,
            client: None,
            server: None,
            broker: None,
            network: None,
            folder: folder.map_err(SessionError::failed)?,
            server_folder: environment.folder(interrupted)?,
            remote: [None; 2],
            port: port.ok_or_else(|| SessionError::failed("no ten ports are free"))?,
            broker_ports: 0,
            programs: [Side::Server, Side::Client]
                .map(|side| environment.program(table, peer, side)),
            options: options.to_vec(),
            shared_memory: SharedMemory::before(),
            info: Vec::new(),
        };
        session.network = network(session.folder.path())?;
        if peer.environment == PeerNetwork::Veth {
            let [one, other] = INTERFACES;
            session.options.push(format!("interface={one}"));
            session.options.push(format!("peer-interface={other}"));
        }
        if peer.client_address && !environment.has_one_address() {
            let address = environment.address(Side::Client);
            session.options.push(format!("client-address={address}"));
        }
        if let Some(broker) = &peer.broker {
            let (command, offset) = broker.parts();
            session.start_broker(command, offset, table.root.as_deref(), interrupted)?;
        }
        session.broker_ports = session.used_ports();
        Ok(session)
    }

    /// Returns the process ids of the server, of the client and of the broker, as far as they run.
    pub(crate) fn sides(&self) -> [Option<u32>; 3] {
        [&self.server, &self.client, &self.broker].map(|it| it.as_ref().map(ChildProcess::id))
    }

    /// Returns the environment of both sides.
    pub(crate) fn environment(&self) -> &Environment {
        self.environment
    }

    /// Returns the first of the ports.
    pub(crate) fn port(&self) -> u16 {
        self.port
    }

    /// Returns the private folder.
    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Ends the client. The server and the broker continue.
    pub(crate) fn end_client(&mut self) {
        self.shared_memory.note(&self.processes());
        self.client.take();
    }

    /// Notes the shared memory of further processes, which is removed at the end.
    pub(crate) fn note_shared_memory(&mut self, processes: &[u32]) {
        self.shared_memory.note(processes);
    }

    pub(crate) fn errors(&self, side: &str) -> PathBuf {
        self.folder.path().join(format!("{side}.stderr"))
    }

    /// Returns true if the peer has the interfaces [`INTERFACES`] in a namespace of its own.
    pub(crate) fn has_interfaces(&self) -> bool {
        self.network.is_some()
    }

    /// Returns a command in the network of the peer, whose error output is a file.
    pub(crate) fn command(&self, words: &[String], side: &str) -> Result<Command, SessionError> {
        let mut words = words.to_vec();
        if let Some(network) = &self.network {
            // nsenter becomes the program, with its process id.
            let id = network.id().to_string();
            let mut enter = vec!["nsenter", "--target", &id, "--net"];
            if !rustix::process::geteuid().is_root() {
                enter.extend(["--user", "--preserve-credentials"]);
            }
            enter.push("--");
            words.splice(0..0, enter.into_iter().map(str::to_owned));
        }
        let (program, rest) = words
            .split_first()
            .ok_or_else(|| SessionError::failed("the command line is empty"))?;
        let errors = File::create(self.errors(side)).map_err(SessionError::failed)?;
        let mut command = Command::new(program);
        command.args(rest).stderr(Stdio::from(errors));
        Ok(command)
    }

    /// Returns the path of the private folder at a side.
    fn folder_of(&self, side: Side) -> String {
        match (&self.server_folder, side) {
            (Some(folder), Side::Server) => folder.path.clone(),
            _ => self.folder.path().to_string_lossy().into_owned(),
        }
    }

    fn start_side(
        &mut self,
        place: Side,
        interrupted: &AtomicBool,
    ) -> Result<ChildProcess, SessionError> {
        let [server, client] = &self.programs;
        let (side, program) = match place {
            Side::Server => ("server", server),
            Side::Client => ("client", client),
        };
        let mut words = program.clone();
        let (port, folder) = (self.port.to_string(), self.folder_of(place));
        let address = self.environment.address(Side::Server).to_string();
        let arguments = [
            side,
            "--address",
            &address,
            "--port",
            &port,
            "--folder",
            &folder,
        ];
        words.extend(arguments.map(str::to_owned));
        for option in &self.options {
            words.extend(["--option".to_owned(), option.clone()]);
        }
        let words = self.environment.command(place, words);
        let mut command = self.command(&words, side)?;
        let failed = |error| SessionError::of(side, error, &self.errors(side));
        let child = ChildProcess::start(side, &mut command, Ending::Input).map_err(failed)?;
        let child = child.with_grace(END);
        let deadline = Instant::now() + START;
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            let line = child.line(left, interrupted);
            let line = line.map_err(|error| SessionError::of(side, error, &self.errors(side)))?;
            if place == Side::Server && !self.environment.is_local() && self.remote[0].is_none() {
                self.remote[0] = process_of(&line);
                continue;
            }
            match line.split_once(' ').unwrap_or((&line, "")) {
                ("ready", _) => return Ok(child),
                ("info", rest) => self.note(rest),
                _ => {
                    return Err(SessionError::Failed(format!(
                        "the {side} printed `{line:.100}` before it was ready"
                    )));
                }
            }
        }
    }

    /// Keeps information that a program has printed.
    fn note(&mut self, text: &str) {
        let (key, value) = text.split_once(' ').unwrap_or((text, ""));
        let info = (key.to_owned(), value.chars().take(200).collect());
        if self.info.len() < MOST_INFO && !self.info.contains(&info) {
            self.info.push(info);
        }
    }

    pub(crate) fn start_server(&mut self, interrupted: &AtomicBool) -> Result<(), SessionError> {
        let server = self.start_side(Side::Server, interrupted)?;
        self.server = Some(server);
        Ok(())
    }

    pub(crate) fn start_client(&mut self, interrupted: &AtomicBool) -> Result<(), SessionError> {
        let client = self.start_side(Side::Client, interrupted)?;
        self.client = Some(client);
        Ok(())
    }

    /// Runs requests one after the other.
    pub(crate) fn run(
        &mut self,
        (mode, size): (Mode, u32),
        count: u32,
        wait_ms: u64,
        seed: u64,
        interrupted: &AtomicBool,
    ) -> Result<RunResult, SessionError> {
        let errors = self.errors("client");
        let failed = |error| SessionError::of("client", error, &errors);
        let Some(client) = &mut self.client else {
            return Err(SessionError::failed("the client is gone"));
        };
        let name = mode.name();
        client
            .tell(&format!("run {name} {size} {count} {wait_ms} {seed}"))
            .map_err(failed)?;
        // A peer that loses everything is given up after some lost requests, unless the link loses them.
        let each = match self.environment.loses() {
            true => LOST,
            false => Duration::from_millis(5),
        };
        let each =
            each + Duration::from_millis(wait_ms) + self.environment.round_trip() * ROUND_TRIPS;
        let limit = Duration::from_secs(30) + each * count;
        let deadline = Instant::now() + limit;
        let count = usize::try_from(count).unwrap_or(usize::MAX);
        let mut result = RunResult::default();
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            let line = client.line(left, interrupted).map_err(failed)?;
            if !result.take(&line, count)? {
                return Ok(result);
            }
        }
    }

    /// Ends all processes in order. The folder stays.
    pub(crate) fn end(&mut self) {
        self.shared_memory.note(&self.processes());
        let ended = [
            &mut self.client,
            &mut self.server,
            &mut self.broker,
            &mut self.network,
        ];
        for mut child in ended.into_iter().filter_map(Option::take) {
            child.end();
            // Processes that a peer has started and left.
            kill_group(child.id());
        }
    }

    /// Returns true for a file in the peer's own folder that is no error output and no other log.
    pub(crate) fn owns(&self, path: &Path) -> bool {
        let kind = path.extension().and_then(|kind| kind.to_str());
        path.starts_with(self.folder.path()) && !matches!(kind, Some("stderr" | "log"))
    }

    /// Returns the processes of client and server.
    pub(crate) fn processes(&self) -> Vec<u32> {
        let sides = [&self.client, &self.server].into_iter().flatten();
        sides.flat_map(|side| members(side.id())).collect()
    }

    /// Kills client and server (SIGKILL).
    pub(crate) fn kill(&mut self) {
        for mut side in [self.client.take(), self.server.take()]
            .into_iter()
            .flatten()
        {
            kill_group(side.id());
            side.end();
        }
    }

    /// Asks the client, and returns the line of its answer.
    pub(crate) fn ask(
        &mut self,
        line: &str,
        interrupted: &AtomicBool,
    ) -> Result<String, SessionError> {
        let errors = self.errors("client");
        let failed = |error| SessionError::of("client", error, &errors);
        let Some(client) = &mut self.client else {
            return Err(SessionError::failed("the client is gone"));
        };
        client.tell(line).map_err(failed)?;
        client.line(START, interrupted).map_err(failed)
    }

    /// Returns the number of ports that nobody else can bind, without those of the broker.
    pub(crate) fn bound_ports(&self) -> usize {
        self.used_ports().saturating_sub(self.broker_ports)
    }

    fn used_ports(&self) -> usize {
        let Ok(is_free) = self.environment.free() else {
            return 0;
        };
        (self.port..self.port.saturating_add(PORTS))
            .filter(|port| !is_free(*port))
            .count()
    }
}

/// Returns the process id in the first line of a program on another host.
fn process_of(line: &str) -> Option<u32> {
    let (key, value) = line.strip_prefix("info ")?.split_once(' ')?;
    value.parse().ok().filter(|_| key == PROCESS)
}

impl Drop for Session<'_> {
    fn drop(&mut self) {
        self.end();
        self.shared_memory.remove();
    }
}
