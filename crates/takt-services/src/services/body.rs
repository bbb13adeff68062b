//! The two forms of a request: the binary DataEncoding (OPC 10000-6, 5.2), and the fixed layout of shared memory (`takt_layout`).

use takt_ua::binary::{Decode, Decoder, Limits};
use takt_ua::views::RequestHeaderRef;
use takt_ua::{ExtensionObjectRef, NodeIdRef};

use crate::responses::fault::Fault;

/// The parameters of a service.
#[derive(Clone, Copy)]
pub(crate) enum Body<'a> {
    /// The bytes after the RequestHeader.
    Encoded(&'a Decoder<'a>),
    LaidOut(&'a takt_layout::RequestReader<'a>),
}

impl<'a> Body<'a> {
    /// Returns the operations. In the binary DataEncoding, the other parameters and the number of operations come before them.
    #[inline]
    pub(super) fn items(self) -> Items<'a> {
        match self {
            Self::Encoded(body) => Items::Encoded(body.clone()),
            Self::LaidOut(body) => Items::LaidOut(body.items()),
        }
    }
}

/// The operations of a request, which are taken one after another.
pub(super) enum Items<'a> {
    Encoded(Decoder<'a>),
    LaidOut(takt_layout::Items<'a>),
}

impl Items<'_> {
    /// Reads the number of operations, each of at least `min_size` bytes.
    #[inline]
    pub(super) fn count(&mut self, min_size: usize) -> Result<usize, Fault> {
        match self {
            Self::Encoded(items) => Ok(items.array_length(min_size)?.unwrap_or(0)),
            Self::LaidOut(items) => Ok(items.count()),
        }
    }
}

/// Returns the content of a RequestHeader (OPC 10000-4, 7.33) of a request in the fixed layout.
#[inline]
pub(crate) fn header<'a>(request: &takt_layout::RequestReader<'a>) -> RequestHeaderRef<'a> {
    let head = request.head();
    RequestHeaderRef {
        authentication_token: head.authentication_token,
        timestamp: head.timestamp,
        request_handle: head.request_handle,
        return_diagnostics: 0,
        audit_entry_id: None,
        timeout_hint: head.timeout_hint,
        additional_header: ExtensionObjectRef::default(),
    }
}

/// Parses a request message in either form, and returns its RequestHeader and parameters.
pub(crate) fn parse<R>(
    message: &[u8],
    limits: Limits,
    handle: impl FnOnce(&RequestHeaderRef<'_>, Body<'_>) -> Result<R, Fault>,
) -> Result<R, Fault> {
    if takt_layout::is_layout(message) {
        let laid_out = takt_layout::RequestReader::parse(message, limits)?;
        return handle(&header(&laid_out), Body::LaidOut(&laid_out));
    }
    let mut body = Decoder::with_limits(message, limits);
    // The TypeId: the service is known.
    NodeIdRef::decode(&mut body)?;
    let header = RequestHeaderRef::decode(&mut body)?;
    handle(&header, Body::Encoded(&body))
}
