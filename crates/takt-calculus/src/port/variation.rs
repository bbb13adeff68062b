//! Variation of a stream's delays on the way to a queue. Bridges, cables and threads add to it. A loopback that counts the same
//! cycles as the talker rounds it up to whole cycles, because it sends at the same time in each cycle.

use crate::Rational;
use crate::curve::Extended;

/// An application that takes all frames that have come, once in a cycle, and sends them again by its own cycle. All times are in
/// seconds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoopbackStage {
    /// Least delay of a frame.
    pub least: Rational,
    /// Greatest delay of a frame.
    pub most: Rational,
    /// The cycle, if talker and application count cycles of the same length; above 0. `None` if cycles drift apart.
    ///
    /// With a cycle, the talker must send at most one frame in each cycle, all at the same time of it:
    /// [`Stream::arrival`](crate::Stream::arrival) does not say that, and it is not checked. If a frame comes exactly when the
    /// thread runs, the thread must take such frames in all cycles or in none.
    pub cycle: Option<Rational>,
    /// Greatest lateness of the thread that takes the frames; at least 0.
    pub late: Rational,
    /// Greatest lateness of a frame when it is sent, behind the time in the cycle at which frames are sent; at least 0.
    pub sending: Rational,
}

/// Stages between two queues of a path, or before the first one, in order.
#[derive(Debug, Clone, Default)]
pub(crate) struct Variation {
    stages: Vec<Stage>,
}

#[derive(Debug, Clone)]
enum Stage {
    /// Delays that differ by up to so many seconds.
    Spread(Rational),
    Loopback(LoopbackStage),
}

impl Variation {
    /// Adds delays that differ by up to so many seconds.
    pub(crate) fn add_spread(&mut self, spread: Rational) {
        match self.stages.last_mut() {
            Some(Stage::Spread(before)) => *before += &spread,
            _ => self.stages.push(Stage::Spread(spread)),
        }
    }

    /// Adds a loopback.
    pub(crate) fn add_loopback(&mut self, loopback: LoopbackStage) {
        self.stages.push(Stage::Loopback(loopback));
    }

    /// Returns the variation behind these stages of delays that vary by `jitter` before them, in seconds. It does not fall when
    /// `jitter` grows.
    pub(crate) fn behind(&self, jitter: Extended) -> Extended {
        self.stages
            .iter()
            .fold(jitter, |jitter, stage| match stage {
                Stage::Spread(spread) => jitter.plus(spread),
                Stage::Loopback(loopback) => loopback.behind(&jitter),
            })
    }
}

impl LoopbackStage {
    /// Returns true if the cycle is above 0, and the lateness at least 0.
    pub(crate) fn is_valid(&self) -> bool {
        let has_cycle = self
            .cycle
            .as_ref()
            .is_none_or(|cycle| *cycle > Rational::ZERO);
        has_cycle && self.late >= Rational::ZERO && self.sending >= Rational::ZERO
    }

    /// Returns the variation of the times at which frames are sent again, if the times at which they come vary by `jitter`.
    ///
    /// Every delay of the loopback is between `least` and `most`, so that the difference of these is added. If talker and
    /// loopback count the same cycles `c`, frame `k` comes at `k c + a + j` with `j` from 0 to the jitter. It is taken by the
    /// first thread that runs at `n c + u + w` or later, with `w` from 0 to `late`: `n - k` is between
    /// `⌈(a − u − late) / c⌉` and `⌈(a − u + jitter) / c⌉`. These differ by at most `⌈(jitter + late) / c⌉`. So frame `k`
    /// leaves at one of as many more times, a cycle apart, and up to `sending` later. If nothing varies, frames leave at the
    /// same time in every cycle.
    fn behind(&self, jitter: &Extended) -> Extended {
        let by_delay = jitter.plus(&(&self.most - &self.least));
        let (Extended::Finite(jitter), Some(cycle)) = (jitter, &self.cycle) else {
            return by_delay;
        };
        let cycles = Rational::from(((jitter + &self.late) / cycle).ceil());
        by_delay.min(Extended::Finite(cycles * cycle + &self.sending))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn loopback(cycle: Option<u32>) -> LoopbackStage {
        LoopbackStage {
            least: 70.into(),
            most: 170.into(),
            cycle: cycle.map(Rational::from),
            late: Rational::ZERO,
            sending: Rational::ZERO,
        }
    }

    fn behind(loopback: LoopbackStage, jitter: u32) -> Extended {
        let mut variation = Variation::default();
        variation.add_spread(1.into());
        variation.add_spread(1.into());
        variation.add_loopback(loopback);
        variation.behind(Extended::Finite(jitter.into()))
    }

    #[test]
    fn a_loopback_of_the_same_cycle_varies_by_whole_cycles() {
        let finite = |value: u32| Extended::Finite(value.into());
        assert_eq!(behind(loopback(Some(100)), 0), finite(100));
        assert_eq!(behind(loopback(Some(100)), 98), finite(100));
        assert_eq!(behind(loopback(Some(100)), 99), finite(200));
        assert_eq!(behind(loopback(None), 98), finite(200));
        let mut variation = Variation::default();
        variation.add_loopback(loopback(Some(100)));
        assert_eq!(variation.behind(Extended::ZERO), Extended::ZERO);
        assert_eq!(variation.behind(Extended::Infinity), Extended::Infinity);
    }

    #[test]
    fn late_threads_of_a_loopback_count_as_jitter() {
        let late = LoopbackStage {
            late: 1.into(),
            sending: 7.into(),
            ..loopback(Some(100))
        };
        let mut variation = Variation::default();
        variation.add_loopback(LoopbackStage {
            most: 178.into(),
            least: 69.into(),
            ..late
        });
        assert_eq!(
            variation.behind(Extended::ZERO),
            Extended::Finite(107.into())
        );
    }
}
