//! The two forms of a request: the binary DataEncoding (OPC 10000-6, 5.2), and the fixed layout of shared memory (`takt_layout`).

use takt_layout::{LayoutError, Service};
use takt_ua::binary::{Decode, Decoder, Limits};
use takt_ua::views::RequestHeaderRef;
use takt_ua::{ExtensionObjectRef, NodeIdRef, ids};

use super::Fault;

impl From<LayoutError> for Fault {
    #[cold]
    fn from(error: LayoutError) -> Self {
        Self(error.status_code())
    }
}

/// A request message: which service, its header, and the rest.
pub(super) struct Message<'a> {
    /// The NodeId of the request's binary encoding, in namespace 0; 0 if it is another.
    pub(super) type_id: u32,
    pub(super) header: RequestHeaderRef<'a>,
    pub(super) body: Body<'a>,
    /// The structure with its header; nothing if it has the fixed layout.
    pub(super) structure: Decoder<'a>,
}

/// The parameters of a service.
#[derive(Clone)]
pub(crate) enum Body<'a> {
    /// What follows the RequestHeader.
    Encoded(Decoder<'a>),
    LaidOut(takt_layout::Request<'a>),
}

/// The operations of a request, to be taken one after another.
#[derive(Clone)]
pub(super) enum Items<'a> {
    Encoded(Decoder<'a>),
    LaidOut(takt_layout::Items<'a>),
}

impl<'a> Message<'a> {
    #[inline]
    pub(super) fn parse(message: &'a [u8], limits: Limits) -> Result<Self, Fault> {
        if takt_layout::is_layout(message) {
            return Self::parse_layout(message, limits);
        }
        let mut body = Decoder::with_limits(message, limits);
        let type_id = NodeIdRef::decode(&mut body)?;
        let structure = body.clone();
        let header = RequestHeaderRef::decode(&mut body)?;
        Ok(Self {
            type_id: type_id.standard_id().unwrap_or_default(),
            header,
            body: Body::Encoded(body),
            structure,
        })
    }

    #[inline]
    fn parse_layout(message: &'a [u8], limits: Limits) -> Result<Self, Fault> {
        let request = takt_layout::Request::parse(message, limits)?;
        let head = request.head();
        Ok(Self {
            type_id: match request.service() {
                Service::Read => ids::READ_REQUEST_ENCODING_DEFAULT_BINARY,
                Service::Write => ids::WRITE_REQUEST_ENCODING_DEFAULT_BINARY,
                Service::Call => ids::CALL_REQUEST_ENCODING_DEFAULT_BINARY,
            },
            header: RequestHeaderRef {
                authentication_token: head.authentication_token,
                timestamp: head.timestamp,
                request_handle: head.request_handle,
                return_diagnostics: 0,
                audit_entry_id: None,
                timeout_hint: head.timeout_hint,
                additional_header: ExtensionObjectRef::default(),
            },
            body: Body::LaidOut(request),
            structure: Decoder::new(&[]),
        })
    }
}
