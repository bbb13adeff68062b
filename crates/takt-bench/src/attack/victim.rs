//! The attacked server: `takt registry` with directories of its own.

use std::io::{BufRead, BufReader};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal};

use super::kind::Attack;
use super::target::Target;
use crate::error::BenchError;

/// Longest time that the server may take to start, and to end.
const PATIENCE: Duration = Duration::from_secs(30);

/// Number of descriptors that the server may have in attacks on descriptors.
const FEW_DESCRIPTORS: u32 = 256;

/// A running registry. Dropping it ends the process and removes its files.
pub(super) struct Victim {
    child: Child,
    directory: PathBuf,
    pub(super) target: Target,
}

impl Victim {
    /// Starts `program registry`.
    pub(super) fn start(program: &Path, attack: Attack) -> Result<Self, BenchError> {
        let failed = |reason: String| BenchError::Process {
            what: format!("{} registry", program.display()),
            reason,
        };
        let name = format!("TaktBenchAttacked{}", std::process::id());
        let directory = std::env::temp_dir().join(format!("takt-bench-{}", std::process::id()));
        for part in ["run", "data"] {
            std::fs::create_dir_all(directory.join(part))
                .map_err(BenchError::system("make a temporary directory"))?;
        }
        let few = match attack {
            Attack::ShmClients => format!("ulimit -n {FEW_DESCRIPTORS}; "),
            _ => String::new(),
        };
        let mut command = Command::new("sh");
        command
            .args(["-c", &format!("{few}exec \"$0\" \"$@\"")])
            .arg(program)
            .args(["registry", "--endpoint", "opc.tcp://127.0.0.1:0", "--name"])
            .args([&name, "--data"])
            .arg(directory.join("data"))
            .args(allow_registration(program))
            .env("TAKT_RUNTIME_DIR", directory.join("run"))
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            // Ctrl-C on the terminal is for this process. It ends the others in order.
            .process_group(0);
        let child = command.spawn().map_err(|error| failed(error.to_string()))?;
        // From here on, an early return ends the server.
        let mut victim = Self {
            child,
            target: Target {
                opc_tcp: String::new(),
                opc_iox2: format!("opc.iox2://{name}"),
                runtime_directory: Some(directory.join("run")),
            },
            directory,
        };
        let (sender, lines) = mpsc::channel();
        if let Some(output) = victim.child.stdout.take() {
            std::thread::spawn(move || {
                let mut lines = BufReader::new(output).lines().map_while(Result::ok);
                while lines.next().is_some_and(|line| sender.send(line).is_ok()) {}
            });
        }
        let line = lines
            .recv_timeout(PATIENCE)
            .map_err(|_| failed("did not begin to serve".to_owned()))?;
        let mut words = line.split_whitespace();
        let tcp = words.find(|word| word.starts_with("opc.tcp://"));
        let tcp = tcp.ok_or_else(|| failed(format!("printed {line:?}")))?;
        victim.target.opc_tcp = tcp.to_owned();
        Ok(victim)
    }

    pub(super) fn id(&self) -> u32 {
        self.child.id()
    }
}

/// Returns the option that permits registration over TCP, if this registry has it. Attacks over TCP need it.
fn allow_registration(program: &Path) -> Option<&'static str> {
    const OPTION: &str = "--allow-tcp-registration";
    let help = Command::new(program).args(["registry", "--help"]).output();
    let is_there = help.is_ok_and(|help| String::from_utf8_lossy(&help.stdout).contains(OPTION));
    is_there.then_some(OPTION)
}

impl Drop for Victim {
    fn drop(&mut self) {
        // The child has not been waited for, so that its id belongs to no other process.
        if let Some(id) = i32::try_from(self.id()).ok().and_then(Pid::from_raw) {
            let _ = rustix::process::kill_process(id, Signal::TERM);
        }
        let deadline = Instant::now() + PATIENCE;
        while Instant::now() < deadline && matches!(self.child.try_wait(), Ok(None)) {
            std::thread::sleep(Duration::from_millis(5));
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
        let _ = takt_shm::clean_dead(self.target.runtime_directory.as_deref());
        let _ = std::fs::remove_dir_all(&self.directory);
    }
}
