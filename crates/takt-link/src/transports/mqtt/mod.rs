//! `mqtt://` and `mqtts://`: messages through a broker (OPC 10000-14, 7.3.4), MQTT 3.1.1 and 5.
//!
//! A thread of the link holds the connection, and connects again after pauses that grow to five seconds. Without a connection the
//! state is [`LinkState::Down`] and messages wait; if there are too many, the oldest are discarded and counted
//! ([`LinkCounters::overflowed`]). Messages that were lost with a broken connection count as [`LinkCounters::discarded`], as far
//! as the quality of service reveals them: with 0, the fate of a message that has left is unknown. Messages that the broker refuses
//! count as [`LinkCounters::refused`]. With MQTT 5 a session outlives
//! its connection by a minute, so no message with quality 1 or 2 is lost. A link that is closed waits up to two seconds for
//! undelivered messages. Launch times are ignored, and received messages have no time.

mod failure;
mod session;
mod tls;
mod worker;

use std::hash::{BuildHasher, Hasher, RandomState};
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::Arc;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;

use self::session::{Broker, MIN_KEEP_ALIVE, Message};
use self::worker::{Role, Worker};
use crate::counters::LinkCounters;
use crate::error::{LinkError, LinkState};
use crate::launch_time::LaunchTime;
use crate::limits;
use crate::link::{Receiver, Sender};
use crate::options::{LinkOptions, MqttOptions};
use crate::received::{Received, Source};
use crate::reservation::{Queue, Reservation};

const DEFAULT_MESSAGE_SIZE: usize = 1 << 20;
/// Length of the longest message, in bytes: the longest packet of MQTT, less topic and properties.
const LONGEST: usize = (1 << 28) - (1 << 17);

/// Starts a thread that connects.
fn start(
    role: Role,
    (host, port, is_secure): (&str, u16, bool),
    options: &LinkOptions,
) -> Result<(Worker, usize), LinkError> {
    let max_message_size = match options.max_message_size {
        None => DEFAULT_MESSAGE_SIZE,
        Some(_) => limits::max_message_size(options, LONGEST)?,
    };
    let mqtt = &options.mqtt;
    check(role, mqtt)?;
    let is_ipv6 = host.contains(':');
    // The library resolves the address only in brackets, and takes the same text for the name in the certificate.
    if is_ipv6 && is_secure {
        return Err(LinkError::option(
            "address",
            host,
            "a name or an IPv4 address for mqtts",
        ));
    }
    let broker = Broker {
        host: if is_ipv6 {
            format!("[{host}]")
        } else {
            host.to_owned()
        },
        port,
        tls: is_secure.then(|| tls::config(mqtt)).transpose()?,
    };
    let client_id = mqtt.client_id.clone().unwrap_or_else(random_client_id);
    let (client, connection) = session::open(broker, &client_id, mqtt, max_message_size);
    let worker = Worker::start(role, mqtt.clone(), client, connection)?;
    Ok((worker, max_message_size))
}

fn check(role: Role, mqtt: &MqttOptions) -> Result<(), LinkError> {
    check_topic(role, &mqtt.topic)?;
    if mqtt.quality_of_service > 2 {
        return Err(LinkError::option(
            "mqtt.quality_of_service",
            mqtt.quality_of_service,
            "0, 1 or 2",
        ));
    }
    if mqtt.keep_alive < MIN_KEEP_ALIVE || mqtt.keep_alive.as_secs() > u16::MAX.into() {
        let value = format!("{:?}", mqtt.keep_alive);
        return Err(LinkError::option(
            "mqtt.keep_alive",
            value,
            "5 to 65535 seconds",
        ));
    }
    if mqtt.queue == 0 {
        return Err(LinkError::option("mqtt.queue", 0, "at least 1 message"));
    }
    if mqtt.client_id.as_ref().is_some_and(String::is_empty) {
        return Err(LinkError::option(
            "mqtt.client_id",
            "empty",
            "a text, or none at all",
        ));
    }
    Ok(())
}

fn check_topic(role: Role, topic: &str) -> Result<(), LinkError> {
    let is_usable = match role {
        Role::Send => !topic.contains(['+', '#']),
        // A wildcard is a whole level, and # is the last one.
        Role::Receive => {
            let mut levels = topic.split('/').rev();
            let last = levels.next().unwrap_or_default();
            let is_usable = |level: &str| level == "+" || !level.contains(['+', '#']);
            (last == "#" || is_usable(last)) && levels.all(is_usable)
        }
    };
    if topic.is_empty() || topic.contains('\0') || topic.len() > u16::MAX.into() || !is_usable {
        let expected =
            "a topic without wildcards to send, a topic filter to receive, of at most 65535 bytes";
        return Err(LinkError::option("mqtt.topic", topic, expected));
    }
    Ok(())
}

/// Returns a random client identifier, distinct from those of other clients: every broker takes 23 letters and digits (MQTT
/// 3.1.1, 3.1.3.1).
fn random_client_id() -> String {
    // Its keys are random for each thread, and differ with each call.
    let random = RandomState::new().build_hasher().finish();
    format!("takt{random:016x}")
}

/// Sender that publishes to a topic.
pub(crate) struct MqttSender {
    worker: Worker,
    buffer: Vec<u8>,
    queued: Queued,
    batch: usize,
    max_message_size: usize,
    topic: Arc<str>,
    counters: LinkCounters,
}

/// Messages that wait for the next flush.
struct Queued(Vec<Vec<u8>>);

impl Queue for Queued {
    fn commit(&mut self, message: &[u8], _: Option<LaunchTime>) {
        self.0.push(message.to_vec());
    }
}

impl MqttSender {
    pub(crate) fn open(
        broker: (&str, u16, bool),
        options: &LinkOptions,
    ) -> Result<Self, LinkError> {
        let batch = limits::batch(options)?;
        let (worker, max_message_size) = start(Role::Send, broker, options)?;
        Ok(Self {
            worker,
            buffer: Vec::new(),
            queued: Queued(Vec::with_capacity(batch)),
            batch,
            max_message_size,
            topic: options.mqtt.topic.as_str().into(),
            counters: LinkCounters::default(),
        })
    }
}

impl Sender for MqttSender {
    fn reserve(&mut self, length: usize) -> Result<Reservation<'_>, LinkError> {
        let maximum = self.max_message_size();
        if length > maximum {
            return Err(LinkError::TooLarge { length, maximum });
        }
        if self.queued.0.len() == self.batch {
            self.flush()?;
        }
        self.buffer.resize(length, 0);
        Ok(Reservation::own(&mut self.buffer, &mut self.queued))
    }

    /// Passes the messages to the thread. Without a connection they wait there, and this is no error.
    fn flush(&mut self) -> Result<usize, LinkError> {
        for message in &self.queued.0 {
            self.counters.count(message.len());
        }
        let count = self.queued.0.len();
        let topic = &self.topic;
        let messages = self.queued.0.drain(..).map(|payload| Message {
            topic: Arc::clone(topic),
            payload,
        });
        self.worker.shared.send(messages);
        Ok(count)
    }

    fn send_to_topic(&mut self, topic: &str, message: &[u8]) -> Result<(), LinkError> {
        check_topic(Role::Send, topic)?;
        // The longest packet has room for the topic of the link.
        let longer = topic.len().saturating_sub(self.topic.len());
        let maximum = self.max_message_size().saturating_sub(longer);
        let length = message.len();
        if length > maximum {
            return Err(LinkError::TooLarge { length, maximum });
        }
        // The messages that wait were committed before this one.
        self.flush()?;
        self.counters.count(length);
        let message = Message {
            topic: topic.into(),
            payload: message.to_vec(),
        };
        self.worker.shared.send(std::iter::once(message));
        Ok(())
    }

    fn state(&self) -> LinkState {
        self.worker.shared.lock().state
    }

    /// Returns the length of the longest message that both sides accept; that of the broker is known with the connection.
    fn max_message_size(&self) -> usize {
        self.max_message_size.min(self.worker.shared.longest())
    }

    fn counters(&self) -> LinkCounters {
        let inner = self.worker.shared.lock();
        LinkCounters {
            overflowed: inner.overflowed,
            discarded: inner.lost,
            refused: inner.refused,
            refusal: inner.refusal,
            ..self.counters
        }
    }

    fn close(mut self: Box<Self>) -> LinkCounters {
        self.worker.finish();
        self.counters()
    }
}

/// Receiver that subscribes to a topic filter.
pub(crate) struct MqttReceiver {
    worker: Worker,
    taken: Vec<Message>,
    batch: usize,
    max_message_size: usize,
    counters: LinkCounters,
}

impl MqttReceiver {
    pub(crate) fn open(
        broker: (&str, u16, bool),
        options: &LinkOptions,
    ) -> Result<Self, LinkError> {
        let batch = limits::batch(options)?;
        let (worker, max_message_size) = start(Role::Receive, broker, options)?;
        Ok(Self {
            worker,
            taken: Vec::with_capacity(batch),
            batch,
            max_message_size,
            counters: LinkCounters::default(),
        })
    }

    fn receive_now(&mut self, each: &mut dyn FnMut(Received<'_>)) -> usize {
        self.worker.shared.take(self.batch, &mut self.taken);
        let mut count = 0;
        for mut message in self.taken.drain(..) {
            // The limit of packets has room for topics and headers, so a longer message may come.
            if message.payload.len() > self.max_message_size {
                self.counters.discarded += 1;
                continue;
            }
            self.counters.count(message.payload.len());
            count += 1;
            each(Received {
                bytes: &mut message.payload,
                source: Source::Broker,
                topic: Some(&message.topic),
                time: None,
            });
        }
        count
    }
}

impl Receiver for MqttReceiver {
    fn receive(
        &mut self,
        timeout: Duration,
        each: &mut dyn FnMut(Received<'_>),
    ) -> Result<usize, LinkError> {
        let mut count = self.receive_now(each);
        if count == 0 && !timeout.is_zero() {
            let timeout = Timespec::try_from(timeout).ok();
            let mut descriptors = [PollFd::new(&self.worker.shared.arrived, PollFlags::IN)];
            match poll(&mut descriptors, timeout.as_ref()) {
                Ok(_) | Err(Errno::INTR) => {}
                Err(errno) => return Err(LinkError::System(errno)),
            }
            count = self.receive_now(each);
        }
        // Messages that came before the connection broke are passed on first.
        match self.state() {
            LinkState::Down(reason) if count == 0 => Err(LinkError::Down(reason)),
            _ => Ok(count),
        }
    }

    fn as_fd(&self) -> Option<BorrowedFd<'_>> {
        Some(self.worker.shared.arrived.as_fd())
    }

    fn state(&self) -> LinkState {
        self.worker.shared.lock().state
    }

    fn max_message_size(&self) -> usize {
        self.max_message_size
    }

    fn counters(&self) -> LinkCounters {
        LinkCounters {
            overflowed: self.worker.shared.lock().overflowed,
            ..self.counters
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn topics_and_filters() {
        let with = |topic: &str| MqttOptions {
            topic: topic.to_owned(),
            ..MqttOptions::default()
        };
        for topic in ["a", "a/b c/d", "/a"] {
            assert!(check(Role::Send, &with(topic)).is_ok(), "{topic}");
            assert!(check(Role::Receive, &with(topic)).is_ok(), "{topic}");
        }
        for filter in ["#", "a/#", "+/a/+", "+"] {
            assert!(check(Role::Send, &with(filter)).is_err(), "{filter}");
            assert!(check(Role::Receive, &with(filter)).is_ok(), "{filter}");
        }
        for wrong in ["", "#/a", "a#", "a+/b", "a/##", "\0"] {
            assert!(check(Role::Receive, &with(wrong)).is_err(), "{wrong}");
        }
    }
}
