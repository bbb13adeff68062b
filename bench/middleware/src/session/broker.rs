//! Broker of a peer.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use takt_rt::child::{ChildError, ChildProcess, Ending};

use super::{MOST_INFO, Session, process_of};
use crate::environment::Side;
use crate::protocol::{END, START, SessionError};
use crate::sockets;

impl Session<'_> {
    /// Starts a broker, and waits until its port is open.
    pub(super) fn start_broker(
        &mut self,
        words: &[String],
        offset: u16,
        root: Option<&Path>,
        interrupted: &AtomicBool,
    ) -> Result<(), SessionError> {
        let folder = self.folder_of(Side::Server);
        let address = self.environment.address(Side::Server).to_string();
        let port = self.port.saturating_add(offset);
        let word = |word: &String| {
            let word = word.replace("{folder}", &folder);
            let word = word.replace("{address}", &address);
            word.replace("{port}", &self.port.to_string())
        };
        let words = words.iter().map(word).collect();
        let words = self.environment.broker(words, root);
        let mut command = self.command(&words, "broker")?;
        let broker = ChildProcess::start("broker", &mut command, Ending::Input);
        let errors = self.errors("broker");
        let failed = |error| SessionError::of("broker", error, &errors);
        let broker = self.broker.insert(broker.map_err(failed)?.with_grace(END));
        if !self.environment.is_local() {
            let line = broker.line(START, interrupted).map_err(failed)?;
            self.remote[1] = process_of(&line);
        }
        let deadline = Instant::now() + START;
        let is_in_namespace = self.network.is_some();
        let is_open = |broker: u32| match is_in_namespace {
            true => sockets::is_listening(broker, port),
            false => self.environment.is_open(broker, port),
        };
        while !is_open(broker.id()) {
            if interrupted.load(Ordering::Relaxed) {
                return Err(SessionError::Interrupted);
            }
            let error = match broker.ended() {
                Some(_) => ChildError::Ended,
                None if Instant::now() > deadline => ChildError::Late(START),
                None => {
                    std::thread::sleep(Duration::from_millis(5));
                    continue;
                }
            };
            return Err(SessionError::of("broker", error, &errors));
        }
        // A script tells the version before the broker starts. Other lines are the broker's own.
        let lines = std::iter::from_fn(|| broker.line(Duration::ZERO, interrupted).ok());
        let lines: Vec<String> = lines.take(MOST_INFO).collect();
        for text in lines.iter().filter_map(|line| line.strip_prefix("info ")) {
            self.note(text);
        }
        Ok(())
    }
}
