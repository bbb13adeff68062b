//! Tree of all fields of a message with their positions, as `takt pubsub decode` shows it. Wireshark gets the same
//! tables as a dissector in Lua.

mod data_set_fields;
mod data_set_messages;
mod discovery;
mod grammar;
mod lua;
mod node;
mod raw_data;
mod reader;
mod structures;
#[cfg(test)]
mod tests;
mod uadp;
mod values;

use crate::error::{WireError, WireErrorKind};
use crate::network_message::{NetworkMessageRef, PayloadRef};

pub use data_set_fields::DataSetFields;
pub use lua::lua_dissector;
pub use node::{MessageTree, TreeBits, TreeNode, TreeParameters};

impl MessageTree {
    /// Reads as much of a message as possible. It never fails: [`errors`](Self::errors) contains the errors,
    /// including all that the decoder of messages reports.
    pub fn read(bytes: &[u8], parameters: &TreeParameters<'_>) -> Self {
        let tree = reader::read_message(bytes, parameters);
        let found = tree.data_set_message_sizes();
        let mut parameters = *parameters;
        // The decoder needs sizes; the tree has found them with the metadata.
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
        // The two readers may place or name the same fault differently.
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
    check_payload(message.payload(&parameters.payload)?)?;
    match message.broken_rule() {
        Some(rule) => Err(WireError::new(0, WireErrorKind::Forbidden(rule))),
        None => Ok(()),
    }
}

fn check_payload(payload: PayloadRef<'_>) -> Result<(), WireError> {
    if let PayloadRef::DataSetMessages(messages) = payload {
        messages
            .iter()
            .try_for_each(|message| message.map(|_| ()))?;
    }
    Ok(())
}
