//! Names of algorithms (RFC 5280, 4.1.1.2).

use super::element::{Element, Elements, tag};
use crate::certificate_error::CertificateError;

/// An AlgorithmIdentifier.
pub(crate) struct Algorithm<'a> {
    /// The whole encoding.
    pub(crate) encoded: &'a [u8],
    /// OBJECT IDENTIFIER.
    pub(crate) kind: &'a [u8],
    /// Parameters, if there are any.
    pub(crate) parameters: Option<Element<'a>>,
}

impl<'a> Algorithm<'a> {
    /// Reads the next element.
    pub(crate) fn read(elements: &mut Elements<'a>) -> Result<Self, CertificateError> {
        let whole = elements.expect(tag::SEQUENCE)?;
        let mut parts = whole.parts();
        Ok(Self {
            encoded: whole.encoded,
            kind: parts.expect(tag::OBJECT_IDENTIFIER)?.content,
            parameters: match parts.rest() {
                [] => None,
                _ => Some(parts.element()?),
            },
        })
    }
}
