//! Resolution of one browse path (OPC 10000-4, 5.9.4), element by element, in slices.

use std::collections::HashSet;

use takt_space::{References, TargetRef, TypeFilter, View};
use takt_ua::binary::{Decode, DecodeError, Decoder};
use takt_ua::enumerations::NodeClass;
use takt_ua::structures::{BrowsePathResult, BrowsePathTarget};
use takt_ua::{ExpandedNodeId, NodeId, NodeIdRef, QualifiedNameRef, StatusCode};

use super::sliced::service::Turn;
use crate::identity::access;
use crate::responses::fault::Fault;

/// Maximum number of targets of one path; more are `BadTooManyMatches`. The standard asks for at least 10.
const MAX_TARGETS: usize = 1000;

/// Units of work that each path gets even if the request has used all its work.
const MIN_WORK: u64 = 100;

/// An element of a RelativePath (OPC 10000-4, 7.30), borrowed from the request.
pub(super) struct ElementRef<'a> {
    pub(super) reference_type: NodeIdRef<'a>,
    pub(super) is_inverse: bool,
    pub(super) include_subtypes: bool,
    pub(super) target_name: QualifiedNameRef<'a>,
}

impl<'a> Decode<'a> for ElementRef<'a> {
    const MIN_SIZE: usize = 2 + 1 + 1 + 6;

    fn decode(decoder: &mut Decoder<'a>) -> Result<Self, DecodeError> {
        Ok(Self {
            reference_type: NodeIdRef::decode(decoder)?,
            is_inverse: decoder.bool()?,
            include_subtypes: decoder.bool()?,
            target_name: QualifiedNameRef::decode(decoder)?,
        })
    }
}

/// A path that is being resolved.
pub(super) struct Path {
    /// Offset of the element in the request message.
    offset: usize,
    /// Index of the element; `elements` is the number of elements.
    element: usize,
    elements: usize,
    /// The nodes that the elements so far lead to.
    nodes: Vec<NodeId>,
    /// Index of the current node; `position` is the next one among its references.
    node: usize,
    references: Option<References>,
    position: usize,
    /// The nodes that this element leads to, in the order of discovery.
    found: Vec<NodeId>,
    known: HashSet<NodeId>,
    /// Targets in other servers, found on the way.
    targets: Vec<BrowsePathTarget>,
    /// Total work of the request at the beginning of the path.
    work_before: u64,
}

/// Outcome of one step.
enum Step {
    SliceOver,
    Done,
    Failed(StatusCode),
}

impl Path {
    pub(super) fn new(
        starting_node: NodeId,
        offset: usize,
        elements: usize,
        work_before: u64,
    ) -> Self {
        Self {
            offset,
            element: 0,
            elements,
            nodes: vec![starting_node],
            node: 0,
            references: None,
            position: 0,
            found: Vec::new(),
            known: HashSet::new(),
            targets: Vec::new(),
            work_before,
        }
    }

    /// Continues until there is a result or the slice is over.
    pub(super) fn follow(
        &mut self,
        turn: &mut Turn<'_, '_>,
        view: &View<'_>,
    ) -> Result<Option<BrowsePathResult>, Fault> {
        let mut decoder = turn.decoder(self.offset);
        while self.element < self.elements && !self.nodes.is_empty() {
            let element = ElementRef::decode(&mut decoder)?;
            match self.step(turn, view, &element) {
                Step::SliceOver => return Ok(None),
                Step::Failed(status) => return Ok(Some(failed(status))),
                Step::Done => {}
            }
            self.offset = turn.offset(&decoder);
            self.element += 1;
            self.nodes = std::mem::take(&mut self.found);
            self.known.clear();
            self.node = 0;
        }
        let mut targets = std::mem::take(&mut self.targets);
        let reached = self.nodes.drain(..).map(|node_id| BrowsePathTarget {
            target_id: ExpandedNodeId::from(node_id),
            remaining_path_index: u32::MAX,
        });
        targets.extend(reached);
        Ok(Some(match targets.is_empty() {
            true => failed(StatusCode::BadNoMatch),
            false => BrowsePathResult {
                status_code: StatusCode::Good,
                targets,
            },
        }))
    }

    /// Follows one element from all current nodes.
    fn step(&mut self, turn: &mut Turn<'_, '_>, view: &View<'_>, element: &ElementRef<'_>) -> Step {
        let is_reference_type = || {
            view.node(element.reference_type)
                .is_some_and(|node| node.node_class() == NodeClass::ReferenceType)
        };
        // A null ReferenceType stands for all references (OPC 10000-4, 7.30).
        if !element.reference_type.is_null() && !is_reference_type() {
            return Step::Failed(StatusCode::BadReferenceTypeIdInvalid);
        }
        turn.work.spend(2);
        let mut types = TypeFilter::new(element.reference_type, element.include_subtypes);
        while let Some(node_id) = self.nodes.get(self.node) {
            if turn.work.is_over() {
                return Step::SliceOver;
            }
            let references = match self.references.take() {
                Some(references) => references,
                None => {
                    self.position = 0;
                    turn.work.spend(1);
                    let Some(node) = view.node(node_id) else {
                        self.node += 1;
                        continue;
                    };
                    node.references()
                }
            };
            while let Some((at, reference)) = references.at_or_after(self.position) {
                if turn.work.is_over() {
                    self.references = Some(references);
                    return Step::SliceOver;
                }
                if turn.work.is_exhausted() && turn.work.total() - self.work_before > MIN_WORK {
                    return Step::Failed(StatusCode::BadTooManyOperations);
                }
                turn.work.spend(1);
                self.position = at + 1;
                if reference.is_forward == element.is_inverse
                    || !types.matches(view, reference.reference_type)
                {
                    continue;
                }
                match reference.target {
                    TargetRef::Remote(target) => self.remote(target.clone()),
                    TargetRef::Local(target) => {
                        let caller = turn.request.caller;
                        let matches = view.node(target).is_some_and(|node| {
                            node.browse_name() == element.target_name
                                && access::check_browse(caller, &node).is_ok()
                        });
                        // Several references may lead to the same node.
                        if matches && self.known.insert(target.to_owned()) {
                            self.found.push(target.to_owned());
                        }
                    }
                }
                if self.found.len() + self.targets.len() > MAX_TARGETS {
                    return Step::Failed(StatusCode::BadTooManyMatches);
                }
            }
            self.node += 1;
        }
        Step::Done
    }

    /// Adds a node of another server as a target. Its BrowseName is not known here: the client has to continue there.
    fn remote(&mut self, target_id: ExpandedNodeId) {
        let remaining_path_index = match self.element + 1 {
            all if all == self.elements => u32::MAX,
            next => u32::try_from(next).unwrap_or(u32::MAX),
        };
        self.targets.push(BrowsePathTarget {
            target_id,
            remaining_path_index,
        });
    }
}

/// Returns a result without targets.
pub(super) fn failed(status_code: StatusCode) -> BrowsePathResult {
    BrowsePathResult {
        status_code,
        targets: Vec::new(),
    }
}
