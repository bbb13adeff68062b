//! Conformance suite of all links.
#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::unwrap_used,
    dead_code,
    unreachable_pub,
    reason = "a test fails by panicking, and not every test program uses everything"
)]

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use takt_link::{
    LaunchDrops, LaunchTime, LinkError, LinkOptions, LinkState, ReceiveClock, Received, Receiver,
    Sender,
};

/// Longest wait, which is enough for any machine.
pub const PATIENCE: Duration = Duration::from_secs(10);

/// Both ends of a link.
pub type Pair = (Box<dyn Sender>, Box<dyn Receiver>);

/// Function that opens a link anew.
pub type Open<'a> = &'a dyn Fn(&LinkOptions) -> Pair;

/// Runs the whole suite.
pub fn conforms(open: Open<'_>) {
    messages_arrive_in_order_and_unchanged(open);
    a_full_batch_is_flushed(open);
    the_largest_message_arrives_and_a_larger_one_is_refused(open);
    uncommitted_messages_are_not_sent(open);
    waiting_ends(open);
}

/// Returns a message that contains its number.
pub fn message(number: usize, length: usize) -> Vec<u8> {
    let mut bytes: Vec<u8> = (0..length).map(|i| (i * 7 + number) as u8).collect();
    let number = (number as u32).to_le_bytes();
    bytes
        .iter_mut()
        .zip(number)
        .for_each(|(to, from)| *to = from);
    bytes
}

/// Queues a message.
pub fn queue(sender: &mut dyn Sender, message: &[u8]) {
    let mut reservation = sender.reserve(message.len()).unwrap();
    reservation.copy_from_slice(message);
    reservation.commit().unwrap();
}

/// Receives this number of messages, and those that come with the last of them.
pub fn receive(receiver: &mut dyn Receiver, count: usize) -> Vec<Vec<u8>> {
    let mut messages = Vec::new();
    let end = Instant::now() + PATIENCE;
    while messages.len() < count {
        assert!(Instant::now() < end, "{} of {count} came", messages.len());
        let left = Duration::from_millis(100);
        let result = receiver.receive(left, &mut |received| {
            // The bytes may be changed, as decryption does.
            received.bytes.iter_mut().for_each(|byte| *byte ^= 0xFF);
            messages.push(received.bytes.iter().map(|byte| byte ^ 0xFF).collect());
            assert_eq!(received.time, None, "times were not asked for");
        });
        match result {
            Ok(_) | Err(LinkError::Down(_)) => {}
            Err(error) => panic!("{error}"),
        }
    }
    messages
}

/// Waits until the link is up at both ends.
pub fn wait_until_up(pair: &mut Pair) {
    let end = Instant::now() + PATIENCE;
    while !(pair.0.state().is_up() && pair.1.state().is_up()) {
        let states = (pair.0.state(), pair.1.state());
        assert!(Instant::now() < end, "{states:?}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Sends messages with and without a launch time through a link whose launch times are enabled or ignored; they arrive.
pub fn messages_with_a_launch_time_arrive((mut sender, mut receiver): Pair) {
    let expected: Vec<Vec<u8>> = (0..6).map(|number| message(number, 50)).collect();
    for (number, message) in expected.iter().enumerate() {
        let mut reservation = sender.reserve(message.len()).unwrap();
        reservation.copy_from_slice(message);
        let soon = LaunchTime::from_tai_nanos(number as i64 + 1);
        let launch_time = (number % 3 != 0).then_some(soon);
        reservation.commit_at(launch_time).unwrap();
        if number == 1 {
            sender.flush().unwrap();
        }
    }
    sender.flush().unwrap();
    assert_eq!(receive(&mut *receiver, 6), expected);
    assert_eq!(sender.counters().discarded, 0);
    assert_eq!(sender.launch_drops(), LaunchDrops::default());
}

/// Sends messages through a queueing discipline that passes one on, holds one, and takes no more. The others are
/// counted.
pub fn refused_messages_are_counted(sender: &mut dyn Sender) {
    let counts = |sender: &mut dyn Sender| {
        let drops = sender.launch_drops();
        let others = (drops.invalid, drops.missed);
        assert_eq!(others, (0, 0), "nothing was reported");
        let counters = sender.counters();
        (counters.messages, counters.discarded, drops.refused)
    };
    for number in 0..8 {
        let mut reservation = sender.reserve(1000).unwrap();
        reservation.copy_from_slice(&message(number, 1000));
        let launch_time = (number != 7).then_some(LaunchTime::from_tai_nanos(number as i64 + 1));
        reservation.commit_at(launch_time).unwrap();
    }
    assert_eq!(sender.flush().unwrap(), 2);
    assert_eq!(counts(sender), (2, 6, 6));
    assert_eq!(
        sender.launch_drops().last,
        Some(LaunchTime::from_tai_nanos(0))
    );
    // The link is up, and tries the next message.
    assert!(sender.state().is_up());
    assert_eq!(sender.flush().unwrap(), 0);
    sender.send(&message(8, 1000)).unwrap();
    assert_eq!(counts(sender), (2, 7, 7));
}

/// Sends messages to a receiver with times of reception; a time lies between sending and receiving. Interfaces without
/// a clock of their own have the time of the kernel, whichever clock was asked for.
pub fn messages_have_the_time_of_their_reception((mut sender, mut receiver): Pair) {
    let now = || SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    let end = Instant::now() + PATIENCE;
    let (before, time) = loop {
        let before = now().as_nanos();
        sender.send(b"data").unwrap();
        let mut time = None;
        let each = &mut |received: Received<'_>| time = received.time;
        assert_eq!(receiver.receive(PATIENCE, each).unwrap(), 1);
        // The kernel switches SO_TIMESTAMPING on a moment after the call.
        if let Some(time) = time {
            break (before, time);
        }
        assert!(Instant::now() < end, "no message has a time");
    };
    let after = now().as_nanos();
    assert_eq!(time.clock(), ReceiveClock::Software);
    let time = time.nanos() as u128;
    assert!((before..=after).contains(&time), "{before} {time} {after}");
}

fn opened(open: Open<'_>, options: &LinkOptions) -> Pair {
    let mut pair = open(options);
    wait_until_up(&mut pair);
    pair
}

pub fn messages_arrive_in_order_and_unchanged(open: Open<'_>) {
    const COUNT: usize = 2000;
    const BATCH: usize = 20;
    let (mut sender, mut receiver) = opened(open, &LinkOptions::default());
    let longest = sender.max_message_size().min(1400);
    let length = |number: usize| 4 + number * 13 % (longest - 3);
    let mut bytes = 0;
    for first in (0..COUNT).step_by(BATCH) {
        let expected: Vec<Vec<u8>> = (first..first + BATCH)
            .map(|number| message(number, length(number)))
            .collect();
        for message in &expected {
            bytes += message.len() as u64;
            queue(&mut *sender, message);
        }
        sender.flush().unwrap();
        assert_eq!(receive(&mut *receiver, BATCH), expected);
    }
    let counters = (sender.counters(), receiver.counters());
    assert_eq!(
        (counters.0.messages, counters.0.bytes),
        (COUNT as u64, bytes)
    );
    assert_eq!(counters.0, counters.1);
    assert_eq!((counters.0.discarded, counters.0.overflowed), (0, 0));
}

pub fn a_full_batch_is_flushed(open: Open<'_>) {
    let options = LinkOptions {
        batch: 4,
        ..LinkOptions::default()
    };
    let (mut sender, mut receiver) = opened(open, &options);
    let expected: Vec<Vec<u8>> = (0..9).map(|number| message(number, 50)).collect();
    for message in &expected {
        queue(&mut *sender, message);
    }
    // Two batches have been sent; shared memory has no batches, and so all of them may have been.
    let mut received = receive(&mut *receiver, 8);
    sender.flush().unwrap();
    if received.len() == 8 {
        received.extend(receive(&mut *receiver, 1));
    }
    assert_eq!(received, expected);
    assert_eq!(sender.flush().unwrap(), 0);
}

pub fn the_largest_message_arrives_and_a_larger_one_is_refused(open: Open<'_>) {
    let (mut sender, mut receiver) = opened(open, &LinkOptions::default());
    let maximum = sender.max_message_size();
    let largest = message(1, maximum);
    sender.send(&largest).unwrap();
    assert_eq!(receive(&mut *receiver, 1), [largest]);
    for length in [maximum + 1, usize::MAX] {
        let Err(LinkError::TooLarge {
            length: told,
            maximum: limit,
        }) = sender.reserve(length)
        else {
            panic!("{length} bytes were accepted");
        };
        assert_eq!((told, limit), (length, maximum));
    }
    // The link still works.
    let small = message(2, 4);
    sender.send(&small).unwrap();
    assert_eq!(receive(&mut *receiver, 1), [small]);
    drop((sender, receiver));
    let options = LinkOptions {
        max_message_size: Some(100),
        ..LinkOptions::default()
    };
    let (mut sender, mut receiver) = opened(open, &options);
    assert_eq!(
        (sender.max_message_size(), receiver.max_message_size()),
        (100, 100)
    );
    sender.send(&message(3, 100)).unwrap();
    assert_eq!(receive(&mut *receiver, 1), [message(3, 100)]);
}

pub fn uncommitted_messages_are_not_sent(open: Open<'_>) {
    let (mut sender, mut receiver) = opened(open, &LinkOptions::default());
    sender.reserve(10).unwrap().fill(1);
    let mut message = sender.reserve(20).unwrap();
    message.fill(2);
    message.commit().unwrap();
    sender.reserve(30).unwrap().fill(3);
    sender.flush().unwrap();
    assert_eq!(receive(&mut *receiver, 1), [[2; 20]]);
    let more = receiver.receive(Duration::from_millis(20), &mut |_| {});
    assert_eq!(more.unwrap(), 0);
}

pub fn waiting_ends(open: Open<'_>) {
    let (mut sender, mut receiver) = opened(open, &LinkOptions::default());
    let timeout = Duration::from_millis(50);
    let begin = Instant::now();
    assert_eq!(receiver.receive(timeout, &mut |_| {}).unwrap(), 0);
    assert!(begin.elapsed() >= timeout, "{:?}", begin.elapsed());
    let begin = Instant::now();
    assert_eq!(receiver.receive(Duration::ZERO, &mut |_| {}).unwrap(), 0);
    assert!(begin.elapsed() < PATIENCE, "{:?}", begin.elapsed());
    // A message ends the waiting.
    sender.send(b"data").unwrap();
    assert_eq!(receiver.receive(PATIENCE, &mut |_| {}).unwrap(), 1);
    assert_eq!(
        (sender.state(), receiver.state()),
        (LinkState::Up, LinkState::Up)
    );
}
