//! Clock and gates of a port by their definition. A time that a clock shows is searched by bisection.

/// Clock that shows `t + offset + drift · t` at time t, in whole picoseconds, rounded down.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Clock {
    pub(crate) offset: i64,
    /// Parts per billion.
    pub(crate) drift: i64,
}

impl Clock {
    pub(crate) fn shows(self, time: i64) -> i64 {
        let gained = (i128::from(time) * i128::from(self.drift)).div_euclid(1_000_000_000);
        time + self.offset + i64::try_from(gained).unwrap()
    }

    /// Returns a span of time by the clock, rounded up.
    pub(crate) fn counts(self, span: i64) -> i64 {
        let gained = (i128::from(span) * i128::from(-self.drift)).div_euclid(1_000_000_000);
        span - i64::try_from(gained).unwrap()
    }

    /// Returns the first time, not before `from`, at which the clock shows at least `local`.
    pub(crate) fn reaches(self, local: i64, from: i64) -> i64 {
        first(from, |time| self.shows(time) >= local)
    }
}

/// Returns the first time, not before `from`, at which a condition holds that holds ever after.
pub(crate) fn first(from: i64, holds: impl Fn(i64) -> bool) -> i64 {
    if holds(from) {
        return from;
    }
    let (mut before, mut step) = (from, 1i64);
    while !holds(before + step) {
        before += step;
        step *= 2;
        assert!(step < 1 << 60, "the condition never holds");
    }
    let mut after = before + step;
    while after - before > 1 {
        let middle = before + (after - before) / 2;
        if holds(middle) {
            after = middle;
        } else {
            before = middle;
        }
    }
    after
}

/// Gates that open and close in cycles, by the clock of the node.
#[derive(Debug, Clone)]
pub(crate) struct Gates {
    pub(crate) base: i64,
    pub(crate) cycle: i64,
    /// Open classes of each entry, bit by bit, and its length.
    pub(crate) entries: Vec<(u8, i64)>,
    pub(crate) guard_band: i64,
}

impl Gates {
    /// Returns the open classes at a time, and the time at which the entry ends.
    pub(crate) fn entry(&self, local: i64) -> (u8, i64) {
        let mut left = (local - self.base).rem_euclid(self.cycle);
        for (open, length) in &self.entries {
            if left < *length {
                return (*open, local + length - left);
            }
            left -= length;
        }
        panic!("the entries do not fill the cycle");
    }

    /// Returns the time at which the entry of a time began.
    pub(crate) fn begin(&self, local: i64) -> i64 {
        let end = self.entry(local).1;
        let mut length = 0;
        for (_, other) in &self.entries {
            // The entry ends where the next one begins, so its length follows from its end in the cycle.
            length += other;
            if (end - self.base - length).rem_euclid(self.cycle) == 0 {
                return end - other;
            }
        }
        panic!("the entries do not fill the cycle");
    }

    /// Returns the time at which the gate of a class closes next: now if it is closed, never if it is always open.
    pub(crate) fn closes(&self, class: usize, local: i64) -> i64 {
        let mut time = local;
        while time - local < self.cycle {
            let (open, end) = self.entry(time);
            if open >> class & 1 == 0 {
                return time;
            }
            time = end;
        }
        i64::MAX
    }

    /// Returns the time at which the gate of a class opens or closes next.
    pub(crate) fn changes(&self, class: usize, local: i64) -> i64 {
        let closes = self.closes(class, local);
        let mut time = local;
        while closes == local && self.closes(class, time) == time {
            time = self.entry(time).1;
        }
        closes.max(time)
    }

    /// Returns the least time from the begin of a frame that needs so long until its gate closes. Gates of Linux close when the guard
    /// band begins.
    pub(crate) fn room(&self, long: i64, is_kernel: bool) -> i64 {
        match is_kernel {
            true => long + self.guard_band,
            false => long.max(self.guard_band),
        }
    }

    /// Returns true if a frame of a class may begin at a time that needs so long.
    pub(crate) fn admit(&self, class: usize, local: i64, long: i64, is_kernel: bool) -> bool {
        let closes = self.closes(class, local);
        closes == i64::MAX || local < closes && local + self.room(long, is_kernel) <= closes
    }

    /// Returns the part of an interval in which the gate of a class is open.
    pub(crate) fn open(&self, class: usize, from: i64, until: i64) -> i64 {
        let (mut time, mut sum) = (from, 0);
        while time < until {
            let (open, end) = self.entry(time);
            let end = end.min(until);
            sum += i64::from(open >> class & 1) * (end - time);
            time = end;
        }
        sum
    }
}
