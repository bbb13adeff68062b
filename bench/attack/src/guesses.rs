//! Guessed passwords. Each check takes a slow hash, so that guesses cost the server more than the attacker.

use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use takt_app::{Client, ClientOptions, Endpoint, Identity};

use crate::target::Attacker;

/// User of the server whose password is guessed.
pub const USER: &str = "anna";

/// Clients that guess at once.
const GUESSERS: u64 = 8;

/// Tries wrong passwords of a user, and of users that do not exist, over shared memory. Each guess has a Session of its own.
pub(crate) fn passwords(attacker: &mut Attacker<'_>) {
    let endpoint = Endpoint::SharedMemory(attacker.endpoints.name.clone());
    let (tries, refusals) = (AtomicU64::new(0), AtomicU64::new(0));
    let guesser: &Attacker<'_> = attacker;
    thread::scope(|scope| {
        for number in 0..GUESSERS {
            let (endpoint, tries, refusals) = (&endpoint, &tries, &refusals);
            scope.spawn(move || {
                while guesser.goes_on() {
                    let guess = tries.fetch_add(1, Ordering::Relaxed);
                    let name = match number % 2 {
                        0 => USER.to_owned(),
                        _ => format!("user{guess}"),
                    };
                    if !is_right(guesser, endpoint, name, guess) {
                        refusals.fetch_add(1, Ordering::Relaxed);
                    }
                }
            });
        }
    });
    let tries = tries.into_inner();
    attacker.tally.connections += tries;
    attacker.tally.messages += tries;
    attacker.tally.refusals += refusals.into_inner();
}

/// Returns true if a client with this guess is served.
fn is_right(attacker: &Attacker<'_>, endpoint: &Endpoint, name: String, guess: u64) -> bool {
    let options = ClientOptions {
        identity: Identity::UserName {
            name,
            password: format!("wrong {guess}"),
        },
        runtime_directory: attacker.target.runtime_directory.clone(),
        ..ClientOptions::named("TaktBenchGuesser")
    };
    Client::connect(endpoint, options).is_ok()
}
