//! File descriptors of this process: the limit, and the number of open ones.

use rustix::process::{Resource, getrlimit, setrlimit};

/// Raises the soft limit on open file descriptors (RLIMIT_NOFILE) to the hard limit. Returns the resulting limit.
///
/// Servers call this when they start. The usual soft limit of 1024 is for programs that use `select`, which Takt does
/// not; the hard limit is the administrator's. Programs that this process starts inherit the limit.
pub fn raise_limit() -> usize {
    let mut limit = getrlimit(Resource::Nofile);
    if limit.current != limit.maximum {
        let before = limit.current;
        limit.current = limit.maximum;
        if setrlimit(Resource::Nofile, limit).is_err() {
            limit.current = before;
        }
    }
    limit.current.map_or(usize::MAX, |limit| {
        usize::try_from(limit).unwrap_or(usize::MAX)
    })
}

/// Returns the limit on open file descriptors: the soft one of RLIMIT_NOFILE.
#[must_use]
pub fn limit() -> usize {
    let limit = getrlimit(Resource::Nofile).current;
    limit.map_or(usize::MAX, |limit| {
        usize::try_from(limit).unwrap_or(usize::MAX)
    })
}

/// Returns the number of file descriptors that are open, from `/proc/self/fd`; 0 if that cannot be read.
#[must_use]
pub fn open() -> usize {
    // One of the descriptors is that of the directory itself.
    std::fs::read_dir("/proc/self/fd").map_or(0, |entries| entries.count().saturating_sub(1))
}

#[cfg(test)]
#[cfg(not(miri))]
mod tests {
    use super::*;

    #[test]
    fn the_soft_limit_becomes_the_hard_one() {
        let before = getrlimit(Resource::Nofile);
        let lower = before.maximum.map_or(64, |maximum| maximum.min(64));
        setrlimit(
            Resource::Nofile,
            rustix::process::Rlimit {
                current: Some(lower),
                maximum: before.maximum,
            },
        )
        .unwrap();
        let raised = raise_limit();
        let after = getrlimit(Resource::Nofile);
        assert_eq!(after.current, before.maximum);
        assert_eq!(raised as u64, before.maximum.unwrap_or(u64::MAX));
        assert_eq!(limit(), raised);
    }

    #[test]
    fn open_descriptors_are_counted() {
        assert!(open() >= 3, "{}", open());
    }
}
