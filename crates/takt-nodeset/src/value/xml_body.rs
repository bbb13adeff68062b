//! Writer of an element of the document as self-contained XML.

use std::fmt::Write as _;

use roxmltree::Node as Element;

use crate::error::NodeSetError;
use crate::reader::Reader;

/// Writes an element. Namespaces are declared where they change, and the namespace indexes of NodeIds and
/// QualifiedNames are mapped to those of the server (OPC 10000-6, 5.3.1.10).
pub(super) fn write(reader: &Reader<'_>, element: Element<'_, '_>) -> Result<String, NodeSetError> {
    let mut xml = String::new();
    write_element(reader, element, "", &mut xml)?;
    Ok(xml)
}

fn write_element(
    reader: &Reader<'_>,
    element: Element<'_, '_>,
    inherited: &str,
    xml: &mut String,
) -> Result<(), NodeSetError> {
    let (name, namespace) = (
        element.tag_name().name(),
        element.tag_name().namespace().unwrap_or(""),
    );
    // Writing to a String cannot fail.
    let _ = write!(xml, "<{name}");
    // Repeated for each element that changes it, so it counts in the budget.
    if namespace != inherited {
        reader.spend(element, namespace.len())?;
        attribute("xmlns", namespace, xml);
    }
    for (index, found) in element.attributes().enumerate() {
        match found.namespace() {
            None => attribute(found.name(), found.value(), xml),
            Some(uri) => {
                reader.spend(element, uri.len())?;
                // A prefix of its own for each attribute: those of the document may be declared outside the body.
                attribute(&format!("xmlns:a{index}"), uri, xml);
                attribute(&format!("a{index}:{}", found.name()), found.value(), xml);
            }
        }
    }
    if !element.has_children() {
        xml.push_str("/>");
        return Ok(());
    }
    xml.push('>');
    if let Some(mapped) = mapped_text(reader, element)? {
        escape(&mapped, xml);
    } else {
        let has_elements = element.first_element_child().is_some();
        for child in element.children() {
            if child.is_element() {
                write_element(reader, child, namespace, xml)?;
            } else if let Some(text) = child.text().filter(|_| child.is_text()) {
                // Between elements, blanks are indentation.
                if !has_elements || !text.trim().is_empty() {
                    escape(text, xml);
                }
            }
        }
    }
    let _ = write!(xml, "</{name}>");
    Ok(())
}

/// Reads the text of an element that holds a namespace index, with the index mapped.
fn mapped_text(
    reader: &Reader<'_>,
    element: Element<'_, '_>,
) -> Result<Option<String>, NodeSetError> {
    let text = reader.text(element);
    match element.tag_name().name() {
        "NamespaceIndex" => Ok(text
            .trim()
            .parse()
            .ok()
            .map(|index| reader.namespace(element, index))
            .transpose()?
            .map(|index| index.to_string())),
        "Identifier" if text.trim_start().starts_with("ns=") => reader
            .plain_node_id(element, "Identifier", &text)
            .map(|node_id| Some(node_id.to_string())),
        _ => Ok(None),
    }
}

fn attribute(name: &str, value: &str, xml: &mut String) {
    let _ = write!(xml, " {name}=\"");
    escape(value, xml);
    xml.push('"');
}

fn escape(text: &str, xml: &mut String) {
    for character in text.chars() {
        match character {
            '<' => xml.push_str("&lt;"),
            '>' => xml.push_str("&gt;"),
            '&' => xml.push_str("&amp;"),
            '"' => xml.push_str("&quot;"),
            // As it is, it would become a line feed or a blank when it is read again.
            '\r' | '\n' | '\t' => {
                let _ = write!(xml, "&#{};", u32::from(character));
            }
            other => xml.push(other),
        }
    }
}
