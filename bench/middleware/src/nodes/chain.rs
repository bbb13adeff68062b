//! Nodes that run: their processes, and the line protocol with the runner.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use takt_rt::child::{ChildError, ChildProcess, Ending};

use super::options::{Discovery, NodesOptions};
use crate::environment::Environment;
use crate::place::is_free;
use crate::protocol::SessionError;
use crate::session::Session;
use crate::table::{PeerEntry, PeerTable};
use crate::usage::PeerUsage;

/// Ports that are tried: below those that the system hands out.
const PORTS: std::ops::Range<u16> = 20_000..32_000;
/// Address of all nodes.
const ADDRESS: &str = "127.0.0.1";
/// Memory that the machine keeps for others, in KiB.
const SPARE_KIB: u64 = 1 << 20;
/// Longest time that all nodes together may take to end. Hundreds of busy processes need some seconds.
const END: Duration = Duration::from_secs(10);
/// The same after an interrupt: a node that connects does not look at its input.
const INTERRUPTED_END: Duration = Duration::from_secs(1);
/// Longest time until one repetition is complete. A node gives up after 10 s.
const REPETITION: Duration = Duration::from_secs(15);

/// Nodes of all streams, and the process at both ends of each.
pub(super) struct Chain<'a> {
    // The order matters for Drop: the broker and the folder last.
    end: Option<ChildProcess>,
    hops: Vec<ChildProcess>,
    ports: Vec<u16>,
    program: Vec<String>,
    options: &'a NodesOptions,
    has_discovery: bool,
    /// Port of the broker.
    broker: Option<u16>,
    session: Session<'a>,
    interrupted: &'a AtomicBool,
    /// Nodes that took part in the last step.
    pub(super) ready: usize,
}

impl<'a> Chain<'a> {
    /// Prepares the nodes of a peer: starts its broker, and finds ports.
    pub(super) fn prepare(
        table: &PeerTable,
        peer: &PeerEntry,
        options: &'a NodesOptions,
        interrupted: &'a AtomicBool,
    ) -> Result<Self, SessionError> {
        let no_network = |_: &Path| Ok(None);
        let seed = u64::from(std::process::id());
        let session = Session::prepare(
            &Environment::Loopback,
            table,
            peer,
            (&[], seed),
            no_network,
            interrupted,
        )?;
        let broker = peer.broker.as_ref();
        let broker = broker.map(|broker| session.port() + broker.parts().1);
        let wanted = options.nodes() + 1;
        let ports: Vec<u16> = PORTS.filter(|port| is_free(*port)).take(wanted).collect();
        if ports.len() < wanted {
            return Err(SessionError::Failed(format!("{wanted} ports are not free")));
        }
        Ok(Self {
            end: None,
            hops: Vec::new(),
            ports,
            program: table.node_program(peer),
            options,
            has_discovery: peer.node_discovery,
            broker,
            session,
            interrupted,
            ready: 0,
        })
    }

    /// Starts all processes and waits until each takes messages.
    pub(super) fn start(&mut self) -> Result<(), SessionError> {
        let begin = Instant::now();
        let (hops, end) = match self.ports.split_last() {
            Some((end, hops)) => (hops.to_vec(), *end),
            None => return Ok(()),
        };
        if self.announces_to_all() {
            let all: Vec<String> = self.ports.iter().map(u16::to_string).collect();
            std::fs::write(self.peers_file(), all.join(",") + "\n")
                .map_err(SessionError::failed)?;
        }
        let chains: Vec<&[u16]> = hops.chunks(usize::from(self.options.hops)).collect();
        let firsts = chains.iter().filter_map(|chain| chain.first()).copied();
        let firsts: Vec<u16> = firsts.collect();
        for chain in &chains {
            let next = chain.iter().skip(1).chain([&end]);
            for (port, next) in chain.iter().zip(next) {
                self.check_memory()?;
                let hop = self.start_node("hop", *port, &[*next])?;
                self.hops.push(hop);
            }
        }
        self.end = Some(self.start_node("end", end, &firsts)?);
        self.wait("ready", begin)
    }

    /// Lets all nodes connect, and waits for them.
    pub(super) fn connect(&mut self) -> Result<(), SessionError> {
        let begin = Instant::now();
        for node in self.hops.iter_mut().chain(&mut self.end) {
            let told = node.tell("connect");
            told.map_err(|error| SessionError::failed(format!("{} {error}", node.name())))?;
        }
        self.wait("connected", begin)
    }

    /// Sends the messages. Returns the time of each repetition that was complete, and the number of faults.
    pub(super) fn run(&mut self) -> Result<(Vec<Duration>, u64), SessionError> {
        let errors = self.errors("end");
        let Some(end) = &mut self.end else {
            return Err(SessionError::failed("the end is gone"));
        };
        let failed = |error| SessionError::of("end", error, &errors);
        let (bytes, repetitions) = (self.options.bytes, self.options.repetitions);
        end.tell(&format!("run {bytes} {repetitions}"))
            .map_err(failed)?;
        let deadline = Instant::now() + REPETITION * repetitions;
        let mut times = Vec::new();
        let mut faults = 0;
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            let line = end.line(left, self.interrupted).map_err(failed)?;
            let strange = || SessionError::failed(format!("the end printed `{line:.100}`"));
            match line.split_once(' ').unwrap_or((&line, "")) {
                ("sample", "lost") => {}
                ("sample", nanos) => {
                    let nanos = nanos.parse().map_err(|_| strange())?;
                    times.push(Duration::from_nanos(nanos));
                }
                ("errors", counts) => {
                    let counts = counts.split(' ').filter_map(|count| count.split_once('='));
                    let counts = counts.map(|(_, count)| count.parse::<u64>());
                    faults = counts.sum::<Result<u64, _>>().map_err(|_| strange())?;
                }
                ("done", _) => return Ok((times, faults)),
                _ => return Err(strange()),
            }
        }
    }

    /// Returns the memory of all hops and of the broker in bytes.
    pub(super) fn memory(&self) -> u64 {
        let broker = self.session.sides()[2];
        let ids = self.hops.iter().map(ChildProcess::id).chain(broker);
        ids.map(|id| PeerUsage::of_group(id).memory).sum()
    }

    /// Asks all nodes to end, so that they end at the same time.
    pub(super) fn end(&mut self) {
        for node in self.hops.iter_mut().chain(&mut self.end) {
            node.ask_to_end();
        }
    }

    /// Returns true if each node announces itself to all others, and not only to the next ones.
    fn announces_to_all(&self) -> bool {
        self.has_discovery && self.options.discovery == Discovery::All
    }

    fn peers_file(&self) -> PathBuf {
        self.session.folder().join("peers")
    }

    fn errors(&self, node: &str) -> PathBuf {
        self.session.folder().join(format!("{node}.stderr"))
    }

    /// Refuses a further node when less than 1 GiB of memory is free.
    fn check_memory(&self) -> Result<(), SessionError> {
        let started = self.hops.len();
        match available_kib() {
            Some(kib) if kib < SPARE_KIB => Err(SessionError::Failed(format!(
                "the memory was full after {started} nodes"
            ))),
            _ => Ok(()),
        }
    }

    fn start_node(
        &self,
        role: &str,
        port: u16,
        next: &[u16],
    ) -> Result<ChildProcess, SessionError> {
        let name = match role {
            "end" => role.to_owned(),
            _ => format!("hop{port}"),
        };
        let next: Vec<String> = next.iter().map(u16::to_string).collect();
        let next = next.join(",");
        let (program, rest) = self
            .program
            .split_first()
            .ok_or_else(|| SessionError::failed("the command line is empty"))?;
        let errors = self.errors(&name);
        let file = File::create(&errors).map_err(SessionError::failed)?;
        let mut command = Command::new(program);
        command.args(rest).args([role, "--address", ADDRESS]);
        command.args(["--port", &port.to_string(), "--next", &next]);
        command.arg("--folder").arg(self.session.folder());
        if let Some(port) = self.broker {
            command.args(["--broker", &port.to_string()]);
        }
        if self.announces_to_all() {
            command.arg("--peers").arg(self.peers_file());
        }
        command.stderr(Stdio::from(file));
        let child = ChildProcess::start(&name, &mut command, Ending::Input);
        let child = child.map_err(|error| SessionError::of(&name, error, &errors))?;
        // All nodes together have their time to end: see Drop.
        Ok(child.with_grace(Duration::ZERO))
    }

    /// Waits until all nodes have printed a line. `begin` is the time at which the wait begins.
    fn wait(&mut self, expected: &str, begin: Instant) -> Result<(), SessionError> {
        let patience = Duration::from_secs(self.options.patience.into());
        let deadline = begin + patience;
        self.ready = 0;
        let mut failure = None;
        for node in self.hops.iter().chain(&self.end) {
            let left = deadline.saturating_duration_since(Instant::now());
            match node.line(left, self.interrupted) {
                Ok(line) if line == expected => self.ready += 1,
                Ok(line) => {
                    let reason = format!("{} printed `{line:.100}`", node.name());
                    failure.get_or_insert(SessionError::Failed(reason));
                }
                Err(error) => {
                    let error = match error {
                        ChildError::Late(_) => ChildError::Late(patience),
                        error => error,
                    };
                    let errors = self.errors(node.name());
                    let error = SessionError::of(node.name(), error, &errors);
                    if error == SessionError::Interrupted {
                        return Err(error);
                    }
                    failure.get_or_insert(error);
                }
            }
        }
        failure.map_or(Ok(()), Err)
    }
}

impl Drop for Chain<'_> {
    fn drop(&mut self) {
        self.end();
        let grace = match self.interrupted.load(Ordering::Relaxed) {
            true => INTERRUPTED_END,
            false => END,
        };
        let deadline = Instant::now() + grace;
        for node in self.hops.iter_mut().chain(&mut self.end) {
            while node.ended().is_none() && Instant::now() < deadline {
                std::thread::sleep(Duration::from_millis(1));
            }
        }
        // Nodes that have not ended are killed when they are dropped. The session removes their shared memory.
        let nodes = self.hops.iter_mut().chain(&mut self.end);
        let left = nodes.filter_map(|node| node.ended().is_none().then(|| node.id()));
        self.session.note_shared_memory(&left.collect::<Vec<_>>());
    }
}

/// Returns the memory in KiB that new processes can have (`/proc/meminfo`).
fn available_kib() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = text
        .lines()
        .find(|line| line.starts_with("MemAvailable:"))?;
    line.split_ascii_whitespace().nth(1)?.parse().ok()
}
