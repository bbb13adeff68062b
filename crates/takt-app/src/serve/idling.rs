//! Waiting of the serving thread between requests.

use std::time::Instant;

use takt_client::Waiting;
use takt_rt::affinity;
use takt_rt::waiting::{Arrivals, WaitStep};

/// Requests between two looks at the processor of the client.
const REQUESTS_PER_LOOK: u32 = 64;

/// Waiting of the serving thread as its policy says.
#[derive(Debug)]
pub(super) struct Idling {
    policy: Waiting,
    arrivals: Option<Arrivals>,
    /// The only processor that the thread may run on, if there is only one.
    bound_to: Option<usize>,
    requests: u32,
    spinning: bool,
}

impl Idling {
    /// Waiting of the calling thread.
    pub(super) fn of_this_thread(policy: Waiting) -> Self {
        let bound_to = match affinity::available() {
            Ok(cores) => match cores.as_slice() {
                [only] => Some(*only),
                _ => None,
            },
            Err(_) => None,
        };
        Self {
            policy,
            arrivals: policy.arrivals(),
            bound_to,
            requests: 0,
            spinning: false,
        }
    }

    /// Returns the only processor that the thread may run on, if there is only one.
    pub(super) fn bound_to(&self) -> Option<usize> {
        self.bound_to
    }

    /// The next step. `client_is_on` returns true if the client that was served last runs on the given processor.
    #[inline]
    pub(super) fn step(&mut self, client_is_on: impl Fn(usize) -> bool) -> WaitStep {
        let Some(arrivals) = &mut self.arrivals else {
            return match self.policy {
                Waiting::Spin => WaitStep::Spin,
                _ => WaitStep::Sleep(None),
            };
        };
        let step = arrivals.step(Instant::now());
        let spins = step == WaitStep::Spin;
        if spins == self.spinning && self.requests < REQUESTS_PER_LOOK {
            return step;
        }
        self.spinning = spins;
        self.requests = 0;
        let Some(processor) = self.bound_to else {
            return step;
        };
        // A thread that spins would keep the processor from the client.
        let shares = client_is_on(processor);
        arrivals.share_processor(shares);
        if shares { WaitStep::Sleep(None) } else { step }
    }

    /// Notes that requests were answered.
    #[inline]
    pub(super) fn answered(&mut self) {
        if let Some(arrivals) = &mut self.arrivals {
            self.requests += 1;
            arrivals.arrived(Instant::now());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bound_thread_does_not_spin_on_the_processor_of_its_client() {
        std::thread::spawn(|| {
            let core = affinity::current();
            affinity::pin(core).unwrap();
            let mut idling = Idling::of_this_thread(Waiting::ADAPTIVE);
            idling.answered();
            assert_eq!(idling.step(|client| client == core + 1), WaitStep::Spin);
            let mut idling = Idling::of_this_thread(Waiting::ADAPTIVE);
            for _ in 0..100 {
                idling.answered();
                assert_eq!(idling.step(|client| client == core), WaitStep::Sleep(None));
            }
        })
        .join()
        .unwrap();
    }

    #[test]
    fn the_other_policies_learn_nothing() {
        for (policy, step) in [
            (Waiting::Spin, WaitStep::Spin),
            (Waiting::Sleep, WaitStep::Sleep(None)),
        ] {
            let mut idling = Idling::of_this_thread(policy);
            assert_eq!(idling.step(|_| true), step);
            idling.answered();
            assert_eq!(idling.step(|_| true), step);
        }
    }
}
