//! Check of the machine's resources before the Providers are started. A lack of resources during the run would end in SIGBUS or
//! in errors that do not name the cause.

use rustix::process::{Resource, getrlimit};
use takt_shm::DESCRIPTORS_PER_CONNECTION;

use super::run::PROVIDERS_OF_A_PROCESS;
use crate::error::BenchError;

const SHARED_MEMORY: &str = "/dev/shm";

/// Descriptors of a Provider, of which 90 are files of iceoryx2.
const OF_A_PROVIDER: usize = 105;
/// Descriptors of a connection at the Consumer's end, which has current values but no large messages.
const OF_A_CONNECTED_CONSUMER: usize = 7;
/// Descriptors of any process.
const OF_A_PROCESS: usize = 150;
/// Memory of a Provider with its connections, and its part in /dev/shm, in KiB.
const MEMORY: u64 = 3 << 10;
const FILES: u64 = 300;
/// Memory of everything else, in KiB.
const OTHER_MEMORY: u64 = 128 << 10;
const OTHER_FILES: u64 = 8 << 10;

/// Resources that a run needs, or that are available.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Resources {
    /// File descriptors of one process.
    descriptors: u64,
    /// Memory in KiB.
    memory: u64,
    /// Memory in /dev/shm in KiB.
    files: u64,
}

impl Resources {
    /// Returns the resources that the more demanding architecture needs.
    pub(super) fn needed(providers: usize, consumers: usize) -> Self {
        let together = providers.min(PROVIDERS_OF_A_PROCESS);
        let descriptors = [
            together * (OF_A_PROVIDER + consumers * DESCRIPTORS_PER_CONNECTION),
            (providers + consumers) * DESCRIPTORS_PER_CONNECTION,
            providers * OF_A_CONNECTED_CONSUMER,
        ];
        let most = descriptors.into_iter().max().unwrap_or(0) + OF_A_PROCESS;
        Self {
            descriptors: most as u64,
            memory: providers as u64 * MEMORY + OTHER_MEMORY,
            files: providers as u64 * FILES + OTHER_FILES,
        }
    }

    /// Returns the resources that are available to this process and its children. An unknown resource is not a limit.
    pub(super) fn available() -> Self {
        let memory = std::fs::read_to_string("/proc/meminfo");
        let memory = memory.ok().and_then(|text| {
            let line = text
                .lines()
                .find_map(|line| line.strip_prefix("MemAvailable:"));
            line?.split_whitespace().next()?.parse().ok()
        });
        let files = rustix::fs::statvfs(SHARED_MEMORY);
        let files = files.map(|stat| stat.f_bavail.saturating_mul(stat.f_frsize) >> 10);
        Self {
            descriptors: getrlimit(Resource::Nofile).maximum.unwrap_or(u64::MAX),
            memory: memory.unwrap_or(u64::MAX),
            files: files.unwrap_or(u64::MAX),
        }
    }

    /// Fails if `available` is less than these resources, the needs of `providers`.
    pub(super) fn check(self, providers: usize, available: Self) -> Result<(), BenchError> {
        let lacking = |what: String, help: &str| {
            Err(BenchError::Option(format!(
                "{providers} Providers take {what}: {help}, or compare fewer with --providers"
            )))
        };
        let (descriptors, there) = (self.descriptors, available.descriptors);
        if descriptors > there {
            return lacking(
                format!("{descriptors} file descriptors in one process, whose limit is {there}"),
                &format!(
                    "raise the hard limit (`ulimit -Hn {descriptors}` as root, `LimitNOFILE=` of a service, \
                     `--ulimit nofile={descriptors}` of a container)"
                ),
            );
        }
        if self.memory > available.memory {
            let [needed, there] = [self.memory, available.memory].map(|kib| kib >> 10);
            return lacking(
                format!("{needed} MiB of memory, and {there} MiB are available"),
                "end other programs",
            );
        }
        if self.files > available.files {
            let [needed, there] = [self.files, available.files].map(|kib| kib >> 10);
            return lacking(
                format!("{needed} MiB in {SHARED_MEMORY}, where {there} MiB are free"),
                &format!(
                    "make it larger (`mount -o remount,size={}M {SHARED_MEMORY}` as root, `--shm-size` of a container)",
                    needed * 2
                ),
            );
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLENTY: Resources = Resources {
        descriptors: 1 << 20,
        memory: 64 << 20,
        files: 32 << 20,
    };

    fn refused(available: Resources) -> String {
        let needed = Resources::needed(500, 1);
        needed.check(500, available).unwrap_err().to_string()
    }

    #[test]
    fn missing_resources_are_named_with_the_fix() {
        assert!(Resources::needed(500, 32).check(500, PLENTY).is_ok());
        let text = refused(Resources {
            descriptors: 1024,
            ..PLENTY
        });
        assert!(text.contains("whose limit is 1024"), "{text}");
        assert!(text.contains("ulimit -Hn 3702"), "{text}");
        let text = refused(Resources {
            memory: 1 << 20,
            ..PLENTY
        });
        assert!(text.contains("1024 MiB are available"), "{text}");
        // Usual default of a container.
        let text = refused(Resources {
            files: 64 << 10,
            ..PLENTY
        });
        assert!(text.contains("where 64 MiB are free"), "{text}");
        assert!(text.contains("--shm-size"), "{text}");
    }

    #[test]
    fn the_default_numbers_fit_small_machines() {
        let modest = Resources {
            descriptors: 4096,
            memory: 512 << 10,
            files: 64 << 10,
        };
        assert!(Resources::needed(100, 1).check(100, modest).is_ok());
        let descriptors = Resources::needed(500, 1).descriptors;
        assert!(descriptors < modest.descriptors, "{descriptors}");
        assert!(
            Resources::needed(1, 1)
                .check(1, Resources::available())
                .is_ok()
        );
    }
}
