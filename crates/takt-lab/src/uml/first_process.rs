//! First process of the machine: what a distribution's init would do.

use std::ffi::CStr;
use std::io;
use std::time::Duration;

use rustix::io::Errno;
use rustix::mount::{MountFlags, mount};
use rustix::system::{RebootCommand, reboot, sethostname};
use takt_rt::tai_offset;

use super::error::UmlError;

/// Seconds by which TAI is ahead of UTC. A kernel starts with 0, which would hide times of the wrong clock.
const TAI_OFFSET: i32 = 37;

/// Some ticks of the kernel.
const TICKS: Duration = Duration::from_millis(50);

/// File systems of the kernel: kind and place.
const FILE_SYSTEMS: [(&CStr, &str); 3] = [
    (c"proc", "/proc"),
    (c"sysfs", "/sys"),
    (c"devtmpfs", "/dev"),
];

/// Returns true in the first process of a machine.
#[must_use]
pub fn is_first_process() -> bool {
    std::process::id() == 1
}

/// Mounts the file systems of the kernel, and sets the name of the host and the offset of TAI.
///
/// # Errors
/// [`UmlError::Io`].
pub fn initialize() -> Result<(), UmlError> {
    for (kind, place) in FILE_SYSTEMS {
        let mounted = mount(kind, place, kind, MountFlags::empty(), None::<&CStr>);
        match mounted {
            // The kernel may have mounted it.
            Ok(()) | Err(Errno::BUSY) => {}
            Err(errno) => return Err(UmlError::io(place)(errno.into())),
        }
    }
    sethostname(b"takt-lab").map_err(|errno| UmlError::io("host name")(errno.into()))?;
    tai_offset::set(TAI_OFFSET).map_err(UmlError::io("offset of TAI"))?;
    // Timers learn of the offset at the next tick. One that is set before is late by up to a tick.
    std::thread::sleep(TICKS);
    Ok(())
}

/// Switches the machine off. Returns only if that fails.
pub fn power_off() -> io::Error {
    // reboot(2) does not write what is still in memory.
    rustix::fs::sync();
    match reboot(RebootCommand::PowerOff) {
        Ok(()) => io::Error::other("the machine still runs"),
        Err(errno) => errno.into(),
    }
}
