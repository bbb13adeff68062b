//! The Credit-Based Shaper of Linux in software (`net/sched/sch_cbs.c`).

use takt_scenario::CbsParameters;

use super::super::packet::{Drops, Next, Packet};
use super::super::quotient::quotient;
use super::fifo::Fifo;
use crate::{LineRate, Time};

/// Credit counts whole bytes of L2 frames, time whole nanoseconds. Credit is spent when a packet is handed on, not while it is
/// sent; the next packet waits until the first should have been sent. Credit is updated when packets are requested, and so rises
/// above 0 only by the lateness of the caller. Positive credit is cleared when a packet comes to an empty queue.
#[derive(Debug)]
pub struct CbsLinux {
    queue: Fifo,
    /// IdleSlope in bytes per second.
    idle_slope: i64,
    send_slope: i64,
    /// Highest credit in bytes.
    hi_credit: i64,
    lo_credit: i64,
    /// Speed of the port in bytes per second.
    port_rate: i64,
    credit: i64,
    /// Time of the credit in nanoseconds. The credit is 0 until the first packet sets this.
    last: i64,
}

const NANOSECONDS: i64 = 1_000_000_000;

impl CbsLinux {
    /// Makes a shaper at a port of this speed. Slopes are rounded down to whole bytes per second.
    pub fn new(parameters: &CbsParameters, port_rate: LineRate) -> Self {
        let bytes = |bits: u64| i64::try_from(bits / 8).unwrap_or(i64::MAX);
        Self {
            queue: Fifo::new(parameters.limit),
            idle_slope: bytes(parameters.idle_slope.0),
            send_slope: -bytes(parameters.send_slope.value().0),
            hi_credit: parameters.hi_credit.value().0,
            lo_credit: parameters.lo_credit.value().0,
            // Costs and durations are divided by it.
            port_rate: bytes(port_rate.bits_per_second()).max(1),
            credit: 0,
            last: i64::MIN,
        }
    }

    /// Adds a packet, or drops it.
    pub fn enqueue(&mut self, packet: Packet, now: Time, drops: &mut Drops) {
        // As in `cbs_enqueue_soft`: an empty queue loses its positive credit only when the next packet comes.
        if self.queue.is_empty() && self.credit > 0 {
            self.credit = 0;
            self.last = now.as_nanoseconds();
        }
        self.queue.enqueue(packet, drops);
    }

    /// Returns true if no packet waits, and no timer runs.
    pub fn is_idle(&self) -> bool {
        self.queue.is_empty() && self.credit >= 0
    }

    /// Returns the packet that can be sent, or the time at which the timer fires. The timer also brings the credit of an empty queue
    /// back to 0.
    pub fn next(&mut self, now: Time) -> Next {
        let now = now.as_nanoseconds();
        if self.credit < 0 && now >= self.last {
            // Credit is negative only behind a sent packet: `last` is then a real time, and nothing overflows here.
            let gained = credit(now - self.last, self.idle_slope);
            self.credit = (self.credit + gained).min(self.hi_credit);
            // As in `cbs_dequeue_soft`: the time moves on only if the timer has to be set again.
            self.last = if self.credit < 0 { now } else { self.last };
        }
        if self.credit < 0 {
            // The kernel rounds down, and relies on its timer being late: with an exact timer, there would always be a byte too
            // little. Its timer also fires at the end of a packet, without an effect.
            // A slope below 8 bit/s is 0 bytes per second: the wait becomes very long, and nothing is divided by 0.
            let slope = i128::from(self.idle_slope.max(1));
            let bytes = i128::from(-self.credit) * i128::from(NANOSECONDS);
            let wait = quotient(bytes + slope - 1, slope);
            return Next::At(Time::nanoseconds(self.last.saturating_add(wait)));
        }
        match self.queue.peek() {
            None => Next::Empty,
            Some(_) if now < self.last => Next::At(Time::nanoseconds(self.last)),
            Some(packet) => Next::Now(*packet),
        }
    }

    /// Removes the packet that [`Self::next`] returned.
    pub fn take(&mut self, now: Time) -> Option<Packet> {
        let packet = self.queue.dequeue()?;
        let length = i64::from(packet.length);
        // As in the kernel (`credits_from_len`), the quotient is rounded towards 0: a packet costs up to a byte less.
        let spent = length * self.send_slope / self.port_rate;
        self.credit = (self.credit + spent).max(self.lo_credit);
        self.last = now.as_nanoseconds() + length * NANOSECONDS / self.port_rate;
        Some(packet)
    }
}

/// Returns the credit gained in so many nanoseconds, in whole bytes.
fn credit(elapsed: i64, slope: i64) -> i64 {
    quotient(i128::from(elapsed) * i128::from(slope), NANOSECONDS.into())
}

#[cfg(test)]
mod tests {
    use takt_scenario::{Credit, Limit, Rate};

    use super::super::super::test::packet;
    use super::*;

    /// Makes a shaper at which 1250 B take 10 µs at 1 Gbit/s and 100 µs of idleSlope.
    fn shaper() -> (CbsLinux, Drops) {
        let parameters = CbsParameters::given(
            Rate(100_000_000),
            Rate(900_000_000),
            Credit(150),
            Credit(-1125),
            Limit::Frames(10),
        );
        let shaper = CbsLinux::new(&parameters, LineRate::new(1_000_000_000));
        (shaper, Drops::new())
    }

    const fn us(microseconds: i64) -> Time {
        Time::microseconds(microseconds)
    }

    #[test]
    fn frames_before_time_0_of_the_clock_are_sent() {
        let (mut shaper, mut drops) = shaper();
        shaper.enqueue(packet(0, 1250), us(-10_000), &mut drops);
        assert_eq!(shaper.next(us(-10_000)), Next::Now(packet(0, 1250)));
    }

    #[test]
    fn packets_that_come_together_leave_with_idle_slope() {
        let (mut shaper, mut drops) = shaper();
        for number in 0..3 {
            shaper.enqueue(packet(number, 1250), us(5), &mut drops);
        }
        assert_eq!(shaper.next(us(5)), Next::Now(packet(0, 1250)));
        assert_eq!(shaper.take(us(5)), Some(packet(0, 1250)));
        // The cost is 1250 B × −900/1000 = −1125 B, which take 90 µs at 12.5 B/µs to regain after the end.
        assert_eq!(shaper.next(us(6)), Next::At(us(105)));
        assert_eq!(shaper.next(us(15)), Next::At(us(105)));
        assert_eq!(shaper.next(us(105)), Next::Now(packet(1, 1250)));
    }

    #[test]
    fn late_dequeues_gain_credit_up_to_hi_credit() {
        let (mut shaper, mut drops) = shaper();
        for number in 0..3 {
            shaper.enqueue(packet(number, 1250), us(0), &mut drops);
        }
        let _ = shaper.take(us(0));
        // The credit is −1125 B at 10 µs, and would be 375 B at 130 µs, but hiCredit is 150. 975 B are missing after the next
        // packet.
        assert_eq!(shaper.next(us(130)), Next::Now(packet(1, 1250)));
        let _ = shaper.take(us(130));
        assert_eq!(shaper.next(us(140)), Next::At(us(218)));
    }

    #[test]
    fn an_empty_queue_keeps_no_credit() {
        let (mut shaper, mut drops) = shaper();
        shaper.enqueue(packet(0, 1250), us(0), &mut drops);
        let _ = shaper.take(us(0));
        // 50 µs after the end, 500 of the 1125 B are missing.
        assert_eq!(shaper.next(us(0)), Next::At(us(100)));
        shaper.enqueue(packet(1, 1250), us(60), &mut drops);
        assert_eq!(shaper.next(us(60)), Next::At(us(100)));
        let _ = shaper.next(us(100));
        let _ = shaper.take(us(100));
        // The timer brings the credit back to 0, and stops.
        assert_eq!(shaper.next(us(100)), Next::At(us(200)));
        assert_eq!(shaper.next(us(200)), Next::Empty);
        assert!(shaper.is_idle());
        // A packet that comes long after that is sent at once, and the next one waits as if no time had passed.
        for number in 2..4 {
            shaper.enqueue(packet(number, 1250), us(900), &mut drops);
        }
        assert_eq!(shaper.next(us(900)), Next::Now(packet(2, 1250)));
        let _ = shaper.take(us(900));
        assert_eq!(shaper.next(us(910)), Next::At(us(1000)));
        assert!(drops.is_empty());
    }

    #[test]
    fn an_empty_queue_also_counts_whole_bytes() {
        let (mut shaper, mut drops) = shaper();
        shaper.enqueue(packet(0, 1250), us(0), &mut drops);
        let _ = shaper.take(us(0));
        // The driver has room again after 60 ns of credit, which are no byte.
        let late = us(10) + Time::nanoseconds(60);
        assert_eq!(shaper.next(late), Next::At(us(100) + Time::nanoseconds(60)));
        shaper.enqueue(packet(1, 1250), us(60), &mut drops);
        assert_eq!(
            shaper.next(us(60)),
            Next::At(us(100) + Time::nanoseconds(80))
        );
    }

    #[test]
    fn slow_slopes_come_to_an_end() {
        let parameters = CbsParameters::given(
            Rate(101_000),
            Rate(999_899_000),
            Credit(1),
            Credit(-1500),
            Limit::Frames(10),
        );
        let mut shaper = CbsLinux::new(&parameters, LineRate::new(1_000_000_000));
        let mut drops = Drops::new();
        for number in 0..2 {
            shaper.enqueue(packet(number, 77), us(0), &mut drops);
        }
        let _ = shaper.take(us(0));
        // The first packet takes 616 ns, and the next one waits for 76 B at 12 625 B/s.
        let ready = Time::nanoseconds(616 + 6_019_802);
        assert_eq!(shaper.next(us(0)), Next::At(ready));
        assert_eq!(shaper.next(ready), Next::Now(packet(1, 77)));
    }

    #[test]
    fn lo_credit_is_the_least() {
        let (_, mut drops) = shaper();
        let parameters = CbsParameters::given(
            Rate(100_000_000),
            Rate(900_000_000),
            Credit(150),
            Credit(-500),
            Limit::Frames(10),
        );
        let mut shaper = CbsLinux::new(&parameters, LineRate::new(1_000_000_000));
        for number in 0..2 {
            shaper.enqueue(packet(number, 1250), us(0), &mut drops);
        }
        let _ = shaper.take(us(0));
        assert_eq!(shaper.next(us(10)), Next::At(us(50)));
    }
}
