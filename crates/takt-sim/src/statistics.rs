//! Counters and measurements.

use takt_scenario::PortIndex;
use takt_statistics::{Quantile, TimeHistogram};

use crate::Time;
use crate::discipline::DropReason;

/// Least, mean and greatest of several times.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Extremes {
    /// Number of times.
    pub count: u64,
    least: Time,
    most: Time,
    sum: i128,
}

impl Default for Extremes {
    fn default() -> Self {
        Self {
            count: 0,
            least: Time::MAX,
            most: Time::picoseconds(i64::MIN),
            sum: 0,
        }
    }
}

impl Extremes {
    pub(crate) fn record(&mut self, time: Time) {
        self.count += 1;
        self.least = self.least.min(time);
        self.most = self.most.max(time);
        self.sum += i128::from(time.as_picoseconds());
    }

    /// Returns the least time; `None` if there was none.
    pub fn least(&self) -> Option<Time> {
        (self.count > 0).then_some(self.least)
    }

    /// Returns the greatest time; `None` if there was none.
    pub fn most(&self) -> Option<Time> {
        (self.count > 0).then_some(self.most)
    }

    /// Returns the mean, rounded down to picoseconds.
    pub fn mean(&self) -> Option<Time> {
        let mean = self.sum.checked_div(self.count.into())?;
        i64::try_from(mean).ok().map(Time::picoseconds)
    }
}

/// Times with their quantiles. Least, mean and greatest are exact; quantiles are exact to three digits, or two if there are many
/// flows.
#[derive(Debug, Clone)]
pub struct Summary {
    /// Exact values.
    pub extremes: Extremes,
    /// Histogram in nanoseconds.
    histogram: TimeHistogram,
}

impl Summary {
    pub(crate) fn new(digits: u8) -> Self {
        Self {
            extremes: Extremes::default(),
            histogram: TimeHistogram::growing(digits),
        }
    }

    pub(crate) fn record(&mut self, time: Time) {
        self.extremes.record(time);
        let nanos = u64::try_from(time.as_nanoseconds()).unwrap_or(0);
        self.histogram.record(nanos);
    }

    /// Returns a quantile of the times; never more than the greatest, nor less than the least.
    pub fn quantile(&self, quantile: Quantile) -> Option<Time> {
        let (least, most) = (self.extremes.least()?, self.extremes.most()?);
        let value = self.histogram.quantile(quantile);
        let time = Time::nanoseconds(i64::try_from(value).unwrap_or(i64::MAX));
        Some(time.clamp(least, most))
    }
}

/// Counters of messages at their receiver.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counters {
    /// Number of counters that did not come before a later one.
    pub missed: u64,
    /// Number of messages with the counter of the one before.
    pub repeated: u64,
    /// Number of messages with an earlier counter than the one before.
    pub out_of_order: u64,
    last: Option<u64>,
}

impl Counters {
    pub(crate) fn receive(&mut self, counter: u64) {
        if let Some(last) = self.last {
            match counter {
                _ if counter == last => self.repeated += 1,
                _ if counter < last => self.out_of_order += 1,
                _ => self.missed += counter - last - 1,
            }
        }
        // A late counter does not set the mark back: otherwise counters that came would count as missed.
        self.last = Some(self.last.map_or(counter, |last| last.max(counter)));
    }
}

/// Delays and their variation.
#[derive(Debug, Clone)]
pub struct Delays {
    /// Time from departure to arrival.
    pub delay: Summary,
    /// Absolute difference between a delay and the one before it (RFC 3393).
    pub jitter: Summary,
    last: Option<Time>,
}

impl Delays {
    pub(crate) fn new(digits: u8) -> Self {
        Self {
            delay: Summary::new(digits),
            jitter: Summary::new(digits),
            last: None,
        }
    }

    pub(crate) fn record(&mut self, delay: Time) {
        self.delay.record(delay);
        if let Some(last) = self.last.replace(delay) {
            let difference = if delay < last {
                last - delay
            } else {
                delay - last
            };
            self.jitter.record(difference);
        }
    }
}

/// Frames of a flow that were lost at a port.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lost {
    /// Port of the loss.
    pub port: PortIndex,
    /// Reason of the loss.
    pub reason: DropReason,
    /// Number of frames.
    pub count: u64,
}

/// Statistics of a flow's frames.
#[derive(Debug, Clone)]
pub struct FlowStatistics {
    /// Number of frames given to the first port.
    pub sent: u64,
    /// Number of frames that arrived.
    pub received: u64,
    /// Time from the first port's queue to the last bit's arrival; with a txtime, from the time at which that port may send.
    pub one_way: Delays,
    /// Time from the first bit at the first port to the last bit's arrival. Of applications only.
    pub one_way_from_first_bit: Delays,
    /// Time between one arrival and the next.
    pub spacing: Summary,
    /// Time at each port of the way, from its queue to the other end of its link.
    pub hops: Vec<Extremes>,
    /// Lost frames by port and reason.
    pub lost: Vec<Lost>,
    last_arrival: Option<Time>,
}

impl FlowStatistics {
    pub(crate) fn new(digits: u8, hops: usize) -> Self {
        Self {
            sent: 0,
            received: 0,
            one_way: Delays::new(digits),
            one_way_from_first_bit: Delays::new(digits),
            spacing: Summary::new(digits),
            hops: vec![Extremes::default(); hops],
            lost: Vec::new(),
            last_arrival: None,
        }
    }

    pub(crate) fn arrive(&mut self, now: Time, delay: Time) {
        self.received += 1;
        self.one_way.record(delay);
        if let Some(last) = self.last_arrival.replace(now) {
            self.spacing.record(now - last);
        }
    }

    /// Adds the times at the ports of the way, from the first on, of one frame after the other.
    pub(crate) fn pass(&mut self, times: &[Time]) {
        let hops = self.hops.len().max(1);
        for (hop, extremes) in self.hops.iter_mut().enumerate() {
            for time in times.iter().skip(hop).step_by(hops) {
                extremes.record(*time);
            }
        }
    }

    pub(crate) fn lose(&mut self, port: PortIndex, reason: DropReason) {
        let same = self
            .lost
            .iter_mut()
            .find(|lost| lost.port == port && lost.reason == reason);
        match same {
            Some(lost) => lost.count += 1,
            None => self.lost.push(Lost {
                port,
                reason,
                count: 1,
            }),
        }
    }

    /// Returns the number of all lost frames.
    pub fn all_lost(&self) -> u64 {
        self.lost.iter().map(|lost| lost.count).sum()
    }
}

/// Statistics of an application with its loopback or Subscriber.
#[derive(Debug, Clone)]
pub struct ApplicationStatistics {
    /// Number of published messages.
    pub published: u64,
    /// Round trip on the wire, of loopbacks only: from the first port's queue, or from the time at which that port may send the
    /// message, to the last bit that comes back.
    pub round_trip: Delays,
    /// The same from the first bit that leaves the first port (T2).
    pub round_trip_from_first_bit: Delays,
    /// Round trip of the application, of loopbacks only: from the Publisher's thread that hands the message over (T1) to the one
    /// that takes it when it is back (T8).
    pub application_round_trip: Delays,
    /// Counters in the messages that came back, or to the first Subscriber.
    pub counters: Counters,
    /// Counters in the messages that came to each further Subscriber.
    pub further: Vec<Counters>,
    /// Number of messages that the loopback had received, and replaced by later ones before it sent them.
    pub overwritten: u64,
}

impl ApplicationStatistics {
    /// Returns the counters of all Subscribers together.
    pub fn all_counters(&self) -> Counters {
        self.further
            .iter()
            .fold(self.counters, |sum, of_one| Counters {
                missed: sum.missed + of_one.missed,
                repeated: sum.repeated + of_one.repeated,
                out_of_order: sum.out_of_order + of_one.out_of_order,
                last: sum.last.max(of_one.last),
            })
    }

    /// Counts a received message. Returns true if it is new.
    pub(crate) fn receive(&mut self, counter: u64) -> bool {
        let repeated = self.counters.repeated;
        self.counters.receive(counter);
        self.counters.repeated == repeated
    }

    /// Makes the statistics of an application with so many receivers.
    pub(crate) fn new(digits: u8, receivers: usize) -> Self {
        Self {
            published: 0,
            round_trip: Delays::new(digits),
            round_trip_from_first_bit: Delays::new(digits),
            application_round_trip: Delays::new(digits),
            counters: Counters::default(),
            further: vec![Counters::default(); receivers.saturating_sub(1)],
            overwritten: 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_that_are_missed_or_repeated() {
        let mut counters = Counters::default();
        for counter in [3, 4, 4, 7, 5, 8] {
            counters.receive(counter);
        }
        assert_eq!(
            (counters.missed, counters.repeated, counters.out_of_order),
            (2, 1, 1)
        );
    }

    #[test]
    fn summaries_are_exact_at_both_ends() {
        let mut summary = Summary::new(3);
        assert_eq!(
            (summary.extremes.mean(), summary.quantile(Quantile::MEDIAN)),
            (None, None)
        );
        for microseconds in [10, 20, 30, 1000] {
            summary.record(Time::microseconds(microseconds) + Time::picoseconds(1));
        }
        assert_eq!(
            summary.extremes.least(),
            Some(Time::picoseconds(10_000_001))
        );
        assert_eq!(
            summary.extremes.most(),
            Some(Time::picoseconds(1_000_000_001))
        );
        assert_eq!(
            summary.extremes.mean(),
            Some(Time::picoseconds(265_000_001))
        );
        assert_eq!(
            summary.quantile(Quantile::MEDIAN).map(Time::as_nanoseconds),
            Some(20_015)
        );
        assert_eq!(summary.quantile(Quantile::MAX), summary.extremes.most());
    }

    #[test]
    fn jitter_is_between_neighbours() {
        let mut delays = Delays::new(3);
        for delay in [100, 350, 100] {
            delays.record(Time::microseconds(delay));
        }
        assert_eq!(delays.jitter.extremes.count, 2);
        assert_eq!(delays.jitter.extremes.mean(), Some(Time::microseconds(250)));
    }
}
