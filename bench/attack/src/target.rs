//! The attacked server, and the bounds of one attack.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use takt_app::Endpoint;

use crate::error::AttackError;

/// A server on this host.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AttackTarget {
    /// Endpoint `opc.tcp://127.0.0.1:port`.
    pub opc_tcp: String,
    /// Endpoint `opc.iox2://name`.
    pub opc_iox2: String,
    /// Runtime directory of shared memory; by default the directory of the user.
    pub runtime_directory: Option<PathBuf>,
    /// Folder of the server's certificates; attacks on secured channels need it.
    pub certificates: Option<PathBuf>,
    /// Port of this host at which the server mirrors the attacker ([`mirror_arguments`](crate::mirror_arguments)).
    pub mirrored: Option<u16>,
}

impl AttackTarget {
    /// Returns both endpoints if they have the right form and are on this host.
    pub(crate) fn endpoints(&self) -> Result<Endpoints, AttackError> {
        let wrong = |text: &str| AttackError::Endpoint(text.to_owned());
        let tcp = self.opc_tcp.parse().map_err(|_| wrong(&self.opc_tcp))?;
        let shared = self.opc_iox2.parse().map_err(|_| wrong(&self.opc_iox2))?;
        match (tcp, shared) {
            (Endpoint::Tcp(tcp), Endpoint::SharedMemory(name)) if is_loopback(tcp.host()) => {
                Ok(Endpoints { tcp, name })
            }
            _ => Err(wrong(&format!("{} {}", self.opc_tcp, self.opc_iox2))),
        }
    }
}

/// Returns true if the host is this one. An attack never leaves this host.
fn is_loopback(host: &str) -> bool {
    host == "localhost" || host == "127.0.0.1" || host == "::1" || host == "[::1]"
}

/// The endpoints of an [`AttackTarget`].
#[derive(Debug, Clone)]
pub(crate) struct Endpoints {
    pub(crate) tcp: takt_tcp::EndpointUrl,
    pub(crate) name: takt_shm::ApplicationName,
}

/// Counts of an attack.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tally {
    /// Connections that were opened, over both transports.
    pub connections: u64,
    /// Messages that were sent, unfinished ones included.
    pub messages: u64,
    /// Responses that were received, refusals included.
    pub responses: u64,
    /// Connections and requests that the server refused, ended or did not answer.
    pub refusals: u64,
    /// Text of the last refusal.
    pub last_refusal: String,
}

impl Tally {
    /// Adds the counts of another attacker.
    pub fn add(&mut self, other: &Self) {
        self.connections += other.connections;
        self.messages += other.messages;
        self.responses += other.responses;
        self.refusals += other.refusals;
        if !other.last_refusal.is_empty() {
            self.last_refusal.clone_from(&other.last_refusal);
        }
    }
}

/// One attack under way: its target, its strength and its end.
pub(crate) struct Attacker<'a> {
    pub(crate) target: &'a AttackTarget,
    pub(crate) endpoints: Endpoints,
    pub(crate) tally: Tally,
    /// Divisor of the counts.
    divisor: usize,
    deadline: Instant,
    pub(crate) stop: &'a AtomicBool,
}

/// Interval at which a waiting attack checks for its end.
const STEP: Duration = Duration::from_millis(10);

impl<'a> Attacker<'a> {
    pub(crate) fn new(
        target: &'a AttackTarget,
        divisor: u32,
        longest: Duration,
        stop: &'a AtomicBool,
    ) -> Result<Self, AttackError> {
        Ok(Self {
            target,
            endpoints: target.endpoints()?,
            tally: Tally::default(),
            divisor: usize::try_from(divisor).unwrap_or(1).max(1),
            deadline: Instant::now() + longest,
            stop,
        })
    }

    /// Returns true if the attack continues.
    pub(crate) fn goes_on(&self) -> bool {
        !self.stop.load(Ordering::Acquire) && Instant::now() < self.deadline
    }

    /// Returns the count of an attack that has the count `full` at full strength.
    pub(crate) fn count(&self, full: usize) -> usize {
        (full / self.divisor).max(1)
    }

    /// Waits for this time or until the attack ends.
    pub(crate) fn wait(&self, time: Duration) {
        let until = Instant::now() + time;
        while self.goes_on() && Instant::now() < until {
            std::thread::sleep(STEP.min(time));
        }
    }

    /// Waits until the attack ends.
    pub(crate) fn hold(&self) {
        while self.goes_on() {
            std::thread::sleep(STEP);
        }
    }

    /// Counts a refusal by the server and pauses, because attackers repeat refused actions.
    pub(crate) fn refused(&mut self, reason: impl std::fmt::Display) {
        self.tally.refusals += 1;
        self.tally.last_refusal = reason.to_string();
        std::thread::sleep(Duration::from_millis(1));
    }
}
