//! Instances of tracefs: a set of ring buffers and events of its own, below `instances` (`Documentation/trace/ftrace.rst`).

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use rustix::fs::OFlags;
use takt_rt::file_lock::FileLock;

use super::error::RecorderError;
use super::filter::RecordedThreads;
use super::idle_states;
use crate::attribution::WatchedCalls;
use crate::trace::formats::{Formats, required, used};

/// Places at which tracefs is mounted: that of today, and that of older systems.
const PLACES: [&str; 2] = ["/sys/kernel/tracing", "/sys/kernel/debug/tracing"];

/// Beginning of the names of Takt's instances. The process id and a number follow.
const PREFIX: &str = "takt-wakeup-";

/// Clock of the events: CLOCK_MONOTONIC, as that of the cycles.
const CLOCK: &str = "mono";

/// Size in KiB of the buffer of each processor.
pub(super) const BUFFER_KILOBYTES: u64 = 512;

/// Returns the directory in which tracefs is mounted.
pub(super) fn tracefs() -> Result<PathBuf, RecorderError> {
    for place in PLACES {
        let path = Path::new(place);
        match fs::metadata(path.join("instances")) {
            Ok(_) => return Ok(path.to_owned()),
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
                let path = path.to_owned();
                return Err(RecorderError::NotPermitted { path });
            }
            Err(_) => {}
        }
    }
    Err(RecorderError::NotMounted)
}

/// Instance of this process. Dropping it removes it.
#[derive(Debug)]
pub(super) struct Instance {
    path: PathBuf,
    /// Locked directory: others see that the owner lives.
    _lock: FileLock,
}

impl Instance {
    /// Creates an instance below a tracefs.
    pub(super) fn create(tracefs: &Path) -> Result<Self, RecorderError> {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let process = std::process::id();
        let instances = tracefs.join("instances");
        // Until the instance is locked, others would take it for one of a killed process.
        let all = wait_for_lock(&instances)
            .map_err(|cause| RecorderError::of(instances.clone(), cause))?;
        let path = loop {
            let number = NUMBER.fetch_add(1, Ordering::Relaxed);
            let path = instances.join(format!("{PREFIX}{process}-{number}"));
            match fs::create_dir(&path) {
                Ok(()) => break path,
                // Of a process of another namespace, or of a killed one that had the same id.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(cause) => return Err(RecorderError::of(path, cause)),
            }
        };
        let lock = lock(&path).map_err(|cause| {
            // Without a lock it would stay.
            let _ = fs::remove_dir(&path);
            RecorderError::of(path.clone(), cause)
        })?;
        let instance = Self { _lock: lock, path };
        drop(all);
        instance.write("tracing_on", "0")?;
        instance.write("trace_clock", CLOCK)?;
        instance.write("options/overwrite", "1")?;
        if !others_trace(tracefs) {
            // The events have the names of threads themselves. Keeping them elsewhere, too, costs time at each switch. The option
            // holds for all events that are enabled now, so that other traces keep it. Without it, the recorder costs more.
            let _ = instance.write("trace_options", "norecord-cmd");
        }
        let size = BUFFER_KILOBYTES.to_string();
        match instance.write("buffer_size_kb", &size) {
            Err(RecorderError::System { cause, .. })
                if cause.raw_os_error() == Some(libc::ENOMEM) =>
            {
                let kilobytes = BUFFER_KILOBYTES;
                return Err(RecorderError::Memory { kilobytes });
            }
            written => written?,
        }
        Ok(instance)
    }

    /// Enables the events that are used, for no thread yet, and returns their layouts.
    pub(super) fn enable(&self, calls: WatchedCalls) -> Result<Formats, RecorderError> {
        let mut formats = Formats::default();
        let nobody = RecordedThreads::default();
        for (group, name) in used() {
            let is_needed = match group {
                "raw_syscalls" => calls == WatchedCalls::Any,
                "power" => idle_states::are_deep(),
                _ => true,
            };
            if !is_needed {
                continue;
            }
            let event = format!("events/{group}/{name}");
            let format = self.path.join(&event).join("format");
            let text = match fs::read_to_string(&format) {
                Ok(text) => text,
                Err(error) if error.kind() == io::ErrorKind::NotFound && !required(group) => {
                    continue;
                }
                Err(error) if error.kind() == io::ErrorKind::NotFound => {
                    let event = format!("{group}:{name}");
                    return Err(RecorderError::MissingEvent { event });
                }
                Err(error) => return Err(RecorderError::of(format, error)),
            };
            formats.add(&name, &text)?;
            let filter = nobody.filter(group, &name);
            if let Some(filter) = filter.or_else(|| idle_states::filter(group)) {
                self.write(&format!("{event}/filter"), &filter)?;
            }
            self.write(&format!("{event}/enable"), "1")?;
        }
        self.write("tracing_on", "1")?;
        Ok(formats)
    }

    /// Restricts the events that belong to one thread to these threads.
    pub(super) fn restrict(&self, threads: &RecordedThreads) -> Result<(), RecorderError> {
        for (group, name) in used() {
            let event = format!("events/{group}/{name}");
            // The kernel need not have all of them.
            if let Some(filter) = threads.filter(group, &name)
                && self.path.join(&event).exists()
            {
                self.write(&format!("{event}/filter"), &filter)?;
            }
        }
        Ok(())
    }

    /// Opens the buffers of all processors, each with its number.
    pub(super) fn buffers(&self) -> Result<Vec<(u32, File)>, RecorderError> {
        let path = self.path.join("per_cpu");
        let listed = fs::read_dir(&path).map_err(|cause| RecorderError::of(path, cause))?;
        let mut buffers = Vec::new();
        for entry in listed.flatten() {
            let name = entry.file_name();
            let number = name.to_str().and_then(|name| name.strip_prefix("cpu"));
            let Some(number) = number.and_then(|number| number.parse().ok()) else {
                continue;
            };
            let path = entry.path().join("trace_pipe_raw");
            let mut options = OpenOptions::new();
            let nonblocking = OFlags::NONBLOCK.bits().cast_signed();
            let opened = options.read(true).custom_flags(nonblocking).open(&path);
            buffers.push((
                number,
                opened.map_err(|cause| RecorderError::of(path, cause))?,
            ));
        }
        buffers.sort_by_key(|(number, _)| *number);
        Ok(buffers)
    }

    /// Returns the size in bytes of a page, and that of a `long` of the kernel, from `events/header_page`.
    pub(super) fn page_layout(&self) -> Result<(usize, usize), RecorderError> {
        // Instances do not have this file; it is that of all.
        let tracefs = self.path.parent().and_then(Path::parent);
        let path = tracefs
            .unwrap_or(Path::new(""))
            .join("events")
            .join("header_page");
        // The kernel gives the text to one read only, cut to its length.
        let mut text = vec![0; 4096];
        let read = File::open(&path).and_then(|mut file| file.read(&mut text));
        let length = read.map_err(|cause| RecorderError::of(path.clone(), cause))?;
        let text = text.get(..length).unwrap_or_default();
        layout(&String::from_utf8_lossy(text)).ok_or_else(|| {
            RecorderError::of(path, io::Error::other("the layout of pages is unknown"))
        })
    }

    fn write(&self, file: &str, text: &str) -> Result<(), RecorderError> {
        let path = self.path.join(file);
        let open = OpenOptions::new().write(true).open(&path);
        open.and_then(|mut file| file.write_all(text.as_bytes()))
            .map_err(|cause| RecorderError::of(path, cause))
    }
}

impl Drop for Instance {
    fn drop(&mut self) {
        // Without the events, the kernel need not wait for those that are being written.
        let _ = self.write("tracing_on", "0");
        // A failure leaves the instance to `remove_dead`.
        let _ = fs::remove_dir(&self.path);
    }
}

/// Locks the directory of an instance. The lock ends with its owner.
fn lock(path: &Path) -> io::Result<FileLock> {
    let lock = FileLock::try_take(File::open(path)?)?;
    lock.ok_or_else(|| io::ErrorKind::WouldBlock.into())
}

/// Locks the directory of all instances. Nobody holds this lock for long.
fn wait_for_lock(path: &Path) -> io::Result<FileLock> {
    Ok(FileLock::take(File::open(path)?)?)
}

/// Returns true if another trace has events.
fn others_trace(tracefs: &Path) -> bool {
    let has_events = |path: &Path| {
        let events = fs::read_to_string(path.join("set_event"));
        // A file that cannot be read may have some.
        events.map_or(true, |events| !events.trim().is_empty())
    };
    let instances = fs::read_dir(tracefs.join("instances"));
    let mut instances = instances.into_iter().flatten().flatten();
    has_events(tracefs) || instances.any(|instance| has_events(&instance.path()))
}

/// Returns the size of a page, and that of a `long`, in a `header_page` file.
fn layout(text: &str) -> Option<(usize, usize)> {
    let number = |field: &str, key: &str| -> Option<usize> {
        let line = text.lines().find(|line| line.contains(field))?;
        let (_, after) = line.split_once(key)?;
        after.split(';').next()?.trim().parse().ok()
    };
    let long = number(" commit;", "size:").filter(|size| matches!(size, 4 | 8))?;
    let begin = number(" data;", "offset:")?;
    let size = begin.checked_add(number(" data;", "size:")?)?;
    (size <= 1 << 20).then_some((size, long))
}

/// Removes the instances of processes that were killed. Returns their number.
///
/// # Errors
/// [`RecorderError::System`]: an instance is left. Without tracefs, or without the permission to use it, there is nothing to do.
pub fn remove_dead() -> Result<usize, RecorderError> {
    let Ok(tracefs) = tracefs() else {
        return Ok(0);
    };
    let instances = tracefs.join("instances");
    let Ok(_all) = wait_for_lock(&instances) else {
        return Ok(0);
    };
    let Ok(listed) = fs::read_dir(&instances) else {
        return Ok(0);
    };
    let mut removed = 0;
    for entry in listed.flatten() {
        if !entry
            .file_name()
            .as_encoded_bytes()
            .starts_with(PREFIX.as_bytes())
        {
            continue;
        }
        // The owner of a locked one lives.
        let Ok(lock) = lock(&entry.path()) else {
            continue;
        };
        let outcome = fs::remove_dir(entry.path());
        drop(lock);
        match outcome {
            Ok(()) => removed += 1,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(cause) => return Err(RecorderError::of(entry.path(), cause)),
        }
    }
    Ok(removed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_layout_of_pages_is_read() {
        let text = "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n\
            \tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;\n\
            \tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;\n\
            \tfield: char data;\toffset:16;\tsize:4080;\tsigned:0;\n";
        assert_eq!(layout(text), Some((4096, 8)));
        assert_eq!(layout(&text.replace("4080", "99999999")), None);
        assert_eq!(layout(""), None);
    }
}
