//! Other host, whose programs are started by `ssh`, all over one connection.

use std::fs::File;
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::AtomicBool;

use takt_rt::child::{ChildError, ChildProcess, Ending};

use super::script::output_of;
use crate::protocol::{START, SessionError};
use crate::usage::PeerUsage;

/// Key of the line with which a started program tells its process id.
pub(crate) const PROCESS: &str = "process";

/// Host, login and programs, as the options give them.
#[derive(Debug, Clone, clap::Args)]
pub struct HostOptions {
    /// Run the servers and brokers on this host, which `ssh` can log in to without a password.
    #[arg(long, value_name = "USER@HOST", conflicts_with_all = ["link", "all", "load", "scheduler"])]
    pub server_host: Option<String>,
    /// Path of `takt-bench` on the server's host; by default that of this program.
    #[arg(long, value_name = "FILE", requires = "server_host")]
    pub server_program: Option<PathBuf>,
    /// Root of the repository on the server's host, with the foreign peers below target/; by default that of this host.
    #[arg(long, value_name = "FOLDER", requires = "server_host")]
    pub server_root: Option<PathBuf>,
    /// Configuration of `ssh`, as with its option -F.
    #[arg(long, value_name = "FILE", requires = "server_host")]
    pub ssh_config: Option<PathBuf>,
}

/// Connection to another host.
pub(crate) struct RemoteHost {
    // The order matters for Drop: the connection ends before its folder.
    master: ChildProcess,
    name: String,
    /// Words of `ssh` with its options, up to the host.
    words: Vec<String>,
    /// Path of this program on the other host.
    program: String,
    root: Option<String>,
    /// Addresses of server and client.
    pub(super) addresses: [IpAddr; 2],
    /// Kernel of the server's host.
    pub(super) kernel: String,
    _folder: tempfile::TempDir,
}

/// Folder on the other host, which is removed at the end of this value.
pub(crate) struct RemoteFolder {
    _holder: ChildProcess,
    pub(crate) path: String,
}

impl RemoteHost {
    /// Logs in. `root` is that of the repository on this host.
    pub(super) fn connect(
        options: &HostOptions,
        name: &str,
        root: Option<&Path>,
        interrupted: &AtomicBool,
    ) -> Result<Self, SessionError> {
        let folder = tempfile::Builder::new().prefix("takt-ssh-").tempdir();
        let folder = folder.map_err(SessionError::failed)?;
        let mut words = vec!["ssh".to_owned()];
        if let Some(file) = &options.ssh_config {
            words.extend(["-F".to_owned(), text(file)]);
        }
        // A password cannot be typed, and all commands share one connection. If the other host is silent for half a minute, they end.
        let control = format!("ControlPath={}", text(&folder.path().join("control")));
        for option in [
            "BatchMode=yes",
            "ConnectTimeout=10",
            "ServerAliveInterval=10",
            &control,
        ] {
            words.extend(["-o", option].map(str::to_owned));
        }
        let mut login = words.clone();
        login.extend(
            ["-o", "ControlMaster=yes", "-o", "ControlPersist=no", name].map(str::to_owned),
        );
        login.push("echo \"$SSH_CONNECTION\" && uname -r && exec cat".to_owned());
        let errors = folder.path().join("ssh.stderr");
        let file = File::create(&errors).map_err(SessionError::failed)?;
        let failed = |error| SessionError::of("login by ssh", error, &errors);
        let mut command = command(&login)?;
        command.stderr(Stdio::from(file));
        let master = ChildProcess::start("ssh", &mut command, Ending::Input).map_err(failed)?;
        let line = master.line(START, interrupted).map_err(failed)?;
        let kernel = master.line(START, interrupted).map_err(failed)?;
        let program = match &options.server_program {
            Some(program) => text(program),
            None => text(&std::env::current_exe().map_err(SessionError::failed)?),
        };
        Ok(Self {
            master,
            name: name.to_owned(),
            words,
            program,
            root: options.server_root.as_deref().or(root).map(text),
            addresses: addresses(&line)?,
            kernel,
            _folder: folder,
        })
    }

    /// Returns a word of a command line of the table, as it is there. The first one is a program.
    pub(super) fn word(&self, word: &str, is_first: bool) -> String {
        match (word, &self.root) {
            ("{takt-bench}", _) => self.program.clone(),
            (word, Some(root)) if is_first && word.contains('/') => {
                text(&Path::new(root).join(word))
            }
            _ => word.to_owned(),
        }
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// Returns a command line that runs a script there, with these arguments.
    fn line(&self, script: &str, arguments: &[String]) -> Vec<String> {
        let mut words = self.words.clone();
        let mut remote = format!("exec sh -c {} sh", quoted(script));
        for argument in arguments {
            remote.push(' ');
            remote.push_str(&quoted(argument));
        }
        words.extend(["-o".to_owned(), "ControlMaster=no".to_owned()]);
        words.extend([self.name.clone(), remote]);
        words
    }

    /// Returns a command line that runs a program there. The program first tells its process id, which is that of its group.
    pub(super) fn program(&self, words: &[String]) -> Vec<String> {
        self.line(&format!("echo \"info {PROCESS} $$\"; exec \"$@\""), words)
    }

    /// Returns a command line that runs a broker there until the standard input ends. Brokers do not read theirs.
    pub(super) fn broker(&self, words: &[String]) -> Vec<String> {
        let script = format!(
            "echo \"info {PROCESS} $$\"; \"$@\" </dev/null & broker=$!; cat >/dev/null; kill $broker; wait"
        );
        self.line(&script, words)
    }

    /// Runs a short script there and returns its output.
    fn shell(&self, script: &str) -> Result<String, SessionError> {
        let mut command = command(&self.line(script, &[]))?;
        output_of(command.stdin(Stdio::null()), &self.name)
    }

    /// Makes a private folder there.
    pub(super) fn folder(&self, interrupted: &AtomicBool) -> Result<RemoteFolder, SessionError> {
        let script = "folder=$(mktemp -d /tmp/takt-peer-XXXXXX) && echo \"$folder\" && cat; rm -rf \"$folder\"";
        let mut command = command(&self.line(script, &[]))?;
        command.stderr(Stdio::null());
        let failed =
            |error: ChildError| SessionError::Failed(format!("{}: the folder {error}", self.name));
        let holder = ChildProcess::start("folder", &mut command, Ending::Input).map_err(failed)?;
        let path = holder.line(START, interrupted).map_err(failed)?;
        Ok(RemoteFolder {
            _holder: holder,
            path,
        })
    }

    /// Copies the files of a folder there to a folder here.
    pub(super) fn fetch(&self, from: &str, to: &Path) -> Result<(), SessionError> {
        let failed = SessionError::failed;
        let script = "cd \"$1\" && find . -type f ! -name '*.log' -print0 | tar --create --null --files-from=-";
        let mut pack = command(&self.line(script, &[from.to_owned()]))?;
        let mut packing = pack
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(failed)?;
        let mut unpack = Command::new("tar");
        unpack.arg("--directory").arg(to);
        unpack.args(["--extract", "--no-same-owner"]);
        unpack.stdin(packing.stdout.take().map_or_else(Stdio::null, Stdio::from));
        let unpacked = output_of(&mut unpack, "tar");
        let packed = packing.wait().map_err(failed)?;
        unpacked?;
        match packed.success() {
            true => Ok(()),
            false => Err(SessionError::Failed(format!(
                "{}: the files of the server cannot be copied: {packed}",
                self.name
            ))),
        }
    }

    /// Returns the tables of sockets there, in the form of proc_pid_net(5).
    pub(super) fn socket_tables(&self) -> Result<String, SessionError> {
        self.shell("cd /proc/net && cat tcp tcp6 udp udp6 2>/dev/null; true")
    }

    /// Returns the use of resources of a process group there; `None` if it cannot be read.
    pub(super) fn usage(&self, group: u32) -> Option<PeerUsage> {
        let script = format!("exec {} usage {group}", quoted(&self.program));
        serde_json::from_str(self.shell(&script).ok()?.trim()).ok()
    }

    /// Returns an error if the connection has ended.
    pub(super) fn check(&mut self) -> Result<(), SessionError> {
        match self.master.ended() {
            None => Ok(()),
            Some(_) => Err(SessionError::Failed(format!(
                "{}: the connection has ended",
                self.name
            ))),
        }
    }
}

fn text(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

fn command(words: &[String]) -> Result<Command, SessionError> {
    let (program, rest) = words
        .split_first()
        .ok_or_else(|| SessionError::failed("the command line is empty"))?;
    let mut command = Command::new(program);
    command.args(rest);
    Ok(command)
}

/// Returns a word in quotes for a shell (POSIX.1-2017, XCU 2.2.2).
fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', "'\\''"))
}

/// Reads `$SSH_CONNECTION`: address and port of the client, address and port of the server (ssh(1)).
fn addresses(line: &str) -> Result<[IpAddr; 2], SessionError> {
    let words: Vec<&str> = line.split_ascii_whitespace().collect();
    let address = |place: usize| words.get(place)?.parse().ok();
    match (address(2), address(0)) {
        (Some(server), Some(client)) => Ok([server, client]),
        _ => Err(SessionError::Failed(format!(
            "the other host tells no addresses: SSH_CONNECTION is `{line:.80}`"
        ))),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    #[test]
    fn words_pass_a_shell_unchanged() {
        let word = "it's $HOME `x` \"y\" \\ *";
        let script = format!("printf %s {}", quoted(word));
        let output = Command::new("sh").args(["-c", &script]).output().unwrap();
        assert_eq!(String::from_utf8(output.stdout).unwrap(), word);
    }

    #[test]
    fn addresses_are_those_of_the_connection() {
        let found = addresses("192.0.2.2 40000 192.0.2.1 22").unwrap();
        assert_eq!(found.map(|it| it.to_string()), ["192.0.2.1", "192.0.2.2"]);
        assert!(addresses("").is_err());
    }
}
