//! Continuation points at a server that never runs out of references, and suggested names.

use takt_ua::Structure;
use takt_ua::binary::{Decode, Decoder, Encode};

use super::*;
use crate::client::{Batches, ServiceRequest};
use crate::endpoint::Endpoint;

/// A server with a continuation point in each result.
struct Endless {
    endpoint: Endpoint,
    batches: Batches,
    /// Number of references in a result of BrowseNext.
    references: usize,
    /// Number of the last continuation point.
    last: u32,
    /// Continuation points that are not released.
    held: Vec<ByteString>,
}

impl Endless {
    fn new(references: usize) -> Self {
        Self {
            endpoint: "opc.tcp://127.0.0.1:4840".parse().unwrap(),
            batches: Batches::default(),
            references,
            last: 0,
            held: Vec::new(),
        }
    }

    fn result(&mut self, references: usize) -> BrowseResult {
        self.last += 1;
        let point = ByteString::from(self.last.to_le_bytes().as_slice());
        self.held.push(point.clone());
        BrowseResult {
            continuation_point: point,
            references: vec![ReferenceDescription::default(); references],
            ..BrowseResult::default()
        }
    }
}

impl Requests for Endless {
    fn endpoint(&self) -> &Endpoint {
        &self.endpoint
    }

    fn batches(&self) -> &Batches {
        &self.batches
    }

    async fn call<Q: ServiceRequest>(&mut self, request: Q) -> Result<Q::Response, ClientError> {
        let bytes = request.encode_to_vec();
        let mut decoder = Decoder::new(&bytes);
        let response = if Q::NAME == BrowseRequest::NAME {
            let request = BrowseRequest::decode(&mut decoder).unwrap();
            let nodes = request.nodes_to_browse.iter();
            let response = BrowseResponse {
                results: nodes.map(|_| self.result(1)).collect(),
                ..BrowseResponse::default()
            };
            response.encode_to_vec()
        } else {
            let request = BrowseNextRequest::decode(&mut decoder).unwrap();
            let points = request.continuation_points;
            self.held.retain(|held| !points.contains(held));
            let results = match request.release_continuation_points {
                true => vec![BrowseResult::default(); points.len()],
                false => points
                    .iter()
                    .map(|_| self.result(self.references))
                    .collect(),
            };
            let response = BrowseNextResponse {
                results,
                ..BrowseNextResponse::default()
            };
            response.encode_to_vec()
        };
        Ok(Q::Response::decode(&mut Decoder::new(&response)).unwrap())
    }
}

#[test]
fn all_continuation_points_are_released_after_an_error() {
    // Too many references for the budget, and responses without references.
    for references in [10, 0] {
        let mut server = Endless::new(references);
        let mut budget = AnswerBudget::new(100_000);
        let nodes = vec![NodeId::from(ids::OBJECTS_FOLDER); 3];
        let follow = Follow::all();
        let found = ready(server.browse_many_within(&nodes, &follow, &mut budget));
        assert!(found.is_err());
        assert!(server.held.is_empty(), "{references}: {:?}", server.held);
    }
}

#[test]
fn names_that_are_alike_are_suggested() {
    let children = [(2, "Speed"), (2, "Spindle"), (3, "Setpoint")].map(|(namespace, name)| {
        let browse_name = QualifiedName::new(namespace, name);
        ReferenceDescription {
            browse_name,
            ..ReferenceDescription::default()
        }
    });
    let suggested = |path: &str| {
        let segment = browse_path::parse(path).unwrap().remove(0);
        nearest(&children, &segment).map(|found| found.to_string())
    };
    assert_eq!(suggested("Sped").as_deref(), Some("Speed"));
    assert_eq!(suggested("speed").as_deref(), Some("Speed"));
    assert_eq!(suggested("4:Speed").as_deref(), Some("2:Speed"));
    assert_eq!(suggested("Temperature"), None);
}
