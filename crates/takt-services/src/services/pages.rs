//! The results of Browse and BrowseNext: as many references as the client wants, as fit, and as can be found with the work that
//! a request may take, and a continuation point for the rest.
//!
//! The continuation point is encoded before the references. So the first pass over the references determines if there are more
//! than wanted, and the second one encodes them; it starts again with a continuation point if they do not fit.

use takt_space::{References, View};
use takt_ua::StatusCode;
use takt_ua::binary::Encode;

use super::sliced::service::Turn;
use super::walk::{Walk, resume};
use crate::responses::fault::Fault;
use crate::session::Session;
use crate::session::continuation::{Cursor, ENCODED_SIZE, LastSeen};

/// Bytes of a result with a continuation point and no references: the minimum for each result.
const MIN_RESULT_SIZE: usize = 4 + ENCODED_SIZE + 4;

/// Units of work that each node gets even if the request has used all its work.
const MIN_WORK: u64 = 100;

/// Results of Browse and BrowseNext, encoded one after another.
#[derive(Default)]
pub(super) struct Pages {
    /// Number of results that are not encoded yet.
    remaining: usize,
    is_followed: bool,
    /// The continuation points in this response.
    names: Vec<[u8; 8]>,
    page: Option<Page>,
}

/// A result in progress.
struct Page {
    cursor: Cursor,
    /// The references as of the beginning of the page.
    references: References,
    /// Position of the page in the response.
    start: usize,
    /// Position of the number of references in the response.
    count_at: usize,
    is_first: bool,
    pass: Pass,
    /// Position of the next reference to visit.
    position: usize,
    /// Number of references found in this pass.
    count: usize,
    /// Maximum number of references in the result.
    limit: usize,
    /// True if a continuation point follows.
    has_more: bool,
    /// Position up to which there are no more than `limit` references; set if the work of the request was exhausted.
    searched: usize,
    /// Total work of the request at the beginning of the page.
    work_before: u64,
}

#[derive(Clone, Copy, PartialEq)]
enum Pass {
    Count,
    Encode,
}

impl Pages {
    pub(super) fn begin(
        &mut self,
        turn: &mut Turn<'_, '_>,
        encoding_id: u32,
        count: usize,
    ) -> Result<(), Fault> {
        turn.request.respond(encoding_id, turn.response)?;
        turn.response.array_length(Some(count))?;
        self.remaining = count;
        Ok(())
    }

    /// Returns true if a page has begun and is not finished.
    pub(super) fn is_busy(&self) -> bool {
        self.page.is_some()
    }

    /// Encodes a result without references.
    pub(super) fn empty(
        &mut self,
        turn: &mut Turn<'_, '_>,
        status: StatusCode,
    ) -> Result<(), Fault> {
        self.count();
        without_references(turn, status)
    }

    fn count(&mut self) {
        self.remaining = self.remaining.saturating_sub(1);
        self.is_followed = true;
    }

    /// Begins a page: the next references from a cursor on.
    pub(super) fn page(
        &mut self,
        turn: &mut Turn<'_, '_>,
        view: &View<'_>,
        mut cursor: Cursor,
    ) -> Result<(), Fault> {
        let Some(node) = view.node(&cursor.node_id) else {
            return self.empty(turn, StatusCode::BadNodeIdUnknown);
        };
        let references = node.references();
        let Some(position) = resume(view, &references, &cursor) else {
            return self.empty(turn, StatusCode::BadContinuationPointInvalid);
        };
        cursor.position = position;
        let is_first = !self.is_followed;
        self.count();
        let limit = cursor.max_references;
        // Without more references at all, the first pass is not needed.
        let may_have_more = references.end().saturating_sub(position) > limit;
        let mut page = Page {
            references,
            start: turn.position(),
            count_at: 0,
            is_first,
            pass: Pass::Count,
            position,
            count: 0,
            limit,
            has_more: false,
            searched: 0,
            work_before: turn.work.total(),
            cursor,
        };
        if !may_have_more {
            page.begin_encoding(turn)?;
        }
        self.page = Some(page);
        Ok(())
    }

    /// Continues the current page until it is finished or the slice is over.
    pub(super) fn run(&mut self, turn: &mut Turn<'_, '_>, view: &View<'_>) -> Result<(), Fault> {
        // The smallest results of the other operations, and the DiagnosticInfos.
        let reserved = self.remaining * MIN_RESULT_SIZE + 4;
        while let Some(page) = &mut self.page {
            let pass = match page.pass {
                Pass::Count => page.count(turn, view)?,
                Pass::Encode => page.encode(turn, view, reserved)?,
            };
            match pass {
                Passed::SliceOver => return Ok(()),
                Passed::Again => {}
                Passed::NoContinuationPoints => {
                    turn.truncate(page.start);
                    without_references(turn, StatusCode::BadNoContinuationPoints)?;
                    self.page = None;
                }
                Passed::Finished(name) => {
                    self.names.extend(name);
                    self.page = None;
                }
            }
        }
        Ok(())
    }

    /// Releases the continuation points: the client does not receive them.
    pub(super) fn release(&mut self, session: &Session) {
        let mut points = session.continuation_points();
        for name in self.names.drain(..) {
            points.take(&name);
        }
    }
}

/// Outcome of a pass over the references.
enum Passed {
    SliceOver,
    Again,
    NoContinuationPoints,
    /// Finished, with the name of the continuation point, if there is one.
    Finished(Option<[u8; 8]>),
}

impl Page {
    /// Runs the first pass: determines if there are more references than wanted.
    fn count(&mut self, turn: &mut Turn<'_, '_>, view: &View<'_>) -> Result<Passed, Fault> {
        let caller = turn.request.caller;
        let mut walk = Walk::new(view, caller, &self.references, &self.cursor, self.position);
        while self.count <= self.limit {
            if turn.work.is_over() {
                self.position = walk.position;
                return Ok(Passed::SliceOver);
            }
            if self.is_exhausted(turn) {
                (self.limit, self.has_more) = (self.count, true);
                self.searched = walk.position;
                break;
            }
            match walk.next(turn.work) {
                None => break,
                Some(found) => self.count += usize::from(found.is_some()),
            }
        }
        self.has_more |= self.count > self.limit;
        self.begin_encoding(turn)?;
        Ok(Passed::Again)
    }

    /// Returns true if the request has used all its work, and this page its minimum.
    fn is_exhausted(&self, turn: &Turn<'_, '_>) -> bool {
        turn.work.is_exhausted() && turn.work.total() - self.work_before > MIN_WORK
    }

    fn begin_encoding(&mut self, turn: &mut Turn<'_, '_>) -> Result<(), Fault> {
        turn.truncate(self.start);
        StatusCode::Good.encode(turn.response)?;
        // The name is written when it is certain that a continuation point is needed.
        turn.response
            .byte_string(self.has_more.then_some([0; 8].as_slice()))?;
        self.count_at = turn.position();
        turn.response.array_length(Some(0))?;
        (self.pass, self.position, self.count) = (Pass::Encode, self.cursor.position, 0);
        Ok(())
    }

    /// Runs the second pass: encodes up to `limit` references.
    fn encode(
        &mut self,
        turn: &mut Turn<'_, '_>,
        view: &View<'_>,
        reserved: usize,
    ) -> Result<Passed, Fault> {
        if self.has_more && !turn.session.continuation_points().has_room() {
            return Ok(Passed::NoContinuationPoints);
        }
        let caller = turn.request.caller;
        let mut walk = Walk::new(view, caller, &self.references, &self.cursor, self.position);
        while self.count < self.limit {
            if turn.work.is_over() {
                self.position = walk.position;
                return Ok(Passed::SliceOver);
            }
            if !self.has_more && self.is_exhausted(turn) {
                (self.limit, self.has_more) = (self.count, true);
                self.searched = walk.position;
                self.begin_encoding(turn)?;
                return Ok(Passed::Again);
            }
            let Some(found) = walk.next(turn.work) else {
                break;
            };
            let Some(found) = found else { continue };
            turn.work.spend(1);
            let mask = self.cursor.selection.result_mask;
            let fits = found.encode(view, mask, turn.response).is_ok()
                && turn.response.available() >= reserved;
            if !fits {
                // `count` references fit; with a continuation point, which takes space, possibly one less.
                self.limit = match self.has_more {
                    true => self.count.min(self.limit.saturating_sub(1)),
                    false => self.count,
                };
                (self.has_more, self.searched) = (true, 0);
                self.begin_encoding(turn)?;
                return Ok(Passed::Again);
            }
            self.count += 1;
        }
        // Up to `searched` there is nothing more for the client, so the next page need not look there again.
        self.position = walk.position.max(self.searched);
        self.finish(turn)
    }

    fn finish(&mut self, turn: &mut Turn<'_, '_>) -> Result<Passed, Fault> {
        let count =
            u32::try_from(self.count).map_err(|_| Fault(StatusCode::BadResponseTooLarge))?;
        turn.response.patch_u32(turn.start + self.count_at, count);
        if !self.has_more {
            return Ok(Passed::Finished(None));
        }
        if self.is_first && self.position == self.cursor.position {
            // A second attempt would have the same outcome.
            return Err(Fault(StatusCode::BadResponseTooLarge));
        }
        let mut cursor = self.cursor.clone();
        if let Some(before) = self.position.checked_sub(1) {
            let last = self.references.at_or_after(before);
            cursor.last = last.map(|(_, last)| LastSeen::from(&last));
        }
        cursor.position = self.position;
        let name = {
            let mut points = turn.session.continuation_points();
            // Another request of the Session may have taken the room since the first check.
            if !points.has_room() {
                return Ok(Passed::NoContinuationPoints);
            }
            points.insert(cursor)
        };
        // Position after the StatusCode and the length of the ByteString.
        turn.response.patch(turn.start + self.start + 8, &name);
        Ok(Passed::Finished(Some(name)))
    }
}

fn without_references(turn: &mut Turn<'_, '_>, status: StatusCode) -> Result<(), Fault> {
    status.encode(turn.response)?;
    turn.response.byte_string(None)?;
    turn.response.array_length(None)?;
    Ok(())
}
