//! Due times of announcements (OPC 10000-14, 7.2.4.6.12.2).

use std::collections::{HashMap, HashSet};
use std::hash::Hash;
use std::time::{Duration, Instant};

/// Time in which an announcement is not repeated.
const SUBSEQUENT: Duration = Duration::from_millis(500);

/// Shortest and longest delay of a probe or an answer, in milliseconds: others may ask for the same, and many Publishers may
/// answer.
const DELAY: (u64, u64) = (100, 500);

/// Maximum number of waiting announcements; a probe that asks for more is answered in part.
const MAX_WAITING: usize = 4096;

/// Random delays, which differ between Publishers and Subscribers.
#[derive(Debug)]
pub(super) struct RandomDelay {
    /// State of a generator of random numbers (xorshift); not 0.
    random: u64,
}

impl RandomDelay {
    pub(super) fn new(seed: u64) -> Self {
        // xorshift of 0 is 0 for ever.
        Self { random: seed | 1 }
    }

    /// Returns a time after this one, by a random delay.
    pub(super) fn after(&mut self, now: Instant) -> Instant {
        // With these three shifts, the generator passes through all numbers but 0.
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        let (least, most) = DELAY;
        now + Duration::from_millis(least + self.random % (most - least + 1))
    }
}

/// Announcements that wait, each once.
#[derive(Debug)]
pub(super) struct Schedule<T> {
    waiting: Vec<(Instant, T)>,
    /// Those that wait, to be found.
    known: HashSet<T>,
    /// Times of the last announcements.
    announced: HashMap<T, Instant>,
    delay: RandomDelay,
}

impl<T: Eq + Hash + Clone> Schedule<T> {
    pub(super) fn new(seed: u64) -> Self {
        Self {
            waiting: Vec::new(),
            known: HashSet::new(),
            announced: HashMap::new(),
            delay: RandomDelay::new(seed),
        }
    }

    /// Returns the due time of the answer to a probe that is received now.
    pub(super) fn delay(&mut self, now: Instant) -> Instant {
        self.delay.after(now)
    }

    /// Adds an announcement at this time, or later if it was announced just now. One that waits already is not added twice.
    pub(super) fn add(&mut self, due: Instant, what: T) {
        // The first due time holds: a later probe must not delay the answer to an earlier one.
        if self.waiting.len() >= MAX_WAITING || !self.known.insert(what.clone()) {
            return;
        }
        let before = self.announced.get(&what);
        let due = before.map_or(due, |at| due.max(*at + SUBSEQUENT));
        self.waiting.push((due, what));
    }

    /// Removes an announcement that waits.
    pub(super) fn forget(&mut self, what: &T) {
        self.known.remove(what);
        self.waiting.retain(|(_, waiting)| waiting != what);
    }

    pub(super) fn next_timeout(&self) -> Option<Instant> {
        self.waiting.iter().map(|(due, _)| *due).min()
    }

    /// Takes the announcements that are due, and those that are to be sent together with them.
    pub(super) fn take(&mut self, now: Instant, together: impl Fn(&T, &T) -> bool) -> Vec<T> {
        // Older times delay nothing any more: without this, the map would grow with each probe.
        self.announced.retain(|_, at| *at + SUBSEQUENT > now);
        let is_due = |(due, _): &(Instant, T)| *due <= now;
        let due: Vec<T> = self
            .waiting
            .iter()
            .filter(|waiting| is_due(waiting))
            .map(|(_, what)| what.clone())
            .collect();
        if due.is_empty() {
            return due;
        }
        let joins = |what: &T| due.iter().any(|other| together(other, what));
        let taken: Vec<T> = self
            .waiting
            .extract_if(.., |waiting| is_due(waiting) || joins(&waiting.1))
            .map(|(_, what)| what)
            .collect();
        for what in &taken {
            self.known.remove(what);
            self.announced.insert(what.clone(), now);
        }
        taken
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_wait_and_duplicates_are_discarded() {
        let start = Instant::now();
        let mut schedule = Schedule::new(7);
        for _ in 0..100 {
            let delay = schedule.delay(start) - start;
            let range = Duration::from_millis(100)..=Duration::from_millis(500);
            assert!(range.contains(&delay), "{delay:?}");
        }
        let at = |milliseconds| start + Duration::from_millis(milliseconds);
        let together = |one: &u8, other: &u8| one / 10 == other / 10;
        schedule.add(at(100), 1);
        schedule.add(at(50), 1);
        schedule.add(at(200), 2);
        schedule.add(at(200), 20);
        assert_eq!(schedule.next_timeout(), Some(at(100)));
        assert!(schedule.take(at(99), together).is_empty());
        assert_eq!(schedule.take(at(100), together), [1, 2]);
        assert_eq!(schedule.take(at(200), together), [20]);
        // The announcement is not repeated for 500 ms.
        schedule.add(at(300), 1);
        assert_eq!(schedule.next_timeout(), Some(at(600)));
        assert_eq!(schedule.take(at(600), together), [1]);
        assert_eq!(schedule.next_timeout(), None);
    }
}
