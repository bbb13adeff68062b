//! `<Value>`: Variants in the OPC UA XML DataEncoding (OPC 10000-6, 5.3), to the extent that NodeSets use it.
//!
//! Elements are identified by their local names. Their namespace should be that of the UA types, but documents spell
//! it in several ways, and some have none.
//!
//! Recursion is bounded by the nesting of the document, which [`crate::ParseLimits`] bounds.

mod custom;
mod scalar;
mod structure;
mod xml_body;

pub use custom::{BodyEncoder, DataTypes};
use roxmltree::Node as Element;
use takt_ua::{
    Array, BuiltInType, ByteString, DataValue, DateTime, Elements, ExpandedNodeId, ExtensionObject,
    Guid, LocalizedText, NodeId, QualifiedName, StatusCode, UaString, Variant, XmlElement,
};

use crate::error::{NodeSetError, Reason};
use crate::reader::Reader;

/// Namespace of `xsi:nil`, which makes an element the null value of its type.
const XSI: &str = "http://www.w3.org/2001/XMLSchema-instance";

/// Reads the content of a `<Value>` element; `None` if it is empty.
pub(crate) fn read(
    reader: &Reader<'_>,
    value: Element<'_, '_>,
) -> Result<Option<Variant>, NodeSetError> {
    match value.first_element_child() {
        Some(content) => reader.variant_content(content).map(Some),
        None => Ok(None),
    }
}

/// Calls a macro for each built-in type that can be an element of an array: the name of the type and of the variants
/// of [`Elements`], its Rust type, and the method that reads it.
macro_rules! for_each_element_type {
    ($with:ident) => {
        $with! {
            Boolean bool, boolean;
            SByte i8, number;
            Byte u8, number;
            Int16 i16, number;
            UInt16 u16, number;
            Int32 i32, number;
            UInt32 u32, number;
            Int64 i64, number;
            UInt64 u64, number;
            Float f32, float;
            Double f64, double;
            String UaString, string;
            DateTime DateTime, date_time;
            Guid Guid, guid;
            ByteString ByteString, byte_string;
            XmlElement XmlElement, xml_element;
            NodeId NodeId, node_id_value;
            ExpandedNodeId ExpandedNodeId, expanded_node_id;
            StatusCode StatusCode, status_code;
            QualifiedName QualifiedName, qualified_name_value;
            LocalizedText LocalizedText, localized_text_value;
            ExtensionObject ExtensionObject, extension_object;
            DataValue DataValue, data_value;
            Variant Variant, variant;
        }
    };
}
use for_each_element_type;

impl Reader<'_> {
    /// Returns a child element with that local name, in any namespace.
    fn part<'d, 'i>(&self, element: Element<'d, 'i>, name: &str) -> Option<Element<'d, 'i>> {
        element
            .children()
            .find(|child| child.is_element() && child.tag_name().name() == name)
    }

    fn is_nil(&self, element: Element<'_, '_>) -> bool {
        element
            .attribute((XSI, "nil"))
            .is_some_and(|nil| crate::reader::boolean(nil) == Some(true))
    }

    fn unexpected(&self, element: Element<'_, '_>) -> NodeSetError {
        let parent = element
            .parent_element()
            .map_or("", |parent| parent.tag_name().name());
        let (element_name, parent) = (element.tag_name().name().into(), parent.into());
        self.error(
            element,
            Reason::UnexpectedElement {
                element: element_name,
                parent,
            },
        )
    }

    /// Reads an element whose name is its type: `uax:UInt32`, `uax:ListOfString`, `uax:Matrix`, ...
    fn variant_content(&self, element: Element<'_, '_>) -> Result<Variant, NodeSetError> {
        let name = element.tag_name().name();
        if name == "Matrix" {
            return self.matrix(element);
        }
        if let Some(element_type) = name.strip_prefix("ListOf").and_then(BuiltInType::from_name) {
            if self.is_nil(element) {
                return Ok(Variant::Empty);
            }
            let elements = self.elements(element, element_type)?;
            return Ok(Variant::Array(Box::new(Array {
                elements,
                dimensions: Vec::new(),
            })));
        }
        match BuiltInType::from_name(name) {
            Some(BuiltInType::Variant) => self.variant(element),
            Some(built_in_type) => self.scalar(element, built_in_type),
            None => Err(self.unexpected(element)),
        }
    }

    /// Reads a Variant (OPC 10000-6, 5.3.1.17): an element `Value` with the content.
    fn variant(&self, element: Element<'_, '_>) -> Result<Variant, NodeSetError> {
        let content = self
            .part(element, "Value")
            .and_then(|value| value.first_element_child());
        match content {
            Some(content) => self.variant_content(content),
            None => Ok(Variant::Empty),
        }
    }

    /// Reads a multi-dimensional array (OPC 10000-6, 5.3.1.17): `Dimensions` and `Elements`.
    fn matrix(&self, element: Element<'_, '_>) -> Result<Variant, NodeSetError> {
        const EXPECTED: &str = "a list of lengths whose product is the number of elements";
        let missing = |child| {
            self.error(
                element,
                Reason::MissingElement {
                    element: "Matrix".into(),
                    child,
                },
            )
        };
        let dimensions = self
            .part(element, "Dimensions")
            .ok_or_else(|| missing("Dimensions"))?;
        let content = self
            .part(element, "Elements")
            .ok_or_else(|| missing("Elements"))?;
        let lengths = dimensions.children().filter(Element::is_element);
        let lengths = lengths
            .map(|length| self.number(length))
            .collect::<Result<Vec<u32>, _>>()?;
        // Without an element, the type of an empty array is not known.
        let Some(first) = content.first_element_child() else {
            return Ok(Variant::Empty);
        };
        let element_type = BuiltInType::from_name(first.tag_name().name())
            .ok_or_else(|| self.unexpected(first))?;
        let elements = self.elements(content, element_type)?;
        let count = content.children().filter(Element::is_element).count();
        // The product of the lengths may overflow: they are not checked yet.
        let product = lengths.iter().try_fold(1usize, |product, length| {
            product.checked_mul(usize::try_from(*length).ok()?)
        });
        if lengths.is_empty() || product != Some(count) {
            return Err(self.invalid(dimensions, "Dimensions", &format!("{lengths:?}"), EXPECTED));
        }
        // An array of one dimension has no dimensions in an Array.
        let dimensions = if lengths.len() > 1 {
            lengths
        } else {
            Vec::new()
        };
        Ok(Variant::Array(Box::new(Array {
            elements,
            dimensions,
        })))
    }

    /// Reads all child elements as an array. They must all have the same type.
    fn elements(
        &self,
        list: Element<'_, '_>,
        element_type: BuiltInType,
    ) -> Result<Elements, NodeSetError> {
        let children = || {
            list.children().filter(Element::is_element).map(|child| {
                if child.tag_name().name() == element_type.name() {
                    Ok(child)
                } else {
                    Err(self.unexpected(child))
                }
            })
        };
        macro_rules! read_elements {
            ($($kind:ident $value_type:ty, $read:ident;)*) => {
                match element_type {
                    $(BuiltInType::$kind => {
                        let elements: Result<Vec<$value_type>, _> = children().map(|child| self.$read(child?)).collect();
                        Elements::$kind(elements?)
                    })*
                    BuiltInType::DiagnosticInfo => return Err(self.unexpected(list)),
                }
            };
        }
        Ok(for_each_element_type!(read_elements))
    }
}
