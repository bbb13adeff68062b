//! A peer that runs: broker, server and client, and the line protocol between them and the runner.

use std::fs::File;
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use takt_rt::child::{ChildError, ChildProcess, Ending};

use crate::own::{Mode, PORTS};
use crate::sockets;
use crate::statistics::Random;
use crate::table::{PeerEntry, PeerNetwork, PeerTable};
use crate::usage::{PeerUsage, kill_group};

/// Longest time that a process may take until it is ready.
pub(crate) const START: Duration = Duration::from_secs(20);
/// Longest time that a process may take to end.
const END: Duration = Duration::from_secs(3);
/// Ports that are tried: below those that the system hands out.
const FIRST_PORT: u16 = 20_000;
const LAST_PORT: u16 = 32_000;

/// Reason why a peer was not measured.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum SessionError {
    #[error("interrupted")]
    Interrupted,
    #[error("{0}")]
    Failed(String),
}

impl SessionError {
    pub(crate) fn of(what: &str, error: ChildError, errors: &Path) -> Self {
        if matches!(error, ChildError::Interrupted) {
            return Self::Interrupted;
        }
        let said = std::fs::read_to_string(errors).unwrap_or_default();
        let last = said.lines().rev().find(|line| !line.trim().is_empty());
        let last: String = last.unwrap_or_default().chars().take(200).collect();
        let last = if last.is_empty() {
            last
        } else {
            format!(": {last}")
        };
        Self::Failed(format!("the {what} {error}{last}"))
    }

    pub(crate) fn failed(reason: impl std::fmt::Display) -> Self {
        Self::Failed(reason.to_string())
    }
}

/// One request.
pub(crate) type Sample = Option<u64>;

/// Result of a run.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct RunResult {
    /// Nanoseconds of each request; `None` for a lost one.
    pub(crate) samples: Vec<Sample>,
    pub(crate) wrong: u64,
    pub(crate) lost: u64,
    pub(crate) late: u64,
    pub(crate) duplicate: u64,
}

impl RunResult {
    /// Takes a line of the client. Returns false after the last one.
    fn take(&mut self, line: &str, count: usize) -> Result<bool, SessionError> {
        let strange = || SessionError::Failed(format!("the client printed `{line:.100}`"));
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        match word {
            "sample" if rest == "lost" => self.samples.push(None),
            "sample" => self
                .samples
                .push(Some(rest.trim().parse().map_err(|_| strange())?)),
            "errors" => {
                for part in rest.split_ascii_whitespace() {
                    let (name, value) = part.split_once('=').ok_or_else(strange)?;
                    let value = value.parse().map_err(|_| strange())?;
                    match name {
                        "wrong" => self.wrong = value,
                        "lost" => self.lost = value,
                        "late" => self.late = value,
                        "duplicate" => self.duplicate = value,
                        _ => return Err(strange()),
                    }
                }
            }
            "info" => {}
            "done" if self.samples.len() == count => return Ok(false),
            _ => return Err(strange()),
        }
        if self.samples.len() > count {
            return Err(strange());
        }
        Ok(true)
    }
}

/// Server and client of a peer, and its broker.
pub(crate) struct Session {
    // The order matters for Drop: the client ends first, the network last.
    client: Option<ChildProcess>,
    server: Option<ChildProcess>,
    broker: Option<ChildProcess>,
    network: Option<ChildProcess>,
    folder: tempfile::TempDir,
    /// First of the ports.
    pub(crate) port: u16,
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
            PeerNetwork::Loopback => Ok(None),
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
        Ok(session)
    }

    /// Returns the process ids of the server and of the client that run, and of the broker.
    pub(crate) fn processes(&self) -> [Option<u32>; 3] {
        [&self.server, &self.client, &self.broker].map(|it| it.as_ref().map(ChildProcess::id))
    }

    /// Ends the client. The server and the broker continue.
    pub(crate) fn end_client(&mut self) {
        self.client.take();
    }

    fn errors(&self, side: &str) -> PathBuf {
        self.folder.path().join(format!("{side}.stderr"))
    }

    /// Returns a command whose error output is a file.
    fn command(&self, words: &[String], side: &str) -> Result<Command, SessionError> {
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
        for child in [
            &mut self.client,
            &mut self.server,
            &mut self.broker,
            &mut self.network,
        ] {
            if let Some(mut child) = child.take() {
                child.end();
                // Processes that a peer has started and left.
                kill_group(child.id());
            }
        }
    }
}

/// Returns true if a program is in one of the folders of programs.
pub(crate) fn has_program(name: &str) -> bool {
    let folders = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&folders).any(|folder| folder.join(name).is_file())
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

fn is_free(port: u16) -> bool {
    let any = (Ipv4Addr::UNSPECIFIED, port);
    TcpListener::bind(any).is_ok() && UdpSocket::bind(any).is_ok()
}

/// Finds ten free ports that follow each other.
fn free_ports(seed: u64) -> Option<u16> {
    let places = usize::from((LAST_PORT - FIRST_PORT) / PORTS);
    let mut random = Random::new(seed ^ u64::from(std::process::id()));
    (0..200).find_map(|_| {
        let place = u16::try_from(random.below(places)).ok()?;
        let first = FIRST_PORT + place * PORTS;
        (first..first + PORTS).all(is_free).then_some(first)
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    #[test]
    fn lines_of_a_client_are_read_strictly() {
        let mut result = RunResult::default();
        for line in [
            "sample 10",
            "sample lost",
            "errors wrong=1 lost=1 late=0 duplicate=2",
        ] {
            assert!(result.take(line, 2).unwrap(), "{line}");
        }
        assert!(!result.take("done", 2).unwrap());
        assert_eq!(result.samples, [Some(10), None]);
        assert_eq!((result.wrong, result.lost, result.duplicate), (1, 1, 2));
        for line in [
            "sample x",
            "errors bad=1",
            "errors wrong",
            "hello",
            "sample 1",
        ] {
            assert!(result.clone().take(line, 2).is_err(), "{line}");
        }
        assert!(RunResult::default().take("done", 2).is_err());
    }

    #[test]
    fn ports_are_free() {
        let first = free_ports(1).unwrap();
        let holder = TcpListener::bind(("127.0.0.1", first)).unwrap();
        assert!(!is_free(first));
        drop(holder);
    }
}
