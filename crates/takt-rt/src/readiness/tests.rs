use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::time::Instant;

use super::*;

fn keys(events: &Events) -> Vec<u64> {
    let mut keys: Vec<u64> = events.iter().map(|e| e.key).collect();
    keys.sort_unstable();
    keys
}

#[test]
fn keys_carry_tag_and_id() {
    let key = tagged_key(0xAB, 42);
    assert_eq!((key_tag(key), key_id(key)), (0xAB, 42));
    assert_eq!(key_tag(tagged_key(1, u64::MAX)), 1);
}

#[test]
fn level_triggered_until_read() {
    let (mut ours, mut theirs) = UnixStream::pair().unwrap();
    let readiness = Readiness::new().unwrap();
    readiness.add(ours.as_fd(), 9, Interest::READ).unwrap();
    let mut events = Events::with_capacity(4);

    readiness.wait(&mut events, Some(Duration::ZERO)).unwrap();
    assert!(events.is_empty());

    theirs.write_all(b"ab").unwrap();
    for _ in 0..2 {
        readiness.wait(&mut events, None).unwrap();
        let event = events.iter().next().unwrap();
        assert_eq!(event.key, 9);
        assert!(event.is_readable() && !event.is_writable() && !event.is_read_closed());
        ours.read_exact(&mut [0]).unwrap();
    }
    readiness.wait(&mut events, Some(Duration::ZERO)).unwrap();
    assert_eq!(events.len(), 0);

    drop(theirs);
    readiness.wait(&mut events, None).unwrap();
    let event = events.iter().next().unwrap();
    assert!(event.is_readable() && event.is_hangup() && event.is_read_closed());
}

#[test]
fn modify_and_remove() {
    let (ours, _theirs) = UnixStream::pair().unwrap();
    let readiness = Readiness::new().unwrap();
    let mut events = Events::with_capacity(4);
    readiness.add(ours.as_fd(), 1, Interest::NONE).unwrap();
    let again = readiness.add(ours.as_fd(), 1, Interest::NONE).unwrap_err();
    assert_eq!(again.kind(), io::ErrorKind::AlreadyExists);
    readiness.wait(&mut events, Some(Duration::ZERO)).unwrap();
    assert!(events.is_empty());

    readiness
        .modify(ours.as_fd(), 2, Interest::READ | Interest::WRITE)
        .unwrap();
    readiness.wait(&mut events, None).unwrap();
    assert_eq!(keys(&events), [2]);
    assert!(events.iter().all(|e| e.is_writable() && !e.is_readable()));

    readiness.remove(ours.as_fd()).unwrap();
    readiness.wait(&mut events, Some(Duration::ZERO)).unwrap();
    assert!(events.is_empty());
    let gone = readiness.remove(ours.as_fd()).unwrap_err();
    assert_eq!(gone.kind(), io::ErrorKind::NotFound);
}

#[test]
fn closed_descriptors_leave_and_more_than_capacity_come_in_turn() {
    let readiness = Readiness::new().unwrap();
    let wakers: Vec<Waker> = (0..5).map(|_| Waker::new().unwrap()).collect();
    for (key, waker) in (0..).zip(&wakers) {
        readiness.add(waker.as_fd(), key, Interest::READ).unwrap();
        waker.wake();
    }
    let mut events = Events::with_capacity(2);
    let mut seen = Vec::new();
    for _ in 0..3 {
        readiness.wait(&mut events, None).unwrap();
        assert_eq!(events.len(), 2);
        seen.extend(keys(&events));
    }
    seen.sort_unstable();
    seen.dedup();
    assert_eq!(seen, [0, 1, 2, 3, 4]);

    drop(wakers);
    readiness.wait(&mut events, Some(Duration::ZERO)).unwrap();
    assert!(events.is_empty());
}

#[test]
fn waker_ends_a_wait_and_drains() {
    let readiness = Readiness::new().unwrap();
    let waker = Waker::new().unwrap();
    readiness.add(waker.as_fd(), 3, Interest::READ).unwrap();
    let mut events = Events::with_capacity(1);

    let remote = waker.clone();
    let thread = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(20));
        remote.wake();
        remote.wake();
    });
    readiness
        .wait(&mut events, Some(Duration::from_secs(10)))
        .unwrap();
    assert_eq!(keys(&events), [3]);
    thread.join().unwrap();
    waker.drain();
    waker.drain();
    readiness.wait(&mut events, Some(Duration::ZERO)).unwrap();
    assert!(events.is_empty());
}

#[test]
fn foreign_eventfd_is_made_non_blocking() {
    let blocking = rustix::event::eventfd(0, rustix::event::EventfdFlags::CLOEXEC).unwrap();
    let waker = Waker::from_eventfd(blocking).unwrap();
    waker.drain();
}

#[test]
fn timeouts_are_not_early_and_never_overflow() {
    let readiness = Readiness::new().unwrap();
    let mut events = Events::with_capacity(1);
    let timeout = Duration::from_micros(1500);
    let start = Instant::now();
    readiness.wait(&mut events, Some(timeout)).unwrap();
    assert!(start.elapsed() >= timeout);

    let waker = Waker::new().unwrap();
    readiness.add(waker.as_fd(), 1, Interest::READ).unwrap();
    waker.wake();
    readiness.wait(&mut events, Some(Duration::MAX)).unwrap();
    assert_eq!(events.len(), 1);
}

#[test]
fn sets_nest() {
    let (outer, inner) = (Readiness::new().unwrap(), Readiness::new().unwrap());
    let waker = Waker::new().unwrap();
    inner.add(waker.as_fd(), 1, Interest::READ).unwrap();
    outer.add(inner.as_fd(), 2, Interest::READ).unwrap();
    waker.wake();
    let mut events = Events::with_capacity(1);
    outer.wait(&mut events, None).unwrap();
    assert_eq!(keys(&events), [2]);
}
