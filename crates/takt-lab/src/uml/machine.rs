//! Machine: a running kernel whose first process is Takt.

use std::collections::VecDeque;
use std::fmt;
use std::fs;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use takt_rt::child::{ChildError, ChildProcess, Ending};
use takt_tsn::search_path;

use super::error::UmlError;

/// Name of the file in the directory of a run through which the machine reports. It is removed in the end.
pub const PROGRESS: &str = ".progress";

/// Folder in the directory of a run in which the kernel keeps its own files while it runs.
const FOLDER: &str = ".machine";

/// Line of the report that ends a run.
const COMPLETE: &str = "complete";

/// Beginning of the line of the report with the reason why a run has failed.
const FAILED: &str = "failed: ";

/// Beginning of lines of the report for people.
const LINE: &str = "line: ";

/// Memory of the machine in MiB. It is taken from the host when it is used.
const MEMORY_MIB: u32 = 2048;

/// Time at which the machine starts: nanoseconds since 1970, 2026-01-01T00:00:00Z. It is always the same, so that runs are repeatable.
const START_NANOS: u64 = 1_767_225_600_000_000_000;

/// Longest wait for the console before a look at the report.
const STEP: Duration = Duration::from_millis(50);

/// Last lines of the console that an error shows.
const LINES: usize = 15;

/// Time that the processes of the machine get to end.
const GRACE: Duration = Duration::from_secs(5);

/// Starts the arguments so that they end with the process `$0`. If that was killed before its end could be told, they are not started.
const START: &str = "exec setpriv --pdeathsig KILL -- \
                     sh -c 'test \"$PPID\" = \"$0\" && exec \"$@\" 2>&1' \"$0\" \"$@\"";

/// Machine of the lab.
#[derive(Debug, Clone)]
pub struct Machine {
    kernel: PathBuf,
    program: PathBuf,
    has_virtual_time: bool,
}

impl Machine {
    /// Describes a machine with the lab's kernel. Its first process is `program` with the arguments `lab inside DIRECTORY`.
    #[must_use]
    pub const fn new(kernel: PathBuf, program: PathBuf) -> Self {
        Self {
            kernel,
            program,
            has_virtual_time: true,
        }
    }

    /// Makes the machine run in the time of the host, as a kernel without virtual time needs it.
    #[must_use]
    pub const fn in_real_time(mut self) -> Self {
        self.has_virtual_time = false;
        self
    }

    /// Returns the release of the kernel, such as `6.12.117`.
    ///
    /// # Errors
    /// [`UmlError::Io`].
    pub fn release(&self) -> Result<String, UmlError> {
        let mut command = Command::new(&self.kernel);
        let output = command.arg("--version").stdin(Stdio::null()).output();
        let output = output.map_err(UmlError::io(&self.kernel))?;
        Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
    }

    /// Returns the number of machines that the memory of this host is enough for, at least 1. Each may take as much as a machine has.
    #[must_use]
    pub fn most_at_once() -> usize {
        let memory = fs::read_to_string("/proc/meminfo").unwrap_or_default();
        let available = memory.lines().find_map(|line| {
            let kibibytes = line.strip_prefix("MemAvailable:")?.trim();
            kibibytes.strip_suffix(" kB")?.trim().parse::<u64>().ok()
        });
        // The memory of a machine is a file there, unless TMPDIR names another place.
        let shared = rustix::fs::statvfs("/dev/shm").ok();
        let shared = shared.map(|it| it.f_bavail.saturating_mul(it.f_frsize) >> 20);
        let available = available.map(|kibibytes| kibibytes >> 10);
        let least = available.into_iter().chain(shared).min().unwrap_or(0);
        usize::try_from(least / u64::from(MEMORY_MIB)).map_or(1, |count| count.max(1))
    }

    /// Runs a prepared directory, until the machine switches itself off. `line` gets the lines for people. The machine ends with the calling
    /// thread.
    ///
    /// # Errors
    /// [`UmlError`]. The machine has ended, and its files are removed.
    pub fn run(
        &self,
        directory: &Path,
        line: &mut dyn FnMut(&str),
        stop: &AtomicBool,
    ) -> Result<(), UmlError> {
        let directory = directory.canonicalize().map_err(UmlError::io(directory))?;
        for path in [&directory, &self.program] {
            check_characters(path)?;
        }
        let files = Files::new(&directory)?;
        let mut report = Report::new(&files.progress);
        let mut command = self.command(&directory, &files.folder);
        let started = ChildProcess::start("User-Mode Linux", &mut command, Ending::Signal);
        let failed = |error: ChildError| UmlError::Io {
            path: self.kernel.clone(),
            error: std::io::Error::other(error.to_string()),
        };
        let mut child = started.map_err(failed)?.with_grace(GRACE);
        let mut console: VecDeque<String> = VecDeque::with_capacity(LINES);
        loop {
            let heard = child.line(STEP, stop);
            report.read(line)?;
            match heard {
                Ok(text) => {
                    if console.len() == LINES {
                        console.pop_front();
                    }
                    console.push_back(text);
                }
                Err(ChildError::Late(_)) => {}
                Err(ChildError::Ended) => break,
                Err(ChildError::Interrupted) => {
                    child.end();
                    return Err(UmlError::Interrupted);
                }
                Err(error) => return Err(failed(error)),
            }
        }
        child.end();
        // Lines may have come between the last look and the end.
        report.read(line)?;
        match report.end {
            Some(Ok(())) => Ok(()),
            Some(Err(reason)) => Err(UmlError::Run(reason)),
            None => Err(UmlError::Machine {
                console: Vec::from(console).join("\n"),
            }),
        }
    }

    fn command(&self, directory: &Path, folder: &Path) -> Command {
        // Both outputs are the console. The kernel of the host ends the machine with this thread, also after kill -9.
        let mut command = Command::new("sh");
        command.env("PATH", search_path());
        command
            .args(["-c", START])
            .arg(std::process::id().to_string());
        command.arg(&self.kernel);
        command.arg(format!("mem={MEMORY_MIB}M"));
        // The machine uses the files of this host, so it needs no image of a disk.
        command.args(["root=/dev/root", "rootfstype=hostfs", "rootflags=/", "rw"]);
        let mut path = std::ffi::OsString::from("uml_dir=");
        path.push(folder);
        command.arg(path);
        if self.has_virtual_time {
            command.arg("time-travel=inf-cpu");
            command.arg(format!("time-travel-start={START_NANOS}"));
        }
        // Console 0 has no input, and its output is the standard output of the kernel.
        command.args([
            "con=null",
            "con0=null,fd:1",
            "ipv6.disable=1",
            // A kernel that panics ends, instead of waiting for ever.
            "panic=-1",
            "loglevel=4",
        ]);
        let mut init = std::ffi::OsString::from("init=");
        init.push(&self.program);
        command
            .arg(init)
            .args(["--", "lab", "inside"])
            .arg(directory);
        command
    }
}

/// Fails for a path that the command line of the kernel would divide.
fn check_characters(path: &Path) -> Result<(), UmlError> {
    let text = path.to_str();
    match text.is_some_and(|text| !text.contains([' ', '\t', '\n', '"', ','])) {
        true => Ok(()),
        false => Err(UmlError::Characters(path.to_owned())),
    }
}

/// Files of a machine that are removed in the end.
struct Files {
    progress: PathBuf,
    folder: PathBuf,
}

impl Files {
    fn new(directory: &Path) -> Result<Self, UmlError> {
        let files = Self {
            progress: directory.join(PROGRESS),
            folder: directory.join(FOLDER),
        };
        // The machine appends to the file and does not create it.
        fs::write(&files.progress, "").map_err(UmlError::io(&files.progress))?;
        fs::create_dir_all(&files.folder).map_err(UmlError::io(&files.folder))?;
        Ok(files)
    }
}

impl Drop for Files {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.progress);
        let _ = fs::remove_dir_all(&self.folder);
    }
}

/// Report of the machine, as far as it was read.
struct Report<'a> {
    path: &'a Path,
    position: u64,
    end: Option<Result<(), String>>,
}

impl<'a> Report<'a> {
    const fn new(path: &'a Path) -> Self {
        Self {
            path,
            position: 0,
            end: None,
        }
    }

    /// Reads lines that are complete.
    fn read(&mut self, line: &mut dyn FnMut(&str)) -> Result<(), UmlError> {
        let mut text = String::new();
        let mut file = fs::File::open(self.path).map_err(UmlError::io(self.path))?;
        file.seek(SeekFrom::Start(self.position))
            .and_then(|_| file.read_to_string(&mut text))
            .map_err(UmlError::io(self.path))?;
        // The last line may be incomplete. It stays behind `position`, and is read again.
        while let Some((first, _)) = text.split_once('\n') {
            let length = first.len() + 1;
            if let Some(shown) = first.strip_prefix(LINE) {
                line(shown);
            } else if first == COMPLETE {
                self.end = Some(Ok(()));
            } else if let Some(reason) = first.strip_prefix(FAILED) {
                self.end = Some(Err(reason.to_owned()));
            }
            self.position += length as u64;
            text.drain(..length);
        }
        Ok(())
    }
}

/// Line of the report.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReportLine<'a> {
    /// Line for people.
    Line(&'a str),
    /// End of a run.
    Complete,
    /// End of a run that has failed, and the reason.
    Failed(&'a str),
}

impl fmt::Display for ReportLine<'_> {
    /// Writes the line with its end. Ends of lines in texts become spaces.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (beginning, text) = match self {
            Self::Line(text) => (LINE, *text),
            Self::Complete => (COMPLETE, ""),
            Self::Failed(reason) => (FAILED, *reason),
        };
        writeln!(f, "{beginning}{}", text.replace('\n', " "))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    #[test]
    fn a_report_is_read_line_by_line() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(PROGRESS);
        let mut shown = Vec::new();
        let mut report = Report::new(&path);
        let mut text = ReportLine::Line("case 1 of\n2").to_string();
        text.push_str("line: case 2");
        fs::write(&path, &text).unwrap();
        report
            .read(&mut |line| shown.push(line.to_owned()))
            .unwrap();
        assert_eq!(shown, ["case 1 of 2"]);
        text.push_str(" of 2\n");
        text.push_str(&ReportLine::Failed("no room").to_string());
        fs::write(&path, &text).unwrap();
        report
            .read(&mut |line| shown.push(line.to_owned()))
            .unwrap();
        assert_eq!(shown, ["case 1 of 2", "case 2 of 2"]);
        assert_eq!(report.end, Some(Err("no room".to_owned())));
        fs::write(&path, text + &ReportLine::Complete.to_string()).unwrap();
        report.read(&mut |_| {}).unwrap();
        assert_eq!(report.end, Some(Ok(())));
    }

    #[test]
    fn a_machine_that_does_not_run_shows_its_console_and_leaves_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let machine = Machine::new("/bin/echo".into(), "/bin/takt".into());
        let stop = AtomicBool::new(false);
        let error = machine.run(folder.path(), &mut |_| {}, &stop).unwrap_err();
        let UmlError::Machine { console } = error else {
            panic!("{error}");
        };
        assert!(console.contains("time-travel=inf-cpu") && console.contains("-- lab inside /"));
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }
}
