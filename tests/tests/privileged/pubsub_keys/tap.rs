//! All messages on the network of the second host, with the tokens of their keys.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use takt_link::{LinkOptions, open_receiver};
use takt_tests::network::NamespaceHost;
use takt_wire::NetworkMessageRef;

use crate::pubsub_keys::plant::MESSAGES;

/// Listener that needs no key: the token is in the header of a message.
pub struct Tap {
    seen: Arc<Mutex<Vec<(Instant, u32)>>>,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Tap {
    /// Listens at a host.
    pub fn at(host: &NamespaceHost) -> Self {
        let seen = Arc::new(Mutex::new(Vec::new()));
        let stop = Arc::new(AtomicBool::new(false));
        let (told, stopped) = (Arc::clone(&seen), Arc::clone(&stop));
        let options = LinkOptions {
            interface: Some(host.interface.to_owned()),
            ..LinkOptions::default()
        };
        let there = host.entrance();
        let thread = std::thread::spawn(move || {
            there.enter();
            let mut link = open_receiver(&MESSAGES.parse().unwrap(), &options).unwrap();
            while !stopped.load(Ordering::Relaxed) {
                let wait = Duration::from_millis(50);
                let received = link.receive(wait, &mut |message| {
                    let message = NetworkMessageRef::new_checked(message.bytes).unwrap();
                    let token = message.security_header.unwrap().security_token_id;
                    told.lock().unwrap().push((Instant::now(), token));
                });
                received.unwrap();
            }
        });
        Self {
            seen,
            stop,
            thread: Some(thread),
        }
    }

    /// Returns the messages so far: their times and tokens.
    fn seen(&self) -> MutexGuard<'_, Vec<(Instant, u32)>> {
        self.seen.lock().unwrap()
    }

    /// Returns the number of messages.
    pub fn count(&self) -> usize {
        self.seen().len()
    }

    /// Returns the token of the last message.
    pub fn token(&self) -> Option<u32> {
        self.seen().last().map(|(_, token)| *token)
    }

    /// Returns the time of the last message.
    pub fn last(&self) -> Option<Instant> {
        self.seen().last().map(|(time, _)| *time)
    }

    /// Returns the tokens in their order, each with the number of messages in a row.
    pub fn tokens(&self) -> Vec<(u32, usize)> {
        let mut tokens: Vec<(u32, usize)> = Vec::new();
        for (_, token) in self.seen().iter() {
            match tokens.last_mut() {
                Some((last, count)) if last == token => *count += 1,
                _ => tokens.push((*token, 1)),
            }
        }
        tokens
    }
}

impl Drop for Tap {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            let outcome = thread.join();
            assert!(
                outcome.is_ok() || std::thread::panicking(),
                "a message is not UADP with security"
            );
        }
    }
}
