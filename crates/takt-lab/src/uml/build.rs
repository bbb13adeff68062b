//! Build of the kernel, in a folder of its own that is removed in the end.

use std::collections::VecDeque;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use rustix::fs::statvfs;
use takt_rt::child::{ChildError, ChildProcess, Ending};
use takt_rt::file_lock::FileLock;
use takt_tsn::search_path;

use super::cache::KernelCache;
use super::configuration::configuration;
use super::error::UmlError;
use super::source::KernelSource;
use super::{CHANGES, DRIVER_LINE, DRIVERS, FILES, archive, programs};

/// Megabytes that a build takes on the disk until its end.
pub const SPACE_MEGABYTES: u64 = 1_600;

/// Folder of a build in the cache.
const BUILD: &str = "build";

/// Longest wait for a line before a look at the user's wishes.
const STEP: Duration = Duration::from_millis(200);

/// Number of attempts to remove a folder, one in each [`STEP`].
const REMOVALS: u32 = 25;

/// Last lines of a command that an error shows.
const LINES: usize = 20;

/// Step of a build.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BuildStep {
    /// The tree is unpacked or copied.
    Unpack,
    /// The configuration is made.
    Configure,
    /// The kernel is compiled.
    Compile,
}

/// Receiver of the progress of a build.
pub trait BuildObserver {
    /// Reports that a step begins.
    fn begins(&mut self, step: BuildStep);

    /// Reports progress within a step: the number of compiled files, which is 0 in other steps. It is called several times per second.
    fn goes_on(&mut self, compiled: usize);
}

/// Builds the kernel with this number of jobs, and returns its path. Files of an earlier build that was killed are removed first.
///
/// # Errors
/// [`UmlError`]. Nothing remains of a build that was not completed.
pub fn build_kernel(
    source: &KernelSource,
    cache: &KernelCache,
    jobs: usize,
    observer: &mut dyn BuildObserver,
    stop: &AtomicBool,
) -> Result<PathBuf, UmlError> {
    if std::env::consts::ARCH != "x86_64" {
        return Err(UmlError::Architecture);
    }
    programs::check(matches!(source, KernelSource::Archive(_)))?;
    let folder = cache.folder();
    fs::create_dir_all(folder).map_err(UmlError::io(folder))?;
    // The lock comes first, because `BuildFolder::new` removes a folder in which another process may build.
    let _lock = lock(folder)?;
    let build = BuildFolder::new(folder.join(BUILD))?;
    // The space is checked when the files of an earlier build are removed.
    check_space(folder)?;
    let (tree, objects) = (build.path.join("tree"), build.path.join("objects"));
    for path in [&tree, &objects] {
        fs::create_dir(path).map_err(UmlError::io(path))?;
    }
    let mut steps = Steps { observer, stop };

    steps.observer.begins(BuildStep::Unpack);
    steps.run(&mut archive::command(source, &tree))?;
    extend(&tree)?;

    steps.observer.begins(BuildStep::Configure);
    let options = build.path.join("kernel.config");
    fs::write(&options, configuration()).map_err(UmlError::io(&options))?;
    let mut configure = make(&tree, &objects);
    configure
        // All options that the file does not name are off.
        .env("KCONFIG_ALLCONFIG", &options)
        .arg("allnoconfig");
    steps.run(&mut configure)?;
    check_options(&objects.join(".config"))?;

    steps.observer.begins(BuildStep::Compile);
    let mut compile = make(&tree, &objects);
    compile.arg(format!("-j{}", jobs.max(1))).arg("linux");
    steps.run(&mut compile)?;
    let linux = objects.join("linux");
    let mut strip = Command::new("strip");
    strip.arg(&linux);
    steps.run(&mut strip)?;
    let kernel = cache.kernel();
    // A file is renamed at once: no half of a kernel ever has this name.
    fs::rename(&linux, &kernel).map_err(UmlError::io(&kernel))?;
    cache.remove_others();
    Ok(kernel)
}

/// Folder that is removed in the end.
struct BuildFolder {
    path: PathBuf,
}

impl BuildFolder {
    fn new(path: PathBuf) -> Result<Self, UmlError> {
        remove(&path)?;
        fs::create_dir(&path).map_err(UmlError::io(&path))?;
        Ok(Self { path })
    }
}

impl Drop for BuildFolder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.path);
    }
}

/// Removes the folder of a build that was killed. Returns false if there is none, or if a build is running.
///
/// # Errors
/// [`UmlError::Io`].
pub fn remove_killed_build(cache: &KernelCache) -> Result<bool, UmlError> {
    let folder = cache.folder();
    let build = folder.join(BUILD);
    if !build.exists() {
        return Ok(false);
    }
    match lock(folder) {
        Ok(_lock) => remove(&build).map(|()| true),
        Err(UmlError::Busy) => Ok(false),
        Err(error) => Err(error),
    }
}

/// Removes a folder, if it exists. Processes of a build that was killed may write for a moment.
fn remove(path: &Path) -> Result<(), UmlError> {
    let mut attempts = 0;
    while path.exists() {
        match fs::remove_dir_all(path) {
            Err(error) if attempts == REMOVALS => return Err(UmlError::io(path)(error)),
            Err(_) => std::thread::sleep(STEP),
            Ok(()) => {}
        }
        attempts += 1;
    }
    Ok(())
}

/// Takes the lock of a cache. It ends with the returned one, also after kill -9.
fn lock(folder: &Path) -> Result<FileLock, UmlError> {
    let path = folder.join("lock");
    let file = File::create(&path).map_err(UmlError::io(&path))?;
    match FileLock::try_take(file) {
        Ok(Some(lock)) => Ok(lock),
        Ok(None) => Err(UmlError::Busy),
        Err(errno) => Err(UmlError::io(path)(errno.into())),
    }
}

fn check_space(folder: &Path) -> Result<(), UmlError> {
    // If the file system does not tell, the build itself finds out.
    let Ok(disk) = statvfs(folder) else {
        return Ok(());
    };
    let free = disk.f_bavail.saturating_mul(disk.f_frsize) >> 20;
    match free < SPACE_MEGABYTES {
        true => Err(UmlError::NoSpace {
            folder: folder.to_owned(),
            free,
            wanted: SPACE_MEGABYTES,
        }),
        false => Ok(()),
    }
}

/// Adds Takt's files to the tree.
fn extend(tree: &Path) -> Result<(), UmlError> {
    for (name, text) in FILES {
        let path = tree.join(name);
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder).map_err(UmlError::io(folder))?;
        }
        fs::write(&path, text).map_err(UmlError::io(&path))?;
    }
    let path = tree.join(DRIVERS);
    let text = fs::read_to_string(&path).map_err(UmlError::io(&path))?;
    fs::write(&path, format!("{text}\n{DRIVER_LINE}\n")).map_err(UmlError::io(&path))?;
    for (name, present, new) in CHANGES {
        let path = tree.join(name);
        let text = fs::read_to_string(&path).map_err(UmlError::io(&path))?;
        // A kernel without the change would be built, and count time in other steps or crash on some processors.
        if !text.contains(present) {
            return Err(UmlError::NoOptions(vec![format!(
                "line `{present}` in {name}"
            )]));
        }
        fs::write(&path, text.replace(present, new)).map_err(UmlError::io(&path))?;
    }
    Ok(())
}

fn make(tree: &Path, objects: &Path) -> Command {
    let mut command = Command::new("make");
    let mut output = std::ffi::OsString::from("O=");
    output.push(objects);
    command.arg("-C").arg(tree).arg(output).arg("ARCH=um");
    command
}

/// Checks that the configuration has all options: `make` leaves out unknown ones silently.
fn check_options(path: &Path) -> Result<(), UmlError> {
    let text = fs::read_to_string(path).map_err(UmlError::io(path))?;
    let found: std::collections::HashSet<&str> = text.lines().collect();
    let options = configuration();
    let wanted = options.lines().filter(|line| line.starts_with("CONFIG_"));
    let missing: Vec<String> = wanted
        .filter(|line| !found.contains(line))
        .map(|line| line.trim_end_matches("=y").to_owned())
        .collect();
    match missing.is_empty() {
        true => Ok(()),
        false => Err(UmlError::NoOptions(missing)),
    }
}

/// Shell script that runs its arguments as a command with both outputs in one. It ends the command and all processes of its group when its
/// input ends: the kernel ends the input also if this program is killed, and no `tar` goes on in a folder of the next build. Commands in the
/// background have no input of their own, hence descriptor 3.
const WATCHED: &str = r#"exec 3<&0
"$@" 2>&1 3<&- </dev/null & command=$!
(cat <&3; kill -TERM 0) >/dev/null 2>&1 & watch=$!
wait "$command"; status=$?
kill "$watch" 2>/dev/null
exit "$status""#;

/// Returns the command within [`WATCHED`]. It has to run in a process group of its own.
fn watched(command: &Command) -> Command {
    let mut watched = Command::new("sh");
    watched
        .args(["-c", WATCHED, "sh"])
        .arg(command.get_program())
        .args(command.get_args())
        .env("PATH", search_path())
        .env("LC_ALL", "C");
    for (name, value) in command.get_envs() {
        if let Some(value) = value {
            watched.env(name, value);
        }
    }
    watched
}

/// Runs commands one after the other.
struct Steps<'a> {
    observer: &'a mut dyn BuildObserver,
    stop: &'a AtomicBool,
}

impl Steps<'_> {
    /// Runs a command until its end. Its errors are between the lines of its output.
    fn run(&mut self, command: &mut Command) -> Result<(), UmlError> {
        let program = command.get_program().to_string_lossy().into_owned();
        let mut joined = watched(command);
        let failed = |error: ChildError| UmlError::Build {
            command: program.clone(),
            output: error.to_string(),
        };
        let mut child =
            ChildProcess::start(&program, &mut joined, Ending::Input).map_err(failed)?;
        let mut last: VecDeque<String> = VecDeque::with_capacity(LINES);
        let mut compiled = 0;
        loop {
            self.observer.goes_on(compiled);
            match child.line(STEP, self.stop) {
                Ok(line) => {
                    compiled += usize::from(line.trim_start().starts_with("CC "));
                    if last.len() == LINES {
                        last.pop_front();
                    }
                    last.push_back(line);
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
        loop {
            // The output is closed, but the process may still run.
            match child.ended() {
                Some(status) if status.success() => return Ok(()),
                Some(_) => {
                    return Err(UmlError::Build {
                        command: program,
                        output: Vec::from(last).join("\n"),
                    });
                }
                None if self.stop.load(Ordering::Relaxed) => return Err(UmlError::Interrupted),
                None => std::thread::sleep(Duration::from_millis(1)),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    struct Silent;

    impl BuildObserver for Silent {
        fn begins(&mut self, _: BuildStep) {}
        fn goes_on(&mut self, _: usize) {}
    }

    #[test]
    fn a_failed_command_shows_its_last_lines() {
        let stop = AtomicBool::new(false);
        let mut steps = Steps {
            observer: &mut Silent,
            stop: &stop,
        };
        let mut command = Command::new("sh");
        command.args(["-c", "seq 100; echo reason >&2; exit 3"]);
        let Err(UmlError::Build { output, .. }) = steps.run(&mut command) else {
            panic!("the command does not fail");
        };
        assert!(output.starts_with("82\n") && output.ends_with("100\nreason"));
        command = Command::new("true");
        steps.run(&mut command).unwrap();
        stop.store(true, Ordering::Relaxed);
        command = Command::new("sleep");
        command.arg("1000");
        let mut steps = Steps {
            observer: &mut Silent,
            stop: &stop,
        };
        assert!(matches!(
            steps.run(&mut command),
            Err(UmlError::Interrupted)
        ));
    }

    #[test]
    fn only_one_build_at_a_time() {
        let folder = tempfile::tempdir().unwrap();
        let first = lock(folder.path()).unwrap();
        assert!(matches!(lock(folder.path()), Err(UmlError::Busy)));
        drop(first);
        lock(folder.path()).unwrap();
    }

    #[test]
    fn an_option_that_the_kernel_lacks_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(".config");
        let complete = configuration();
        fs::write(&path, &complete).unwrap();
        check_options(&path).unwrap();
        fs::write(&path, complete.replace("CONFIG_NET_SCH_CBS=y\n", "")).unwrap();
        let Err(UmlError::NoOptions(missing)) = check_options(&path) else {
            panic!("the option is not missed");
        };
        assert_eq!(missing, ["CONFIG_NET_SCH_CBS"]);
    }

    /// The processes of a command end with the input, as it ends when this program is killed.
    #[test]
    fn commands_end_with_their_parent() {
        let mut sleeping = Command::new("sh");
        sleeping.args(["-c", "echo $$; sleep 1000; true"]);
        let mut child =
            ChildProcess::start("sleep", &mut watched(&sleeping), Ending::Input).unwrap();
        let never = AtomicBool::new(false);
        let id = child.line(Duration::from_secs(60), &never).unwrap();
        let folder = Path::new("/proc").join(id);
        assert!(folder.exists());
        assert!(child.end(), "it ends by itself");
        let begin = std::time::Instant::now();
        while folder.exists() {
            assert!(begin.elapsed() < Duration::from_secs(60), "it still runs");
            std::thread::sleep(STEP);
        }
    }

    #[test]
    fn the_folder_of_a_killed_build_is_removed_unless_a_build_runs() {
        let folder = tempfile::tempdir().unwrap();
        let cache = KernelCache::new(folder.path().to_owned());
        assert!(!remove_killed_build(&cache).unwrap());
        fs::create_dir_all(folder.path().join("build/tree/kernel")).unwrap();
        let running = lock(folder.path()).unwrap();
        assert!(!remove_killed_build(&cache).unwrap());
        drop(running);
        assert!(remove_killed_build(&cache).unwrap());
        assert!(!folder.path().join("build").exists());
    }

    #[test]
    fn the_tree_gets_the_link_device_once() {
        let folder = tempfile::tempdir().unwrap();
        let drivers = folder.path().join(DRIVERS);
        fs::create_dir_all(drivers.parent().unwrap()).unwrap();
        fs::write(&drivers, "obj-y += other.o").unwrap();
        for (name, present, _) in CHANGES {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            let mut text = fs::read_to_string(&path).unwrap_or_default();
            text.push_str(present);
            text.push('\n');
            fs::write(path, text).unwrap();
        }
        extend(folder.path()).unwrap();
        let text = fs::read_to_string(&drivers).unwrap();
        assert_eq!(text.lines().filter(|line| *line == DRIVER_LINE).count(), 1);
        assert!(text.starts_with("obj-y += other.o\n"));
        for (name, present, new) in CHANGES {
            let text = fs::read_to_string(folder.path().join(name)).unwrap();
            assert!(text.contains(new) && !text.contains(present), "{text}");
        }
        for (name, text) in FILES {
            assert_eq!(fs::read_to_string(folder.path().join(name)).unwrap(), text);
        }
    }
}
