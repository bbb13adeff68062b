//! The two forms of a request: the binary DataEncoding (OPC 10000-6, 5.2), and the fixed layout of shared memory (`takt_layout`).

use takt_layout::LayoutError;
use takt_ua::ExtensionObjectRef;
use takt_ua::binary::Decoder;
use takt_ua::views::RequestHeaderRef;

use super::Fault;

impl From<LayoutError> for Fault {
    #[cold]
    fn from(error: LayoutError) -> Self {
        Self(error.status_code())
    }
}

/// The parameters of a service.
#[derive(Clone)]
pub(crate) enum Body<'a> {
    /// What follows the RequestHeader.
    Encoded(Decoder<'a>),
    LaidOut(&'a takt_layout::Request<'a>),
}

/// The operations of a request, to be taken one after another.
pub(super) enum Items<'a> {
    Encoded(Decoder<'a>),
    LaidOut(takt_layout::Items<'a>),
}

/// What a RequestHeader (OPC 10000-4, 7.33) says, of a request in the fixed layout.
#[inline]
pub(crate) fn header<'a>(request: &takt_layout::Request<'a>) -> RequestHeaderRef<'a> {
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
