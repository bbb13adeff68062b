//! Models of the protocol that `loom` runs under every order of steps, and every outcome of relaxed loads, that the memory model
//! allows (up to a bound on preemptions). They show: messages arrive whole and in order while their slots are used again, and a
//! side that sleeps has been rung, or had no reason to wake up.
//!
//! The protocol is generic over its memory, so that these are ordinary tests: `cargo test -p takt-shm loom`. Without any one of
//! its fences but that of the backlog (which `sleep_of` repeats), or with `sent` stored relaxed, one of them fails.

use std::sync::atomic::Ordering;

use loom::sync::Arc;
use loom::sync::atomic::{AtomicU64, fence};
use loom::thread::{self, JoinHandle};

use crate::channel::layout::{Place, QUEUE, RINGS};
use crate::channel::protocol::*;

/// Word of a server's state that is set while it sleeps.
const SLEEPS: usize = 0;
/// Connection of a server.
const FIRST: usize = 3;
const SECOND: usize = 5;

/// Memory of the model checker.
struct Words(Vec<AtomicU64>);

impl Words {
    fn new(count: usize) -> Self {
        Self((0..count).map(|_| AtomicU64::new(0)).collect())
    }
}

impl Load for Words {
    fn load(&self, index: usize, ordering: Ordering) -> u64 {
        self.0[index].load(ordering)
    }

    fn fence(&self) {
        fence(Ordering::SeqCst);
    }
}

impl Store for Words {
    fn store(&self, index: usize, value: u64, ordering: Ordering) {
        self.0[index].store(value, ordering);
    }
}

impl Bits for Words {
    fn set(&self, index: usize, bits: u64) {
        self.0[index].fetch_or(bits, Ordering::SeqCst);
    }

    fn clear(&self, index: usize, bits: u64) {
        self.0[index].fetch_and(!bits, Ordering::SeqCst);
    }
}

/// Memory that a client and a server share.
struct Memory {
    /// Words of the outboxes.
    client: Words,
    server: Words,
    /// Two words for each slot of the client's outbox.
    slots: Words,
    map: Words,
    state: Words,
}

impl Memory {
    fn new() -> Arc<Self> {
        Arc::new(Self {
            client: Words::new(RINGS + 1),
            server: Words::new(RINGS + 1),
            slots: Words::new(2 * QUEUE),
            map: Words::new(1),
            state: Words::new(1),
        })
    }

    /// Sends a message from the client that contains its number twice, if there is a place; returns true if there was one.
    fn send(&self, sender: &mut Sender, number: u64) -> bool {
        sender.free_taken(
            self.server
                .load(crate::channel::layout::TAKEN, Ordering::Acquire),
        );
        let Some(slot) = sender.free_slot().filter(|_| sender.has_room()) else {
            return false;
        };
        for word in 2 * slot..2 * slot + 2 {
            self.slots.store(word, number, Ordering::Relaxed);
        }
        sender.publish(&self.client, Place::Slot(slot));
        true
    }

    /// Takes a message in the server, which has to be the next one, and whole.
    fn take(&self, receiver: &mut Receiver, answers: &mut Sender) -> bool {
        let Some(place) = receiver.next(&self.client).unwrap() else {
            return false;
        };
        let Place::Slot(slot) = place else {
            panic!("no such message was sent");
        };
        for word in 2 * slot..2 * slot + 2 {
            let number = self.slots.load(word, Ordering::Relaxed);
            assert_eq!(number, receiver.received(), "torn, or another message");
        }
        answers.acknowledge_with_next(receiver.received());
        answers.acknowledge_now(&self.server);
        true
    }

    /// Sends the only request of the client, and returns true if it rang.
    fn request(memory: &Arc<Self>, connection: usize) -> JoinHandle<bool> {
        let memory = Arc::clone(memory);
        thread::spawn(move || {
            let mut sender = Sender::new(1);
            assert!(memory.send(&mut sender, 1));
            call(&memory.map, &memory.state, SLEEPS, connection)
        })
    }

    fn is_marked(&self, connection: usize) -> bool {
        let (word, bit) = mark_of(connection);
        self.map.load(word, Ordering::Relaxed) & bit != 0
    }

    /// Looks at a connection in the server if it is marked.
    fn look(&self, connection: usize) -> bool {
        self.is_marked(connection) && Receiver::default().is_ready(&self.client)
    }
}

fn model(test: impl Fn() + Send + Sync + 'static) {
    let mut builder = loom::model::Builder::new();
    if builder.preemption_bound.is_none() {
        builder.preemption_bound = Some(4);
    }
    builder.check(test);
}

/// Sends more messages than slots, one of which is used again while the other side still looks at it, unless it waits for it.
fn messages(slots: u8, count: u64) {
    model(move || {
        let memory = Memory::new();
        let other = Arc::clone(&memory);
        let sending = thread::spawn(move || {
            let mut sender = Sender::new(slots);
            let mut number = 0;
            // Each message is tried twice; the server may be arbitrarily slow.
            for _ in 0..2 * count {
                if number < count && other.send(&mut sender, number + 1) {
                    number += 1;
                }
            }
            number
        });
        let (mut receiver, mut answers) = (Receiver::default(), Sender::new(0));
        for _ in 0..count {
            memory.take(&mut receiver, &mut answers);
        }
        let sent = sending.join().unwrap();
        while memory.take(&mut receiver, &mut answers) {}
        assert_eq!(receiver.received(), sent, "lost");
    });
}

#[test]
fn loom_messages_in_one_slot_arrive_whole() {
    messages(0b1, 2);
}

#[test]
fn loom_messages_in_two_slots_arrive_in_order() {
    messages(0b11, 3);
}

#[test]
fn loom_a_side_that_falls_asleep_sees_the_message_or_is_rung() {
    model(|| {
        let memory = Memory::new();
        let other = Arc::clone(&memory);
        let sending = thread::spawn(move || {
            assert!(other.send(&mut Sender::new(1), 1));
            sleep_of(&other.server) == Sleep::Mail
        });
        set_asleep(&memory.server, Sleep::Mail);
        let seen = Receiver::default().is_ready(&memory.client);
        let rung = sending.join().unwrap();
        assert!(seen || rung, "it sleeps for ever");
    });
}

/// A side sleeps on the rings only as long as their number is the one it read: the kernel compares it, and wakes the side if it
/// changes later.
#[test]
fn loom_a_side_that_sleeps_on_rings_sees_the_message_or_another_number() {
    model(|| {
        let memory = Memory::new();
        let other = Arc::clone(&memory);
        let sender = thread::spawn(move || {
            let mut sender = Sender::new(1);
            assert!(other.send(&mut sender, 1));
            if sleep_of(&other.server) == Sleep::Rings {
                count_ring(&other.client);
            }
        });
        set_asleep(&memory.server, Sleep::Rings);
        let seen = rings(&memory.client);
        let saw = Receiver::default().is_ready(&memory.client);
        sender.join().unwrap();
        assert!(saw || rings(&memory.client) != seen);
    });
}

/// The client finds its mark and leaves it, while the server takes it away.
#[test]
fn loom_a_request_while_its_mark_is_taken_away() {
    model(|| {
        let memory = Memory::new();
        memory.map.set(0, mark_of(FIRST).1);
        let requesting = Memory::request(&memory, FIRST);
        unmark(&memory.map, FIRST);
        let seen = Receiver::default().is_ready(&memory.client);
        requesting.join().unwrap();
        assert!(seen || memory.is_marked(FIRST), "the request is lost");
    });
}

/// The server sets that it sleeps, and looks once more.
#[test]
fn loom_a_request_while_the_server_falls_asleep() {
    model(|| {
        let memory = Memory::new();
        let requesting = Memory::request(&memory, FIRST);
        set_server_asleep(&memory.state, SLEEPS, true);
        let seen = memory.look(FIRST);
        let rung = requesting.join().unwrap();
        assert!(seen || rung, "the request is lost");
    });
}

/// A request while another client clears marks that are not its own: the server does not use them then.
#[test]
fn loom_a_request_whose_mark_is_cleared_by_another_client() {
    model(|| {
        let memory = Memory::new();
        let requesting = Memory::request(&memory, FIRST);
        let other = Arc::clone(&memory);
        let meddling = thread::spawn(move || unmark(&other.map, FIRST));
        set_server_asleep(&memory.state, SLEEPS, true);
        let seen = Receiver::default().is_ready(&memory.client);
        let rung = requesting.join().unwrap();
        meddling.join().unwrap();
        assert!(seen || rung, "the request is lost");
    });
}

/// Both, one after the other: the mark that was just cleared may have been the reason not to ring.
#[test]
fn loom_a_request_while_the_server_forgets_it_and_falls_asleep() {
    model(|| {
        let memory = Memory::new();
        memory.map.set(0, mark_of(FIRST).1);
        let requesting = Memory::request(&memory, FIRST);
        unmark(&memory.map, FIRST);
        let mut seen = Receiver::default().is_ready(&memory.client);
        set_server_asleep(&memory.state, SLEEPS, true);
        seen |= memory.look(FIRST);
        let rung = requesting.join().unwrap();
        assert!(seen || rung, "the request is lost");
    });
}

/// Two clients share a word of the map.
#[test]
fn loom_marks_of_others_stay() {
    model(|| {
        let memory = Memory::new();
        memory.map.set(0, mark_of(FIRST).1);
        let other = Arc::clone(&memory);
        let calling = thread::spawn(move || call(&other.map, &other.state, SLEEPS, SECOND));
        let requesting = Memory::request(&memory, FIRST);
        unmark(&memory.map, FIRST);
        let seen = Receiver::default().is_ready(&memory.client);
        calling.join().unwrap();
        requesting.join().unwrap();
        assert!(memory.is_marked(SECOND), "another's mark is lost");
        assert!(seen || memory.is_marked(FIRST), "the request is lost");
    });
}

/// A server has more responses than places, and a client takes one and falls asleep: the waiting response is sent, or a side that
/// sends it is woken.
#[test]
fn loom_a_response_that_waits_for_room_is_not_forgotten() {
    model(|| {
        let memory = Memory::new();
        // The only place of the server is taken.
        let mut responses = Sender::new(0b1);
        responses.publish(&memory.server, Place::Slot(0));
        set_server_asleep(&memory.state, SLEEPS, true);
        let other = Arc::clone(&memory);
        let client = thread::spawn(move || {
            let (mut receiver, mut requests) = (Receiver::default(), Sender::new(1));
            set_asleep(&other.client, Sleep::Mail);
            let _ = receiver.next(&other.server).unwrap();
            if !has_backlog(&other.server) {
                return false;
            }
            requests.acknowledge_with_next(receiver.received());
            requests.acknowledge_now(&other.client);
            let rang = call(&other.map, &other.state, SLEEPS, FIRST);
            assert!(rang, "the server sleeps");
            true
        });
        set_backlog(&memory.server, true);
        responses.free_taken(
            memory
                .client
                .load(crate::channel::layout::TAKEN, Ordering::Acquire),
        );
        let sent = responses.free_slot().is_some();
        let rang = !sent && sleep_of(&memory.client) == Sleep::Mail;
        let told = client.join().unwrap();
        assert!(sent || rang || told, "the response waits for ever");
        if told {
            responses.free_taken(
                memory
                    .client
                    .load(crate::channel::layout::TAKEN, Ordering::Acquire),
            );
            assert!(responses.free_slot().is_some(), "told, and no room");
        }
    });
}
