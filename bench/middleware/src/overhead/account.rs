//! Account: each message until the end of the client belongs to one entry.

use super::course::Course;
use super::entry::{Category, Entry, Phase};
use super::exchange::{Exchange, carries};
use super::message::{Message, Purpose};

/// Attributes all messages until the end of the client.
pub(super) fn account(messages: &[Message], course: &Course) -> Vec<Entry> {
    let mut entries = Vec::new();
    let exchanges: Vec<Option<Exchange>> = course
        .windows
        .iter()
        .map(|window| Exchange::find(messages, window))
        .collect();
    let first = course.windows.first().map_or(course.end, |it| it.begin);
    let has_probes = messages
        .iter()
        .any(|it| it.time < first && it.part.purpose == Purpose::Data);
    for message in messages.iter().filter(|it| it.time < course.end) {
        let mut entry = Entry::of(message, course.sides(message));
        match course.window(message.time) {
            Some((place, window)) => {
                entry.phase = Phase::Run;
                entry.payload = window.payload;
                let exchange = exchanges.get(place).copied().flatten();
                match exchange.filter(|_| carries(message, window)) {
                    Some(exchange) => {
                        let hop = exchange.hop(message);
                        (entry.from, entry.to) = (hop.from, hop.to);
                        (entry.category, entry.is_forwarded) = (hop.category, hop.is_forwarded);
                    }
                    None => entry.category = between_requests(message.part.purpose),
                }
                let is_alive = matches!(entry.category, Category::KeepAlive | Category::Discovery);
                if window.payload.is_none() && !is_alive {
                    entry.category = Category::WarmUp;
                }
            }
            None if message.time < first => {
                entry.phase = Phase::SetUp;
                entry.category = before_requests(message.part.purpose, has_probes);
            }
            None => {
                entry.phase = Phase::TearDown;
                entry.category = match between_requests(message.part.purpose) {
                    Category::KeepAlive => Category::TearDown,
                    category => category,
                };
            }
        }
        add(&mut entries, entry);
    }
    entries
}

/// Returns the category of a message without the payload in a run.
fn between_requests(purpose: Purpose) -> Category {
    match purpose {
        Purpose::Acknowledgement => Category::Acknowledgement,
        Purpose::Discovery => Category::Discovery,
        _ => Category::KeepAlive,
    }
}

/// Returns the category of a message before the first run. A client of a library with topics sends requests until it gets an answer,
/// before it is ready: these and their acknowledgements belong to no set-up.
fn before_requests(purpose: Purpose, has_probes: bool) -> Category {
    match purpose {
        Purpose::Data => Category::WarmUp,
        Purpose::Acknowledgement if has_probes => Category::WarmUp,
        Purpose::Discovery => Category::Discovery,
        _ => Category::SetUp,
    }
}

/// Adds an entry to those of the same kind.
fn add(entries: &mut Vec<Entry>, entry: Entry) {
    match entries.iter_mut().find(|other| other.is_same(&entry)) {
        Some(other) => {
            other.count += 1;
            other.bytes += entry.bytes;
        }
        None => entries.push(entry),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::super::course::Window;
    use super::super::entry::Side;
    use super::super::message::Part;
    use super::super::packet::Address;
    use super::*;

    const BROKER: u16 = 1;
    const SERVER: u16 = 2;
    const CLIENT: u16 = 3;

    fn message(time: u64, [from, to]: [u16; 2], purpose: Purpose, bytes: usize) -> Message {
        Message {
            time: Duration::from_millis(time),
            from: Address::loopback(from),
            to: Address::loopback(to),
            is_connected: true,
            opened: to == BROKER,
            opened_at: Duration::from_millis(if from.max(to) == CLIENT { 10 } else { 1 }),
            part: Part::new(format!("{purpose:?}"), purpose, bytes),
        }
    }

    fn course() -> Course {
        let millis = Duration::from_millis;
        Course {
            server_ready: millis(5),
            windows: vec![Window {
                payload: Some(2),
                begin: millis(100),
                done: millis(200),
                end: millis(300),
            }],
            end: millis(500),
            ports: vec![(Side::Broker, [BROKER].into())],
        }
    }

    #[test]
    fn payloads_over_a_broker_have_two_hops() {
        let (data, ack) = (Purpose::Data, Purpose::Acknowledgement);
        let messages = [
            message(2, [SERVER, BROKER], Purpose::Control, 20),
            message(11, [CLIENT, BROKER], Purpose::Control, 21),
            message(12, [BROKER, CLIENT], Purpose::Control, 4),
            message(13, [CLIENT, BROKER], data, 9),
            message(101, [CLIENT, BROKER], data, 7),
            message(102, [BROKER, CLIENT], ack, 4),
            message(103, [BROKER, SERVER], data, 8),
            message(104, [SERVER, BROKER], data, 9),
            message(105, [BROKER, CLIENT], data, 10),
            message(250, [CLIENT, BROKER], Purpose::KeepAlive, 2),
            message(251, [CLIENT, BROKER], Purpose::Unknown, 3),
            message(400, [CLIENT, BROKER], Purpose::Control, 2),
            message(501, [SERVER, BROKER], Purpose::Control, 2),
        ];
        let entries = account(&messages, &course());
        let found: Vec<_> = entries
            .iter()
            .map(|it| (it.category, it.from, it.to, it.is_forwarded, it.bytes))
            .collect();
        let (client, server, broker) = (Side::Client, Side::Server, Side::Broker);
        assert_eq!(
            found,
            [
                (Category::SetUp, server, broker, false, 20),
                (Category::SetUp, client, broker, false, 21),
                (Category::SetUp, broker, client, false, 4),
                (Category::WarmUp, client, broker, false, 9),
                (Category::Request, client, broker, false, 7),
                (Category::Acknowledgement, broker, client, false, 4),
                (Category::Request, broker, server, true, 8),
                (Category::Answer, server, broker, false, 9),
                (Category::Answer, broker, client, true, 10),
                (Category::KeepAlive, client, broker, false, 2),
                (Category::KeepAlive, client, broker, false, 3),
                (Category::TearDown, client, broker, false, 2),
            ]
        );
    }

    #[test]
    fn datagrams_go_by_their_destination() {
        let datagram = |time, ports| Message {
            is_connected: false,
            ..message(time, ports, Purpose::Data, 5)
        };
        // Each side sends from one port and receives at another one.
        let messages = [
            datagram(101, [30, 20]),
            datagram(102, [30, 20]),
            datagram(103, [21, 31]),
        ];
        let entries = account(&messages, &course());
        let found: Vec<_> = entries
            .iter()
            .map(|it| (it.category, it.from, it.count))
            .collect();
        assert_eq!(
            found,
            [
                (Category::Request, Side::Client, 2),
                (Category::Answer, Side::Server, 1)
            ]
        );
    }
}
