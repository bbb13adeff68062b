//! Result of one peer.

use serde::Serialize;

use super::entry::{Category, Entry, Phase, Side};
use super::shared_memory::LastMessages;

/// Bytes of one request and its answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct OverheadSize {
    /// Bytes of the payload.
    pub payload: u32,
    /// Bytes of the request as it leaves the client: payload of TCP or UDP, or bytes written to shared memory. `None`: it was not
    /// seen.
    pub request: Option<usize>,
    /// Number of messages of the request.
    pub messages: usize,
    /// Bytes of the answer as it leaves the server.
    pub answer: Option<usize>,
    /// Bytes of request and answer that a broker has forwarded.
    pub forwarded: usize,
    /// Bytes of acknowledgements by the middleware.
    pub acknowledgements: usize,
}

/// Bytes of a peer's messages.
#[derive(Debug, Clone, Serialize)]
pub struct OverheadRow {
    /// Name of the peer, with the options of its variant.
    pub peer: String,
    /// Title of the peer.
    pub title: String,
    /// True if a complete report has the peer.
    pub required: bool,
    /// Reason why the peer was not counted.
    pub missing: Option<String>,
    /// Each size of the payload.
    pub sizes: Vec<OverheadSize>,
    /// Bytes that the client has sent for its set-up and tear-down: connection, session, discovery. `None`: they were not seen.
    pub connection_of_client: Option<usize>,
    /// Bytes that all sides have sent for set-up and tear-down.
    pub connection: Option<usize>,
    /// Seconds of the runs, in which keep-alives and discovery were counted, too.
    pub seconds: f64,
    /// All messages.
    pub(super) entries: Vec<Entry>,
}

impl OverheadRow {
    /// Returns the row of a peer that was not counted.
    pub(super) fn missing(peer: &str, title: &str, required: bool, reason: String) -> Self {
        Self {
            peer: peer.to_owned(),
            title: title.to_owned(),
            required,
            missing: Some(reason),
            sizes: Vec::new(),
            connection_of_client: None,
            connection: None,
            seconds: 0.0,
            entries: Vec::new(),
        }
    }

    /// Adds the results of a recording. `memory` has the messages in shared memory, one for each size.
    pub(super) fn fill(
        &mut self,
        entries: Vec<Entry>,
        sizes: &[u32],
        memory: &[LastMessages],
        seconds: f64,
    ) {
        self.missing = None;
        self.entries = entries;
        self.seconds = seconds;
        self.sizes = sizes.iter().map(|size| self.size(*size)).collect();
        for (size, last) in self.sizes.iter_mut().zip(memory) {
            if size.request.is_none() && last.request.is_some() {
                (size.request, size.answer) = (last.request, last.response);
                size.messages = 1;
            }
        }
        // A peer whose payload is not in the capture has its connection elsewhere, too.
        let is_seen = self
            .entries
            .iter()
            .any(|it| it.category == Category::Request);
        let of_connection = |entry: &&Entry| {
            entry.phase != Phase::Run
                && matches!(
                    entry.category,
                    Category::SetUp | Category::Discovery | Category::TearDown
                )
        };
        let all = || self.entries.iter().filter(of_connection);
        let sum = |entries: &mut dyn Iterator<Item = &Entry>| entries.map(|it| it.bytes).sum();
        self.connection = is_seen.then(|| sum(&mut all()));
        self.connection_of_client =
            is_seen.then(|| sum(&mut all().filter(|it| it.from == Side::Client)));
    }

    fn size(&self, payload: u32) -> OverheadSize {
        let sum = |category, is_forwarded| {
            let of_kind = self.entries.iter().filter(move |it| {
                it.payload == Some(payload)
                    && it.category == category
                    && it.is_forwarded == is_forwarded
            });
            of_kind.fold((0, 0), |(count, bytes), it| {
                (count + it.count, bytes + it.bytes)
            })
        };
        let (messages, request) = sum(Category::Request, false);
        let (answers, answer) = sum(Category::Answer, false);
        OverheadSize {
            payload,
            request: (messages > 0).then_some(request),
            messages,
            answer: (answers > 0).then_some(answer),
            forwarded: sum(Category::Request, true).1 + sum(Category::Answer, true).1,
            acknowledgements: sum(Category::Acknowledgement, false).1,
        }
    }

    /// Returns the bytes of a category, of all sides: those of the whole session.
    pub(super) fn total(&self, category: Category) -> usize {
        let of_category = self.entries.iter().filter(|it| it.category == category);
        of_category.map(|it| it.bytes).sum()
    }

    /// Returns the size whose purposes are shown: 100 bytes, or the smallest one.
    pub(super) fn shown(&self) -> Option<&OverheadSize> {
        let hundred = self.sizes.iter().find(|size| size.payload == 100);
        hundred.or(self.sizes.first())
    }
}

/// Returns the cell of a number; a dash if it was not seen.
pub(super) fn cell(number: Option<usize>) -> String {
    number.map_or("-".to_owned(), |number| number.to_string())
}
