//! Runs a tutorial: the commands of its fenced blocks, from a clean clone, each compared with the output in the
//! tutorial.
//!
//! | block | what happens |
//! |---|---|
//! | `console` | each line after `$ ` is run, in one shell for all blocks; it must succeed and print the next lines |
//! | `console background` | the block's one command is started and kept running; it must print the next lines |
//! | `console install` | nothing: the commands find the `takt` that is built already |
//! | `console skip` | nothing: the command cannot be run here, like fetching the repository |
//! | `LANGUAGE file=PATH` | the block becomes that file of the clone |
//!
//! In expected output, `…` stands for any text in its line, and a line that is only `…` for any number of lines. A
//! command continues on the next line after `\`.

use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use crate::binary::{self, repository};
use crate::process::{self, Process};
use crate::sandbox::Sandbox;

/// Time limit of a command; the first ones compile.
const COMMAND: Duration = Duration::from_secs(1200);

/// Time limit of a background command for printing the expected lines.
const BACKGROUND: Duration = Duration::from_secs(30);

/// One step.
#[derive(Debug, PartialEq, Eq)]
enum Step {
    Run {
        command: String,
        expected: Vec<String>,
    },
    Start {
        command: String,
        expected: Vec<String>,
    },
    Write {
        path: String,
        text: String,
    },
}

/// Runs the tutorial in `file`, a path below the repository.
///
/// # Panics
/// If a command fails or prints something else.
pub fn run(file: &str) {
    let text = fs::read_to_string(repository().join(file))
        .unwrap_or_else(|error| panic!("{file}: {error}"));
    let sandbox = Sandbox::new();
    let clone = clean_clone(&sandbox);
    let mut shell = Shell::start(&sandbox, &clone);
    for step in steps(&text) {
        match step {
            Step::Run { command, expected } => {
                let (status, output) = shell.run(&command);
                assert_eq!(
                    status,
                    0,
                    "{file}: `{command}` failed with {status}\n---- its output\n{}",
                    output.join("\n")
                );
                assert!(
                    matches(&expected, &output),
                    "{file}: `{command}` should print\n{}\n---- but printed\n{}",
                    expected.join("\n"),
                    output.join("\n")
                );
            }
            Step::Start { command, expected } => shell.start_background(file, &command, &expected),
            Step::Write { path, text } => {
                let path = clone.join(path);
                fs::create_dir_all(path.parent().expect("a file has a folder"))
                    .expect("a folder can be made");
                fs::write(&path, text).expect("a file can be written");
            }
        }
    }
    shell.end();
}

/// Returns a clone of the committed state. It shares the target folder, so that dependencies are not compiled twice.
fn clean_clone(sandbox: &Sandbox) -> PathBuf {
    let clone = sandbox.data_directory().join("takt");
    let mut git = Command::new("git");
    git.args(["clone", "--quiet", "--depth", "1"])
        .arg(format!(
            "file://{}",
            repository()
                .canonicalize()
                .expect("the repository exists")
                .display()
        ))
        .arg(&clone);
    let _ = process::run("git clone", &mut git, Duration::from_secs(60)).expect_success();
    let test = std::env::current_exe().expect("the test knows its own executable");
    let target = test
        .ancestors()
        .nth(3)
        .expect("target/<profile>/deps/<test>");
    fs::create_dir_all(clone.join("target")).expect("a folder can be made");
    symlink(target.join("debug"), clone.join("target/debug")).expect("a link can be made");
    copy_times(&clone);
    copy_profile(&clone);
    clone
}

/// Gives the files of `clone` that are as in the repository the same times, so that nothing is compiled twice.
fn copy_times(clone: &Path) {
    let mut git = Command::new("git");
    git.arg("-C").arg(clone).arg("ls-files");
    let files = process::run("git ls-files", &mut git, Duration::from_secs(60)).expect_success();
    for file in files.lines() {
        let (original, copy) = (repository().join(file), clone.join(file));
        let (Ok(text), Ok(copied)) = (fs::read(&original), fs::read(&copy)) else {
            continue;
        };
        if text == copied {
            let time = fs::metadata(&original).and_then(|file| file.modified());
            let copy = fs::File::options().write(true).open(&copy);
            let time = time.expect("a file has a time");
            copy.and_then(|copy| copy.set_modified(time))
                .expect("the clone can be changed");
        }
    }
}

/// Gives packages beside `clone` the profile of Takt, so that they share its compiled dependencies.
fn copy_profile(clone: &Path) {
    let manifest = fs::read_to_string(clone.join("Cargo.toml")).expect("the clone has a manifest");
    let begin = manifest.find("[profile.dev]").expect("it has a profile");
    let end = manifest.find("[profile.release]").expect("it has two");
    let folder = clone.with_file_name(".cargo");
    fs::create_dir_all(&folder).expect("a folder can be made");
    fs::write(folder.join("config.toml"), &manifest[begin..end]).expect("a file can be written");
}

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
struct Shell {
    process: Process,
    folder: PathBuf,
    commands: usize,
}

impl Shell {
    fn start(sandbox: &Sandbox, folder: &Path) -> Self {
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
    fn run(&mut self, command: &str) -> (i32, Vec<String>) {
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
    fn start_background(&mut self, file: &str, command: &str, expected: &[String]) {
        let log = self
            .folder
            .join(format!("../background-{}.log", self.commands));
        let (status, output) = self.run(&format!("{{ {command}\n}} > '{}' 2>&1 &", log.display()));
        assert_eq!(
            status, 0,
            "{file}: `{command}` cannot be started: {output:?}"
        );
        // Further lines may follow the expected ones.
        let expected: Vec<String> = expected
            .iter()
            .cloned()
            .chain([ANY_LINES.to_owned()])
            .collect();
        let deadline = Instant::now() + BACKGROUND;
        loop {
            let text = fs::read_to_string(&log).unwrap_or_default();
            let output: Vec<String> = text.lines().map(str::to_owned).collect();
            if matches(&expected, &output) {
                return;
            }
            assert!(
                Instant::now() < deadline,
                "{file}: `{command}` should print\n{}\n---- but printed\n{text}",
                expected.join("\n")
            );
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    /// Ends the background commands, as Ctrl-C does in other terminals.
    fn end(mut self) {
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

/// The expected line that stands for any number of lines.
const ANY_LINES: &str = "…";

/// Returns whether output is the expected one, except for trailing spaces.
fn matches(expected: &[String], output: &[String]) -> bool {
    match expected.split_first() {
        None => output.iter().all(|line| line.trim().is_empty()),
        Some((first, rest)) if first.trim() == ANY_LINES => {
            (0..=output.len()).any(|skipped| matches(rest, &output[skipped..]))
        }
        Some((first, rest)) => output
            .split_first()
            .is_some_and(|(line, others)| same_line(first, line) && matches(rest, others)),
    }
}

/// Returns whether a line is the expected one, except for trailing spaces.
fn same_line(expected: &str, line: &str) -> bool {
    line_matches(expected, line) || line_matches(expected.trim_end(), line.trim_end())
}

/// Returns whether a line is the expected one; `…` stands for any text.
fn line_matches(expected: &str, line: &str) -> bool {
    match expected.split_once('…') {
        None => expected == line,
        Some((before, after)) => line.strip_prefix(before).is_some_and(|rest| {
            rest.char_indices()
                .map(|(at, _)| at)
                .chain([rest.len()])
                .any(|at| line_matches(after, &rest[at..]))
        }),
    }
}

/// Returns the steps of a tutorial, in order.
fn steps(text: &str) -> Vec<Step> {
    let mut steps = Vec::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        let Some(info) = line.strip_prefix("```") else {
            continue;
        };
        let block: Vec<&str> = lines
            .by_ref()
            .take_while(|line| !line.starts_with("```"))
            .collect();
        let words: Vec<&str> = info.split([' ', ',']).collect();
        let file = words.iter().find_map(|word| word.strip_prefix("file="));
        if let Some(path) = file {
            steps.push(Step::Write {
                path: path.to_owned(),
                text: block.join("\n") + "\n",
            });
        } else if words[0] == "console"
            && !words.iter().any(|word| ["skip", "install"].contains(word))
        {
            steps.extend(commands(&block, words.contains(&"background")));
        }
    }
    steps
}

/// Returns the commands of one block with what each should print.
fn commands(block: &[&str], background: bool) -> Vec<Step> {
    let mut found: Vec<(String, Vec<String>)> = Vec::new();
    let mut continued = false;
    for line in block {
        if let Some(command) = line.strip_prefix("$ ") {
            found.push((command.to_owned(), Vec::new()));
            continued = command.ends_with('\\');
        } else if let Some((command, expected)) = found.last_mut() {
            if continued {
                command.push('\n');
                command.push_str(line);
                continued = line.ends_with('\\');
            } else {
                expected.push((*line).to_owned());
            }
        }
    }
    let step = |(command, expected)| match background {
        true => Step::Start { command, expected },
        false => Step::Run { command, expected },
    };
    found.into_iter().map(step).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &str) -> Vec<String> {
        text.lines().map(str::to_owned).collect()
    }

    #[test]
    fn blocks_become_steps() {
        let text = "Intro\n```console skip\n$ git clone x\n```\n```console install\n$ cargo install x\n```\n```console\n$ echo a \\\n  b\na b\n$ true\n```\n\
                    ```console background\n$ takt registry\nlistening on …\n```\n```rust,file=a/b.rs\nfn main() {}\n```\n";
        let expected = [
            Step::Run {
                command: "echo a \\\n  b".to_owned(),
                expected: lines("a b"),
            },
            Step::Run {
                command: "true".to_owned(),
                expected: Vec::new(),
            },
            Step::Start {
                command: "takt registry".to_owned(),
                expected: lines("listening on …"),
            },
            Step::Write {
                path: "a/b.rs".to_owned(),
                text: "fn main() {}\n".to_owned(),
            },
        ];
        assert_eq!(steps(text), expected);
    }

    #[test]
    fn an_ellipsis_stands_for_text_or_lines() {
        assert!(matches(&lines("a … c"), &lines("a b c")));
        assert!(matches(&lines("a …"), &lines("a ")));
        assert!(!matches(&lines("a … c"), &lines("a b d")));
        assert!(matches(&lines("…\nlast"), &lines("1\n2\nlast")));
        assert!(matches(&lines("first\n…"), &lines("first")));
        assert!(!matches(&lines("first"), &lines("first\nsecond")));
        assert!(matches(&[], &[]));
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
            &lines("line 1\n…\nline 3"),
        );
        shell.end();
    }
}
