//! Latency of sleeping processors: a request to the kernel that idle processors wake up at once
//! (`/dev/cpu_dma_latency`).

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Device of the kernel's quality of service for processors (Linux, Documentation/power/pm_qos_interface.rst).
pub const DEVICE: &str = "/dev/cpu_dma_latency";

/// Error of a request that could not be made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CpuLatencyError {
    /// The user may not write to the device.
    #[error(
        "{path} cannot be opened: only root may, by default. \
         Either start the program as root, or give a group the device: \
         a line `KERNEL==\"cpu_dma_latency\", GROUP=\"realtime\", MODE=\"0660\"` \
         in /etc/udev/rules.d/99-realtime.rules, `sudo udevadm trigger /dev/cpu_dma_latency`, \
         and the user in that group"
    )]
    NotPermitted {
        /// Path of the device.
        path: PathBuf,
    },
    /// The device does not exist.
    #[error(
        "{path} does not exist: the kernel was built without CONFIG_CPU_IDLE, \
         or this is a container without the device. For a container `--device /dev/cpu_dma_latency`; \
         otherwise the kernel's argument `idle=poll` (x86)"
    )]
    Missing {
        /// Path of the device.
        path: PathBuf,
    },
    /// The system refused for another reason.
    #[error("{path} cannot be opened or written")]
    System {
        /// Path of the device.
        path: PathBuf,
        /// Cause.
        #[source]
        cause: io::Error,
    },
}

/// Request for a wake-up latency of idle processors. It holds for all processors until this value is dropped, or the
/// process ends.
#[derive(Debug)]
#[must_use = "the request ends when this value is dropped"]
pub struct CpuLatency {
    /// Open device: the kernel withdraws the request when it is closed.
    _device: File,
}

impl CpuLatency {
    /// Requests the shortest wake-up latency, 0 µs: idle processors wait in a loop instead of sleeping, and use about
    /// as much power as busy ones. Otherwise waking up takes up to some hundred microseconds, depending on the
    /// processor.
    ///
    /// # Errors
    /// [`CpuLatencyError`], which names the missing privilege and the way to get it.
    pub fn minimum() -> Result<Self, CpuLatencyError> {
        Self::request(Path::new(DEVICE), 0)
    }

    /// Requests a latency in microseconds, as a number in the byte order of the host.
    fn request(path: &Path, microseconds: i32) -> Result<Self, CpuLatencyError> {
        let open = || {
            let mut device = OpenOptions::new().write(true).open(path)?;
            device.write_all(&microseconds.to_ne_bytes())?;
            Ok(Self { _device: device })
        };
        open().map_err(|cause: io::Error| {
            let path = path.to_owned();
            match cause.kind() {
                io::ErrorKind::PermissionDenied => CpuLatencyError::NotPermitted { path },
                io::ErrorKind::NotFound => CpuLatencyError::Missing { path },
                _ => CpuLatencyError::System { path, cause },
            }
        })
    }
}

#[cfg(test)]
#[cfg(not(miri))]
mod tests {
    use std::io::Read;
    use std::os::fd::AsFd;

    use super::*;

    #[test]
    fn the_kernel_holds_the_request_until_it_is_dropped_or_says_what_is_missing() {
        // The device reads as the latency that all requests together allow.
        let effective = || -> i32 {
            let mut bytes = [0; 4];
            File::open(DEVICE).unwrap().read_exact(&mut bytes).unwrap();
            i32::from_ne_bytes(bytes)
        };
        match CpuLatency::minimum() {
            Ok(request) => {
                assert_eq!(effective(), 0);
                drop(request);
            }
            Err(error @ CpuLatencyError::NotPermitted { .. }) => {
                assert!(error.to_string().contains("udev"), "{error}");
            }
            Err(error @ CpuLatencyError::Missing { .. }) => {
                assert!(error.to_string().contains("--device"), "{error}");
            }
            Err(error) => panic!("{error:?}"),
        }
    }

    #[test]
    fn a_request_is_four_bytes_and_stays_open() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("device");
        std::fs::write(&path, []).unwrap();
        let request = CpuLatency::request(&path, 7).unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), 7_i32.to_ne_bytes());
        assert!(rustix::fs::fstat(request._device.as_fd()).is_ok());
    }

    #[test]
    fn a_missing_device_and_a_folder_are_errors_with_their_path() {
        let folder = tempfile::tempdir().unwrap();
        let missing = CpuLatency::request(&folder.path().join("none"), 0).unwrap_err();
        assert!(matches!(&missing, CpuLatencyError::Missing { path } if path.ends_with("none")));
        let error = CpuLatency::request(folder.path(), 0).unwrap_err();
        assert!(matches!(error, CpuLatencyError::System { .. }), "{error:?}");
    }

    #[test]
    fn without_a_permission_the_error_names_the_rule() {
        let path = PathBuf::from(DEVICE);
        let text = CpuLatencyError::NotPermitted { path }.to_string();
        assert!(text.starts_with(DEVICE) && text.contains("KERNEL==\"cpu_dma_latency\""));
    }
}
