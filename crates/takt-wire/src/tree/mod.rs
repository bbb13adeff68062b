//! Tree of all fields of a message with their positions, as `takt pubsub decode` shows it. Wireshark gets the same
//! tables as a dissector in Lua.

mod data_set_fields;
mod data_set_messages;
mod discovery;
mod grammar;
mod lua;
mod raw_data;
mod reader;
mod structures;
#[cfg(test)]
mod tests;
mod uadp;
mod values;

use std::ops::Range;

use takt_ua::Variant;

use crate::error::WireError;
use crate::network_message::{NetworkMessageRef, PayloadParameters, PayloadRef};

pub use data_set_fields::DataSetFields;
pub use lua::lua_dissector;

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

impl MessageTree {
    /// Reads as much of a message as possible. It never fails: [`errors`](Self::errors) contains the errors,
    /// including all that the decoder of messages reports.
    pub fn read(bytes: &[u8], parameters: &TreeParameters<'_>) -> Self {
        let tree = reader::read_message(bytes, parameters);
        let found = tree.data_set_message_sizes();
        let mut parameters = *parameters;
        if parameters.payload.data_set_message_sizes.is_empty() {
            parameters.payload.data_set_message_sizes = &found;
        }
        tree.with(check(bytes, &parameters))
    }

    /// Reads the payload of a message that was sent in chunks, with the headers of one of them. Offsets count from
    /// the start of the payload.
    pub fn read_reassembled(
        headers: &NetworkMessageRef<'_>,
        payload: &[u8],
        data_sets: &[Option<&DataSetFields>],
    ) -> Self {
        let checked = headers.reassembled_payload(payload);
        reader::read_payload(headers.network_message_type, payload, data_sets)
            .with(checked.and_then(check_payload))
    }

    /// Adds the error of the decoder of messages, if it differs.
    fn with(mut self, checked: Result<(), WireError>) -> Self {
        let same = |one: &WireError, other: &WireError| {
            one.offset == other.offset || one.kind == other.kind
        };
        if let Err(error) = checked
            && !self.errors.iter().any(|known| same(known, &error))
        {
            self.errors.insert(0, error);
        }
        self
    }

    /// Returns the sizes of several DataSetMessages without a PayloadHeader; empty otherwise.
    fn data_set_message_sizes(&self) -> Vec<u16> {
        let named = |name| self.nodes.iter().find(|node| node.name == name);
        let messages = named("DataSetMessages").filter(|_| named("PayloadHeader").is_none());
        let messages = messages.map_or(&[][..], |messages| &messages.children);
        match messages.len() {
            0 | 1 => Vec::new(),
            _ => messages
                .iter()
                .map(|message| u16::try_from(message.length).unwrap_or(u16::MAX))
                .collect(),
        }
    }

    /// Returns the fields that have no parts, in the order of the bytes.
    pub fn leaves(&self) -> Vec<&TreeNode> {
        fn collect<'t>(nodes: &'t [TreeNode], leaves: &mut Vec<&'t TreeNode>) {
            for node in nodes {
                match node.value {
                    Some(_) => leaves.push(node),
                    None => collect(&node.children, leaves),
                }
            }
        }
        let mut leaves = Vec::new();
        collect(&self.nodes, &mut leaves);
        leaves
    }
}

/// Checks the message with the decoder of messages.
fn check(bytes: &[u8], parameters: &TreeParameters<'_>) -> Result<(), WireError> {
    let message = NetworkMessageRef::new_checked(bytes)?;
    message.security_layout(parameters.payload.signature_length)?;
    let encrypted = message.security_header.is_some_and(|h| h.encrypted);
    if encrypted && !parameters.decrypted {
        return Ok(());
    }
    check_payload(message.payload(&parameters.payload)?)
}

fn check_payload(payload: PayloadRef<'_>) -> Result<(), WireError> {
    if let PayloadRef::DataSetMessages(messages) = payload {
        messages
            .iter()
            .try_for_each(|message| message.map(|_| ()))?;
    }
    Ok(())
}

impl TreeNode {
    fn new(name: &'static str, bytes: Range<usize>) -> Self {
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
