//! Core and priority of a measured thread.

use std::sync::OnceLock;

use takt_rt::affinity::{self, AffinityError, Cores};
use takt_rt::priority::{self, Policy};

/// Policy of every measured thread, where the user may set it.
const WANTED: Policy = Policy::Fifo(50);

/// Returns true if this user may run threads with the real-time policy. The first call tries it.
pub(crate) fn real_time_permitted() -> bool {
    static PERMITTED: OnceLock<bool> = OnceLock::new();
    *PERMITTED.get_or_init(|| {
        let trial = std::thread::Builder::new().spawn(|| priority::set(WANTED).is_ok());
        trial.is_ok_and(|thread| thread.join().unwrap_or(false))
    })
}

/// Returns the policy of measured threads.
pub(crate) fn policy() -> Policy {
    if real_time_permitted() {
        WANTED
    } else {
        Policy::Other
    }
}

/// Pins the calling thread to `core` from now on, with real-time policy where permitted.
pub(crate) fn take(core: usize) -> Result<(), AffinityError> {
    affinity::pin(core)?;
    // The policy was permitted before. If it fails now, the figures get worse, not wrong.
    let _ = priority::set(policy());
    Ok(())
}

/// Seat of the calling thread on a core. Dropping it restores the earlier state.
#[derive(Debug)]
pub(crate) struct Seat {
    before: Cores,
}

impl Seat {
    pub(crate) fn take(core: usize) -> Result<Self, AffinityError> {
        let before = affinity::available()?;
        take(core)?;
        Ok(Self { before })
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        // A thread that stays pinned is only slower.
        let _ = priority::set(Policy::Other);
        let _ = affinity::restrict(&self.before);
    }
}

/// Placement of the two sides: on one core, or each on its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Placement {
    /// Both sides on one core: no wake-up across cores, repeatable.
    Same,
    /// Each side on its own core, as applications usually run.
    Diff,
}

impl Placement {
    /// Returns the name in rows.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Same => "same",
            Self::Diff => "diff",
        }
    }
}

/// Cores of client and server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct CorePair {
    /// Core of the client, where it is another one.
    pub client: usize,
    /// Core of the server.
    pub server: usize,
}

impl CorePair {
    /// Chooses the first and the last of the cores that this process may use, because neighbours may share a physical core.
    pub(crate) fn choose() -> Result<Self, AffinityError> {
        let cores = affinity::available()?;
        match cores.as_slice() {
            [first, .., last] => Ok(Self {
                client: *first,
                server: *last,
            }),
            [only] => Ok(Self {
                client: *only,
                server: *only,
            }),
            [] => Err(AffinityError::Empty),
        }
    }

    /// Returns true if there is more than one core.
    pub(crate) fn are_two(self) -> bool {
        self.client != self.server
    }

    /// Returns the client's core for this placement.
    pub(crate) fn client_core(self, placement: Placement) -> usize {
        match placement {
            Placement::Same => self.server,
            Placement::Diff => self.client,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn affinity_and_policy_are_restored() {
        std::thread::spawn(|| {
            let before = (affinity::available().unwrap(), priority::get().unwrap());
            let pair = CorePair::choose().unwrap();
            {
                let _seat = Seat::take(pair.server).unwrap();
                assert_eq!(affinity::available().unwrap().as_slice(), [pair.server]);
                assert_eq!(priority::get().unwrap(), Some(policy()));
            }
            assert_eq!(
                (affinity::available().unwrap(), priority::get().unwrap()),
                before
            );
            assert_eq!(pair.client_core(Placement::Same), pair.server);
            assert_eq!(pair.client_core(Placement::Diff), pair.client);
        })
        .join()
        .unwrap();
    }
}
