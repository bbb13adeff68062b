//! The attacked server: `takt registry`, or a server with a large value, with directories of its own.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use takt_attack::{Attack, AttackTarget};
use takt_rt::child::{ChildProcess, Ending};
use tempfile::TempDir;

use crate::error::BenchError;
use crate::private_directory;
use crate::process::failed;

/// Longest time that the server may take to start, and to end.
const PATIENCE: Duration = Duration::from_secs(30);

/// Number of descriptors that the server may have in attacks on descriptors.
const FEW_DESCRIPTORS: u32 = 256;

/// A running registry. Dropping it ends the process and removes its files.
pub(super) struct Victim {
    // The order matters for Drop: the process before its files.
    child: ChildProcess,
    _directory: Directory,
    pub(super) target: AttackTarget,
}

impl Victim {
    /// Starts the server that `attack` needs.
    pub(super) fn start(program: &Path, attack: Attack) -> Result<Self, BenchError> {
        let name = format!("TaktBenchAttacked{}", std::process::id());
        let directory = Directory::new()?;
        if attack == Attack::Guesses {
            add_user(program, &directory.data())?;
        }
        let few = match attack {
            Attack::ShmClients => format!("ulimit -n {FEW_DESCRIPTORS}; "),
            _ => String::new(),
        };
        let mut command = Command::new("sh");
        command
            .args(["-c", &format!("{few}exec \"$0\" \"$@\"")])
            .arg(program);
        let mut mirrored = None;
        match attack {
            Attack::LargeValues | Attack::HistoryReads => {
                command.args(["bench", "attack", "--serve", &name])
            }
            _ => command
                .args(["registry", "--endpoint", "opc.tcp://127.0.0.1:0", "--name"])
                .args([&name, "--data"])
                .arg(directory.data())
                .args(allow_registration(program)),
        };
        match attack {
            Attack::HostileMirror => {
                let (port, arguments) = takt_attack::mirror_arguments();
                mirrored = Some(port);
                command.args(arguments);
            }
            Attack::Mdns => {
                command.arg("--mdns");
            }
            _ => {}
        }
        command
            .env("TAKT_RUNTIME_DIR", directory.runtime())
            .env("XDG_STATE_HOME", directory.data());
        let what = format!("{} for {}", program.display(), attack.name());
        let child = ChildProcess::start(&what, &mut command, Ending::Signal);
        let child = child.map_err(failed(&what))?.with_grace(PATIENCE);
        let line = child.line(PATIENCE, &AtomicBool::new(false));
        let line = line.map_err(failed(&what))?;
        let mut words = line.split_whitespace();
        let tcp = words.find(|word| word.starts_with("opc.tcp://"));
        let tcp = tcp.ok_or_else(|| BenchError::Process {
            what,
            reason: format!("printed {line:?}"),
        })?;
        Ok(Self {
            target: AttackTarget {
                opc_tcp: tcp.to_owned(),
                opc_iox2: format!("opc.iox2://{name}"),
                runtime_directory: Some(directory.runtime()),
                certificates: Some(directory.data().join("pki")),
                mirrored,
            },
            child,
            _directory: directory,
        })
    }

    pub(super) fn id(&self) -> u32 {
        self.child.id()
    }
}

/// Directory of the files of a registry, for this user only. Dropping it removes them.
struct Directory(TempDir);

impl Directory {
    fn new() -> Result<Self, BenchError> {
        let directory = Self(private_directory::make(&std::env::temp_dir())?);
        for part in [directory.runtime(), directory.data()] {
            std::fs::create_dir(part).map_err(BenchError::system("make a temporary directory"))?;
        }
        Ok(directory)
    }

    fn runtime(&self) -> PathBuf {
        self.0.path().join("run")
    }

    fn data(&self) -> PathBuf {
        self.0.path().join("data")
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        let _ = takt_shm::clean_dead(Some(&self.runtime()));
    }
}

/// Makes a user of a registry with this folder, whose password can be guessed.
fn add_user(program: &Path, data: &Path) -> Result<(), BenchError> {
    let (users, password) = (data.join("users"), data.join("password"));
    let system = BenchError::system("write the password of a user");
    std::fs::write(&password, "hammer and nail\n").map_err(system)?;
    let mut command = Command::new(program);
    command.args(["user", "--users"]).arg(&users);
    command.args(["add", takt_attack::USER, "--role", "operator"]);
    command.arg("--password-file").arg(&password);
    let output = command.output();
    let output = output.map_err(BenchError::system("make a user"))?;
    match output.status.success() {
        true => Ok(()),
        false => Err(BenchError::Process {
            what: format!("{} user add", program.display()),
            reason: String::from_utf8_lossy(&output.stderr).into_owned(),
        }),
    }
}

/// Returns the option that permits registration over TCP, if this registry has it. Attacks over TCP need it.
fn allow_registration(program: &Path) -> Option<&'static str> {
    const OPTION: &str = "--allow-tcp-registration";
    let help = Command::new(program).args(["registry", "--help"]).output();
    let is_there = help.is_ok_and(|help| String::from_utf8_lossy(&help.stdout).contains(OPTION));
    is_there.then_some(OPTION)
}
