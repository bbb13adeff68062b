//! Endpoint URLs, `opc.tcp://host:port/path` (OPC 10000-6, 7.1.2.3 and 7.2): the only parser of them.
//!
//! * [`UrlParts`]: the parts of a URL with any scheme, borrowed and as they are written.
//! * [`EndpointUrl`]: an `opc.tcp` URL to which a client can connect.
//!
//! Schemes and host names are the same in upper and lower case (RFC 3986, 6.2.2.1), paths are not.

mod opc_tcp;
mod parts;

pub use opc_tcp::{DEFAULT_PORT, EndpointUrl};
pub use parts::{EndpointUrlError, MAX_ENDPOINT_URL_LENGTH, UrlParts, has_scheme, split_scheme};
