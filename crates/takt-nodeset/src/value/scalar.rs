//! The built-in types (OPC 10000-6, 5.3.1).

use std::borrow::Cow;
use std::str::FromStr;

use roxmltree::Node as Element;
use takt_ua::{
    BuiltInType, ByteString, DataValue, DateTime, ExpandedNodeId, Guid, LocalizedText, NodeId,
    QualifiedName, StatusCode, UaString, Variant, XmlElement,
};

use super::xml_body;
use crate::error::NodeSetError;
use crate::reader::{self, Reader};

impl Reader<'_> {
    /// Reads a scalar as a Variant.
    pub(super) fn scalar(
        &self,
        element: Element<'_, '_>,
        built_in_type: BuiltInType,
    ) -> Result<Variant, NodeSetError> {
        Ok(match built_in_type {
            BuiltInType::Boolean => Variant::Boolean(self.boolean(element)?),
            BuiltInType::SByte => Variant::SByte(self.number(element)?),
            BuiltInType::Byte => Variant::Byte(self.number(element)?),
            BuiltInType::Int16 => Variant::Int16(self.number(element)?),
            BuiltInType::UInt16 => Variant::UInt16(self.number(element)?),
            BuiltInType::Int32 => Variant::Int32(self.number(element)?),
            BuiltInType::UInt32 => Variant::UInt32(self.number(element)?),
            BuiltInType::Int64 => Variant::Int64(self.number(element)?),
            BuiltInType::UInt64 => Variant::UInt64(self.number(element)?),
            BuiltInType::Float => Variant::Float(self.float(element)?),
            BuiltInType::Double => Variant::Double(self.double(element)?),
            BuiltInType::String => Variant::String(self.string(element)?),
            BuiltInType::DateTime => Variant::DateTime(self.date_time(element)?),
            BuiltInType::Guid => Variant::Guid(self.guid(element)?),
            BuiltInType::ByteString => Variant::ByteString(self.byte_string(element)?),
            BuiltInType::XmlElement => Variant::XmlElement(self.xml_element(element)?),
            BuiltInType::NodeId => Variant::NodeId(Box::new(self.node_id_value(element)?)),
            BuiltInType::ExpandedNodeId => {
                Variant::ExpandedNodeId(Box::new(self.expanded_node_id(element)?))
            }
            BuiltInType::StatusCode => Variant::StatusCode(self.status_code(element)?),
            BuiltInType::QualifiedName => {
                Variant::QualifiedName(Box::new(self.qualified_name_value(element)?))
            }
            BuiltInType::LocalizedText => {
                Variant::LocalizedText(Box::new(self.localized_text_value(element)?))
            }
            BuiltInType::ExtensionObject => {
                Variant::ExtensionObject(Box::new(self.extension_object(element)?))
            }
            BuiltInType::DataValue => Variant::DataValue(Box::new(self.data_value(element)?)),
            BuiltInType::Variant => self.variant(element)?,
            BuiltInType::DiagnosticInfo => return Err(self.unexpected(element)),
        })
    }

    fn name_of<'d>(element: Element<'_, 'd>) -> &'d str {
        element.tag_name().name()
    }

    /// Parses the trimmed text of an element.
    fn simple<T: FromStr>(
        &self,
        element: Element<'_, '_>,
        expected: &'static str,
    ) -> Result<T, NodeSetError> {
        let text = self.text(element);
        let parsed = text.trim().parse();
        parsed.map_err(|_| self.invalid(element, Self::name_of(element), &text, expected))
    }

    /// Reads the text of a part such as `Identifier`; empty if there is none.
    fn part_text<'d>(&self, element: Element<'d, '_>, name: &str) -> Cow<'d, str> {
        self.part(element, name)
            .map_or(Cow::Borrowed(""), |part| self.text(part))
    }

    pub(super) fn boolean(&self, element: Element<'_, '_>) -> Result<bool, NodeSetError> {
        let text = self.text(element);
        reader::boolean(&text)
            .ok_or_else(|| self.invalid(element, Self::name_of(element), &text, "true or false"))
    }

    pub(super) fn number<T: FromStr>(&self, element: Element<'_, '_>) -> Result<T, NodeSetError> {
        self.simple(element, "a whole number in the range of its type")
    }

    pub(super) fn float(&self, element: Element<'_, '_>) -> Result<f32, NodeSetError> {
        // XML Schema writes INF where Rust also knows inf and infinity; no NodeSet uses those for anything else.
        self.simple(element, "a number, INF, -INF or NaN")
    }

    pub(super) fn double(&self, element: Element<'_, '_>) -> Result<f64, NodeSetError> {
        self.simple(element, "a number, INF, -INF or NaN")
    }

    pub(super) fn string(&self, element: Element<'_, '_>) -> Result<UaString, NodeSetError> {
        if self.is_nil(element) {
            return Ok(UaString::null());
        }
        Ok(UaString::from(&*self.text(element)))
    }

    pub(super) fn date_time(&self, element: Element<'_, '_>) -> Result<DateTime, NodeSetError> {
        let text = self.text(element);
        reader::date_time(&text).ok_or_else(|| {
            self.invalid(
                element,
                Self::name_of(element),
                &text,
                "a date and time such as 2024-05-01T00:00:00Z",
            )
        })
    }

    pub(super) fn guid(&self, element: Element<'_, '_>) -> Result<Guid, NodeSetError> {
        let text = self.part_text(element, "String");
        let text = text.trim();
        if text.is_empty() {
            return Ok(Guid::NULL);
        }
        text.parse()
            .map_err(|_| self.invalid(element, Self::name_of(element), text, "a Guid"))
    }

    pub(super) fn byte_string(&self, element: Element<'_, '_>) -> Result<ByteString, NodeSetError> {
        if self.is_nil(element) {
            return Ok(ByteString::null());
        }
        let text = self.text(element);
        let bytes = base64(&text)
            .ok_or_else(|| self.invalid(element, Self::name_of(element), &text, "base64"))?;
        Ok(ByteString::from(bytes))
    }

    pub(super) fn xml_element(&self, element: Element<'_, '_>) -> Result<XmlElement, NodeSetError> {
        // The content is written again by itself, because its namespaces may be declared anywhere above it.
        Ok(match element.first_element_child() {
            Some(content) => XmlElement(UaString::from(xml_body::write(self, content)?)),
            None => XmlElement::default(),
        })
    }

    pub(super) fn node_id_value(&self, element: Element<'_, '_>) -> Result<NodeId, NodeSetError> {
        let text = self.part_text(element, "Identifier");
        if text.trim().is_empty() {
            return Ok(NodeId::NULL);
        }
        // Aliases are meant for References, but some documents use them in values too.
        self.node_id(element, Self::name_of(element), &text)
    }

    pub(super) fn expanded_node_id(
        &self,
        element: Element<'_, '_>,
    ) -> Result<ExpandedNodeId, NodeSetError> {
        let text = self.part_text(element, "Identifier");
        let text = text.trim();
        if text.is_empty() {
            return Ok(ExpandedNodeId::default());
        }
        let parsed: Result<ExpandedNodeId, _> = text.parse();
        let mut expanded = parsed.map_err(|_| {
            self.invalid(element, Self::name_of(element), text, "an ExpandedNodeId")
        })?;
        // An index with a URI, or of another server, does not refer to this document.
        if expanded.namespace_uri.is_null() && expanded.server_index == 0 {
            expanded.node_id.namespace = self.namespace(element, expanded.node_id.namespace)?;
        }
        Ok(expanded)
    }

    pub(super) fn status_code(&self, element: Element<'_, '_>) -> Result<StatusCode, NodeSetError> {
        match self.part(element, "Code") {
            Some(code) => self.number(code).map(StatusCode),
            None => Ok(StatusCode::Good),
        }
    }

    pub(super) fn qualified_name_value(
        &self,
        element: Element<'_, '_>,
    ) -> Result<QualifiedName, NodeSetError> {
        let namespace = match self.part(element, "NamespaceIndex") {
            Some(index) => self.namespace(index, self.number(index)?)?,
            None => 0,
        };
        let name = self
            .part(element, "Name")
            .map(|name| self.string(name))
            .transpose()?;
        Ok(QualifiedName {
            namespace,
            name: name.unwrap_or_default(),
        })
    }

    pub(super) fn localized_text_value(
        &self,
        element: Element<'_, '_>,
    ) -> Result<LocalizedText, NodeSetError> {
        let part = |name| match self.part(element, name) {
            Some(part) => self.string(part),
            None => Ok(UaString::null()),
        };
        let locale = part("Locale")?;
        // An empty locale equals none, which has the shorter encoding.
        let locale = if locale.is_empty() {
            UaString::null()
        } else {
            locale
        };
        Ok(LocalizedText {
            locale,
            text: part("Text")?,
        })
    }

    pub(super) fn data_value(&self, element: Element<'_, '_>) -> Result<DataValue, NodeSetError> {
        let value = self
            .part(element, "Value")
            .map(|value| match self.part(value, "Value") {
                Some(_) => self.variant(value),
                // Documents of older tools leave out the element of the Variant itself.
                None => self.variant(element),
            })
            .transpose()?;
        let status = self
            .part(element, "StatusCode")
            .map(|code| self.status_code(code))
            .transpose()?;
        let time = |name| {
            self.part(element, name)
                .map(|time| self.date_time(time))
                .transpose()
        };
        let picoseconds = |name| {
            self.part(element, name)
                .map(|part| self.number(part))
                .transpose()
        };
        Ok(DataValue {
            value,
            status,
            source_timestamp: time("SourceTimestamp")?,
            source_picoseconds: picoseconds("SourcePicoseconds")?,
            server_timestamp: time("ServerTimestamp")?,
            server_picoseconds: picoseconds("ServerPicoseconds")?,
        })
    }
}

/// Decodes base64 (RFC 4648) with any white space in between, as `xs:base64Binary` allows.
fn base64(text: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(text.len() / 4 * 3);
    let (mut bits, mut count, mut padding) = (0u32, 0u32, 0u32);
    for byte in text.bytes().filter(|byte| !byte.is_ascii_whitespace()) {
        let digit = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            b'=' => {
                padding += 1;
                continue;
            }
            _ => return None,
        };
        if padding > 0 {
            return None;
        }
        // Bits of earlier groups move out at the top: a byte needs the lower ones only.
        bits = bits << 6 | u32::from(digit);
        count += 1;
        if count % 4 != 1 {
            // 2, 3 and 4 digits complete the first, second and third byte of a group.
            let unused = [0, 0, 4, 2][(count % 4) as usize];
            bytes.push((bits >> unused) as u8);
        }
    }
    let complete = match count % 4 {
        0 => padding == 0,
        1 => false,
        digits => padding == 0 || digits + padding == 4,
    };
    complete.then_some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_as_in_rfc_4648() {
        for (text, bytes) in [
            ("", ""),
            ("Zg==", "f"),
            ("Zm8=", "fo"),
            ("Zm9v", "foo"),
            ("Zm9vYg==", "foob"),
            ("Zm9v\r\n  YmE=", "fooba"),
            ("Zm9vYmFy", "foobar"),
            ("Zg", "f"),
        ] {
            assert_eq!(base64(text).as_deref(), Some(bytes.as_bytes()), "{text}");
        }
        for wrong in ["Z", "Zg=", "Zg=a", "=", "Z===", "Zm9v====", "Zm9-"] {
            assert_eq!(base64(wrong), None, "{wrong}");
        }
    }
}
