//! ExtensionObjects (OPC 10000-6, 5.3.1.16) and the structures in them (OPC 10000-6, 5.3.6 to 5.3.8).
//!
//! A structure of the standard is converted to its binary encoding, as servers return it. Unknown structures stay
//! XML, which an ExtensionObject may contain as well.

use roxmltree::Node as Element;
use takt_ua::binary::{Encode, EncodeError, Encoder};
use takt_ua::generated::descriptions::STRUCTURES;
use takt_ua::generated_support::{FieldDescription, FieldType, StructureDescription};
use takt_ua::{
    BuiltInType, ByteString, DataValue, DateTime, ExpandedNodeId, ExtensionObject,
    ExtensionObjectBody, Guid, LocalizedText, NodeId, QualifiedName, StatusCode, UaString, Variant,
    XmlElement,
};

use super::{for_each_element_type, xml_body};
use crate::error::{NodeSetError, Reason};
use crate::reader::Reader;

/// Largest depth of nested structures; the standard has only a few levels.
pub(super) const MAX_DEFAULT_DEPTH: usize = 16;

impl Reader<'_> {
    pub(super) fn extension_object(
        &self,
        element: Element<'_, '_>,
    ) -> Result<ExtensionObject, NodeSetError> {
        let type_id = match self.part(element, "TypeId") {
            Some(type_id) => self.node_id_value(type_id)?,
            None => NodeId::NULL,
        };
        let Some(body) = self
            .part(element, "Body")
            .and_then(|body| body.first_element_child())
        else {
            return Ok(ExtensionObject {
                type_id,
                body: ExtensionObjectBody::None,
            });
        };
        // A body that is encoded already stays as it is, whether its type is known or not.
        if body.tag_name().name() == "ByteString" {
            let bytes = self.byte_string(body)?.into_vec();
            return Ok(ExtensionObject {
                type_id,
                body: ExtensionObjectBody::Binary(bytes),
            });
        }
        let Some(description) = description_of(&type_id) else {
            let xml = xml_body::write(self, body)?;
            return Ok(ExtensionObject {
                type_id,
                body: ExtensionObjectBody::Xml(xml),
            });
        };
        let mut bytes = Vec::new();
        let mut encoder = Encoder::growing(&mut bytes, self.budget());
        self.encode_structure(Some(body), body, description, &mut encoder, 0)?;
        self.spend(body, bytes.len())?;
        Ok(ExtensionObject {
            type_id: NodeId::numeric(0, description.binary_encoding_id),
            body: ExtensionObjectBody::Binary(bytes),
        })
    }

    /// Encodes a structure. Fields that the document leaves out have their defaults; all fields do if `content` is
    /// `None`. Errors refer to `place`.
    fn encode_structure(
        &self,
        content: Option<Element<'_, '_>>,
        place: Element<'_, '_>,
        description: &StructureDescription,
        encoder: &mut Encoder<'_>,
        depth: usize,
    ) -> Result<(), NodeSetError> {
        if depth > MAX_DEFAULT_DEPTH {
            return Err(self.error(place, Reason::Expansion));
        }
        let part = |field: &FieldDescription| {
            let part = content.and_then(|content| self.part(content, field.name));
            part.filter(|part| !self.is_nil(*part))
        };
        if description.has_optional_fields() {
            let optional = description.fields.iter().filter(|field| field.is_optional);
            let mask = optional.enumerate().fold(0u32, |mask, (bit, field)| {
                let present = u32::from(part(field).is_some());
                mask | present
                    // No structure of the standard has more than 32 optional fields.
                    .checked_shl(u32::try_from(bit).unwrap_or(u32::MAX))
                    .unwrap_or(0)
            });
            self.put(place, encoder.u32(mask))?;
        }
        for field in description.fields {
            let part = part(field);
            if field.is_optional && part.is_none() {
                continue;
            }
            match part {
                Some(part) if field.is_array => {
                    let elements = || part.children().filter(Element::is_element);
                    self.put(part, encoder.array_length(Some(elements().count())))?;
                    for element in elements() {
                        self.encode_field(
                            Some(element),
                            element,
                            field.field_type,
                            encoder,
                            depth,
                        )?;
                    }
                }
                None if field.is_array => self.put(place, encoder.array_length(None))?,
                part => self.encode_field(
                    part,
                    part.unwrap_or(place),
                    field.field_type,
                    encoder,
                    depth,
                )?,
            }
        }
        Ok(())
    }

    fn encode_field(
        &self,
        content: Option<Element<'_, '_>>,
        place: Element<'_, '_>,
        field_type: FieldType,
        encoder: &mut Encoder<'_>,
        depth: usize,
    ) -> Result<(), NodeSetError> {
        match field_type {
            FieldType::Structure(type_id) => {
                match STRUCTURES.iter().find(|known| known.type_id == type_id) {
                    Some(description) => {
                        self.encode_structure(content, place, description, encoder, depth + 1)
                    }
                    None => Err(self.unexpected(place)),
                }
            }
            FieldType::Enumeration(_) => {
                // The default of an enumeration is 0, even if it has no such value.
                let value = content.map_or(Ok(0), |content| self.enumeration(content))?;
                self.put(place, encoder.i32(value))
            }
            FieldType::BuiltIn(built_in_type) => match content {
                Some(content) => self.encode_built_in(content, built_in_type, encoder),
                None => self.put(place, encode_default(built_in_type, encoder)),
            },
        }
    }

    pub(super) fn encode_built_in(
        &self,
        element: Element<'_, '_>,
        built_in_type: BuiltInType,
        encoder: &mut Encoder<'_>,
    ) -> Result<(), NodeSetError> {
        macro_rules! encode {
            ($($kind:ident $value_type:ty, $read:ident;)*) => {
                match built_in_type {
                    $(BuiltInType::$kind => {
                        let value: $value_type = self.$read(element)?;
                        value.encode(encoder)
                    })*
                    BuiltInType::DiagnosticInfo => return Err(self.unexpected(element)),
                }
            };
        }
        let encoded = for_each_element_type!(encode);
        self.put(element, encoded)
    }

    /// Reads an enumeration value (OPC 10000-6, 5.3.2): `Running_0`, or in older documents `0`.
    pub(super) fn enumeration(&self, element: Element<'_, '_>) -> Result<i32, NodeSetError> {
        let text = self.text(element);
        let number = text.rsplit('_').next().unwrap_or("").trim();
        let name = element.tag_name().name();
        number.parse().map_err(|_| {
            self.invalid(
                element,
                name,
                &text,
                "an enumeration value such as Running_0",
            )
        })
    }

    /// Converts an error of the encoder, which is always a value that is too large.
    fn put(
        &self,
        place: Element<'_, '_>,
        outcome: Result<(), EncodeError>,
    ) -> Result<(), NodeSetError> {
        outcome.map_err(|_| self.error(place, Reason::Expansion))
    }
}

/// Returns the structure of a TypeId, which is the NodeId of the XML encoding or of the DataType.
fn description_of(type_id: &NodeId) -> Option<&'static StructureDescription> {
    let id = type_id.standard_id().filter(|id| *id != 0)?;
    STRUCTURES.iter().find(|known| {
        known.xml_encoding_id == id || known.type_id == id || known.binary_encoding_id == id
    })
}

/// Encodes the default of a field that the document leaves out.
pub(super) fn encode_default(
    built_in_type: BuiltInType,
    encoder: &mut Encoder<'_>,
) -> Result<(), EncodeError> {
    const NULL_LENGTH: [u8; 4] = [0xFF; 4];
    if let Some(size) = built_in_type.encoded_size() {
        // All types with a fixed size have at most 16 bytes, and zeros as the default.
        return encoder.bytes([0; 16].get(..size).unwrap_or_default());
    }
    match built_in_type {
        BuiltInType::String | BuiltInType::ByteString | BuiltInType::XmlElement => {
            encoder.bytes(&NULL_LENGTH)
        }
        // The encoding of two bytes, with the identifier 0.
        BuiltInType::NodeId | BuiltInType::ExpandedNodeId => encoder.u16(0),
        BuiltInType::QualifiedName => {
            encoder.u16(0)?;
            encoder.bytes(&NULL_LENGTH)
        }
        BuiltInType::ExtensionObject => ExtensionObject::NULL.encode(encoder),
        // LocalizedText, DataValue, Variant, DiagnosticInfo: a mask without a bit set.
        _ => encoder.u8(0),
    }
}
