//! A sender whose port has room for a few messages.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::io::ErrorKind;
use std::os::unix::net::UnixDatagram;

use super::*;

/// End of a pair of sockets: the kernel keeps a few messages for the other end, and then has no room.
struct Pair(UnixDatagram);

impl Outgoing for Pair {
    fn open(&self) -> Result<Opened, LinkError> {
        Ok(Opened {
            socket: self.0.try_clone().unwrap().into(),
            interface: None,
        })
    }
}

fn sender(without_room: WithoutRoom) -> (Box<dyn Sender>, UnixDatagram) {
    let (here, there) = UnixDatagram::pair().unwrap();
    there.set_nonblocking(true).unwrap();
    let options = LinkOptions {
        batch: 4,
        without_room,
        ..LinkOptions::default()
    };
    (open_sender(Pair(here), &options, 8, b"").unwrap(), there)
}

fn queue(sender: &mut dyn Sender, number: u64) -> Result<(), LinkError> {
    let mut message = sender.reserve(8)?;
    message.copy_from_slice(&number.to_le_bytes());
    message.commit()
}

fn received(there: &UnixDatagram) -> Vec<u64> {
    let mut numbers = Vec::new();
    loop {
        let mut bytes = [0; 8];
        match there.recv(&mut bytes) {
            Ok(_) => numbers.push(u64::from_le_bytes(bytes)),
            Err(error) if error.kind() == ErrorKind::WouldBlock => return numbers,
            Err(error) => panic!("{error}"),
        }
    }
}

/// Number of messages for which the kernel does not have room (net.unix.max_dgram_qlen, SO_SNDBUF).
const CYCLES: u64 = 10_000;

#[test]
fn a_message_without_room_does_not_wait_for_the_next_one() {
    let (mut sender, there) = sender(WithoutRoom::Discard);
    let mut failed = 0;
    for number in 0..CYCLES {
        queue(sender.as_mut(), number).unwrap();
        match sender.flush() {
            Ok(count) => assert_eq!(count, 1),
            Err(LinkError::Full) => failed += 1,
            Err(error) => panic!("{error}"),
        }
    }
    let counters = sender.counters();
    assert!(counters.overflowed > 0, "the kernel had room for all");
    assert_eq!((counters.overflowed, counters.discarded), (failed, 0));
    assert_eq!(counters.messages + failed, CYCLES);
    let first = received(&there);
    assert_eq!(first, (0..counters.messages).collect::<Vec<_>>());
    // Now there is room, and the newest message comes first.
    queue(sender.as_mut(), CYCLES).unwrap();
    assert_eq!(sender.flush().unwrap(), 1);
    assert_eq!(received(&there), [CYCLES]);
}

/// Sends groups of four messages in each of many intervals through a port with room for fewer, and returns how often
/// each message of the group has come.
fn come_of_four(without_room: WithoutRoom) -> [u64; 4] {
    let (mut sender, there) = sender(without_room);
    // The port is full before the first interval.
    loop {
        queue(sender.as_mut(), 9).unwrap();
        if sender.flush().is_err() {
            break;
        }
    }
    let mut come = [0; 4];
    let mut bytes = [0; 8];
    for _ in 0..CYCLES / 10 {
        // Room for three messages.
        for _ in 0..3 {
            if there.recv(&mut bytes).is_ok()
                && let Some(count) = come.get_mut(u64::from_le_bytes(bytes) as usize)
            {
                *count += 1;
            }
        }
        for number in 0..4 {
            let _ = queue(sender.as_mut(), number);
        }
        let _ = sender.flush();
    }
    come
}

#[test]
fn each_message_of_a_group_leaves_through_a_port_with_room_for_a_part_of_it() {
    let come = come_of_four(WithoutRoom::DiscardAlone);
    assert!(come.iter().all(|count| *count > 0), "{come:?}");
}

fn small_sender(options: &LinkOptions, size: usize) -> (Box<dyn Sender>, UnixDatagram) {
    let (here, there) = UnixDatagram::pair().unwrap();
    there.set_nonblocking(true).unwrap();
    (open_sender(Pair(here), options, size, b"").unwrap(), there)
}

fn queue_long(sender: &mut dyn Sender, number: u64) -> Result<(), LinkError> {
    let mut message = sender.reserve(1_400)?;
    message[..8].copy_from_slice(&number.to_le_bytes());
    message.commit()
}

fn received_long(there: &UnixDatagram, most: usize) -> Vec<u64> {
    let mut bytes = [0; 1_400];
    let numbers = (0..most).map_while(|_| {
        there.recv(&mut bytes).ok()?;
        Some(u64::from_le_bytes(*bytes.first_chunk()?))
    });
    numbers.collect()
}

/// Each interval has a message in three chunks, and the port passes two of them on.
#[test]
fn messages_that_belong_together_leave_together_or_not_at_all() {
    let options = LinkOptions {
        batch: 3,
        without_room: WithoutRoom::Discard,
        send_room: Some(2),
        ..LinkOptions::default()
    };
    let (mut sender, there) = small_sender(&options, 1_400);
    let (mut come, mut refused) = (Vec::new(), 0);
    for interval in 0..50 {
        for chunk in 0..3 {
            queue_long(sender.as_mut(), interval * 3 + chunk).unwrap();
        }
        match sender.flush() {
            Ok(count) => assert_eq!(count, 3),
            Err(LinkError::Full) => refused += 3,
            Err(error) => panic!("{error}"),
        }
        come.extend(received_long(&there, 2));
    }
    come.extend(received_long(&there, 50));
    let counters = sender.counters();
    assert_eq!((counters.overflowed, counters.discarded), (refused, 0));
    assert_eq!(counters.messages, come.len() as u64);
    assert!(refused > 0 && come.len() >= 90, "{refused} {}", come.len());
    for chunks in come.chunks(3) {
        let first = chunks[0];
        assert_eq!((first % 3, chunks), (0, &[first, first + 1, first + 2][..]));
    }
}

/// The buffer has room for the longest message at least, however small it was.
#[test]
fn a_long_message_has_room_where_a_short_one_had() {
    for send_room in [None, Some(1)] {
        let options = LinkOptions {
            without_room: WithoutRoom::Discard,
            send_room,
            ..LinkOptions::default()
        };
        let (mut sender, there) = small_sender(&options, 1_400);
        queue_long(sender.as_mut(), 0).unwrap();
        assert_eq!(sender.flush().unwrap(), 1);
        assert_eq!(received_long(&there, 9), [0]);
        for number in 1..=8 {
            queue_long(sender.as_mut(), number).unwrap();
        }
        assert_eq!(sender.flush().unwrap(), 8, "{send_room:?}");
        assert_eq!(received_long(&there, 9), [1, 2, 3, 4, 5, 6, 7, 8]);
    }
}

/// No size of the buffer helps against a queue that is too short (net.unix.max_dgram_qlen).
#[test]
fn messages_that_never_have_room_together_are_named() {
    let options = LinkOptions {
        without_room: WithoutRoom::Discard,
        socket_buffer: Some(5_000),
        ..LinkOptions::default()
    };
    let (mut sender, there) = small_sender(&options, 1_400);
    sender.reserve_flush(600).unwrap();
    for _ in 0..2 {
        for number in 0..600 {
            queue_long(sender.as_mut(), number).unwrap();
        }
        let error = sender.flush().unwrap_err();
        let LinkError::Incomplete {
            taken, messages, ..
        } = error
        else {
            panic!("{error}");
        };
        assert_eq!(messages, 600, "{error}");
        assert_eq!(taken, received_long(&there, 600).len(), "{error}");
        assert!(taken < 600, "{error}");
    }
    let counters = sender.counters();
    assert_eq!(counters.messages + counters.overflowed, 1_200);
}

#[test]
fn room_for_no_flush_is_refused() {
    let options = LinkOptions {
        send_room: Some(0),
        ..LinkOptions::default()
    };
    let (here, _there) = UnixDatagram::pair().unwrap();
    let refused = open_sender(Pair(here), &options, 8, b"").err().unwrap();
    assert!(refused.to_string().contains("send_room"), "{refused}");
}

#[test]
fn a_message_alone_does_not_wait_for_the_next_one() {
    let (mut sender, there) = sender(WithoutRoom::DiscardAlone);
    let mut number = 0;
    let full = loop {
        queue(sender.as_mut(), number).unwrap();
        if let Err(error) = sender.flush() {
            break error;
        }
        number += 1;
        assert!(number < CYCLES);
    };
    assert!(matches!(full, LinkError::Full), "{full}");
    assert_eq!(sender.counters().overflowed, 1);
    assert_eq!(received(&there).len() as u64, number);
    queue(sender.as_mut(), 77).unwrap();
    assert_eq!(sender.flush().unwrap(), 1);
    assert_eq!(received(&there), [77]);
}

/// Room for more messages is made before the first one: a real-time thread must not allocate.
#[test]
fn messages_that_belong_together_allocate_nothing_and_are_refused_above_a_batch() {
    takt_malloc::alone(|| {
        let (mut sender, there) = sender(WithoutRoom::Discard);
        let mut refused = 0;
        let mut long_flush = |sender: &mut dyn Sender, messages| {
            for number in 0..messages {
                refused += u64::from(queue(sender, number).is_err());
            }
            sender.flush().unwrap()
        };
        let (sent, allocations) = takt_malloc::count(|| long_flush(sender.as_mut(), 7));
        assert_eq!((sent, allocations), (0, 0));
        // The first four were discarded with the fifth, and the others refused.
        assert_eq!(sender.counters().overflowed, 4);
        assert_eq!(long_flush(sender.as_mut(), 4), 4);
        assert_eq!(received(&there), [0, 1, 2, 3]);
        sender.reserve_flush(7).unwrap();
        sender.reserve_flush(2).unwrap();
        let (sent, allocations) = takt_malloc::count(|| long_flush(sender.as_mut(), 7));
        assert_eq!((sent, allocations), (7, 0));
        assert_eq!(received(&there), (0..7).collect::<Vec<_>>());
        assert_eq!((refused, sender.counters().messages), (3, 11));
        let error = sender.reserve_flush(1_025).unwrap_err();
        assert!(matches!(error, LinkError::TooMany { maximum: 1_024 }));
    });
}

#[test]
fn messages_that_are_kept_leave_later_and_all_of_them_are_reported() {
    let (mut sender, there) = sender(WithoutRoom::Keep);
    let (mut reported, mut queued) = (0, 0);
    loop {
        match queue(sender.as_mut(), queued) {
            Ok(()) => queued += 1,
            Err(LinkError::Full) => break,
            Err(error) => panic!("{error}"),
        }
        // A flush after each fifth message: some full batches are sent by `reserve`.
        if queued % 5 == 0 {
            reported += sender.flush().unwrap();
        }
    }
    let mut all = received(&there);
    while all.len() < usize::try_from(queued).unwrap() {
        reported += sender.flush().unwrap();
        all.extend(received(&there));
    }
    assert_eq!(all, (0..queued).collect::<Vec<_>>());
    assert_eq!(reported as u64, queued);
    assert_eq!(sender.counters().messages, queued);
}
