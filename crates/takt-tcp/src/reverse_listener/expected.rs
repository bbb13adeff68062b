//! Servers for which a client waits.

use crate::endpoint_url::EndpointUrl;
use crate::reverse_hello::ReverseHello;

/// Server for which a client waits.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ExpectedServer {
    /// EndpointUrl in its ReverseHello.
    pub url: EndpointUrl,
    /// ServerUri in its ReverseHello; any one if `None`.
    pub server_uri: Option<String>,
}

impl ExpectedServer {
    /// Returns whether a ReverseHello is that of this server. Upper and lower case in the host are the same.
    #[must_use]
    pub fn fits(&self, hello: &ReverseHello) -> bool {
        let uri = self.server_uri.as_ref();
        let url = hello.endpoint_url.parse::<EndpointUrl>();
        uri.is_none_or(|uri| *uri == hello.server_uri)
            && url.is_ok_and(|url| {
                url.host().eq_ignore_ascii_case(self.url.host())
                    && url.port() == self.url.port()
                    && url.path() == self.url.path()
            })
    }
}
