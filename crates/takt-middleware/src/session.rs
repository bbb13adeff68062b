//! A peer that runs: broker, server and client, and the line protocol between them and the runner.

use std::fs::File;
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use takt_rt::child::{ChildError, ChildProcess, Ending};

use crate::own::{Mode, PORTS};
use crate::place::{free_ports, has_program, is_free};
use crate::protocol::{RunResult, SessionError};
use crate::sockets;
use crate::table::{PeerEntry, PeerNetwork, PeerTable};
use crate::usage::{PeerUsage, kill_group, members};

/// Longest time that a process may take until it is ready.
pub(crate) const START: Duration = Duration::from_secs(20);
/// Longest time that a process may take to end.
const END: Duration = Duration::from_secs(3);

/// Server and client of a peer, and its broker.
pub(crate) struct Session {
    // The order matters for Drop: the client ends first, the network last.
    client: Option<ChildProcess>,
    server: Option<ChildProcess>,
    broker: Option<ChildProcess>,
    network: Option<ChildProcess>,
    folder: tempfile::TempDir,
    /// First of the ports.
    port: u16,
    /// Number of ports that the broker uses.
    broker_ports: usize,
    program: Vec<String>,
    options: Vec<String>,
    /// Information that both sides have printed.
    pub(crate) info: Vec<(String, String)>,
}

/// Names of the interfaces that are joined.
pub(crate) const INTERFACES: [&str; 2] = ["takt0", "takt1"];

impl Session {
    /// Starts a peer and waits until its client is connected.
    pub(crate) fn start(
        table: &PeerTable,
        peer: &PeerEntry,
        options: &[String],
        seed: u64,
        interrupted: &AtomicBool,
    ) -> Result<Self, SessionError> {
        let network = |folder: &Path| match peer.environment {
            PeerNetwork::Veth => network(folder, interrupted).map(Some),
            PeerNetwork::Loopback | PeerNetwork::Memory => Ok(None),
        };
        let mut session = Self::prepare(table, peer, (options, seed), network, interrupted)?;
        session.start_server(interrupted)?;
        session.start_client(interrupted)?;
        Ok(session)
    }

    /// Starts the broker of a peer. Server and client come later. `network` starts the holder of their network namespace, if they get
    /// one; its argument is the private folder.
    pub(crate) fn prepare(
        table: &PeerTable,
        peer: &PeerEntry,
        (options, seed): (&[String], u64),
        network: impl FnOnce(&Path) -> Result<Option<ChildProcess>, SessionError>,
        interrupted: &AtomicBool,
    ) -> Result<Self, SessionError> {
        let folder = tempfile::Builder::new().prefix("takt-peer-").tempdir();
        let mut session = Self {
            client: None,
            server: None,
            broker: None,
            network: None,
            folder: folder.map_err(SessionError::failed)?,
            port: free_ports(seed).ok_or_else(|| SessionError::failed("no ten ports are free"))?,
            broker_ports: 0,
            program: table.program(peer),
            options: options.to_vec(),
            info: Vec::new(),
        };
        session.network = network(session.folder.path())?;
        if peer.environment == PeerNetwork::Veth {
            let [one, other] = INTERFACES;
            session.options.push(format!("interface={one}"));
            session.options.push(format!("peer-interface={other}"));
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
        self.client.take();
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

    fn start_broker(
        &mut self,
        words: &[String],
        offset: u16,
        root: Option<&Path>,
        interrupted: &AtomicBool,
    ) -> Result<(), SessionError> {
        let folder = self.folder.path().to_string_lossy().into_owned();
        let port = self.port.saturating_add(offset);
        let word = |word: &String| {
            let word = word.replace("{folder}", &folder);
            let word = word.replace("{port}", &self.port.to_string());
            match root {
                Some(root) if word.contains('/') && root.join(&word).is_file() => {
                    root.join(&word).to_string_lossy().into_owned()
                }
                _ => word,
            }
        };
        let mut words: Vec<String> = words.iter().map(word).collect();
        if has_program("setpriv") {
            // The broker ends with this process, even if that is killed.
            let guard = ["setpriv", "--pdeathsig", "TERM", "--"];
            words.splice(0..0, guard.map(str::to_owned));
        }
        let mut command = self.command(&words, "broker")?;
        let broker = ChildProcess::start("broker", &mut command, Ending::Signal);
        let broker =
            broker.map_err(|error| SessionError::of("broker", error, &self.errors("broker")))?;
        let broker = self.broker.insert(broker.with_grace(END));
        let deadline = Instant::now() + START;
        let address = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), port);
        let is_in_namespace = self.network.is_some();
        let is_open = |broker: u32| match is_in_namespace {
            true => sockets::is_listening(broker, port),
            false => TcpStream::connect_timeout(&address, Duration::from_millis(200)).is_ok(),
        };
        while !is_open(broker.id()) {
            if interrupted.load(Ordering::Relaxed) {
                return Err(SessionError::Interrupted);
            }
            let error = match broker.ended() {
                Some(_) => ChildError::Ended,
                None if Instant::now() > deadline => ChildError::Late(START),
                None => {
                    std::thread::sleep(Duration::from_millis(5));
                    continue;
                }
            };
            return Err(SessionError::of("broker", error, &self.errors("broker")));
        }
        Ok(())
    }

    fn start_side(
        &mut self,
        side: &'static str,
        interrupted: &AtomicBool,
    ) -> Result<ChildProcess, SessionError> {
        let mut words = self.program.clone();
        let (port, folder) = (self.port.to_string(), self.folder.path().to_string_lossy());
        let arguments = [
            side,
            "--address",
            "127.0.0.1",
            "--port",
            &port,
            "--folder",
            &folder,
        ];
        words.extend(arguments.map(str::to_owned));
        for option in &self.options {
            words.extend(["--option".to_owned(), option.clone()]);
        }
        let mut command = self.command(&words, side)?;
        let failed = |error| SessionError::of(side, error, &self.errors(side));
        let child = ChildProcess::start(side, &mut command, Ending::Input).map_err(failed)?;
        let child = child.with_grace(END);
        let deadline = Instant::now() + START;
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            let line = child.line(left, interrupted);
            let line = line.map_err(|error| SessionError::of(side, error, &self.errors(side)))?;
            match line.split_once(' ').unwrap_or((&line, "")) {
                ("ready", _) => return Ok(child),
                ("info", rest) if self.info.len() < 64 => {
                    let (key, value) = rest.split_once(' ').unwrap_or((rest, ""));
                    let info = (key.to_owned(), value.chars().take(200).collect());
                    if !self.info.contains(&info) {
                        self.info.push(info);
                    }
                }
                ("info", _) => {}
                _ => {
                    return Err(SessionError::Failed(format!(
                        "the {side} printed `{line:.100}` before it was ready"
                    )));
                }
            }
        }
    }

    pub(crate) fn start_server(&mut self, interrupted: &AtomicBool) -> Result<(), SessionError> {
        let server = self.start_side("server", interrupted)?;
        self.server = Some(server);
        Ok(())
    }

    pub(crate) fn start_client(&mut self, interrupted: &AtomicBool) -> Result<(), SessionError> {
        let client = self.start_side("client", interrupted)?;
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
        // A peer that loses everything is given up after some lost requests.
        let limit =
            Duration::from_secs(30) + Duration::from_millis(u64::from(count) * (wait_ms + 5));
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

    /// Returns the number of ports that nobody else can bind, without those of the broker.
    pub(crate) fn bound_ports(&self) -> usize {
        self.used_ports().saturating_sub(self.broker_ports)
    }

    fn used_ports(&self) -> usize {
        (self.port..self.port.saturating_add(PORTS))
            .filter(|port| !is_free(*port))
            .count()
    }

    /// Returns the use of resources of client and server until now; a broker counts as the server's.
    pub(crate) fn usage(&self) -> [PeerUsage; 2] {
        let of = |child: &Option<ChildProcess>| {
            child
                .as_ref()
                .map(|child| PeerUsage::of_group(child.id()))
                .unwrap_or_default()
        };
        let mut server = of(&self.server);
        let broker = of(&self.broker);
        server.add(broker);
        server.memory = of(&self.server).memory + broker.memory;
        [of(&self.client), server]
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        self.end();
    }
}

/// Starts the holder of a network namespace with two joined interfaces. The namespace ends with its processes.
fn network(folder: &Path, interrupted: &AtomicBool) -> Result<ChildProcess, SessionError> {
    let [one, other] = INTERFACES;
    let script = format!(
        "ip link set lo up && ip link add {one} type veth peer name {other} && ip link set {one} up && ip link set {other} up && \
         until ip link show {one} | grep -q 'state UP' && ip link show {other} | grep -q 'state UP'; do sleep 0.01; done && \
         echo ready && exec cat"
    );
    let errors = folder.join("network.stderr");
    let file = File::create(&errors).map_err(SessionError::failed)?;
    let mut command = Command::new("unshare");
    command
        .args(["--net", "sh", "-c", &script])
        .stderr(Stdio::from(file));
    let what = "network namespace (which root may make)";
    let failed = |error| SessionError::of(what, error, &errors);
    let holder = ChildProcess::start("network", &mut command, Ending::Input).map_err(failed)?;
    holder.line(START, interrupted).map_err(failed)?;
    Ok(holder.with_grace(END))
}
