//! The results of Browse and BrowseNext: as many references as are wanted and fit, and a continuation point for the rest.

use std::sync::{MutexGuard, PoisonError};

use takt_ua::StatusCode;
use takt_ua::binary::{Encode, Encoder};

use super::continuation::{ContinuationPoints, Cursor, ENCODED_SIZE, LastSeen};
use super::walk::{Walk, resume};
use super::{Fault, Handled, Request};
use crate::address_space::View;
use crate::connection::Outcome;
use crate::session::Session;

/// Bytes of a result with a continuation point and no references: what each result gets at least.
const MIN_RESULT_SIZE: usize = 4 + ENCODED_SIZE + 4;

/// Encodes the results of Browse and BrowseNext one after another. What does not fit into the response is left for a
/// continuation point.
pub(super) struct Pages<'e, 'b> {
    response: &'e mut Encoder<'b>,
    points: MutexGuard<'e, ContinuationPoints>,
    /// Results still to come.
    remaining: usize,
    is_first: bool,
}

impl<'e, 'b> Pages<'e, 'b> {
    pub(super) fn begin(
        request: &Request<'_>,
        encoding_id: u32,
        count: usize,
        session: &'e Session,
        response: &'e mut Encoder<'b>,
    ) -> Result<Self, Fault> {
        request.respond(encoding_id, response)?;
        response.array_length(Some(count))?;
        let points = session
            .continuation_points
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        Ok(Self {
            response,
            points,
            remaining: count,
            is_first: true,
        })
    }

    /// Takes the cursor of a continuation point.
    pub(super) fn take(&mut self, name: &[u8]) -> Option<Cursor> {
        self.points.take(name)
    }

    /// A result without references.
    pub(super) fn error(&mut self, status: StatusCode) -> Result<(), Fault> {
        self.next();
        status.encode(self.response)?;
        self.response.byte_string(None)?;
        self.response.array_length(None)?;
        Ok(())
    }

    fn next(&mut self) -> bool {
        self.remaining = self.remaining.saturating_sub(1);
        std::mem::replace(&mut self.is_first, false)
    }

    /// The next references from a cursor on.
    pub(super) fn page(&mut self, view: &View<'_>, mut cursor: Cursor) -> Result<(), Fault> {
        let Some(node) = view.node(&cursor.node_id) else {
            return self.error(StatusCode::BadNodeIdUnknown);
        };
        let references = node.references();
        let Some(position) = resume(&references, &cursor) else {
            return self.error(StatusCode::BadContinuationPointInvalid);
        };
        cursor.position = position;
        let is_first = self.next();
        let start = self.response.position();
        let mut walk = Walk::new(view, &references, &cursor);
        let mut limit = cursor.max_references;
        let mut has_more = references.len() - position > limit && walk.more_than(limit);
        loop {
            self.response.truncate(start);
            if has_more && !self.points.has_room() {
                // `next` was counted already.
                self.remaining += 1;
                return self.error(StatusCode::BadNoContinuationPoints);
            }
            let written = match self.try_page(&mut walk, limit, has_more)? {
                Ok(written) => written,
                // So many fit; with a continuation point, which is longer, perhaps one less.
                Err(fitting) if has_more => {
                    limit = fitting.min(limit.saturating_sub(1));
                    continue;
                }
                Err(fitting) => {
                    (limit, has_more) = (fitting, true);
                    continue;
                }
            };
            if has_more {
                if is_first && written.count == 0 {
                    // Asking again would not help.
                    return Err(Fault(StatusCode::BadResponseTooLarge));
                }
                cursor.position = written.position;
                cursor.last = references
                    .get(written.position.wrapping_sub(1))
                    .map(|last| LastSeen::from(&last));
                let name = self.points.insert(cursor);
                self.name_continuation_point(start, name);
            }
            return Ok(());
        }
    }

    /// Encodes up to `limit` references. `Err` says how many fitted.
    fn try_page(
        &mut self,
        walk: &mut Walk<'_>,
        limit: usize,
        has_more: bool,
    ) -> Result<Result<Written, usize>, Fault> {
        let reserved = self.remaining * MIN_RESULT_SIZE + 4;
        StatusCode::Good.encode(self.response)?;
        // The name is known only when it is certain that it is needed.
        self.response
            .byte_string(has_more.then_some([0; 8].as_slice()))?;
        let count_at = self.response.position();
        self.response.array_length(Some(0))?;
        walk.rewind();
        let mut count = 0;
        while count < limit {
            let Some(found) = walk.next() else { break };
            let fits = found
                .encode(walk.view, walk.result_mask, self.response)
                .is_ok()
                && self.response.available() >= reserved;
            if !fits {
                return Ok(Err(count));
            }
            count += 1;
        }
        let encoded = u32::try_from(count).map_err(|_| Fault(StatusCode::BadResponseTooLarge))?;
        self.response.patch_u32(count_at, encoded);
        Ok(Ok(Written {
            count,
            position: walk.position,
        }))
    }

    fn name_continuation_point(&mut self, start: usize, name: [u8; 8]) {
        let [a, b, c, d, e, f, g, h] = name;
        // After the StatusCode and the length of the ByteString.
        self.response
            .patch_u32(start + 8, u32::from_le_bytes([a, b, c, d]));
        self.response
            .patch_u32(start + 12, u32::from_le_bytes([e, f, g, h]));
    }

    pub(super) fn end(self) -> Handled {
        self.response.array_length(None)?;
        Ok(Outcome::Complete)
    }
}

struct Written {
    count: usize,
    position: usize,
}
