//! The shell in which a document's commands run, from its first block to its last.

use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use super::expected::Expected;
use crate::binary;
use crate::process::Process;
use crate::sandbox::Sandbox;

/// Time limit of a command; the first ones compile.
const COMMAND: Duration = Duration::from_secs(1200);

/// Time limit of a background command for printing the expected lines.
const BACKGROUND: Duration = Duration::from_secs(30);

/// Returns a search path for programs that begins with a folder for installed ones, in which `takt` is.
fn installed(sandbox: &Sandbox) -> OsString {
    let folder = sandbox.data_directory().join("bin");
    fs::create_dir_all(&folder).expect("a folder can be made");
    let takt = folder.join("takt");
    if !takt.exists() {
        symlink(binary::takt(), takt).expect("a link can be made");
    }
    let usual = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::iter::once(folder).chain(std::env::split_paths(&usual));
    std::env::join_paths(folders).expect("folders have no colon")
}

/// The shell that runs from the first block to the last.
pub(super) struct Shell {
    process: Process,
    folder: PathBuf,
    commands: usize,
}

impl Shell {
    pub(super) fn start(sandbox: &Sandbox, folder: &Path) -> Self {
        let mut command = Command::new("bash");
        sandbox
            .confine(&mut command)
            .arg("--norc")
            .env("PATH", installed(sandbox))
            .current_dir(folder);
        let mut shell = Self {
            process: Process::spawn("the tutorial's shell", &mut command),
            folder: folder.to_path_buf(),
            commands: 0,
        };
        // As in a terminal: aliases work, and each job is a process group of its own.
        let (status, output) = shell.run("shopt -s expand_aliases; set -m");
        assert_eq!(status, 0, "{output:?}");
        shell
    }

    /// Runs a command to its end; returns its exit status and the printed lines.
    pub(super) fn run(&mut self, command: &str) -> (i32, Vec<String>) {
        self.commands += 1;
        let marker = format!("---- {} ended with ", self.commands);
        // printf terminates an incomplete last line.
        self.process.send_line(&format!(
            "{{ {command}\n}} 2>&1 < /dev/null; printf '\\n{marker}%d\\n' $?"
        ));
        let deadline = Instant::now() + COMMAND;
        let mut output = Vec::new();
        loop {
            let line = self
                .process
                .next_line(deadline.saturating_duration_since(Instant::now()));
            if let Some(status) = line.strip_prefix(&marker) {
                if output.last().is_some_and(String::is_empty) {
                    output.pop();
                }
                return (status.parse().expect("an exit status"), output);
            }
            output.push(line);
        }
    }

    /// Starts a command that keeps running, and waits until it has printed the expected lines.
    pub(super) fn start_background(&mut self, file: &str, command: &str, expected: &Expected) {
        let log = self
            .folder
            .join(format!("../background-{}.log", self.commands));
        let (status, output) = self.run(&format!("{{ {command}\n}} > '{}' 2>&1 &", log.display()));
        assert_eq!(
            status, 0,
            "{file}: `{command}` cannot be started: {output:?}"
        );
        let deadline = Instant::now() + BACKGROUND;
        loop {
            let text = fs::read_to_string(&log).unwrap_or_default();
            let output: Vec<String> = text.lines().map(str::to_owned).collect();
            if expected.begins(&output) {
                return;
            }
            assert!(
                Instant::now() < deadline,
                "{file}: `{command}` should print\n{expected}\n---- but printed\n{text}"
            );
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    /// Ends the background commands, as Ctrl-C does in other terminals.
    pub(super) fn end(mut self) {
        let (_, output) = self.run(END_JOBS);
        assert!(
            output.iter().all(|line| !line.contains("panicked")),
            "{output:?}"
        );
    }
}

impl Drop for Shell {
    fn drop(&mut self) {
        // No program of the tutorial may outlive it, even after a failure.
        if std::thread::panicking() && !self.process.has_ended() {
            self.process.send_line(END_JOBS);
            std::thread::sleep(Duration::from_secs(1));
        }
    }
}

/// Ends every job with all its processes.
const END_JOBS: &str = "for job in $(jobs -p); do kill -- \"-$job\"; done; wait";

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &str) -> Vec<String> {
        text.lines().map(str::to_owned).collect()
    }

    #[test]
    fn the_shell_keeps_its_state_and_knows_exit_statuses() {
        let sandbox = Sandbox::new();
        let mut shell = Shell::start(&sandbox, &sandbox.data_directory());
        assert_eq!(shell.run("X=1; mkdir sub; cd sub"), (0, Vec::new()));
        assert_eq!(
            shell.run("echo $X; printf no-newline; false"),
            (1, lines("1\nno-newline"))
        );
        assert_eq!(shell.run("basename \"$PWD\" >&2"), (0, lines("sub")));
        shell.start_background(
            "test",
            "for i in 1 2 3; do echo line $i; done; sleep 100",
            &Expected::exactly(lines("line 1\n…\nline 3")),
        );
        shell.end();
    }
}
