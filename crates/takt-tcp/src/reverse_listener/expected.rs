//! Servers for which a client waits.

use crate::reverse_hello::ReverseHello;
use takt_ua::endpoint_url::EndpointUrl;

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
        self.fits_uri(hello) && self.fits_url(hello)
    }

    fn fits_uri(&self, hello: &ReverseHello) -> bool {
        let uri = self.server_uri.as_ref();
        uri.is_none_or(|uri| *uri == hello.server_uri)
    }

    fn fits_url(&self, hello: &ReverseHello) -> bool {
        let url = hello.endpoint_url.parse::<EndpointUrl>();
        url.is_ok_and(|url| {
            url.host().eq_ignore_ascii_case(self.url.host())
                && url.port() == self.url.port()
                && url.path() == self.url.path()
        })
    }

    /// Returns what a refused server has instead of what was expected.
    pub(super) fn difference(&self, refused: &ReverseHello) -> String {
        let mut parts = Vec::new();
        if let Some(uri) = self.server_uri.as_ref().filter(|_| !self.fits_uri(refused)) {
            parts.push(format!(
                "ServerUri {:?} instead of {uri:?}",
                refused.server_uri
            ));
        }
        if !self.fits_url(refused) {
            let wanted = self.url.to_string();
            parts.push(format!(
                "EndpointUrl {:?} instead of {wanted:?}",
                refused.endpoint_url
            ));
        }
        parts.join(" and ")
    }
}
