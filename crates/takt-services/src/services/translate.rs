//! TranslateBrowsePathsToNodeIds (OPC 10000-4, 5.9.4).
//!
//! A path may have any number of elements, so both decoding and resolving one may take several slices.

use std::sync::Arc;

use takt_space::View;
use takt_ua::binary::{Decode, Decoder, Encode, Encoder};
use takt_ua::{NodeId, StatusCode, ids};

use super::path::{ElementRef, Path, failed};
use super::request::{Handled, Request, check_count};
use super::sliced::first_slice;
use super::sliced::service::{Progress, Service, Turn};
use crate::responses::fault::Fault;
use crate::server::connection::Connection;
use crate::session::Session;

/// Minimum number of bytes of a BrowsePath: a NodeId and an empty list.
const MIN_PATH_SIZE: usize = 2 + 4;

/// Handles a TranslateBrowsePathsToNodeIds request.
pub(crate) fn handle(
    request: &Request<'_>,
    connection: &Connection,
    session: &Arc<Session>,
    mut body: Decoder<'_>,
    response: &mut Encoder<'_>,
) -> Handled {
    let limits = &request.server.budgets.operations;
    let limit = limits.max_nodes_per_translate_browse_paths_to_node_ids;
    let count = body.array_length(MIN_PATH_SIZE)?.unwrap_or(0);
    check_count(count, limit)?;
    let translate = Translate {
        offset: request.offset(&body),
        unchecked: count,
        elements: 0,
        paths: Vec::with_capacity(count),
        next: 0,
        path: None,
    };
    first_slice::start(request, connection, session, translate, response)
}

struct Translate {
    /// Offset of the next part to decode, until all is checked.
    offset: usize,
    /// Number of paths that have not been decoded yet.
    unchecked: usize,
    /// Number of elements of the last one of `paths` that have not been decoded yet.
    elements: usize,
    paths: Vec<Located>,
    /// Index of the next path to resolve.
    next: usize,
    path: Option<Path>,
}

/// Position of a path in the message, and the results of checking it.
struct Located {
    starting_node: NodeId,
    elements: usize,
    /// Offset of the elements in the message.
    offset: usize,
    /// True if an element has no name.
    is_nameless: bool,
}

impl Service for Translate {
    fn run(&mut self, turn: &mut Turn<'_, '_>) -> Result<Progress, Fault> {
        if !self.check(turn)? {
            return Ok(Progress::Unfinished);
        }
        let view = turn.request.server.space.view();
        if self.next == 0 && self.path.is_none() {
            let response = ids::TRANSLATE_BROWSE_PATHS_TO_NODE_IDS_RESPONSE_ENCODING_DEFAULT_BINARY;
            turn.request.respond(response, turn.response)?;
            turn.response.array_length(Some(self.paths.len()))?;
        }
        while let Some(located) = self.paths.get(self.next) {
            let result = match &mut self.path {
                Some(path) => match path.follow(turn, &view)? {
                    Some(result) => result,
                    None => return Ok(Progress::Unfinished),
                },
                None => {
                    turn.work.spend(1);
                    match located.begin(&view, turn.work.total()) {
                        Ok(path) => {
                            self.path = Some(path);
                            continue;
                        }
                        Err(status) => failed(status),
                    }
                }
            };
            turn.work.spend(result.targets.len() as u64 / 4);
            result.encode(turn.response)?;
            self.path = None;
            self.next += 1;
            if turn.work.is_over() && self.next < self.paths.len() {
                return Ok(Progress::Unfinished);
            }
        }
        turn.response.array_length(Some(0))?;
        Ok(Progress::Complete)
    }
}

impl Translate {
    /// Decodes the whole request once. Returns true if this is complete.
    fn check(&mut self, turn: &mut Turn<'_, '_>) -> Result<bool, Fault> {
        if self.unchecked == 0 && self.elements == 0 {
            return Ok(true);
        }
        let mut decoder = turn.decoder(self.offset);
        while !turn.work.is_over() {
            turn.work.spend(1);
            if turn.work.is_exhausted() {
                return Err(Fault(StatusCode::BadTooManyOperations));
            }
            if self.elements > 0 {
                let element = ElementRef::decode(&mut decoder)?;
                self.elements -= 1;
                if let Some(path) = self.paths.last_mut() {
                    path.is_nameless |= element.target_name.is_null();
                }
            } else if self.unchecked > 0 {
                let starting_node = NodeId::decode(&mut decoder)?;
                self.elements = decoder.array_length(ElementRef::MIN_SIZE)?.unwrap_or(0);
                self.unchecked -= 1;
                self.paths.push(Located {
                    starting_node,
                    elements: self.elements,
                    offset: turn.offset(&decoder),
                    is_nameless: false,
                });
            } else {
                return Ok(true);
            }
        }
        self.offset = turn.offset(&decoder);
        Ok(false)
    }
}

impl Located {
    fn begin(&self, view: &View<'_>, work_before: u64) -> Result<Path, StatusCode> {
        if self.starting_node.is_null() {
            return Err(StatusCode::BadNodeIdInvalid);
        }
        if view.node(&self.starting_node).is_none() {
            return Err(StatusCode::BadNodeIdUnknown);
        }
        if self.elements == 0 {
            return Err(StatusCode::BadNothingToDo);
        }
        // An element without a name is ambiguous. The standard requires a name in the last one, and permits the server to
        // require it in the others.
        if self.is_nameless {
            return Err(StatusCode::BadBrowseNameInvalid);
        }
        Ok(Path::new(
            self.starting_node.clone(),
            self.offset,
            self.elements,
            work_before,
        ))
    }
}
