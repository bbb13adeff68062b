//! HistoryUpdate (OPC 10000-4, 5.11.5): history is recorded, and not changed by clients.

use std::sync::Arc;

use takt_ua::StatusCode;
use takt_ua::binary::{Decoder, Encoder};
use takt_ua::structures::{HistoryUpdateRequest, HistoryUpdateResponse, HistoryUpdateResult};

use super::request::{Handled, Request, check_count, decode, encode};
use crate::responses::fault::Fault;
use crate::session::Session;

/// Handles a HistoryUpdate request: each operation is refused.
pub(super) fn update(
    request: &Request<'_>,
    _: &Arc<Session>,
    structure: Decoder<'_>,
    response: &mut Encoder<'_>,
) -> Handled {
    let server = request.server;
    if server.historian().is_none() {
        return Err(Fault(StatusCode::BadServiceUnsupported));
    }
    let update: HistoryUpdateRequest = decode(structure)?;
    let limit = server.budgets.operations.max_nodes_per_history_read_data;
    check_count(update.history_update_details.len(), limit)?;
    let refused = HistoryUpdateResult {
        status_code: StatusCode::BadHistoryOperationUnsupported,
        ..HistoryUpdateResult::default()
    };
    let answer = HistoryUpdateResponse {
        response_header: request.response_header(),
        results: vec![refused; update.history_update_details.len()],
        ..HistoryUpdateResponse::default()
    };
    encode(&answer, response)
}
