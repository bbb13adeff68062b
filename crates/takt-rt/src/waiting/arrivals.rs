//! Learned waiting of the side that serves requests.

use std::time::{Duration, Instant};

use super::bet::Bet;
use super::estimate::Estimate;

/// Longest time between requests of one burst. A thread may spin between them. An early wake-up pays only for longer pauses,
/// because it takes up to 100 µs in a virtual machine, and varies as much.
const SHORT: Duration = Duration::from_micros(1500);
/// Time between the early wake-up and an expected burst, in addition to the learned delay of the thread's wake-ups.
const LEAD: Duration = Duration::from_micros(20);

/// Next step of a thread that serves requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WaitStep {
    /// Spin: the thread looks for requests without sleeping.
    Spin,
    /// Sleep until a request rings, or until this time at the latest.
    Sleep(Option<Instant>),
}

/// Learner of the times at which requests arrive.
///
/// After a request, the thread spins for the next one if requests follow each other closely, and as long as at least half of the
/// spins end with a request. Bursts with a regular period are expected: the thread sleeps until shortly before the burst, and
/// spins for the rest. If the client may need the processor of this thread, the thread only sleeps
/// ([`share_processor`](Self::share_processor)).
#[derive(Debug, Clone)]
pub struct Arrivals {
    shortest_spin: Duration,
    shares_processor: bool,
    last: Option<Instant>,
    burst: Option<Instant>,
    /// Time at which the current burst was expected, if bursts come regularly.
    expected: Option<Instant>,
    gap: Estimate,
    period: Estimate,
    lateness: Estimate,
    soon: Bet,
    early: Bet,
    spin: Option<Spin>,
    wake: Option<Wake>,
}

/// A spin under way.
#[derive(Debug, Clone, Copy)]
struct Spin {
    until: Instant,
    kind: Kind,
}

/// Reason of a spin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// Spin after a request that was answered a moment ago.
    Soon,
    /// Spin before an expected burst.
    Early,
}

/// A planned wake-up, and the end of the spin that follows.
#[derive(Debug, Clone, Copy)]
struct Wake {
    at: Instant,
    until: Instant,
}

impl Arrivals {
    /// Creates a learner that spins for at least `shortest_spin` if it spins.
    #[must_use]
    pub fn new(shortest_spin: Duration) -> Self {
        Self {
            shortest_spin,
            shares_processor: false,
            last: None,
            burst: None,
            expected: None,
            gap: Estimate::default(),
            period: Estimate::default(),
            lateness: Estimate::default(),
            soon: Bet::default(),
            early: Bet::default(),
            spin: None,
            wake: None,
        }
    }

    /// Sets whether clients run on the only processor of this thread. Spinning would then keep them from sending.
    pub fn share_processor(&mut self, shares: bool) {
        self.shares_processor = shares;
        if shares {
            self.spin = None;
            self.wake = None;
        }
    }

    /// Notes that requests were answered at `now`, and plans the next wait.
    #[inline]
    pub fn arrived(&mut self, now: Instant) {
        match self.spin.take() {
            Some(Spin {
                kind: Kind::Soon, ..
            }) => self.soon.win(),
            Some(Spin {
                kind: Kind::Early, ..
            }) => self.early.win(),
            None => {}
        }
        match self.last.replace(now) {
            Some(last) => {
                let gap = now.saturating_duration_since(last);
                if gap <= SHORT {
                    let _ = self.gap.note(nanos(gap));
                } else {
                    self.new_burst(now);
                }
            }
            None => self.burst = Some(now),
        }
        if self.shares_processor {
            return;
        }
        if self.soon.is_open() {
            let until = now + self.soon_spin();
            self.spin = Some(Spin {
                until,
                kind: Kind::Soon,
            });
        } else {
            self.soon.skip();
        }
    }

    fn new_burst(&mut self, now: Instant) {
        let start = self.burst.replace(now);
        let usual = start.is_none_or(|start| {
            let period = now.saturating_duration_since(start);
            self.period.note(nanos(period))
        });
        // A burst that is late once does not delay those after it: most senders follow a clock.
        let anchor = self.expected.take().filter(|_| !usual).unwrap_or(now);
        self.expected = self
            .period
            .mean()
            .map(|period| anchor + Duration::from_nanos(period));
        self.wake = None;
        if self.shares_processor {
            return;
        }
        if self.early.is_open() {
            self.wake = self.plan_wake(now);
        } else {
            self.early.skip();
        }
    }

    /// Returns the next step at `now`.
    #[inline]
    pub fn step(&mut self, now: Instant) -> WaitStep {
        if let Some(spin) = self.spin {
            if now < spin.until {
                return WaitStep::Spin;
            }
            self.spin = None;
            match spin.kind {
                Kind::Soon => self.soon.lose(),
                Kind::Early => self.early.lose(),
            }
        }
        let Some(wake) = self.wake else {
            return WaitStep::Sleep(None);
        };
        if now < wake.at {
            return WaitStep::Sleep(Some(wake.at));
        }
        self.wake = None;
        let _ = self.lateness.note(nanos(now - wake.at));
        self.spin = Some(Spin {
            until: wake.until.max(now + LEAD),
            kind: Kind::Early,
        });
        WaitStep::Spin
    }

    /// Returns the time to spin after a request: a little longer than the gap between requests of a burst.
    fn soon_spin(&self) -> Duration {
        let gap = self.gap.mean().unwrap_or(0);
        // Mean and four deviations, as a retransmission timer of TCP (RFC 6298).
        let spin = gap + gap / 4 + 4 * self.gap.deviation();
        Duration::from_nanos(spin).clamp(self.shortest_spin, SHORT.max(self.shortest_spin))
    }

    /// Returns the wake-up before the next burst, if bursts come regularly and the wake-ups of this thread are exact enough.
    fn plan_wake(&self, now: Instant) -> Option<Wake> {
        let period = self.period.mean()?;
        let expected = self.expected?;
        let spread = 4 * self.period.deviation();
        let lateness = self.lateness.mean().unwrap_or(0) + 3 * self.lateness.deviation();
        let before = nanos(LEAD) + spread + lateness;
        // The thread would spin half of the time.
        if before > period / 2 {
            return None;
        }
        let at = expected.checked_sub(Duration::from_nanos(before))?;
        (at > now).then(|| Wake {
            at,
            until: expected + Duration::from_nanos(spread) + LEAD,
        })
    }
}

fn nanos(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SPIN: Duration = Duration::from_micros(20);

    /// Simulated thread with a learner and a clock of its own.
    struct Thread {
        learner: Arrivals,
        now: Instant,
        spun: Duration,
        caught: usize,
    }

    impl Thread {
        fn new() -> Self {
            Self {
                learner: Arrivals::new(SPIN),
                now: Instant::now(),
                spun: Duration::ZERO,
                caught: 0,
            }
        }

        /// Advances the clock in steps of one microsecond until a request arrives at `at`.
        fn serve_at(&mut self, at: Instant) {
            let mut step = WaitStep::Sleep(None);
            while self.now < at {
                step = self.learner.step(self.now);
                let tick = Duration::from_micros(1);
                self.now += match step {
                    WaitStep::Spin => {
                        self.spun += tick;
                        tick
                    }
                    WaitStep::Sleep(Some(wake)) if wake < at => wake - self.now,
                    WaitStep::Sleep(_) => at - self.now,
                };
            }
            self.caught += usize::from(step == WaitStep::Spin);
            self.learner.arrived(self.now);
        }

        /// Serves `requests` requests, `gaps` apart in turn, and returns the share that was caught while spinning.
        fn serve(&mut self, requests: usize, gaps: &[Duration]) -> f64 {
            self.caught = 0;
            self.spun = Duration::ZERO;
            for gap in gaps.iter().cycle().take(requests) {
                let at = self.now + *gap;
                self.serve_at(at);
            }
            self.caught as f64 / requests as f64
        }
    }

    const fn micros(micros: u64) -> Duration {
        Duration::from_micros(micros)
    }

    #[test]
    fn requests_back_to_back_are_caught() {
        assert!(Thread::new().serve(1000, &[micros(3)]) > 0.99);
    }

    #[test]
    fn frequent_requests_are_caught_after_a_hundred() {
        for period in [100, 1_000] {
            let mut thread = Thread::new();
            thread.serve(100, &[micros(period)]);
            assert!(thread.serve(1000, &[micros(period)]) > 0.95, "{period}");
        }
    }

    #[test]
    fn periodic_requests_are_caught_with_a_short_spin() {
        for (period, most) in [(2_000, 0.1), (10_000, 0.02)] {
            let mut thread = Thread::new();
            thread.serve(100, &[micros(period)]);
            let caught = thread.serve(1000, &[micros(period)]);
            let share = thread.spun.as_secs_f64() / (1e-6 * period as f64 * 1000.0);
            assert!(caught > 0.95, "{period} {caught}");
            assert!(share < most, "{period} {share}");
        }
    }

    #[test]
    fn requests_that_are_late_now_and_then_spoil_no_others() {
        let mut thread = Thread::new();
        let mut gaps = vec![micros(10_000); 20];
        gaps.extend([micros(13_000), micros(7_000)]);
        thread.serve(100, &gaps);
        let before = thread.now;
        let caught = thread.serve(2200, &gaps);
        // All but those that are late.
        assert!(caught > 0.95, "{caught}");
        let share = thread.spun.as_secs_f64() / (thread.now - before).as_secs_f64();
        assert!(share < 0.02, "{share}");
    }

    #[test]
    fn bursts_with_a_period_are_caught() {
        let mut thread = Thread::new();
        let gaps = [micros(2), micros(2), micros(4_996)];
        thread.serve(300, &gaps);
        assert!(thread.serve(3000, &gaps) > 0.95);
    }

    #[test]
    fn irregular_requests_cost_no_spin() {
        let mut thread = Thread::new();
        let gaps: Vec<_> = (0..97_u64)
            .map(|i| micros(300 + i * i * 7919 % 20_000))
            .collect();
        thread.serve(200, &gaps);
        let before = thread.now;
        thread.serve(2000, &gaps);
        let share = thread.spun.as_secs_f64() / (thread.now - before).as_secs_f64();
        assert!(share < 0.002, "{share}");
    }

    #[test]
    fn a_thread_that_shares_its_processor_only_sleeps() {
        let mut thread = Thread::new();
        thread.serve(100, &[micros(100)]);
        thread.learner.share_processor(true);
        for period in [5, 100, 2_000, 10_000] {
            thread.serve(200, &[micros(period)]);
            assert_eq!(thread.spun, Duration::ZERO);
        }
        thread.learner.share_processor(false);
        thread.serve(100, &[micros(100)]);
        assert!(thread.serve(100, &[micros(100)]) > 0.9);
    }

    #[test]
    fn an_idle_thread_wakes_once_and_then_sleeps() {
        let mut thread = Thread::new();
        thread.serve(100, &[micros(10_000)]);
        let mut wakes = 0;
        let end = thread.now + micros(1_000_000);
        while thread.now < end {
            match thread.learner.step(thread.now) {
                WaitStep::Spin => thread.now += micros(1),
                WaitStep::Sleep(Some(at)) => {
                    wakes += 1;
                    thread.now = at;
                }
                WaitStep::Sleep(None) => thread.now = end,
            }
        }
        assert_eq!(wakes, 1);
    }
}
