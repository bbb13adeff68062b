//! Groups of items of a Subscription with the same period, which are sampled together.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::Bound;
use std::sync::Arc;
use std::time::{Duration, Instant};

use takt_space::Caller;

use super::item::MonitoredItem;
use super::sampler::Sampler;
use super::slice::Slice;

/// The sampled items of a Subscription, grouped by their period.
#[derive(Default)]
pub(crate) struct Groups {
    groups: HashMap<Duration, Group>,
    /// The times at which groups are due.
    agenda: BTreeSet<(Instant, Duration)>,
}

/// Items that are sampled together.
struct Group {
    next: Instant,
    members: BTreeMap<u32, Member>,
    /// The last item that was sampled in this round, if the round was interrupted.
    interrupted_at: Option<u32>,
}

/// An item of a group.
struct Member {
    item: Arc<MonitoredItem>,
    /// Time before which the item is not sampled.
    since: Instant,
}

impl Groups {
    /// Adds an item that has just been sampled. Its period is aligned with `publish`, so that values are as new as possible when
    /// they are sent. The item is not sampled again in a round of the group that begins within half a period.
    pub(crate) fn add(
        &mut self,
        item: &Arc<MonitoredItem>,
        period: Duration,
        publish: Instant,
        now: Instant,
    ) {
        let group = self.groups.entry(period).or_insert_with(|| {
            let ahead = publish.saturating_duration_since(now).as_nanos();
            let first = ahead.checked_rem(period.as_nanos()).unwrap_or_default();
            let first = Duration::from_nanos(u64::try_from(first).unwrap_or_default());
            let next = now + if first.is_zero() { period } else { first };
            self.agenda.insert((next, period));
            Group {
                next,
                members: BTreeMap::new(),
                interrupted_at: None,
            }
        });
        let member = Member {
            item: Arc::clone(item),
            since: now + period / 2,
        };
        group.members.insert(item.id, member);
    }

    /// Removes an item.
    pub(crate) fn remove(&mut self, id: u32, period: Duration) {
        if let Some(group) = self.groups.get_mut(&period) {
            group.members.remove(&id);
            if group.members.is_empty() {
                self.agenda.remove(&(group.next, period));
                self.groups.remove(&period);
            }
        }
    }

    /// Returns the time at which the next group is due; in the past if a group was interrupted.
    pub(crate) fn next_deadline(&self) -> Option<Instant> {
        self.agenda.first().map(|(at, _)| *at)
    }

    /// Samples the due items, within the slice. Returns true if all of them were sampled.
    pub(crate) fn sample(
        &mut self,
        sampler: &mut Sampler<'_>,
        owner: &Arc<Caller>,
        now: Instant,
        slice: &mut Slice,
    ) -> bool {
        while let Some((at, period)) = self.agenda.first().copied()
            && at <= now
        {
            let Some(group) = self.groups.get_mut(&period) else {
                self.agenda.pop_first();
                continue;
            };
            let from = group
                .interrupted_at
                .map_or(Bound::Unbounded, Bound::Excluded);
            for (id, member) in group.members.range((from, Bound::Unbounded)) {
                if slice.is_over() {
                    return false;
                }
                slice.spend_sample(match now < member.since {
                    true => 1,
                    false => sampler.sample(&member.item, owner),
                });
                // An id, not a place: items may be removed before the round continues.
                group.interrupted_at = Some(*id);
            }
            group.interrupted_at = None;
            group.next = after(at, period, now);
            self.agenda.pop_first();
            self.agenda.insert((group.next, period));
        }
        true
    }
}

/// Returns the first time of a cycle after `now`.
pub(crate) fn after(last: Instant, period: Duration, now: Instant) -> Instant {
    let next = last + period;
    if next > now {
        return next;
    }
    // Missed rounds are left out; the phase stays.
    let missed = now.duration_since(last).as_nanos() % period.as_nanos().max(1);
    now + period - Duration::from_nanos(u64::try_from(missed).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timers_stay_in_step_when_they_are_late() {
        let start = Instant::now();
        let milliseconds = |count| start + Duration::from_millis(count);
        let period = Duration::from_millis(10);
        assert_eq!(after(start, period, milliseconds(0)), milliseconds(10));
        assert_eq!(after(start, period, milliseconds(9)), milliseconds(10));
        assert_eq!(after(start, period, milliseconds(10)), milliseconds(20));
        assert_eq!(after(start, period, milliseconds(37)), milliseconds(40));
    }
}
