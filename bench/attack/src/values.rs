//! Large values: a server that has one, and a Variable with a history; clients that write and read the value.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use takt_app::{Provider, Recording, Variable};
use takt_ua::binary::Limits;
use takt_ua::structures::{WriteRequest, WriteValue};
use takt_ua::{ByteString, DataValue, LocalizedText, NodeId, Variant};

use crate::channel::{Lost, PATIENCE, Session, Way};
use crate::error::AttackError;
use crate::messages::LONGEST;
use crate::request;
use crate::target::Attacker;

/// BrowsePath of the Variable, which is its identifier as well.
const VARIABLE: &str = "Value";

/// Bytes of the value: with its request it is the longest message that a server accepts over TCP.
const BYTES: usize = LONGEST;

/// Interval at which the server checks for its end.
const STEP: Duration = Duration::from_millis(20);

/// BrowsePath of a Variable with a history.
const RECORDED: &str = "Recorded";

/// Returns the Variable with a history.
pub(crate) fn recorded() -> NodeId {
    NodeId::string(1, RECORDED)
}

fn node() -> NodeId {
    NodeId::string(1, VARIABLE)
}

fn value() -> Variant {
    Variant::ByteString(ByteString::from(vec![b'x'; BYTES]))
}

/// Serves a large value, and a Variable with a history, over both transports until `interrupted` is set. `line` gets the endpoints.
///
/// # Errors
/// The server cannot be started.
pub fn serve(
    name: &str,
    interrupted: &AtomicBool,
    line: impl FnOnce(String),
) -> Result<(), AttackError> {
    let provider = Provider::builder(name)
        .without_registry()
        .endpoint("opc.tcp://127.0.0.1:0")
        .variable(Variable::stored(VARIABLE, value()).writable())
        .variable(
            Variable::stored(RECORDED, 0.0)
                .writable()
                .historized(Recording::changes()),
        )
        .start()
        .map_err(AttackError::start("the server of a large value"))?;
    let endpoints = provider.endpoints().iter();
    let endpoints: Vec<String> = endpoints.map(ToString::to_string).collect();
    line(format!("{name} serves {}", endpoints.join(" and ")));
    while !interrupted.load(Ordering::Acquire) {
        std::thread::sleep(STEP);
    }
    Ok(())
}

/// Returns a Write of the Variable.
fn write_request(session: &Session, value: Variant) -> Vec<u8> {
    request::message(&WriteRequest {
        request_header: session.header(),
        nodes_to_write: vec![WriteValue {
            node_id: node(),
            attribute_id: 13,
            value: DataValue {
                value: Some(value),
                ..DataValue::default()
            },
            ..WriteValue::default()
        }],
    })
}

/// Returns a Write of an array of null LocalizedTexts, each of one byte.
fn write_texts(session: &Session, count: usize) -> Vec<u8> {
    let mut message = write_request(session, Vec::<LocalizedText>::new().into());
    // The message ends with the length of the array.
    message.truncate(message.len() - size_of::<u32>());
    message.extend(u32::try_from(count).unwrap_or(u32::MAX).to_le_bytes());
    message.resize(message.len() + count, 0);
    message
}

/// Writes arrays over several connections at a time: the largest that a server decodes, and the longest that it receives.
pub(crate) fn write_elements(attacker: &mut Attacker<'_>) -> Result<(), Lost> {
    let mut sessions = Vec::new();
    for _ in 0..attacker.count(4) {
        let session = Session::open(attacker, Way::Tcp)?;
        let decoded = Limits::STRUCTURE.max_memory / Limits::ELEMENT;
        let messages = [decoded, BYTES - 1024].map(|count| write_texts(&session, count));
        sessions.push((session, messages));
    }
    while attacker.goes_on() {
        for (session, messages) in &mut sessions {
            for message in messages.iter() {
                session.channel.push(attacker, message)?;
            }
        }
        for (session, messages) in &mut sessions {
            for _ in messages.iter() {
                while session.channel.receive(attacker, PATIENCE)?.is_none() && attacker.goes_on() {
                }
            }
        }
    }
    Ok(())
}

/// Writes and reads the value over several connections at a time. A server without the Variable decodes the value and refuses it.
pub(crate) fn write_and_read(attacker: &mut Attacker<'_>) -> Result<(), Lost> {
    let mut sessions = Vec::new();
    for _ in 0..attacker.count(4) {
        let session = Session::open(attacker, Way::Tcp)?;
        let write = write_request(&session, value());
        let read = request::read_request(&session.token, &node());
        sessions.push((session, write, request::message(&read)));
    }
    while attacker.goes_on() {
        for (session, write, read) in &mut sessions {
            session.channel.push(attacker, write)?;
            session.channel.push(attacker, read)?;
        }
        for (session, ..) in &mut sessions {
            for _ in 0..2 {
                while session.channel.receive(attacker, PATIENCE)?.is_none() && attacker.goes_on() {
                }
            }
        }
    }
    Ok(())
}
