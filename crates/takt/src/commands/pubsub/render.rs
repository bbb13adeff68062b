//! Decoded messages as text and as JSON.

use std::fmt::Write;

use serde_json::{Map, Value, json};
use takt_ua::{DateTime, Variant};
use takt_wire::{MessageTree, TreeBits, TreeNode};

use super::decoded::{Decoded, Security};

/// Returns the lines of a message for people: a headline, one for each field with offset and length, and the errors.
pub fn lines(decoded: &Decoded<'_>) -> Vec<String> {
    let message = decoded.message;
    let mut parts = Vec::new();
    if let Some(packet) = message.packet {
        parts.push(format!("packet {packet}"));
    }
    if let Some(time) = message.time {
        parts.push(DateTime::from(time).to_string());
    }
    if !message.source.is_empty() {
        parts.push(format!("{} → {}", message.source, message.destination));
    }
    parts.push(format!("{} bytes", message.bytes.len()));
    if let Some(security) = &decoded.security {
        parts.push(security_text(security));
    }
    let mut lines = vec![parts.join("  ")];
    tree_lines(&decoded.tree, &mut lines);
    if let Some(error) = &decoded.chunk_error {
        lines.push(format!("  error: {error}"));
    }
    if let Some((length, tree)) = &decoded.reassembled {
        lines.push(format!("the payload of all chunks  {length} bytes"));
        tree_lines(tree, &mut lines);
    }
    lines.push(String::new());
    lines
}

fn security_text(security: &Security) -> String {
    let token = security.security_token_id;
    let signature = match security.genuine {
        None => format!("signed, not verified: no --key for SecurityTokenId {token}"),
        Some(true) => format!("signature verified with key {token}"),
        Some(false) => format!("SIGNATURE WRONG for key {token}"),
    };
    match (security.encrypted, security.decrypted) {
        (false, _) => signature,
        (true, true) => format!("{signature}, decrypted"),
        (true, false) => format!("encrypted, {signature}"),
    }
}

// Writing to a String cannot fail, so the result of `write!` is ignored.

fn tree_lines(tree: &MessageTree, lines: &mut Vec<String>) {
    for node in &tree.nodes {
        node_lines(node, 0, lines);
    }
    for error in &tree.errors {
        lines.push(format!("  error: {error}"));
    }
}

fn node_lines(node: &TreeNode, depth: usize, lines: &mut Vec<String>) {
    let indent = depth * 2;
    let name = name(node);
    let mut line = format!(
        "{:>6} {:>5}  {:indent$}{name}",
        node.offset, node.length, ""
    );
    if node.value.is_some() {
        let _ = write!(line, ": {}", cut(&node.text()));
    }
    lines.push(line);
    for bits in &node.bits {
        lines.push(format!("{:>14}{:indent$}  {}", "", "", bits_text(bits)));
    }
    for child in &node.children {
        node_lines(child, depth + 1, lines);
    }
}

fn name(node: &TreeNode) -> String {
    let mut name = node.name.to_owned();
    if let Some(index) = node.index {
        let _ = write!(name, "[{index}]");
    }
    if let Some(field) = &node.field_name {
        let _ = write!(name, " {field}");
    }
    name
}

/// Shortens long texts and bytes. JSON has all of them.
fn cut(text: &str) -> String {
    const SHOWN: usize = 96;
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or(text)),
        None => text.to_owned(),
    }
}

/// Formats bits: `...1 .... PublisherIdEnabled: true`
fn bits_text(bits: &TreeBits) -> String {
    let mut picture = String::new();
    for bit in (0..8).rev() {
        let mask = 1 << bit;
        let set = (bits.value << bits.mask.trailing_zeros()) & mask != 0;
        picture.push(match (bits.mask & mask != 0, set) {
            (false, _) => '.',
            (true, false) => '0',
            (true, true) => '1',
        });
        if bit == 4 {
            picture.push(' ');
        }
    }
    let value = match bits.meaning {
        Some(meaning) => format!("{meaning} ({})", bits.value),
        None if bits.mask.count_ones() == 1 => (bits.value != 0).to_string(),
        None => bits.value.to_string(),
    };
    format!("{picture} {}: {value}", bits.name)
}

/// Returns a message for programs.
pub fn json(decoded: &Decoded<'_>) -> Value {
    let message = decoded.message;
    let mut object = Map::new();
    if let Some(packet) = message.packet {
        object.insert("packet".into(), packet.into());
    }
    if let Some(time) = message.time {
        object.insert("time".into(), DateTime::from(time).to_string().into());
    }
    if !message.source.is_empty() {
        object.insert("source".into(), message.source.as_str().into());
        object.insert("destination".into(), message.destination.as_str().into());
    }
    object.insert("length".into(), message.bytes.len().into());
    if let Some(security) = &decoded.security {
        object.insert("security".into(), security_json(security));
    }
    tree_json(&decoded.tree, &mut object);
    if let Some(error) = &decoded.chunk_error {
        object.insert("chunkError".into(), error.as_str().into());
    }
    if let Some((length, tree)) = &decoded.reassembled {
        let mut payload = Map::from_iter([("length".into(), (*length).into())]);
        tree_json(tree, &mut payload);
        object.insert("reassembled".into(), payload.into());
    }
    object.into()
}

fn security_json(security: &Security) -> Value {
    json!({
        "securityTokenId": security.security_token_id,
        "encrypted": security.encrypted,
        "decrypted": security.decrypted,
        "signature": match security.genuine {
            None => "not verified",
            Some(true) => "verified",
            Some(false) => "wrong",
        },
    })
}

fn tree_json(tree: &MessageTree, object: &mut Map<String, Value>) {
    let fields: Vec<Value> = tree.nodes.iter().map(node_json).collect();
    let errors = tree.errors.iter();
    let errors: Vec<Value> = errors
        .map(|error| json!({"offset": error.offset, "message": error.to_string()}))
        .collect();
    object.insert("fields".into(), fields.into());
    object.insert("errors".into(), errors.into());
}

fn node_json(node: &TreeNode) -> Value {
    let mut object = Map::from_iter([("name".into(), node.name.into())]);
    if let Some(index) = node.index {
        object.insert("index".into(), index.into());
    }
    if let Some(field) = &node.field_name {
        object.insert("fieldName".into(), field.as_str().into());
    }
    object.insert("offset".into(), node.offset.into());
    object.insert("length".into(), node.length.into());
    if let Some(value) = &node.value {
        let json = match value {
            // Byte strings are in hex, as usual for messages.
            Variant::ByteString(bytes) => bytes.as_option().map(|_| node.text()).into(),
            value => takt_ua::json::to_value(value),
        };
        object.insert("value".into(), json);
        let data_type = value.built_in_type().map(|data_type| data_type.name());
        object.insert("type".into(), data_type.into());
    }
    if let Some(meaning) = &node.meaning {
        object.insert("meaning".into(), meaning.as_str().into());
    }
    if !node.bits.is_empty() {
        let bits: Vec<Value> = node.bits.iter().map(bits_json).collect();
        object.insert("bits".into(), bits.into());
    }
    if node.value.is_none() {
        let fields: Vec<Value> = node.children.iter().map(node_json).collect();
        object.insert("fields".into(), fields.into());
    }
    object.into()
}

fn bits_json(bits: &TreeBits) -> Value {
    let mut object = Map::from_iter([
        ("name".into(), bits.name.into()),
        ("mask".into(), bits.mask.into()),
        ("value".into(), bits.value.into()),
    ]);
    if let Some(meaning) = bits.meaning {
        object.insert("meaning".into(), meaning.into());
    }
    object.into()
}
