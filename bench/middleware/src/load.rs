//! Load of the machine during a measurement: `stress-ng` on all processors, or traffic through the interface of the peer.

use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use takt_rt::child::{ChildProcess, Ending};

use crate::condition::{Condition, ConditionOptions};
use crate::environment::{INTERFACES, Side};
use crate::error::MiddlewareError;
use crate::place::has_program;
use crate::protocol::{START, SessionError};
use crate::session::Session;
use crate::usage::{PeerUsage, kill_group};

/// Program that loads the processors, and its Debian package.
pub(crate) const STRESS: &str = "stress-ng";
/// Longest time that a process of the load may take to end, or to answer.
const PATIENCE: Duration = Duration::from_secs(5);
/// Processor time in ms, of each processor, after which the load is there.
const BUSY_MS: f64 = 20.0;

/// Running load. It ends when it is dropped, or when this process ends.
#[derive(Default)]
pub(crate) struct Load {
    processes: Vec<ChildProcess>,
    /// Receiver of the traffic.
    receiver: Option<ChildProcess>,
}

impl Load {
    /// Checks that the programs of the wanted loads are installed.
    pub(crate) fn check(options: &ConditionOptions) -> Result<(), MiddlewareError> {
        let is_wanted = options.all || options.load.contains(&Condition::Cpu);
        match is_wanted && !has_program(STRESS) {
            true => Err(MiddlewareError::NoStress),
            false => Ok(()),
        }
    }

    /// Starts the load of a condition beside a peer, and waits until it is there.
    pub(crate) fn start(
        condition: Condition,
        rate: u32,
        session: &Session<'_>,
        interrupted: &AtomicBool,
    ) -> Result<Self, SessionError> {
        match condition {
            Condition::Idle | Condition::Resting => Ok(Self::default()),
            Condition::Cpu => Self::start_stress(interrupted),
            Condition::Network => Self::start_traffic(rate, session, interrupted),
        }
    }

    fn start_stress(interrupted: &AtomicBool) -> Result<Self, SessionError> {
        let failed = |error| SessionError::failed(format!("{STRESS} {error}"));
        let mut words = vec![STRESS, "--cpu", "0", "--quiet"];
        if has_program("setpriv") {
            // It ends with this process, even if that is killed.
            words.splice(0..0, ["setpriv", "--pdeathsig", "TERM", "--"]);
        }
        let mut command = Command::new(words.remove(0));
        command.args(words).stderr(Stdio::null());
        let stress = ChildProcess::start(STRESS, &mut command, Ending::Signal).map_err(failed)?;
        let mut load = Self::default();
        load.processes.push(stress.with_grace(PATIENCE));
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        let enough = BUSY_MS * processors as f64;
        wait_until(interrupted, || load.cpu_ms() >= enough, STRESS)?;
        Ok(load)
    }

    fn start_traffic(
        rate: u32,
        session: &Session<'_>,
        interrupted: &AtomicBool,
    ) -> Result<Self, SessionError> {
        let environment = session.environment();
        let address = environment.address(Side::Server).to_string();
        let [from, to] = match session.has_interfaces() {
            true => INTERFACES.map(|name| ["--interface", name]),
            false => [["--address", &address]; 2],
        };
        let start = |side: Side, words: &[&str], name: &'static str| {
            let program = std::env::current_exe().map_err(SessionError::failed)?;
            let program = program.to_string_lossy().into_owned();
            let words = [&[program.as_str(), "traffic"], words].concat();
            let words = words.into_iter().map(str::to_owned).collect();
            let words = environment.command(side, words);
            let mut command = session.command(&words, name)?;
            let failed = |error| SessionError::of(name, error, &session.errors(name));
            let child = ChildProcess::start(name, &mut command, Ending::Input).map_err(failed)?;
            let line = child.line(START, interrupted).map_err(failed)?;
            Ok::<_, SessionError>((child.with_grace(PATIENCE), line))
        };
        let (receiver, line) = start(
            Side::Server,
            &[&["receive"], &to[..]].concat(),
            "traffic-receiver",
        )?;
        let mut load = Self {
            processes: Vec::new(),
            receiver: Some(receiver),
        };
        let port = line.strip_prefix("ready ").unwrap_or("0");
        let rate = rate.to_string();
        let words = [&["send"], &from[..], &["--port", port, "--rate", &rate]].concat();
        load.processes
            .push(start(Side::Client, &words, "traffic-sender")?.0);
        wait_until(interrupted, || load.received() > Some(0), "traffic")?;
        Ok(load)
    }

    /// Returns the processor time of the load until now, in ms.
    pub(crate) fn cpu_ms(&self) -> f64 {
        let processes = self.processes.iter().chain(&self.receiver);
        processes
            .map(|it| PeerUsage::of_group(it.id()).cpu_ms)
            .sum()
    }

    /// Returns the number of bytes of traffic that have arrived until now.
    pub(crate) fn received(&mut self) -> Option<u64> {
        let answer = self.receiver.as_mut()?.ask(PATIENCE).ok()?;
        answer.parse().ok()
    }
}

impl Drop for Load {
    fn drop(&mut self) {
        for process in self.processes.iter_mut().chain(&mut self.receiver) {
            process.end();
            // Workers that a killed program has left.
            kill_group(process.id());
        }
    }
}

/// Waits until a load is there.
fn wait_until(
    interrupted: &AtomicBool,
    mut is_there: impl FnMut() -> bool,
    what: &str,
) -> Result<(), SessionError> {
    let deadline = Instant::now() + START;
    while !is_there() {
        if interrupted.load(Ordering::Relaxed) {
            return Err(SessionError::Interrupted);
        }
        if Instant::now() > deadline {
            return Err(SessionError::failed(format!(
                "there is no load: {what} does nothing"
            )));
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    Ok(())
}
