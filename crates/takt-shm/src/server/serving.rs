//! Answering requests: the order and frequency of looks at channels, and the number of requests that are answered at a time.

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use crate::handler::ShmChannels;
use crate::server::channel::{Channel, Line, Polled};
use crate::server::slot::Slot;
use crate::server::{BATCH, ShmServer};

/// Number of looks without a request after which a channel is not looked at any more until its client marks it.
const IDLE_LOOKS: u32 = 20_000;

/// Time after the first large message at which memory for large messages is given back. For later ones, it is mapped anew.
const TRIM_AFTER: Duration = Duration::from_secs(2);

impl<H: ShmChannels> ShmServer<H> {
    /// Looks once at the channels that have had requests lately, without a system call, and returns the number of answered
    /// requests. Idle clients cost nothing.
    pub fn turn(&mut self) -> usize {
        let mut answered = 0;
        if self.completed.flag.load(Ordering::Relaxed) {
            answered += self.complete();
        }
        if self.attention.takes_stock() {
            answered += self.look_at_all();
        }
        let words = self.attention.words();
        // The first word is not always the same, or its clients would be answered before all others.
        self.next_word = (self.next_word + 1) % words.max(1);
        for step in 0..words {
            let word = (self.next_word + step) % words;
            let mut marked = self.attention.marked(word);
            while marked != 0 {
                let connection = 64 * word + marked.trailing_zeros() as usize;
                marked &= marked - 1;
                answered += self.look(connection);
            }
        }
        answered
    }

    /// Looks at every channel, marked or not.
    #[cold]
    pub(super) fn look_at_all(&mut self) -> usize {
        let mut answered = 0;
        let mut index = 0;
        while let Some(slot) = self.connections.channel_slot(index) {
            answered += usize::from(self.poll(slot) == Some(Polled::Answered));
            // If this has closed the channel, another one has taken its place in the list.
            index += usize::from(self.connections.channel_slot(index) == Some(slot));
        }
        answered
    }

    /// Looks at a marked connection.
    #[inline]
    fn look(&mut self, connection: usize) -> usize {
        let Some(slot) = self.connections.at(connection) else {
            self.attention.unmark(connection);
            return 0;
        };
        let answered = match self.poll(slot) {
            None | Some(Polled::Nothing) => 0,
            Some(Polled::Answered | Polled::Unfinished) => 1,
        };
        if let Some(channel) = self.channel(slot) {
            channel.idle = if answered > 0 { 0 } else { channel.idle + 1 };
            if channel.idle < IDLE_LOOKS {
                return answered;
            }
            channel.idle = 0;
        }
        self.attention.unmark(connection);
        // Once more without the mark: a client that found it set did not ring.
        answered + self.serve(slot, 1)
    }

    fn channel(&mut self, slot: Slot) -> Option<&mut Channel<H::Connection>> {
        self.connections.get(slot)?.channel.as_mut()
    }

    /// Answers up to `most` requests of a channel.
    pub(super) fn serve(&mut self, slot: Slot, most: usize) -> usize {
        let mut answered = 0;
        while answered < most {
            match self.poll(slot) {
                Some(Polled::Answered) => answered += 1,
                _ => return answered,
            }
            if self.handler.is_turn_over() {
                break;
            }
        }
        // There may be more requests.
        if most > 1 {
            self.come_back(slot);
        }
        answered
    }

    /// Makes the server look at a channel again, after the others.
    fn come_back(&mut self, slot: Slot) {
        if !self.unfinished.contains(&slot) {
            self.unfinished.push(slot);
            self.completed.waker.wake();
        }
    }

    /// Gives another turn to channels that had more requests than could be answered in the last one, or a large one.
    pub(super) fn serve_unfinished(&mut self) -> usize {
        let slots = self.unfinished.len();
        let mut answered = 0;
        for _ in 0..slots {
            let slot = self.unfinished.remove(0);
            answered += self.serve(slot, BATCH);
        }
        answered
    }

    /// Answers one request of a channel, or copies a slice of a large one; `None` if the channel is closed, maybe by this.
    #[inline]
    fn poll(&mut self, slot: Slot) -> Option<Polled> {
        if self.trim_at.is_some() && self.config.is_scarce(self.copies.kept()) {
            self.make_room();
        }
        let connection = self.connections.get(slot)?;
        let channel = connection.channel.as_mut()?;
        let line = Line {
            slot,
            post: &mut connection.post,
        };
        match channel.poll(&self.handler, &mut self.copies, line) {
            Ok(polled) => {
                if polled == Polled::Answered {
                    self.attention.count_request();
                    self.last_served = Some(slot);
                    let has_large = channel.has_large() || self.copies.are_large();
                    if has_large && self.trim_at.is_none() {
                        self.trim_later();
                    }
                } else if polled == Polled::Unfinished {
                    self.come_back(slot);
                }
                Some(polled)
            }
            Err(error) => {
                self.fail(slot, &error);
                None
            }
        }
    }

    #[cold]
    pub(super) fn trim_later(&mut self) {
        self.trim_at = Some(Instant::now() + TRIM_AFTER);
        self.set_alarm();
    }

    /// Gives back the memory for large messages, as far as it is not in use, some time after the first of them.
    pub(super) fn trim(&mut self) {
        self.trim_at = None;
        self.trim_channels();
        self.copies.begin_trim();
        self.completed.waker.wake();
    }

    /// Gives back the memory for large messages, as far as it is not in use, because a request and its response may not fit into
    /// the budget any more. The memory for copies is given back only if the rest is not enough: using new memory for the next
    /// request would take longer than all else, and the next request may need it at once.
    #[cold]
    fn make_room(&mut self) {
        self.trim_channels();
        if self.config.is_scarce(self.copies.kept()) {
            self.copies.trim();
            if !self.copies.are_large() {
                self.trim_at = None;
            }
        }
    }

    /// Gives back a piece of the memory for copies, if that has begun. Channels are looked at before the next piece.
    pub(super) fn give_back(&mut self) {
        if self.copies.give_back() {
            self.completed.waker.wake();
        }
    }

    fn trim_channels(&mut self) {
        let mut index = 0;
        while let Some(slot) = self.connections.channel_slot(index) {
            index += 1;
            if let Some(channel) = self.channel(slot) {
                channel.trim();
            }
        }
    }

    pub(super) fn complete(&mut self) -> usize {
        if !self.completed.flag.load(Ordering::Relaxed) {
            return 0;
        }
        // This is before looking: a response that becomes ready meanwhile sets it again.
        self.completed.flag.store(false, Ordering::Relaxed);
        std::sync::atomic::fence(Ordering::SeqCst);
        let mut completed = 0;
        let mut index = 0;
        let mut held_back = Vec::new();
        while let Some(slot) = self.connections.channel_slot(index) {
            index += 1;
            let Some(connection) = self.connections.get(slot) else {
                continue;
            };
            let Some(channel) = connection.channel.as_mut() else {
                continue;
            };
            let line = Line {
                slot,
                post: &mut connection.post,
            };
            match channel.complete(&self.handler, line) {
                Ok(any) => {
                    completed += usize::from(any);
                    let is_held_back = any && std::mem::take(&mut channel.is_held_back);
                    if is_held_back || channel.is_copying() {
                        held_back.push(slot);
                    }
                }
                Err(error) => {
                    self.fail(slot, &error);
                    // Another channel has taken its place in the list.
                    index -= 1;
                }
            }
        }
        for slot in held_back {
            self.come_back(slot);
        }
        if let Some(public) = &mut self.public {
            completed += usize::from(public.complete(&self.handler));
        }
        completed
    }

    /// Gives another turn to the public services, if their last turn was over before all requests were answered.
    pub(super) fn continue_public(&mut self) -> usize {
        match std::mem::take(&mut self.public_waits) {
            true => self.serve_public(),
            false => 0,
        }
    }

    pub(super) fn serve_public(&mut self) -> usize {
        let Some(public) = &mut self.public else {
            return 0;
        };
        let (answered, has_more) = public.poll(&self.handler, &mut self.copies.small);
        if has_more {
            self.public_waits = true;
            self.completed.waker.wake();
        }
        if self.copies.are_large() && self.trim_at.is_none() {
            self.trim_later();
        }
        answered
    }
}
