//! Faults of whole requests, as opposed to results of single operations.

use takt_layout::LayoutError;
use takt_ua::StatusCode;
use takt_ua::binary::{DecodeError, EncodeError};

/// The serviceResult of a ServiceFault (OPC 10000-4, 7.35): the reason why a request as a whole is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Fault(pub(crate) StatusCode);

impl From<StatusCode> for Fault {
    fn from(status: StatusCode) -> Self {
        Self(status)
    }
}

impl From<DecodeError> for Fault {
    #[cold]
    fn from(error: DecodeError) -> Self {
        Self(error.status_code())
    }
}

impl From<EncodeError> for Fault {
    #[cold]
    fn from(_: EncodeError) -> Self {
        Self(StatusCode::BadResponseTooLarge)
    }
}

impl From<LayoutError> for Fault {
    #[cold]
    fn from(error: LayoutError) -> Self {
        Self(error.status_code())
    }
}
