//! Names of subjects and issuers (RFC 5280, 4.1.2.4).

use std::fmt::Write;

use der::oid::ObjectIdentifierRef;

use super::element::{Element, Elements, tag};
use super::oid;
use crate::certificate_error::CertificateError;

/// A name: relative distinguished names, each of which is a set of attributes.
pub(crate) struct Name<'a> {
    relative: Vec<Vec<Attribute<'a>>>,
}

struct Attribute<'a> {
    /// OBJECT IDENTIFIER.
    kind: &'a [u8],
    value: Element<'a>,
}

impl<'a> Name<'a> {
    /// Reads a name, whose attributes stay in the order in which they are encoded.
    pub(crate) fn read(name: &Element<'a>) -> Result<Self, CertificateError> {
        let relative = name.parts().all()?;
        let relative: Result<_, _> = relative.iter().map(relative_name).collect();
        Ok(Self {
            relative: relative?,
        })
    }

    /// Returns the name as text: relative names with `, ` between them, attributes of one of them with ` + `.
    ///
    /// Values that are no text are hexadecimal digits. Control characters are escaped: a peer chooses its name.
    pub(crate) fn text(&self) -> String {
        let mut text = String::new();
        for (index, relative) in self.relative.iter().enumerate() {
            if index > 0 {
                text.push_str(", ");
            }
            for (index, attribute) in relative.iter().enumerate() {
                if index > 0 {
                    text.push_str(" + ");
                }
                attribute.append_to(&mut text);
            }
        }
        text
    }

    /// Returns the first common name; empty if there is none in UTF-8 or ASCII.
    pub(crate) fn common_name(&self) -> &'a str {
        let mut attributes = self.relative.iter().flatten();
        let found = attributes.find(|one| oid::is(one.kind, &oid::COMMON_NAME));
        match found.map(|one| one.value) {
            Some(Element {
                tag:
                    tag::UTF8_STRING | tag::NUMERIC_STRING | tag::PRINTABLE_STRING | tag::IA5_STRING,
                content,
                ..
            }) => str::from_utf8(content).unwrap_or_default(),
            _ => "",
        }
    }
}

fn relative_name<'a>(set: &Element<'a>) -> Result<Vec<Attribute<'a>>, CertificateError> {
    if set.tag != tag::SET || set.content.is_empty() {
        return Err(CertificateError::Structure);
    }
    let attributes = set.parts().all()?;
    let attributes = attributes.iter().map(|attribute| {
        if attribute.tag != tag::SEQUENCE {
            return Err(CertificateError::Structure);
        }
        let mut parts: Elements<'a> = attribute.parts();
        Ok(Attribute {
            kind: parts.expect(tag::OBJECT_IDENTIFIER)?.content,
            value: parts.element()?,
        })
    });
    attributes.collect()
}

impl Attribute<'_> {
    fn append_to(&self, text: &mut String) {
        match abbreviation(self.kind) {
            Some(name) => text.push_str(name),
            None => append_identifier(self.kind, text),
        }
        text.push('=');
        match value(&self.value) {
            Some(value) => {
                for character in value.chars() {
                    match character.is_control() {
                        true => text.extend(character.escape_default()),
                        false => text.push(character),
                    }
                }
            }
            None => append_bytes(self.value.content, text),
        }
    }
}

/// Returns a value as text; `None` if it is none.
fn value(value: &Element<'_>) -> Option<String> {
    match value.tag {
        tag::UTF8_STRING
        | tag::NUMERIC_STRING
        | tag::PRINTABLE_STRING
        | tag::IA5_STRING
        | tag::VISIBLE_STRING
        | tag::GENERAL_STRING
        | tag::GRAPHIC_STRING
        | tag::VIDEOTEX_STRING
        | tag::OBJECT_DESCRIPTOR => String::from_utf8(value.content.to_vec()).ok(),
        // Latin 1 in practice, whatever X.680 says.
        tag::T61_STRING => Some(match str::from_utf8(value.content) {
            Ok(text) => text.to_owned(),
            Err(_) => value.content.iter().copied().map(char::from).collect(),
        }),
        tag::BMP_STRING => {
            let (units, []) = value.content.as_chunks() else {
                return None;
            };
            let units: Vec<u16> = units.iter().copied().map(u16::from_be_bytes).collect();
            String::from_utf16(&units).ok()
        }
        _ => None,
    }
}

fn append_identifier(kind: &[u8], text: &mut String) {
    text.push_str("OID(");
    match ObjectIdentifierRef::from_bytes(kind) {
        // Writing to a String cannot fail.
        Ok(kind) => drop(write!(text, "{kind}")),
        Err(_) => append_bytes(kind, text),
    }
    text.push(')');
}

fn append_bytes(bytes: &[u8], text: &mut String) {
    for byte in bytes {
        let _ = write!(text, "{byte:02X}");
    }
}

/// Returns the name by which the text of a certificate shows a type of attributes.
fn abbreviation(kind: &[u8]) -> Option<&'static str> {
    // X.520: { joint-iso-itu-t ds(5) attributeType(4) }.
    const X520: [&str; 18] = [
        "objectClass",
        "aliasedEntryName",
        "knowledgeInformation",
        "CN",
        "surname",
        "serialNumber",
        "C",
        "L",
        "ST",
        "streetAddress",
        "O",
        "OU",
        "title",
        "description",
        "searchGuide",
        "businessCategory",
        "postalAddress",
        "postalCode",
    ];
    const NAMES: [&str; 6] = [
        "name",
        "givenName",
        "initials",
        "generationQualifier",
        "uniqueIdentifier",
        "dnQualifier",
    ];
    // PKCS #9 (RFC 2985), and the identifier of a user and the domain component (RFC 4519).
    const PKCS9: &[u8] = &[0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x09];
    const PILOT: &[u8] = &[0x09, 0x92, 0x26, 0x89, 0x93, 0xF2, 0x2C, 0x64, 0x01];
    const MICROSOFT_JURISDICTION: &[u8] =
        &[0x2B, 0x06, 0x01, 0x04, 0x01, 0x82, 0x37, 0x3C, 0x02, 0x01];
    match kind {
        [0x55, 0x04, number @ 0..41] => X520.get(usize::from(*number)).copied(),
        [0x55, 0x04, number] => NAMES.get(usize::from(*number - 41)).copied(),
        [prefix @ .., number] if prefix == PKCS9 => match number {
            1 => Some("Email"),
            2 => Some("unstructuredName"),
            7 => Some("challengePassword"),
            20 => Some("friendlyName"),
            _ => None,
        },
        [prefix @ .., number] if prefix == PILOT => match number {
            1 => Some("uid"),
            25 => Some("DC"),
            _ => None,
        },
        [prefix @ .., number] if prefix == MICROSOFT_JURISDICTION => match number {
            1 => Some("msJurisdictionLocality"),
            2 => Some("msJurisdictionStateOrProvince"),
            3 => Some("msJurisdictionCountry"),
            _ => None,
        },
        _ => None,
    }
}
