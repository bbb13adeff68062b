//! Long random runs, compared with a model that keeps all records.

use std::collections::HashMap;

use takt_control::TracePoint::{self, T1, T4, T5, T8};

use crate::runs::files::Files;
use crate::runs::{analyze, counters, interval, losses, summary};

type Record = (TracePoint, u64, i64);

/// Random numbers (xorshift).
struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % limit
    }
}

/// Records of both hosts. Messages are lost at each stage, sent again, and overtaken by later ones.
fn records(random: &mut Random, messages: u64) -> [Vec<Record>; 2] {
    let (mut publisher, mut loopback) = (Vec::new(), Vec::new());
    for counter in 0..messages {
        let mut time = i64::try_from(counter).unwrap() * 1_000;
        let mut later = |longest: u64, random: &mut Random| {
            time += i64::try_from(random.below(longest)).unwrap();
            time
        };
        publisher.push((T1, counter, later(50, random)));
        for (point, longest) in [(T4, 1_500), (T5, 400), (T8, 2_500)] {
            if random.below(50) == 0 {
                break;
            }
            let records = if point == T8 {
                &mut publisher
            } else {
                &mut loopback
            };
            records.push((point, counter, later(longest, random)));
            if random.below(40) == 0 {
                records.push((point, counter, later(longest, random)));
            }
        }
    }
    for records in [&mut publisher, &mut loopback] {
        records.sort_by_key(|(_, _, time)| *time);
    }
    [publisher, loopback]
}

/// Delays of an interval in the order of arrival.
fn delays(records: &[Record], from: TracePoint, to: TracePoint, counted: &[u64; 2]) -> Vec<i64> {
    let mut first: HashMap<(TracePoint, u64), i64> = HashMap::new();
    for (point, counter, time) in records {
        first.entry((*point, *counter)).or_insert(*time);
    }
    let mut delays = Vec::new();
    let mut seen = std::collections::HashSet::new();
    for (point, counter, time) in records {
        let is_counted = (counted[0]..=counted[1]).contains(counter);
        if *point == to && is_counted && seen.insert(*counter) {
            delays.extend(first.get(&(from, *counter)).map(|start| time - start));
        }
    }
    delays
}

fn expected(mut samples: Vec<i64>) -> (u64, Option<[i64; 3]>, i128) {
    samples.sort_unstable();
    let rank = samples.len().div_ceil(2) - 1;
    let last = samples.len() - 1;
    (
        samples.len() as u64,
        Some([samples[0], samples[rank], samples[last]]),
        samples.iter().map(|it| i128::from(*it)).sum(),
    )
}

fn jitter(delays: &[i64]) -> Vec<i64> {
    let pairs = delays.windows(2);
    pairs.map(|pair| (pair[1] - pair[0]).abs()).collect()
}

fn compare(seed: u64, messages: u64, trim: u64) {
    let [publisher, loopback] = records(&mut Random(seed), messages);
    let mut files = Files::new();
    files.trace("publisher.trace", 0, &publisher);
    files.trace("loopback.trace", 0, &loopback);
    let run = analyze(&files, trim, true).unwrap();
    let counted = [trim, messages - 1 - trim];
    assert_eq!(run.messages, messages - 2 * trim);
    assert_eq!((run.late_records, run.missing_records.len()), (0, 0));
    let all: Vec<Record> = publisher.iter().chain(&loopback).copied().collect();
    for (from, to) in [(T1, T8), (T4, T5), (T1, T4), (T5, T8)] {
        let delays = delays(&all, from, to, &counted);
        let found = interval(&run, from, to);
        assert_eq!(
            summary(&found.jitter),
            expected(jitter(&delays)),
            "{from:?} {to:?}"
        );
        assert_eq!(summary(&found.delay), expected(delays), "{from:?} {to:?}");
    }
    let is_counted = |counter: u64| (counted[0]..=counted[1]).contains(&counter);
    let mut ended = [(T1, 0), (T4, 0), (T5, 0)];
    let mut last: HashMap<u64, TracePoint> = HashMap::new();
    for (point, counter, _) in &all {
        let last = last.entry(*counter).or_insert(*point);
        *last = (*last).max(*point);
    }
    for (_, point) in last.iter().filter(|(counter, _)| is_counted(**counter)) {
        if let Some(ended) = ended.iter_mut().find(|it| it.0 == *point) {
            ended.1 += 1;
        }
    }
    assert_eq!(losses(&run), Some(ended.to_vec()));
    for (point, records) in [(T4, &loopback), (T5, &loopback), (T8, &publisher)] {
        let of_point = records
            .iter()
            .filter(|it| it.0 == point && is_counted(it.1));
        let (mut furthest, mut found) = (None, [0; 3]);
        for (_, counter, _) in of_point {
            match furthest {
                Some(furthest) if *counter == furthest => found[1] += 1,
                Some(furthest) if *counter < furthest => found[2] += 1,
                _ => {
                    found[0] += furthest.map_or(0, |furthest| counter - furthest - 1);
                    furthest = Some(*counter);
                }
            }
        }
        assert_eq!(counters(&run, point), found, "{point:?}");
    }
}

#[test]
fn a_run_longer_than_the_window_is_exact() {
    compare(1, 400_000, 20_000);
}

#[test]
fn short_runs_are_exact() {
    for seed in 1..40 {
        compare(seed * 7919, 1_000, seed % 3 * 100);
    }
}
