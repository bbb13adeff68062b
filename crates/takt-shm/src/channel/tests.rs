//! Both ends of a channel in two threads, without a socket: the part that Miri can run.

use std::collections::HashMap;
use std::os::fd::OwnedFd;
use std::sync::{Arc, Mutex};

use crate::channel::inbox::Inbox;
use crate::channel::layout::SLOT;
use crate::channel::outbox::{Full, Outbox};
use crate::header::MessageHeader;

const MESSAGES: u32 = if cfg!(miri) { 12 } else { 2_000 };
const LIMIT: u32 = 4 * SLOT as u32;

/// Large segments that were passed on.
type Passed = Arc<Mutex<HashMap<u32, OwnedFd>>>;

/// One end of a channel.
struct End {
    outbox: Outbox,
    inbox: Inbox,
    passed: Passed,
}

/// Returns two connected ends.
fn ends() -> [End; 2] {
    let memory = takt_rt::memory_budget::MemoryBudget::unlimited();
    let outboxes = [(); 2].map(|()| Outbox::new(LIMIT, &memory).unwrap());
    let inboxes = outboxes.each_ref().map(|outbox| {
        let fd = outbox.fd().try_clone_to_owned().unwrap();
        Inbox::new(&fd, LIMIT, &memory).unwrap()
    });
    let passed = Passed::default();
    let [first, second] = outboxes;
    let [to_second, to_first] = inboxes;
    [(first, to_first), (second, to_second)].map(|(outbox, inbox)| End {
        outbox,
        inbox,
        passed: Arc::clone(&passed),
    })
}

/// Returns the body of a message: every fourth one needs a separate segment.
fn body(number: u32) -> Vec<u8> {
    let length = match number % 4 {
        3 => 2 * SLOT,
        n => 100 * n as usize + 5,
    };
    vec![number as u8; length]
}

impl End {
    /// Sends a message, as soon as there is room.
    fn send(&mut self, number: u32) {
        let header = MessageHeader {
            request_id: number,
            ..MessageHeader::default()
        };
        loop {
            self.outbox.free_taken(self.inbox.taken());
            let passed = Arc::clone(&self.passed);
            let mut pass_on = |generation, fd: std::os::fd::BorrowedFd<'_>| {
                let fd = fd.try_clone_to_owned().unwrap();
                passed.lock().unwrap().insert(generation, fd);
                Ok(())
            };
            match self.outbox.send_bytes(header, &mut pass_on, &body(number)) {
                Ok(Ok(())) => return,
                Ok(Err(Full)) => std::thread::yield_now(),
                Err(error) => panic!("{error}"),
            }
        }
    }

    /// Takes the next message, which has to be this one, and whole.
    fn take(&mut self, number: u32) {
        let mut fetch = |generation| Ok(self.passed.lock().unwrap().remove(&generation).unwrap());
        let message = loop {
            match self.inbox.receive(&mut fetch).unwrap() {
                Some(message) => break message.unwrap(),
                None => std::thread::yield_now(),
            }
        };
        assert_eq!(message.header.request_id, number);
        assert_eq!(self.inbox.body(&message).to_vec(), body(number));
        self.outbox.acknowledge_with_next(self.inbox.received());
        self.outbox.acknowledge_now();
    }
}

#[test]
fn messages_arrive_whole_while_their_memory_is_used_again() {
    let [mut client, mut server] = ends();
    std::thread::scope(|scope| {
        scope.spawn(move || (0..MESSAGES).for_each(|number| client.send(number)));
        scope.spawn(move || (0..MESSAGES).for_each(|number| server.take(number)));
    });
}
