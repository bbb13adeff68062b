//! The Credit-Based Shaper of IEEE 802.1Q, 8.6.8.2.

use takt_scenario::CbsParameters;

use super::super::quotient::quotient;
use super::super::{
    gates::Gates,
    packet::{Drops, Next, Packet},
};
use super::fifo::Fifo;
use crate::{LineRate, Time};

/// Queue of which the first frame may be sent while the credit is not negative. Credit rises with idleSlope while a frame waits
/// or the credit is negative, falls with sendSlope while one is sent, and is at most 0 while no frame waits. A frame counts for
/// the time that it takes on the wire. Credit does not rise while the gate is closed, if there is one.
///
/// Frames are only requested while the link is free. By a slow clock, the last frame may then still seem to be on the link.
#[derive(Debug)]
pub struct CbsIeee {
    queue: Fifo,
    idle_slope: i128,
    /// SendSlope as a positive number.
    send_slope: i128,
    rate: LineRate,
    /// Credit in bits divided by 10¹²: idleSlope in bit/s times picoseconds.
    credit: i128,
    /// Time of the credit: in the future while a frame is sent, and before all times until the first frame comes.
    time: Time,
    /// Gates of the port, and the shaper's class.
    gate: Option<(Gates, u8)>,
}

impl CbsIeee {
    /// Makes a shaper at a link of this rate. By the standard, credit has no limits but those that follow from the traffic.
    pub fn new(parameters: &CbsParameters, rate: LineRate) -> Self {
        Self {
            queue: Fifo::new(parameters.limit),
            // Waits are divided by it.
            idle_slope: parameters.idle_slope.0.max(1).into(),
            send_slope: parameters.send_slope.value().0.into(),
            rate,
            credit: 0,
            time: Time::MIN,
            gate: None,
        }
    }

    /// Sets the gate of a class before the shaper.
    pub fn behind(&mut self, gate: Option<(Gates, u8)>) {
        self.gate = gate;
    }

    fn open_time(&self, from: Time, to: Time) -> Time {
        match &self.gate {
            None => to - from,
            Some((gates, class)) => gates.open_time(*class, from, to),
        }
    }

    /// Adds a packet, or drops it.
    pub fn enqueue(&mut self, packet: Packet, now: Time, drops: &mut Drops) {
        // Until now the queue may have been empty: credit is cleared before the packet counts.
        self.advance(now);
        self.queue.enqueue(packet, drops);
    }

    /// Returns true if no packet waits.
    pub fn is_empty(&self) -> bool {
        self.queue.is_empty()
    }

    /// Returns the packet that can be sent, or the time of the next one.
    pub fn next(&mut self, now: Time) -> Next {
        if self.queue.is_empty() {
            return Next::Empty;
        }
        self.advance(now);
        if self.credit >= 0 {
            return self.queue.peek().map_or(Next::Empty, |it| Next::Now(*it));
        }
        // The wait is rounded up, so that the credit is not negative any more at its end.
        let bits = -self.credit + self.idle_slope - 1;
        let wait = Time::picoseconds(quotient(bits, self.idle_slope));
        Next::At(match &self.gate {
            None => self.time + wait,
            Some((gates, class)) => gates.when_open_for(*class, self.time, wait),
        })
    }

    /// Removes the packet that [`Self::next`] returned.
    pub fn take(&mut self, now: Time) -> Option<Packet> {
        let packet = self.queue.dequeue()?;
        let duration = self.rate.duration(packet.wire);
        // The product has 128 bits: at 1 Gbit/s, 64 bits overflow after 9 ms.
        self.credit -= self.send_slope * i128::from(duration.as_picoseconds());
        // By a slow clock, the frame before may seem to need longer than the link does.
        self.time = self.time.max(now) + duration;
        Some(packet)
    }

    fn advance(&mut self, now: Time) {
        // A frame is being sent, and its whole cost has been paid.
        if now < self.time {
            return;
        }
        // The first packet comes here, so no credit is gained since the beginning of time.
        if self.queue.is_empty() && self.credit >= 0 {
            self.credit = 0;
        } else {
            let open = self.open_time(self.time, now).as_picoseconds();
            self.credit += self.idle_slope * i128::from(open);
            if self.queue.is_empty() {
                self.credit = self.credit.min(0);
            }
        }
        self.time = now;
    }
}

#[cfg(test)]
mod tests {
    use takt_scenario::{Credit, Limit, Rate};

    use super::super::super::gates::tests::schedule;
    use super::super::super::test::packet;
    use super::*;

    /// Makes a shaper at which 1250 B on the wire take 10 µs at 1 Gbit/s, and 100 µs of an idleSlope of 100 Mbit/s.
    fn shaper() -> (CbsIeee, Drops) {
        (with_send_slope(900_000_000), Drops::new())
    }

    fn with_send_slope(send_slope: u64) -> CbsIeee {
        let (idle_slope, send_slope) = (Rate(100_000_000), Rate(send_slope));
        let (high, low) = (Credit(i64::MAX), Credit(i64::MIN));
        let limit = Limit::Frames(10);
        let parameters = CbsParameters::given(idle_slope, send_slope, high, low, limit);
        CbsIeee::new(&parameters, LineRate::new(1_000_000_000))
    }

    const fn us(microseconds: i64) -> Time {
        Time::microseconds(microseconds)
    }

    #[test]
    fn frames_that_come_together_leave_with_idle_slope() {
        let (mut shaper, mut drops) = shaper();
        for number in 0..3 {
            shaper.enqueue(packet(number, 1226), us(5), &mut drops);
        }
        assert_eq!(shaper.next(us(5)), Next::Now(packet(0, 1226)));
        assert_eq!(shaper.take(us(5)), Some(packet(0, 1226)));
        // Sending cost 9000 bits, which take 90 µs to regain.
        assert_eq!(shaper.next(us(6)), Next::At(us(105)));
        assert_eq!(shaper.next(us(15)), Next::At(us(105)));
        assert_eq!(shaper.next(us(105)), Next::Now(packet(1, 1226)));
        assert_eq!(shaper.take(us(105)), Some(packet(1, 1226)));
        assert_eq!(shaper.next(us(115)), Next::At(us(205)));
    }

    #[test]
    fn frames_before_time_0_of_the_clock_are_sent() {
        let (mut shaper, mut drops) = shaper();
        shaper.enqueue(packet(0, 1226), us(-10_000), &mut drops);
        assert_eq!(shaper.next(us(-10_000)), Next::Now(packet(0, 1226)));
    }

    #[test]
    fn a_greater_send_slope_costs_more() {
        let mut shaper = with_send_slope(1_800_000_000);
        let mut drops = Drops::new();
        for number in 0..2 {
            shaper.enqueue(packet(number, 1226), us(5), &mut drops);
        }
        let _ = shaper.take(us(5));
        // The cost was twice 9000 bits.
        assert_eq!(shaper.next(us(15)), Next::At(us(195)));
    }

    #[test]
    fn a_link_that_is_free_sends_although_the_clock_is_slow() {
        let (mut shaper, mut drops) = shaper();
        for number in 0..3 {
            shaper.enqueue(packet(number, 1226), us(0), &mut drops);
        }
        // 10 000 bits gained, 9000 spent: the next frame may be sent once the link is free, by this clock 1 µs early.
        let _ = shaper.next(us(100));
        let _ = shaper.take(us(100));
        assert_eq!(shaper.next(us(109)), Next::Now(packet(1, 1226)));
        let _ = shaper.take(us(109));
        // Both frames together cost 18 000 bits: at 120 µs, 8000 are missing.
        assert_eq!(shaper.next(us(119)), Next::At(us(200)));
    }

    #[test]
    fn waiting_gains_credit_for_the_next() {
        let (mut shaper, mut drops) = shaper();
        for number in 0..2 {
            shaper.enqueue(packet(number, 1226), us(0), &mut drops);
        }
        // A frame of another class was sent for 20 µs, a gain of 2000 bits. 7000 are missing afterwards.
        assert_eq!(shaper.next(us(20)), Next::Now(packet(0, 1226)));
        let _ = shaper.take(us(20));
        assert_eq!(shaper.next(us(30)), Next::At(us(100)));
    }

    #[test]
    fn without_frames_credit_is_none_but_recovers() {
        let (mut shaper, mut drops) = shaper();
        shaper.enqueue(packet(0, 1226), us(0), &mut drops);
        let _ = shaper.next(us(60));
        let _ = shaper.take(us(60));
        // At 70 µs, 6000 bits were gained, 9000 spent, and 3000 are missing; 1000 of them are regained at 80 µs.
        shaper.enqueue(packet(1, 1226), us(80), &mut drops);
        assert_eq!(shaper.next(us(80)), Next::At(us(100)));
        assert_eq!(shaper.next(us(100)), Next::Now(packet(1, 1226)));
        let _ = shaper.take(us(100));
        // The credit is 0 at 200 µs, and stays there.
        shaper.enqueue(packet(2, 1226), us(1000), &mut drops);
        assert_eq!(shaper.next(us(1000)), Next::Now(packet(2, 1226)));
        let _ = shaper.take(us(1000));
        shaper.enqueue(packet(3, 1226), us(1005), &mut drops);
        assert_eq!(shaper.next(us(1010)), Next::At(us(1100)));
    }

    #[test]
    fn credit_stands_still_while_the_gate_is_closed() {
        let (mut shaper, mut drops) = shaper();
        // The gate is open from 20 to 80 µs of each 100.
        let gates = Gates::new(&schedule(0, &[(0, 20), (1, 60), (0, 20)]));
        shaper.behind(Some((gates, 0)));
        for number in 0..3 {
            shaper.enqueue(packet(number, 1226), us(5), &mut drops);
        }
        // 1500 bits are gained from 20 to 35, 9000 spent until 45, 7500 missing: from 45 to 80, and 40 µs from 120 on.
        assert_eq!(shaper.next(us(35)), Next::Now(packet(0, 1226)));
        let _ = shaper.take(us(35));
        assert_eq!(shaper.next(us(45)), Next::At(us(160)));
        assert_eq!(shaper.next(us(90)), Next::At(us(160)));
        assert_eq!(shaper.next(us(160)), Next::Now(packet(1, 1226)));
        let _ = shaper.take(us(160));
        // The missing 9000 bits take until 180, from 220 to 280, and 20 µs from 320 on.
        assert_eq!(shaper.next(us(170)), Next::At(us(340)));
    }

    #[test]
    fn a_frame_that_arrives_in_time_keeps_positive_credit() {
        let (mut shaper, mut drops) = shaper();
        shaper.enqueue(packet(0, 1226), us(0), &mut drops);
        let _ = shaper.next(us(100));
        let _ = shaper.take(us(100));
        // Of 10 000 gained bits, 9000 are spent: 1000 are left at 110 for a frame that waits then.
        shaper.enqueue(packet(1, 1226), us(105), &mut drops);
        assert_eq!(shaper.next(us(110)), Next::Now(packet(1, 1226)));
        let _ = shaper.take(us(110));
        assert_eq!(shaper.next(us(120)), Next::Empty);
        shaper.enqueue(packet(2, 1226), us(120), &mut drops);
        assert_eq!(shaper.next(us(120)), Next::At(us(200)));
        // Without a waiting frame, the credit would have been cleared.
        let (mut shaper, mut drops) = self::shaper();
        shaper.enqueue(packet(0, 1226), us(0), &mut drops);
        let _ = shaper.next(us(100));
        let _ = shaper.take(us(100));
        for number in 1..3 {
            shaper.enqueue(packet(number, 1226), us(111), &mut drops);
        }
        let _ = shaper.next(us(111));
        let _ = shaper.take(us(111));
        assert_eq!(shaper.next(us(121)), Next::At(us(211)));
    }
}
