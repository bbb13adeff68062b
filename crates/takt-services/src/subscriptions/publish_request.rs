//! A waiting Publish request (OPC 10000-4, 5.14.5), and its answer.

use std::sync::Arc;
use std::time::Instant;

use takt_ua::binary::{Encode, EncodeError, Encoder};
use takt_ua::{DateTime, StatusCode, ids};

use crate::responses::fault::Fault;
use crate::responses::message::{fault_message, response_header};
use crate::responses::pending::Pending;

/// Maximum number of bytes of a PublishResponse beside its NotificationMessage.
pub(super) const RESPONSE_OVERHEAD: usize = 64 << 10;

/// A Publish request that waits for a message.
pub(crate) struct PublishRequest {
    pub(crate) pending: Arc<Pending>,
    /// Results of the acknowledgements in the request.
    pub(crate) results: Vec<StatusCode>,
    /// End of the client's TimeoutHint.
    pub(crate) deadline: Option<Instant>,
}

/// Parameters of a PublishResponse beside the message.
pub(super) struct Publication {
    pub(super) subscription: u32,
    pub(super) available_sequence_numbers: Vec<u32>,
    pub(super) more_notifications: bool,
    pub(super) message: Arc<[u8]>,
}

impl PublishRequest {
    /// Answers with a PublishResponse of at most `max_size` bytes, or with a fault.
    pub(super) fn answer(&self, publication: &Publication, now: DateTime, max_size: usize) {
        let mut response = Vec::new();
        let mut encoder = Encoder::growing(&mut response, max_size);
        if self.encode(publication, now, &mut encoder).is_err() {
            let fault = Fault(StatusCode::BadResponseTooLarge);
            response = fault_message(self.pending.request_handle, fault);
        }
        self.pending.answer(response);
    }

    /// Answers with a ServiceFault.
    pub(super) fn fail(&self, status: StatusCode) {
        self.pending.answer_fault(Fault(status));
    }

    /// Encodes a PublishResponse around the encoded message.
    fn encode(
        &self,
        publication: &Publication,
        now: DateTime,
        response: &mut Encoder<'_>,
    ) -> Result<(), EncodeError> {
        let id = ids::PUBLISH_RESPONSE_ENCODING_DEFAULT_BINARY;
        let handle = self.pending.request_handle;
        response_header(response, id, now, handle, StatusCode::Good)?;
        response.u32(publication.subscription)?;
        publication.available_sequence_numbers.encode(response)?;
        response.bool(publication.more_notifications)?;
        response.bytes(&publication.message)?;
        self.results.encode(response)?;
        response.array_length(None)
    }
}
