//! Elements of DER: identifier octet, length and content (X.690, 8.1 and 10.1).

use der::asn1::{AnyRef, BitStringRef};
use der::{Decode, Length, Reader, SliceReader, Tag};

use crate::certificate_error::CertificateError;

/// Identifier octets (X.690, 8.1.2).
pub(crate) mod tag {
    pub(crate) const BOOLEAN: u8 = 0x01;
    pub(crate) const INTEGER: u8 = 0x02;
    pub(crate) const BIT_STRING: u8 = 0x03;
    pub(crate) const OCTET_STRING: u8 = 0x04;
    pub(crate) const OBJECT_IDENTIFIER: u8 = 0x06;
    pub(crate) const OBJECT_DESCRIPTOR: u8 = 0x07;
    pub(crate) const UTF8_STRING: u8 = 0x0C;
    pub(crate) const NUMERIC_STRING: u8 = 0x12;
    pub(crate) const PRINTABLE_STRING: u8 = 0x13;
    pub(crate) const T61_STRING: u8 = 0x14;
    pub(crate) const VIDEOTEX_STRING: u8 = 0x15;
    pub(crate) const IA5_STRING: u8 = 0x16;
    pub(crate) const UTC_TIME: u8 = 0x17;
    pub(crate) const GENERALIZED_TIME: u8 = 0x18;
    pub(crate) const GRAPHIC_STRING: u8 = 0x19;
    pub(crate) const VISIBLE_STRING: u8 = 0x1A;
    pub(crate) const GENERAL_STRING: u8 = 0x1B;
    pub(crate) const BMP_STRING: u8 = 0x1E;
    pub(crate) const SEQUENCE: u8 = 0x30;
    pub(crate) const SET: u8 = 0x31;

    /// Returns the identifier octet of a context-specific tag of a primitive element.
    pub(crate) const fn context(number: u8) -> u8 {
        0x80 | number
    }

    /// Returns the identifier octet of a context-specific tag of an element that consists of others.
    pub(crate) const fn constructed(number: u8) -> u8 {
        0xA0 | number
    }
}

/// One element.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Element<'a> {
    /// Identifier octet.
    pub(crate) tag: u8,
    /// The content, without identifier and length.
    pub(crate) content: &'a [u8],
    /// The whole encoding.
    pub(crate) encoded: &'a [u8],
}

impl<'a> Element<'a> {
    /// Reads the elements that this one consists of.
    pub(crate) const fn parts(&self) -> Elements<'a> {
        Elements::of(self.content)
    }

    /// Returns true if the element consists of others (X.690, 8.1.2.5).
    pub(crate) const fn is_constructed(&self) -> bool {
        self.tag & 0x20 != 0
    }

    /// Returns an INTEGER from 0 to 2³² − 1.
    pub(crate) fn unsigned(&self) -> Result<u32, CertificateError> {
        let integer = AnyRef::new(Tag::Integer, self.content).map_err(malformed)?;
        integer.decode_as().map_err(malformed)
    }

    /// Returns the bytes of a BIT STRING. Unused bits of the last one have to be 0 (X.690, 11.2.1).
    pub(crate) fn bits(&self) -> Result<&'a [u8], CertificateError> {
        let string = AnyRef::new(Tag::BitString, self.content).map_err(malformed)?;
        let string: BitStringRef<'a> = string.decode_as().map_err(malformed)?;
        let (bytes, unused) = (string.raw_bytes(), u32::from(string.unused_bits()));
        match bytes.last() {
            Some(last) if last.trailing_zeros() < unused => Err(CertificateError::Structure),
            _ => Ok(bytes),
        }
    }
}

/// Elements that follow each other.
#[derive(Clone)]
pub(crate) struct Elements<'a>(&'a [u8]);

impl<'a> Elements<'a> {
    /// Reads `bytes`.
    pub(crate) const fn of(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    /// Returns the bytes that were not read yet.
    pub(crate) const fn rest(&self) -> &'a [u8] {
        self.0
    }

    /// Reads the next element.
    pub(crate) fn element(&mut self) -> Result<Element<'a>, CertificateError> {
        let mut reader = SliceReader::new(self.0).map_err(malformed)?;
        let tag = reader.read_byte().map_err(malformed)?;
        // Tags above 30 have more octets (X.690, 8.1.2.4). No structure here has them.
        if tag & 0x1F == 0x1F {
            return Err(CertificateError::Structure);
        }
        let length = Length::decode(&mut reader).map_err(malformed)?;
        let content = reader.read_slice(length).map_err(malformed)?;
        let end = usize::try_from(reader.position()).map_err(malformed)?;
        let parts = self.0.split_at_checked(end);
        let (encoded, rest) = parts.ok_or(CertificateError::Structure)?;
        self.0 = rest;
        Ok(Element {
            tag,
            content,
            encoded,
        })
    }

    /// Reads the next element, which has this tag.
    pub(crate) fn expect(&mut self, tag: u8) -> Result<Element<'a>, CertificateError> {
        let element = self.element()?;
        match element.tag == tag {
            true => Ok(element),
            false => Err(CertificateError::Structure),
        }
    }

    /// Reads the next element if it has this tag.
    pub(crate) fn optional(&mut self, tag: u8) -> Result<Option<Element<'a>>, CertificateError> {
        match self.0.first() {
            Some(first) if *first == tag => self.element().map(Some),
            _ => Ok(None),
        }
    }

    /// Reads all elements until the end.
    pub(crate) fn all(mut self) -> Result<Vec<Element<'a>>, CertificateError> {
        let mut all = Vec::new();
        while !self.0.is_empty() {
            all.push(self.element()?);
        }
        Ok(all)
    }

    /// Checks that all was read.
    pub(crate) const fn end(&self) -> Result<(), CertificateError> {
        match self.0 {
            [] => Ok(()),
            _ => Err(CertificateError::Structure),
        }
    }
}

/// Tells that an encoding is wrong; callers need no details.
fn malformed(_: der::Error) -> CertificateError {
    CertificateError::Structure
}
