//! `takt pubsub decode`: every field of messages.

use std::io::Read;
use std::time::{Duration, Instant, SystemTime};

use takt_pubsub::DataSetDirectory;
use takt_pubsub::security::SIGNATURE_LENGTH;
use takt_rt::memory_budget::BudgetExhausted;
use takt_wire::{
    ChunkReassembler, MessageTree, NetworkMessageRef, PayloadParameters, PayloadRef,
    ReassemblyLimits, TreeParameters,
};

use super::decoded::{Decoded, Message, Security};
use super::{config, render};
use crate::arguments::{DecodeArguments, SecurityKey};
use crate::{explain, hex, output};

/// Port of UADP in UDP (OPC 10000-14, 7.3.2.1).
const DEFAULT_PORT: u16 = 4840;

pub fn run(arguments: &DecodeArguments) -> miette::Result<()> {
    let data_sets = match &arguments.config {
        Some(path) => {
            let (file, _) = config::read(path, None)?;
            DataSetDirectory::of_configuration(&file.configuration)
        }
        None => DataSetDirectory::default(),
    };
    let (messages, damage) = messages(arguments)?;
    let mut decoder = Decoder::new(&arguments.key, data_sets);
    let mut has_valid = false;
    for message in &messages {
        let decoded = decoder.decode(message);
        has_valid |= decoded.tree.errors.is_empty();
        match arguments.json {
            true => output::line(render::json(&decoded)),
            false => output::lines(render::lines(&decoded)),
        }
    }
    if let Some(refused) = decoder.refused {
        return Err(explain::with_help(
            format!("announcements of DataSets were left out: {refused}"),
            "Messages of their DataSetWriters were shown without names and types of fields. Give fewer messages, or the \
             configuration of their Publisher with --config.",
        ));
    }
    match damage {
        Some(damage) => Err(explain::with_help(
            format!("the capture cannot be read to its end: {damage}"),
            "The messages before the damage were shown.",
        )),
        None if messages.is_empty() => Err(explain::with_help(
            "no message was found",
            "Messages are looked for in Ethernet frames with EtherType 0xB62C and in UDP datagrams; --port names another port than \
             4840.",
        )),
        None if !has_valid => Err(explain::with_help(
            match messages.len() {
                1 => "the message is not valid".to_owned(),
                count => format!("none of the {count} messages is valid"),
            },
            "The fields before the first error were shown. Give UADP messages (OPC 10000-14, 7.2.4), in a capture, in hex digits or \
             as they are; `takt subscribe` shows JSON.",
        )),
        None => Ok(()),
    }
}

/// Returns the messages of the input, and the damage after them, if there is any.
fn messages(arguments: &DecodeArguments) -> miette::Result<(Vec<Message>, Option<String>)> {
    let (messages, damage, is_capture) = read(arguments)?;
    if arguments.port.is_some() && !is_capture {
        return Err(explain::with_help(
            format!("--port is for a capture, and {} is none", arguments.input),
            "Leave --port away.",
        ));
    }
    Ok((messages, damage))
}

/// Returns messages and damage, and whether they are from a capture.
fn read(arguments: &DecodeArguments) -> miette::Result<(Vec<Message>, Option<String>, bool)> {
    let input = &arguments.input;
    let bytes = if input == "-" {
        let mut bytes = Vec::new();
        let read = std::io::stdin().lock().read_to_end(&mut bytes);
        read.map(|_| bytes)
    } else {
        match (hex::parse(input), std::fs::read(input)) {
            // A file whose name looks like hex digits is still a file.
            (Some(bytes), Err(_)) if !bytes.is_empty() => {
                return Ok((vec![alone(bytes)], None, false));
            }
            (_, read) => read,
        }
    };
    let bytes = bytes.map_err(|error| {
        explain::with_help(
            format!("cannot read {input}: {error}"),
            "Give a capture file, a message in hex digits, or - for the standard input.",
        )
    })?;
    if takt_capture::is_capture(&bytes) {
        let (packets, damage) = takt_capture::packets(&bytes);
        let found = packets
            .iter()
            .filter_map(|packet| found(packet, arguments.port));
        return Ok((found.collect(), damage, true));
    }
    if let Some(found) = takt_capture::foreign_format(&bytes) {
        return Err(explain::with_help(
            format!("{input} is {}, neither a capture nor a message", found.name),
            found.advice,
        ));
    }
    let text = std::str::from_utf8(&bytes).ok();
    let found = text.and_then(in_hex).unwrap_or_else(|| vec![bytes]);
    let found = found.into_iter().filter(|message| !message.is_empty());
    Ok((found.map(alone).collect(), None, false))
}

/// Returns the messages of a text in hex digits: one in each line, or one in all lines.
///
/// A long message may be broken into lines. Then most lines are no message on their own.
fn in_hex(text: &str) -> Option<Vec<Vec<u8>>> {
    let whole = hex::parse(text)?;
    let lines: Option<Vec<Vec<u8>>> = text
        .lines()
        .filter(|line| !line.trim().is_empty())
        .map(hex::parse)
        .collect();
    let Some(lines) = lines else {
        return Some(vec![whole]);
    };
    let is_one_in_each = lines.iter().all(|line| is_message(line))
        || !is_message(&whole) && lines.first().is_some_and(|line| is_message(line));
    Some(if is_one_in_each { lines } else { vec![whole] })
}

fn alone(bytes: Vec<u8>) -> Message {
    Message {
        bytes,
        ..Message::default()
    }
}

/// Returns the message in a packet, if there is one.
fn found(packet: &takt_capture::CapturedPacket, port: Option<u16>) -> Option<Message> {
    let carried = takt_capture::carried(packet.linktype, &packet.bytes)?;
    let wanted = match (carried.port, port) {
        (Some(found), Some(wanted)) => found == wanted,
        (Some(DEFAULT_PORT) | None, None) => true,
        (Some(_), None) => is_message(carried.bytes),
        (None, Some(_)) => false,
    };
    wanted.then(|| Message {
        packet: Some(packet.number),
        time: packet.time,
        source: carried.source,
        destination: carried.destination,
        bytes: carried.bytes.to_vec(),
    })
}

/// Returns true if a datagram is a valid message.
fn is_message(bytes: &[u8]) -> bool {
    MessageTree::read(bytes, &parameters(false))
        .errors
        .is_empty()
}

fn parameters(decrypted: bool) -> TreeParameters<'static> {
    TreeParameters {
        payload: PayloadParameters {
            // The length is the same for both SecurityPolicies.
            signature_length: SIGNATURE_LENGTH,
            ..PayloadParameters::default()
        },
        decrypted,
        ..TreeParameters::default()
    }
}

/// State of the decoder from one message to the next.
struct Decoder<'k> {
    keys: &'k [SecurityKey],
    /// Descriptions of DataSets, from the configuration and from announcements.
    data_sets: DataSetDirectory,
    /// Reason why an announcement was discarded.
    refused: Option<BudgetExhausted>,
    chunks: ChunkReassembler,
    /// Time of the first packet for the reassembler.
    started: Instant,
    first: Option<SystemTime>,
}

impl<'k> Decoder<'k> {
    fn new(keys: &'k [SecurityKey], data_sets: DataSetDirectory) -> Self {
        Self {
            keys,
            data_sets,
            refused: None,
            chunks: ChunkReassembler::new(ReassemblyLimits::default()),
            started: Instant::now(),
            first: None,
        }
    }

    fn decode<'m>(&mut self, message: &'m Message) -> Decoded<'m> {
        let mut bytes = message.bytes.clone();
        let security = self.security(&mut bytes);
        let decrypted = security.is_some_and(|security| security.decrypted);
        let readable = security.is_none_or(|security| decrypted || !security.encrypted);
        let mut decoded = Decoded {
            message,
            security,
            tree: self.tree(&bytes, decrypted, readable),
            reassembled: None,
            chunk_error: None,
        };
        if readable {
            self.learn_or_reassemble(&bytes, &mut decoded);
        }
        decoded
    }

    fn tree(&self, bytes: &[u8], decrypted: bool, readable: bool) -> MessageTree {
        let mut parameters = parameters(decrypted);
        let view = NetworkMessageRef::new_checked(bytes).ok();
        let known = view.filter(|view| readable && !view.chunk);
        let known = known.map(|view| self.data_sets.data_sets_of(&view));
        let known = known.unwrap_or_default();
        parameters.data_sets = &known.fields;
        parameters.payload.data_set_message_sizes = &known.sizes;
        MessageTree::read(bytes, &parameters)
    }

    /// Checks the signature with the key that a message names, if the key is known. An unusable key shows in the tree.
    fn security(&self, bytes: &mut [u8]) -> Option<Security> {
        let header = NetworkMessageRef::new_checked(bytes)
            .ok()?
            .security_header?;
        if !header.signed {
            return None;
        }
        let (token, encrypted) = (header.security_token_id, header.encrypted);
        // SecurityGroups may have the same tokens, so the key that fits is taken.
        let mut inspected = None;
        for SecurityKey { keys: key, .. } in self
            .keys
            .iter()
            .filter(|key| key.keys.security_token_id() == token)
        {
            let mut copy = bytes.to_vec();
            if let Ok(inspection) = key.inspect(&mut copy)
                && (inspection.genuine || inspected.is_none())
            {
                let genuine = inspection.genuine;
                inspected = Some((inspection, copy));
                if genuine {
                    break;
                }
            }
        }
        let inspection = inspected.map(|(inspection, copy)| {
            bytes.copy_from_slice(&copy);
            inspection
        });
        Some(Security {
            security_token_id: token,
            encrypted,
            genuine: inspection.map(|inspection| inspection.genuine),
            decrypted: inspection.is_some_and(|inspection| inspection.decrypted),
        })
    }

    /// Learns the metadata of announcements for later messages, and reassembles chunks.
    fn learn_or_reassemble(&mut self, bytes: &[u8], decoded: &mut Decoded<'_>) {
        let Ok(view) = NetworkMessageRef::new_checked(bytes) else {
            return;
        };
        // The bytes are readable here: decrypted, or never encrypted.
        let Ok(payload) = view.payload(&parameters(true).payload) else {
            return;
        };
        let PayloadRef::Chunk(chunk) = payload else {
            return self.learn(&view, &payload);
        };
        let now = self.now(decoded.message.time);
        match self.chunks.push(&view, &chunk, now) {
            Ok(None) => {}
            Ok(Some(payload)) => {
                let known = self.data_sets.data_sets_of(&view);
                let tree = MessageTree::read_reassembled(&view, &payload.bytes, &known.fields);
                decoded.reassembled = Some((payload.bytes.len(), tree));
                if let Ok(whole) = view.reassembled_payload(&payload.bytes) {
                    self.learn(&view, &whole);
                }
            }
            Err(error) => decoded.chunk_error = Some(error.to_string()),
        }
    }

    fn learn(&mut self, message: &NetworkMessageRef<'_>, payload: &PayloadRef<'_>) {
        if let (Some(publisher_id), PayloadRef::DiscoveryAnnouncement(announcement)) =
            (message.publisher_id, payload)
        {
            let learned = self.data_sets.learn(publisher_id, &announcement.content);
            self.refused = self.refused.or(learned.err());
        }
    }

    /// Returns the time of a packet for the reassembler.
    fn now(&mut self, time: Option<SystemTime>) -> Instant {
        let Some(time) = time else {
            return self.started;
        };
        let first = *self.first.get_or_insert(time);
        let since = time.duration_since(first).unwrap_or(Duration::ZERO);
        // A capture may name any time.
        self.started.checked_add(since).unwrap_or(self.started)
    }
}
