//! Filters of events (`Documentation/trace/events.rst`, 5): events of other threads need no room.

/// Greatest number of threads that a filter names one by one.
const NAMED: usize = 8;

/// Size of the blocks of ids that a filter lets pass if there are more threads. The threads of a process mostly have ids one after
/// the other, so that few filters are written.
const BLOCK: u32 = 64;

/// Greatest number of ranges in a filter. The kernel takes one page of text, and compares each range at each event.
const RANGES: usize = 16;

/// Threads whose events are recorded: ranges of ids, in ascending order, without overlap. Each has its first and last id.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct RecordedThreads {
    named: Vec<u32>,
    ranges: Vec<(u32, u32)>,
}

impl RecordedThreads {
    /// Adds threads. Returns true if the filters must be written again.
    pub(super) fn add(&mut self, threads: impl IntoIterator<Item = u32>) -> bool {
        let before = self.ranges.clone();
        for thread in threads {
            if self
                .ranges
                .iter()
                .any(|(from, to)| (*from..=*to).contains(&thread))
            {
                continue;
            }
            if self.named.len() < NAMED {
                self.named.push(thread);
                self.ranges.push((thread, thread));
            } else {
                let from = thread / BLOCK * BLOCK;
                self.ranges.push((from, from + (BLOCK - 1)));
            }
            self.join();
        }
        before != self.ranges
    }

    /// Joins ranges that touch each other, and those with the smallest gaps if there are too many.
    fn join(&mut self) {
        self.ranges.sort_unstable();
        let mut joined: Vec<(u32, u32)> = Vec::with_capacity(self.ranges.len());
        for (from, to) in self.ranges.drain(..) {
            match joined.last_mut() {
                Some(last) if from <= last.1.saturating_add(1) => last.1 = last.1.max(to),
                _ => joined.push((from, to)),
            }
        }
        while joined.len() > RANGES {
            let gaps = joined.windows(2).enumerate();
            let gaps = gaps.filter_map(|(place, pair)| match pair {
                [one, other] => Some((other.0.abs_diff(one.1), place)),
                _ => None,
            });
            let Some((_, place)) = gaps.min() else {
                break;
            };
            let (_, to) = joined.remove(place + 1);
            if let Some(range) = joined.get_mut(place) {
                range.1 = to;
            }
        }
        self.ranges = joined;
    }

    /// Returns the condition of an event; `None` for events of all threads.
    pub(super) fn filter(&self, group: &str, name: &str) -> Option<String> {
        let field = field(group, name)?;
        let ranges = self.ranges.iter();
        let ranges: Vec<String> = ranges
            .map(|(from, to)| match from == to {
                true => format!("{field} == {from}"),
                false => format!("({field} >= {from} && {field} <= {to})"),
            })
            .collect();
        Some(match ranges.is_empty() {
            // No thread has this id.
            true => format!("{field} == -1"),
            false => ranges.join(" || "),
        })
    }
}

/// Returns the field of an event that has the thread; `None` for events of all threads.
pub(super) fn field(group: &str, name: &str) -> Option<&'static str> {
    match (group, name) {
        ("sched", "sched_waking" | "sched_migrate_task") => Some("pid"),
        ("raw_syscalls" | "exceptions", _) => Some("common_pid"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Longest text of a filter, in bytes: a page.
    const LONGEST: usize = 4096;

    #[test]
    fn filters_name_few_threads() {
        let mut threads = RecordedThreads::default();
        let none = threads.filter("sched", "sched_waking");
        assert_eq!(none.as_deref(), Some("pid == -1"));
        assert!(threads.add([1, 22]));
        assert!(!threads.add([22]));
        let of = |group, name| threads.filter(group, name);
        assert_eq!(
            of("raw_syscalls", "sys_exit").as_deref(),
            Some("common_pid == 1 || common_pid == 22")
        );
        assert_eq!(
            of("sched", "sched_waking").as_deref(),
            Some("pid == 1 || pid == 22")
        );
        assert_eq!(of("sched", "sched_switch"), None);
    }

    /// Each thread asks alone, and the kernel takes some milliseconds for each filter.
    #[test]
    fn filters_of_many_threads_are_short_and_rarely_written() {
        for (distance, most) in [(1, 20), (3, 40), (5000, 300)] {
            let ids = (0..300).map(|number| 4_190_000_u32 - 300 * distance + number * distance);
            let ids: Vec<u32> = ids.collect();
            let mut threads = RecordedThreads::default();
            let written = ids.iter().filter(|id| threads.add([**id])).count();
            assert!(
                written <= most,
                "{written} filters at a distance of {distance}"
            );
            let filter = threads
                .filter("raw_syscalls", "sys_enter")
                .unwrap_or_default();
            assert!(filter.len() < LONGEST, "{} bytes", filter.len());
            let passes = |id: &u32| {
                threads
                    .ranges
                    .iter()
                    .any(|(from, to)| (*from..=*to).contains(id))
            };
            assert!(ids.iter().all(passes), "{filter}");
        }
    }

    #[test]
    fn all_ids_have_a_place() {
        let mut threads = RecordedThreads::default();
        threads.add((0..20).map(|number| u32::MAX - number * 100));
        threads.add([0, 1, u32::MAX]);
        assert!(threads.ranges.len() <= RANGES);
        assert!(threads.ranges.is_sorted());
    }
}
