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

/// Unit of CoDel's clock, as in the kernel.
const UNIT: i64 = 1024;

/// Point in time, or span, in units of 1024 ns.
pub(super) type Units = i64;

/// Returns a time in whole units, rounded down.
pub(super) fn units(time: Time) -> Units {
    time.as_nanoseconds().div_euclid(UNIT)
}

/// State of one queue.
#[derive(Debug, Clone, Copy)]
pub(super) struct Codel {
    target: Units,
    interval: Units,
    mtu: u64,
    first_above: Option<Units>,
    pub(super) dropping: bool,
    drop_next: Units,
    count: u32,
    last_count: u32,
    /// The number 2¹⁶ divided by the square root of `count`, as the kernel keeps it.
    reciprocal: u16,
}

impl Codel {
    pub(super) fn new(parameters: &CodelParameters) -> Self {
        Self {
            target: units(parameters.target),
            interval: units(parameters.interval),
            mtu: parameters.mtu.into(),
            first_above: None,
            dropping: false,
            // This is before all times, so that the first drops do not count as soon after others.
            drop_next: Units::MIN,
            count: 0,
            last_count: 0,
            reciprocal: 0,
        }
    }

    /// Returns true if a packet that waited so long, with so many bytes left behind it, may have to be dropped.
    pub(super) fn should_drop(&mut self, waited: Units, backlog: u64, now: Units) -> bool {
        if waited < self.target || backlog <= self.mtu {
            self.first_above = None;
            return false;
        }
        match self.first_above {
            // The comparison is strict, as in `codel_time_after`.
            Some(since) => now > since,
            None => {
                self.first_above = Some(now + self.interval);
                false
            }
        }
    }

    /// Records that no packet is left after a drop.
    pub(super) fn emptied(&mut self) {
        self.first_above = None;
    }

    /// Returns true if the time of the next drop has come.
    pub(super) fn is_due(&self, now: Units) -> bool {
        self.dropping && now >= self.drop_next
    }

    /// Counts one more drop.
    pub(super) fn count(&mut self) {
        self.overflowed(1);
        self.newton_step();
    }

    /// Counts packets that were dropped because there were too many.
    pub(super) fn overflowed(&mut self, packets: u32) {
        self.count = self.count.wrapping_add(packets);
    }

    /// Computes the time of the next drop.
    pub(super) fn schedule(&mut self) {
        self.drop_next = self.after(self.drop_next);
    }

    /// Begins to drop. Soon after the last time, dropping continues at the rate at which it stopped.
    pub(super) fn begin(&mut self, now: Units) {
        self.dropping = true;
        let delta = self.count.wrapping_sub(self.last_count);
        if delta > 1 && now.saturating_sub(self.drop_next) < 16 * self.interval {
            self.count = delta;
            self.newton_step();
        } else {
            self.count = 1;
            // This is 1 divided by the root of 1, as near as 16 bits allow.
            self.reciprocal = u16::MAX;
        }
        self.last_count = self.count;
        self.drop_next = self.after(now);
    }

    fn after(&self, time: Units) -> Units {
        time + (self.interval.saturating_mul(self.reciprocal.into()) >> 16)
    }

    /// Computes x := x (3 − count x²) / 2, with 32 bits behind the point, of which 16 are kept. It wraps as in the kernel if the count
    /// has grown by many packets at once.
    fn newton_step(&mut self) {
        let x = u64::from(self.reciprocal) << 16;
        let square = (x * x) >> 32;
        let rest = (3u64 << 32).wrapping_sub(u64::from(self.count).wrapping_mul(square));
        // Two bits are left out, so that the product fits into 64 bits.
        let next = (rest >> 2).wrapping_mul(x) >> 47;
        self.reciprocal = u16::try_from(next & u64::from(u16::MAX)).unwrap_or(u16::MAX);
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
        let mut codel = Codel::new(&parameters);
        codel.begin(0);
        let interval = 1e8 / UNIT as f64;
        let mut last = codel.drop_next;
        assert!((last as f64 - interval).abs() < 10.0);
        for count in 2..20 {
            codel.count();
            codel.schedule();
            let spacing = (codel.drop_next - last) as f64;
            last = codel.drop_next;
            // There is one Newton step for each drop: the second drop comes early, as in the kernel.
            if count == 2 {
                assert!((spacing / interval - 0.5).abs() < 0.001, "{spacing}");
                continue;
            }
            let expected = interval / f64::from(count).sqrt();
            assert!(
                (spacing / expected - 1.0).abs() < 0.13,
                "{count}: {spacing} {expected}"
            );
        }
    }
}
