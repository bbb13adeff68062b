//! Affinity: the cores that a thread runs on.

use std::fmt;
use std::io;

use rustix::io::Errno;
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

/// Error of a thread whose cores could not be read or set.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AffinityError {
    /// None of the cores exists, is online, and is open to this process.
    #[error(
        "core {wanted} is not available here (available: {available}); see `taskset -cp $$`, `lscpu` and the cpuset of the container or service"
    )]
    NotAvailable {
        /// Requested cores.
        wanted: Cores,
        /// Cores that this thread may run on.
        available: Cores,
    },
    /// The set of cores is empty.
    #[error("the list of cores is empty: a thread needs at least one core")]
    Empty,
    /// The system refused for another reason.
    #[error("the thread's cores could not be read or set")]
    System(#[from] io::Error),
}

/// A set of cores by number, displayed as `0-3,8`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Cores(Vec<usize>);

impl Cores {
    /// Returns the numbers, ascending.
    #[must_use]
    pub fn as_slice(&self) -> &[usize] {
        &self.0
    }

    fn from_set(set: &CpuSet) -> Self {
        Self(
            (0..CpuSet::MAX_CPU)
                .filter(|&core| set.is_set(core))
                .collect(),
        )
    }
}

impl FromIterator<usize> for Cores {
    fn from_iter<I: IntoIterator<Item = usize>>(cores: I) -> Self {
        let mut cores: Vec<usize> = cores.into_iter().collect();
        cores.sort_unstable();
        cores.dedup();
        Self(cores)
    }
}

impl fmt::Display for Cores {
    /// Writes the form that `taskset` and `isolcpus` use.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut separator = "";
        for run in self.0.chunk_by(|a, b| a + 1 == *b) {
            match run {
                [first, .., last] => write!(f, "{separator}{first}-{last}")?,
                [only] => write!(f, "{separator}{only}")?,
                [] => {}
            }
            separator = ",";
        }
        Ok(())
    }
}

/// Returns the core that the calling thread runs on at this moment.
#[must_use]
pub fn current() -> usize {
    rustix::thread::sched_getcpu()
}

/// Returns the cores that the calling thread may run on.
///
/// # Errors
/// [`AffinityError::System`] on machines with more cores than the library's set holds (1024).
pub fn available() -> Result<Cores, AffinityError> {
    let set = sched_getaffinity(None).map_err(io::Error::from)?;
    Ok(Cores::from_set(&set))
}

/// Pins the calling thread to one core.
///
/// Threads that it starts from now on inherit this. No privilege is needed.
///
/// # Errors
/// [`AffinityError::NotAvailable`] if the core does not exist or is not allowed for this process.
pub fn pin(core: usize) -> Result<(), AffinityError> {
    restrict(&Cores(vec![core]))
}

/// Restricts the calling thread to some cores, for instance to those that [`available`] returned before a [`pin`].
///
/// # Errors
/// [`AffinityError::NotAvailable`] if one of the cores does not exist or is not allowed for this process.
pub fn restrict(cores: &Cores) -> Result<(), AffinityError> {
    if cores.0.is_empty() {
        return Err(AffinityError::Empty);
    }
    let not_available = || -> Result<(), AffinityError> {
        Err(AffinityError::NotAvailable {
            wanted: cores.clone(),
            available: available()?,
        })
    };
    let mut set = CpuSet::new();
    for &core in &cores.0 {
        if core >= CpuSet::MAX_CPU {
            return not_available();
        }
        set.set(core);
    }
    match sched_setaffinity(None, &set) {
        // The kernel ignores missing cores without an error if at least one remains.
        Ok(()) if available()? == *cores => Ok(()),
        Ok(()) | Err(Errno::INVAL) => not_available(),
        Err(error) => Err(AffinityError::System(error.into())),
    }
}

/// Returns the core that the calling thread runs on at this moment.
#[must_use]
pub fn current_core() -> usize {
    rustix::thread::sched_getcpu()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Affinity is a property of a thread: each test moves a thread of its own.
    fn on_a_thread(test: impl FnOnce() + Send) {
        std::thread::scope(|scope| scope.spawn(test).join().unwrap());
    }

    #[test]
    fn a_pinned_thread_is_released() {
        on_a_thread(|| {
            let before = available().unwrap();
            for &core in before.as_slice() {
                pin(core).unwrap();
                assert_eq!(available().unwrap().as_slice(), [core]);
                assert_eq!(current_core(), core);
            }
            restrict(&before).unwrap();
            assert_eq!(available().unwrap(), before);
        });
    }

    #[test]
    fn missing_cores_are_named() {
        on_a_thread(|| {
            for core in [CpuSet::MAX_CPU - 1, CpuSet::MAX_CPU, usize::MAX] {
                let error = pin(core).unwrap_err();
                let available = available().unwrap();
                assert!(
                    matches!(error, AffinityError::NotAvailable { .. }),
                    "{error:?}"
                );
                let text = error.to_string();
                assert!(text.contains(&format!("core {core} ")), "{text}");
                assert!(text.contains(&available.to_string()), "{text}");
            }
            assert!(matches!(
                restrict(&Cores::default()),
                Err(AffinityError::Empty)
            ));
        });
    }

    #[test]
    fn shows_like_taskset() {
        let cores: Cores = [8, 1, 0, 2, 3, 3].into_iter().collect();
        assert_eq!(cores.to_string(), "0-3,8");
        assert_eq!(Cores::default().to_string(), "");
    }
}
