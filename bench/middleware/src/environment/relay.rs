//! Relay between two interfaces: a process that passes Ethernet frames on, and delays, loses and reorders some of them.
//!
//! The relay replaces netem on kernels without it. Equal seeds give equal draws.

use std::collections::VecDeque;
use std::io::Read;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, mpsc};
use std::time::{Duration, Instant};

use clap::Args;
use serde::{Deserialize, Serialize};
use takt_link::{FrameListener, FrameSender, HeardFrame, LinkError};
use takt_rt::timer_slack;

use super::checksum;
use super::link_setting::{Impairment, LinkSetting};
use super::way::LIMIT;
use crate::own::OwnPeerError;
use crate::random::Random;

/// Longest wait for a frame before a thread looks whether it shall end.
const STEP: Duration = Duration::from_millis(20);
/// Protocol of an 802.1Q tag.
const TAG_PROTOCOL: [u8; 2] = [0x81, 0x00];
/// Bytes of both addresses of a frame, which a tag follows.
const ADDRESSES: usize = 12;

/// Arguments of the relay.
#[derive(Debug, Clone, Args)]
pub struct RelaySetting {
    /// Interface at the first side.
    first: String,
    /// Interface at the second side.
    second: String,
    /// Link whose impairment the frames get.
    #[arg(long)]
    link: LinkSetting,
    /// Seed of the draws.
    #[arg(long)]
    seed: u64,
}

/// Numbers of frames, of both directions.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct RelayCounts {
    /// Frames that were passed on.
    pub(crate) passed: u64,
    /// Frames that were lost as the setting demands.
    pub(crate) lost: u64,
    /// Frames that passed without the delay.
    pub(crate) reordered: u64,
    /// Frames for which there was no room.
    pub(crate) refused: u64,
}

impl RelayCounts {
    fn add(&mut self, other: Self) {
        self.passed += other.passed;
        self.lost += other.lost;
        self.reordered += other.reordered;
        self.refused += other.refused;
    }
}

/// Passes frames on in both directions until the standard input ends. Prints `ready`, and at the end the numbers of frames as JSON.
///
/// # Errors
/// [`OwnPeerError`]: an interface cannot be used.
pub fn relay(setting: &RelaySetting) -> Result<(), OwnPeerError> {
    let stop = Arc::new(AtomicBool::new(false));
    let ways = [
        (&setting.first, &setting.second),
        (&setting.second, &setting.first),
    ];
    let (opened, are_open) = mpsc::channel();
    let mut threads = Vec::new();
    for ((from, to), seed) in ways.into_iter().zip(setting.seed..) {
        let line = DelayLine::new(setting.link.impairment, seed);
        let (from, to) = (from.clone(), to.clone());
        let (opened, stop) = (opened.clone(), Arc::clone(&stop));
        threads.push(std::thread::spawn(move || {
            pass_on([&from, &to], line, &opened, &stop).unwrap_or_else(|error| {
                // The thread that reads the input cannot be woken.
                let error = OwnPeerError::failed(error);
                eprintln!("{from} to {to}: {error}");
                std::process::exit(error.exit_status());
            })
        }));
    }
    are_open.iter().take(threads.len()).for_each(drop);
    println!("ready");
    let _ = std::io::stdin().read_to_end(&mut Vec::new());
    stop.store(true, Ordering::Release);
    let mut counts = RelayCounts::default();
    for thread in threads {
        let ended = thread.join();
        counts.add(ended.map_err(|_| OwnPeerError::Failed("a thread has panicked".to_owned()))?);
    }
    println!(
        "{}",
        serde_json::to_string(&counts).map_err(OwnPeerError::failed)?
    );
    Ok(())
}

/// Passes the frames of one direction on until the flag is set.
fn pass_on(
    [from, to]: [&str; 2],
    mut line: DelayLine,
    opened: &mpsc::Sender<()>,
    stop: &AtomicBool,
) -> Result<RelayCounts, LinkError> {
    let mut listener = FrameListener::open_received(from)?;
    let mut sender = FrameSender::open(to, 0)?;
    // A sandbox may forbid it: frames are up to 50 µs later then, which the floor of the relay shows.
    let _ = timer_slack::minimize();
    let _ = opened.send(());
    while !stop.load(Ordering::Acquire) {
        let mut outcome = Ok(());
        let wait = line.wait(Instant::now()).unwrap_or(STEP).min(STEP);
        listener.listen(wait, &mut |heard| {
            let frame = line.take(Instant::now(), whole(&heard));
            if let Some(frame) = frame
                && outcome.is_ok()
            {
                outcome = pass(&mut sender, &frame, &mut line.counts);
            }
        })?;
        outcome?;
        while let Some(frame) = line.due(Instant::now()) {
            pass(&mut sender, &frame, &mut line.counts)?;
        }
    }
    line.counts.refused += listener.lost();
    Ok(line.counts)
}

fn pass(sender: &mut FrameSender, frame: &[u8], counts: &mut RelayCounts) -> Result<(), LinkError> {
    match sender.send(frame, 1)? {
        0 => counts.refused += 1,
        _ => counts.passed += 1,
    }
    Ok(())
}

/// Returns the frame as it is on a wire: with its tag, and with its checksum.
fn whole(heard: &HeardFrame<'_>) -> Vec<u8> {
    let mut frame = heard.bytes.to_vec();
    checksum::finish(&mut frame);
    if let Some(tag) = heard.tag
        && frame.len() >= ADDRESSES
    {
        let [high, low] = (u16::from(tag.priority) << 13 | tag.id).to_be_bytes();
        let [first, second] = TAG_PROTOCOL;
        frame.splice(ADDRESSES..ADDRESSES, [first, second, high, low]);
    }
    frame
}

/// Frames of one direction that wait for the end of their delay.
#[derive(Debug)]
struct DelayLine {
    impairment: Impairment,
    random: Random,
    waiting: VecDeque<(Instant, Vec<u8>)>,
    counts: RelayCounts,
}

impl DelayLine {
    fn new(impairment: Impairment, seed: u64) -> Self {
        Self {
            impairment,
            random: Random::new(seed),
            waiting: VecDeque::new(),
            counts: RelayCounts::default(),
        }
    }

    /// Takes a frame that has arrived. Returns it if it passes at once.
    fn take(&mut self, now: Instant, frame: Vec<u8>) -> Option<Vec<u8>> {
        let Impairment {
            delay,
            loss,
            reorder,
        } = self.impairment;
        if self.draw(loss) {
            self.counts.lost += 1;
            return None;
        }
        if delay.is_zero() {
            return Some(frame);
        }
        if self.draw(reorder) {
            self.counts.reordered += 1;
            return Some(frame);
        }
        match self.waiting.len() < LIMIT {
            true => self.waiting.push_back((now + delay, frame)),
            false => self.counts.refused += 1,
        }
        None
    }

    /// Returns true with a probability in percent.
    fn draw(&mut self, percent: f64) -> bool {
        percent > 0.0 && self.random.next() as f64 / u64::MAX as f64 * 100.0 < percent
    }

    /// Returns the time until the next frame is due.
    fn wait(&self, now: Instant) -> Option<Duration> {
        let (due, _) = self.waiting.front()?;
        Some(due.saturating_duration_since(now))
    }

    /// Returns a frame that is due.
    fn due(&mut self, now: Instant) -> Option<Vec<u8>> {
        let (due, _) = self.waiting.front()?;
        if *due > now {
            return None;
        }
        self.waiting.pop_front().map(|(_, frame)| frame)
    }
}

#[cfg(test)]
mod tests {
    use takt_link::VlanTag;

    use super::*;

    fn line(delay: u64, loss: f64, reorder: f64) -> DelayLine {
        let delay = Duration::from_millis(delay);
        DelayLine::new(
            Impairment {
                delay,
                loss,
                reorder,
            },
            7,
        )
    }

    #[test]
    fn frames_pass_at_once_without_impairment() {
        let mut line = line(0, 0.0, 0.0);
        let now = Instant::now();
        assert_eq!(line.take(now, vec![1]), Some(vec![1]));
        assert_eq!((line.wait(now), line.due(now)), (None, None));
    }

    #[test]
    fn frames_keep_their_order_and_wait_for_their_delay() {
        let mut line = line(2, 0.0, 0.0);
        let begin = Instant::now();
        let after = |millis| begin + Duration::from_millis(millis);
        assert_eq!(line.take(begin, vec![1]), None);
        assert_eq!(line.take(after(1), vec![2]), None);
        assert_eq!(line.wait(after(1)), Some(Duration::from_millis(1)));
        assert_eq!(line.due(after(1)), None);
        assert_eq!(line.due(after(2)), Some(vec![1]));
        assert_eq!(line.due(after(2)), None);
        assert_eq!(line.due(after(3)), Some(vec![2]));
    }

    #[test]
    fn loss_and_reordering_have_their_parts_and_a_seed_repeats_them() {
        let run = || {
            let mut line = line(2, 10.0, 20.0);
            let now = Instant::now();
            let passed = (0..10_000_u32).map(|_| line.take(now, vec![0]).is_some());
            (passed.collect::<Vec<_>>(), line.counts, line.waiting.len())
        };
        let (passed, counts, waiting) = run();
        assert!((900..1100).contains(&counts.lost), "{counts:?}");
        assert!((1700..1900).contains(&counts.reordered), "{counts:?}");
        assert_eq!(counts.lost + counts.reordered + waiting as u64, 10_000);
        assert_eq!(run().0, passed);
    }

    #[test]
    fn a_full_line_refuses_frames() {
        let mut line = line(1000, 0.0, 0.0);
        let now = Instant::now();
        for _ in 0..LIMIT + 3 {
            line.take(now, Vec::new());
        }
        assert_eq!(line.counts.refused, 3);
    }

    #[test]
    fn a_tag_is_put_back() {
        let heard = HeardFrame {
            bytes: &[7; 20],
            length: 20,
            tag: Some(VlanTag { id: 5, priority: 6 }),
            time: None,
        };
        let frame = whole(&heard);
        assert_eq!(frame.len(), 24);
        assert_eq!(frame[12..16], [0x81, 0, 0xC0, 5]);
    }
}
