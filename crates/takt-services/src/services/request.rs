//! A request whose header is decoded, and the helpers that services share.

use std::cell::Cell;
use std::sync::Arc;

use takt_space::Caller;
use takt_ua::binary::{Decoder, Encode, Encoder};
use takt_ua::enumerations::TimestampsToReturn;
use takt_ua::request_handler::RequestOutcome;
use takt_ua::structures::ResponseHeader;
use takt_ua::views::RequestHeaderRef;
use takt_ua::{DateTime, NodeIdRef, StatusCode, Structure};

use crate::audit::auditor::Auditor;
use crate::audit::record::{AuditRecord, AuditedAction};
use crate::reading::attributes::VALUE;
use crate::responses::fault::Fault;
use crate::responses::message::response_header;
use crate::server::Server;

/// A request whose Session is not known yet.
#[derive(Clone, Copy)]
pub(crate) struct Incoming<'a> {
    pub(crate) server: &'a Arc<Server>,
    pub(crate) header: &'a RequestHeaderRef<'a>,
    pub(crate) now: DateTime,
    pub(crate) request_id: u32,
    pub(crate) message: &'a [u8],
}

impl<'a> Incoming<'a> {
    /// Creates a request that was received just now.
    #[inline]
    pub(crate) fn new(
        server: &'a Arc<Server>,
        header: &'a RequestHeaderRef<'a>,
        request_id: u32,
        message: &'a [u8],
    ) -> Self {
        Self {
            server,
            header,
            now: DateTime::now(),
            request_id,
            message,
        }
    }

    /// Returns the request with its caller.
    #[inline]
    pub(crate) fn of(self, caller: &'a Caller) -> Request<'a> {
        Request {
            server: self.server,
            header: self.header,
            caller,
            now: self.now,
            request_id: self.request_id,
            message: self.message,
            is_refusal_told: Cell::new(false),
        }
    }
}

/// A request as it is handed to its service.
pub(crate) struct Request<'a> {
    pub(crate) server: &'a Arc<Server>,
    pub(crate) header: &'a RequestHeaderRef<'a>,
    /// The security context, borrowed from the connection.
    pub(crate) caller: &'a Caller,
    /// Time at which the request was received: the clock is read once per request.
    pub(crate) now: DateTime,
    pub(crate) request_id: u32,
    /// The whole message.
    pub(crate) message: &'a [u8],
    /// True if the [`Users`](crate::Users) know that a Write or Call is refused: once per request.
    pub(crate) is_refusal_told: Cell<bool>,
}

impl Request<'_> {
    /// Records an action, if anybody receives audit records, and tells the [`Users`](crate::Users) if it is refused.
    #[inline]
    pub(crate) fn audit<'i>(&self, status: StatusCode, action: impl FnOnce() -> AuditedAction<'i>) {
        // `Users` are told of a refusal, also if nobody receives audit records.
        if self.server.is_audited() || status == StatusCode::BadUserAccessDenied {
            self.record_action(status, action);
        }
    }

    /// Records an action. It is apart from [`audit`](Self::audit), so that the hot path of a Write stays small.
    #[cold]
    #[inline(never)]
    fn record_action<'i>(&self, status: StatusCode, action: impl FnOnce() -> AuditedAction<'i>) {
        let action = action();
        let service = match action {
            // Rules for other attributes, and for the NamespaceArray, tell their reasons themselves.
            AuditedAction::Write {
                node_id,
                attribute_id: VALUE,
                ..
            } if node_id.namespace != 0 => Some("Write"),
            AuditedAction::Call { .. } => Some("Call"),
            _ => None,
        };
        if status == StatusCode::BadUserAccessDenied
            && let (Some(service), Some(users)) = (service, self.server.users())
            // The last condition, because it changes the cell.
            && !self.is_refusal_told.replace(true)
        {
            users.refused(self.caller, service);
        }
        if let Some(auditor) = self.server.audit() {
            self.record(auditor, self.caller, None, status, action);
        }
    }

    /// Records an action of another caller than that of the request, or one who claims to be this user.
    pub(crate) fn audit_of(
        &self,
        caller: &Caller,
        claimed_user: Option<&str>,
        status: StatusCode,
        action: AuditedAction<'_>,
    ) {
        if let Some(auditor) = self.server.audit() {
            self.record(auditor, caller, claimed_user, status, action);
        }
    }

    #[cold]
    fn record(
        &self,
        auditor: Auditor<'_>,
        caller: &Caller,
        claimed_user: Option<&str>,
        status: StatusCode,
        action: AuditedAction<'_>,
    ) {
        auditor.record(&AuditRecord {
            action,
            time: self.now,
            status,
            caller,
            claimed_user,
            client_audit_entry_id: self.header.audit_entry_id,
            server_id: self.server.application_uri(),
        });
    }
}

/// The outcome of a request, or its fault.
pub(crate) type Handled = Result<RequestOutcome, Fault>;

impl Request<'_> {
    /// Returns the offset in the message of the next byte of a decoder.
    pub(crate) fn offset(&self, decoder: &Decoder<'_>) -> usize {
        self.message.len() - decoder.remaining()
    }

    /// Returns a ResponseHeader with the result Good.
    pub(crate) fn response_header(&self) -> ResponseHeader {
        ResponseHeader {
            timestamp: self.now,
            request_handle: self.header.request_handle,
            ..ResponseHeader::default()
        }
    }

    /// Writes the TypeId and the ResponseHeader of a response that is encoded manually.
    #[inline]
    pub(crate) fn respond(
        &self,
        encoding_id: u32,
        response: &mut Encoder<'_>,
    ) -> Result<(), Fault> {
        let (handle, result) = (self.header.request_handle, StatusCode::Good);
        Ok(response_header(
            response,
            encoding_id,
            self.now,
            handle,
            result,
        )?)
    }
}

/// Decodes a request that is not on the hot path.
pub(crate) fn decode<T: Structure>(mut structure: Decoder<'_>) -> Result<T, Fault> {
    Ok(T::decode(&mut structure)?)
}

/// Encodes a response that is not on the hot path.
pub(crate) fn encode<T: Structure>(message: &T, response: &mut Encoder<'_>) -> Handled {
    NodeIdRef::numeric(0, T::BINARY_ENCODING_ID).encode(response)?;
    message.encode(response)?;
    Ok(RequestOutcome::Complete)
}

/// Checks the number of operations in a request (OPC 10000-4, 5.3; OPC 10000-5, 6.3.11).
#[inline]
pub(crate) fn check_count(count: usize, limit: u32) -> Result<(), Fault> {
    if count == 0 {
        return Err(Fault(StatusCode::BadNothingToDo));
    }
    if count > usize::try_from(limit).unwrap_or(usize::MAX) {
        return Err(Fault(StatusCode::BadTooManyOperations));
    }
    Ok(())
}

/// Checks that the TimestampsToReturn of a client are valid (OPC 10000-4, 7.39).
#[inline]
pub(crate) fn check_timestamps(timestamps: TimestampsToReturn) -> Result<(), Fault> {
    if (0..=3).contains(&timestamps.0) {
        Ok(())
    } else {
        Err(Fault(StatusCode::BadTimestampsToReturnInvalid))
    }
}
