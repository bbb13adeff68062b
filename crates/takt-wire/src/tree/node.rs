//! Nodes of the tree.

use std::ops::Range;

use takt_ua::Variant;

use super::data_set_fields::DataSetFields;
use crate::error::WireError;
use crate::network_message::PayloadParameters;

/// All fields of a message, even of an invalid one.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct MessageTree {
    /// The fields of the message in their order. Their leaves cover all of its bytes.
    pub nodes: Vec<TreeNode>,
    /// Errors of the message. Bytes that cannot be read because of them are in nodes named `Undecoded`.
    pub errors: Vec<WireError>,
}

/// A field, or a group of fields.
#[derive(Debug, Clone, PartialEq)]
pub struct TreeNode {
    /// Name in the standard.
    pub name: &'static str,
    /// Name of the field of a DataSet or structure in the metadata.
    pub field_name: Option<String>,
    /// Position in a list, from 0.
    pub index: Option<usize>,
    /// Offset in bytes from the start of the message.
    pub offset: usize,
    /// Length in bytes; 0 for a list without elements.
    pub length: usize,
    /// The value of a leaf.
    pub value: Option<Variant>,
    /// Name of the value.
    pub meaning: Option<String>,
    /// Flags of a leaf that consists of flags.
    pub bits: Vec<TreeBits>,
    /// Parts of a field that is not a leaf.
    pub children: Vec<TreeNode>,
}

/// Bits of a field of flags.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TreeBits {
    /// Name in the standard.
    pub name: &'static str,
    /// Mask of the bits.
    pub mask: u8,
    /// Value of the bits, shifted to the right.
    pub value: u8,
    /// Name of the value, if it is not a flag.
    pub meaning: Option<&'static str>,
}

/// Information about a message besides its bytes.
#[derive(Debug, Clone, Copy, Default)]
pub struct TreeParameters<'p> {
    /// Sizes of DataSetMessages, and the length of the signature if there is one.
    pub payload: PayloadParameters<'p>,
    /// True if the payload was encrypted and has been decrypted in place.
    pub decrypted: bool,
    /// Fields of each DataSetMessage whose metadata is known; without metadata, RawData is shown as bytes.
    pub data_sets: &'p [Option<&'p DataSetFields>],
}

impl TreeNode {
    /// Creates a node of these bytes without value and parts.
    pub(super) fn new(name: &'static str, bytes: Range<usize>) -> Self {
        Self {
            name,
            field_name: None,
            index: None,
            offset: bytes.start,
            length: bytes.len(),
            value: None,
            meaning: None,
            bits: Vec::new(),
            children: Vec::new(),
        }
    }

    /// Returns the readable value of a leaf: bytes in hex, Strings in quotes, and the name of the value.
    pub fn text(&self) -> String {
        let Some(value) = &self.value else {
            return String::new();
        };
        let text = match value {
            Variant::ByteString(bytes) => match bytes.as_option() {
                None => "null".to_owned(),
                Some(bytes) => hex(bytes),
            },
            Variant::Byte(flags) if !self.bits.is_empty() => format!("0x{flags:02X}"),
            Variant::StatusCode(code) => code.to_string(),
            Variant::String(_) | Variant::XmlElement(_) => {
                takt_ua::json::to_value(value).to_string()
            }
            _ => {
                let json = takt_ua::json::to_value(value);
                json.as_str()
                    .map_or_else(|| json.to_string(), str::to_owned)
            }
        };
        match &self.meaning {
            Some(meaning) => format!("{meaning} ({text})"),
            None => text,
        }
    }
}

/// Returns bytes in hexadecimal form.
fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write;
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}"); // Writing to a String cannot fail.
        text
    })
}
