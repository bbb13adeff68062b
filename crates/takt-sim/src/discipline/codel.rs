//! Controlled Delay (RFC 8289, `include/net/codel_impl.h`).

use crate::Time;

/// Parameters with the names of `tc`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CodelParameters {
    /// Acceptable waiting time of packets.
    pub target: Time,
    /// Time for which packets may have waited longer than that.
    pub interval: Time,
    /// Backlog in bytes up to which nothing is dropped: the longest packet.
    pub mtu: u32,
}

/// State of one queue.
#[derive(Debug, Clone, Copy)]
pub(super) struct Codel {
    first_above: Option<Time>,
    pub(super) dropping: bool,
    drop_next: Time,
    count: u32,
    last_count: u32,
    /// The number 2¹⁶ divided by the square root of `count`, as the kernel keeps it.
    reciprocal: u32,
}

impl Codel {
    pub(super) fn new() -> Self {
        Self {
            first_above: None,
            dropping: false,
            drop_next: Time::ZERO,
            count: 0,
            last_count: 0,
            reciprocal: u32::from(u16::MAX),
        }
    }

    /// Returns true if a packet that waited so long, with so many bytes left behind it, may have to be dropped.
    pub(super) fn should_drop(
        &mut self,
        parameters: &CodelParameters,
        waited: Time,
        backlog: u64,
        now: Time,
    ) -> bool {
        if waited < parameters.target || backlog <= parameters.mtu.into() {
            self.first_above = None;
            return false;
        }
        match self.first_above {
            Some(since) => now > since,
            None => {
                self.first_above = Some(now + parameters.interval);
                false
            }
        }
    }

    /// Records that the queue is empty.
    pub(super) fn emptied(&mut self) {
        self.first_above = None;
    }

    /// Returns true if the time of the next drop has come.
    pub(super) fn is_due(&self, now: Time) -> bool {
        self.dropping && now >= self.drop_next
    }

    /// Counts one more drop.
    pub(super) fn count(&mut self) {
        self.count = self.count.saturating_add(1);
        self.newton_step();
    }

    /// Computes the time of the next drop.
    pub(super) fn schedule(&mut self, parameters: &CodelParameters) {
        self.drop_next = self.after(self.drop_next, parameters);
    }

    /// Begins to drop. Soon after the last time, dropping continues at the rate at which it stopped.
    pub(super) fn begin(&mut self, parameters: &CodelParameters, now: Time) {
        self.dropping = true;
        let delta = self.count.saturating_sub(self.last_count);
        if delta > 1 && now - self.drop_next < parameters.interval.times(16) {
            self.count = delta;
            self.newton_step();
        } else {
            self.count = 1;
            self.reciprocal = u32::from(u16::MAX);
        }
        self.last_count = self.count;
        self.drop_next = self.after(now, parameters);
    }

    fn after(&self, time: Time, parameters: &CodelParameters) -> Time {
        let interval = parameters.interval.as_nanoseconds();
        time + Time::nanoseconds((interval.saturating_mul(self.reciprocal.into())) >> 16)
    }

    /// Computes x := x (3 − count x²) / 2, with 32 bits behind the point, of which 16 are kept.
    fn newton_step(&mut self) {
        let x = u64::from(self.reciprocal) << 16;
        let square = (x * x) >> 32;
        let rest = (3u64 << 32).saturating_sub(u64::from(self.count).saturating_mul(square));
        self.reciprocal = u32::try_from(((rest >> 2) * x) >> 47)
            .unwrap_or(u32::MAX)
            .min(u16::MAX.into());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn drops_follow_the_square_root() {
        let parameters = CodelParameters {
            target: Time::microseconds(5000),
            interval: Time::microseconds(100_000),
            mtu: 1514,
        };
        let mut codel = Codel::new();
        codel.begin(&parameters, Time::ZERO);
        let mut last = codel.drop_next;
        assert!((last.as_nanoseconds() - 100_000_000).abs() < 10_000);
        for count in 2..20 {
            codel.count();
            codel.schedule(&parameters);
            let spacing = (codel.drop_next - last).as_nanoseconds() as f64;
            last = codel.drop_next;
            // There is one Newton step for each drop: the second drop comes early, as in the kernel.
            if count == 2 {
                assert!((spacing / 1e8 - 0.5).abs() < 0.001, "{spacing}");
                continue;
            }
            let expected = 1e8 / f64::from(count).sqrt();
            assert!(
                (spacing / expected - 1.0).abs() < 0.13,
                "{count}: {spacing} {expected}"
            );
        }
    }
}
