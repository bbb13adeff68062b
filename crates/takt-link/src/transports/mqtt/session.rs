//! One interface to both versions of the protocol.

use std::sync::Arc;
use std::time::Duration;

use rumqttc::v5::mqttbytes::v5::{
    Packet as Packet5, PubAckReason, PubRecReason, PublishProperties,
    SubscribeReasonCode as Reason5,
};
use rumqttc::v5::{self, mqttbytes::QoS as QoS5};
use rumqttc::{
    NetworkOptions, Outgoing, Packet, QoS, SubscribeReasonCode, TlsConfiguration, Transport,
};
use rustls::ClientConfig;

use super::failure;
use crate::counters::BrokerRefusal;
use crate::error::DownReason;
use crate::options::{MqttOptions, MqttVersion};

/// Number of messages that the library holds for the broker.
const CHANNEL: usize = 16;
/// Time that a broker of version 5 keeps a session after its connection broke, in seconds.
const SESSION_EXPIRY: u32 = 60;
/// Bytes of a packet beside its payload and topic, at most.
pub(super) const PACKET_OVERHEAD: usize = 1024;
/// Bytes of a sent packet beside its payload and topic, at most: header, identifier, lengths and content type.
pub(super) const SENT_OVERHEAD: usize = 64;

/// Address of the broker.
pub(super) struct Broker {
    pub(super) host: String,
    pub(super) port: u16,
    pub(super) tls: Option<Arc<ClientConfig>>,
}

/// Message, and the topic that it was received from or is sent to.
pub(super) struct Message {
    pub(super) topic: Arc<str>,
    pub(super) payload: Vec<u8>,
}

/// Event of a connection.
pub(super) enum Occurrence {
    /// The broker has accepted the connection.
    Connected {
        /// The session is that of the previous connection, so unacknowledged messages are sent again.
        is_resumed: bool,
        /// Length of the longest packet that the broker accepts, in bytes, if it says so.
        longest_packet: Option<u32>,
    },
    /// The broker has answered a subscription.
    Subscribed { is_accepted: bool },
    /// A message was received.
    Message(Message),
    /// The broker has a message, with the requested quality of service.
    Delivered,
    /// The broker has refused a message; MQTT 3.1.1 cannot report this.
    Rejected(BrokerRefusal),
    /// The broker was told of the end of the connection.
    Disconnected,
    /// Any other event.
    Other,
}

/// Handle that passes messages and requests to the connection.
pub(super) enum Client {
    V3(rumqttc::AsyncClient),
    V5(v5::AsyncClient, PublishProperties),
}

/// Connection, which is opened again when it is polled after it broke.
pub(super) enum Connection {
    V3(Box<rumqttc::EventLoop>),
    V5(Box<v5::EventLoop>),
}

/// Creates both ends, not connected yet.
pub(super) fn open(
    broker: Broker,
    client_id: &str,
    options: &MqttOptions,
    max_message_size: usize,
) -> (Client, Connection) {
    let transport = match broker.tls {
        Some(config) => Transport::tls_with_config(TlsConfiguration::Rustls(config)),
        None => Transport::Tcp,
    };
    let mut network = NetworkOptions::new();
    // A small message shall not wait for the acknowledgement of the one before it.
    network.set_tcp_nodelay(true);
    let max_packet_size = max_message_size + options.topic.len() + PACKET_OVERHEAD;
    // A client with a fixed identifier has a session that the broker keeps.
    let is_clean = options.client_id.is_none();
    match options.version {
        MqttVersion::V3 => {
            let mut settings = rumqttc::MqttOptions::new(client_id, broker.host, broker.port);
            settings
                .set_transport(transport)
                .set_keep_alive(options.keep_alive)
                .set_clean_session(is_clean)
                .set_max_packet_size(max_packet_size, max_packet_size);
            if let Some((name, password)) = &options.credentials {
                settings.set_credentials(name, password);
            }
            let (client, mut connection) = rumqttc::AsyncClient::new(settings, CHANNEL);
            connection.set_network_options(network);
            (Client::V3(client), Connection::V3(Box::new(connection)))
        }
        MqttVersion::V5 => {
            let mut settings = v5::MqttOptions::new(client_id, broker.host, broker.port);
            settings
                .set_transport(transport)
                .set_keep_alive(options.keep_alive)
                // A session of version 5 ends by itself, so one with a random identifier may be kept, too.
                .set_clean_start(false)
                .set_session_expiry_interval(Some(SESSION_EXPIRY))
                .set_max_packet_size(u32::try_from(max_packet_size).ok());
            settings.set_network_options(network);
            if let Some((name, password)) = &options.credentials {
                settings.set_credentials(name, password);
            }
            let (client, connection) = v5::AsyncClient::new(settings, CHANNEL);
            let properties = PublishProperties {
                content_type: Some(options.content.content_type().to_owned()),
                ..PublishProperties::default()
            };
            (
                Client::V5(client, properties),
                Connection::V5(Box::new(connection)),
            )
        }
    }
}

/// Returns the quality of service in both versions (OPC 10000-14, 7.3.4.5).
fn qualities(level: u8) -> (QoS, QoS5) {
    match level {
        0 => (QoS::AtMostOnce, QoS5::AtMostOnce),
        1 => (QoS::AtLeastOnce, QoS5::AtLeastOnce),
        _ => (QoS::ExactlyOnce, QoS5::ExactlyOnce),
    }
}

impl Client {
    /// Passes a message on as soon as there is room; returns `false` if it is not accepted.
    pub(super) async fn publish(&self, options: &MqttOptions, message: Message) -> bool {
        let (quality3, quality5) = qualities(options.quality_of_service);
        let Message { topic, payload } = message;
        let (topic, retain) = (&*topic, options.retain);
        match self {
            Self::V3(client) => {
                let published = client.publish(topic, quality3, retain, payload).await;
                published.is_ok()
            }
            Self::V5(client, properties) => {
                let properties = properties.clone();
                client
                    .publish_with_properties(topic, quality5, retain, payload, properties)
                    .await
                    .is_ok()
            }
        }
    }

    /// Subscribes to the topic filter.
    pub(super) fn subscribe(&self, options: &MqttOptions) -> bool {
        let (quality3, quality5) = qualities(options.quality_of_service);
        let topic = options.topic.as_str();
        match self {
            Self::V3(client) => client.try_subscribe(topic, quality3).is_ok(),
            Self::V5(client, _) => client.try_subscribe(topic, quality5).is_ok(),
        }
    }

    /// Disconnects from the broker.
    pub(super) async fn disconnect(&self) {
        // The connection may have ended already.
        let _ = match self {
            Self::V3(client) => client.disconnect().await.is_ok(),
            Self::V5(client, _) => client.disconnect().await.is_ok(),
        };
    }
}

impl Connection {
    /// Waits for the next event; connects if that is needed.
    pub(super) async fn poll(&mut self) -> Result<Occurrence, DownReason> {
        match self {
            Self::V3(connection) => match connection.poll().await {
                Ok(rumqttc::Event::Incoming(packet)) => Ok(incoming3(packet)),
                Ok(rumqttc::Event::Outgoing(packet)) => Ok(outgoing(&packet)),
                Err(error) => Err(failure::of_version_3(&error)),
            },
            Self::V5(connection) => match connection.poll().await {
                Ok(v5::Event::Incoming(packet)) => Ok(incoming5(packet)),
                Ok(v5::Event::Outgoing(packet)) => Ok(outgoing(&packet)),
                Err(error) => Err(failure::of_version_5(&error)),
            },
        }
    }
}

fn outgoing(packet: &Outgoing) -> Occurrence {
    match packet {
        // A message without an identifier is not acknowledged.
        Outgoing::Publish(0) => Occurrence::Delivered,
        Outgoing::Disconnect => Occurrence::Disconnected,
        _ => Occurrence::Other,
    }
}

fn incoming3(packet: Packet) -> Occurrence {
    match packet {
        Packet::ConnAck(answer) => Occurrence::Connected {
            is_resumed: answer.session_present,
            longest_packet: None,
        },
        Packet::SubAck(answer) => Occurrence::Subscribed {
            is_accepted: !answer.return_codes.contains(&SubscribeReasonCode::Failure),
        },
        Packet::Publish(publish) => Occurrence::Message(Message {
            topic: publish.topic.into(),
            payload: publish.payload.into(),
        }),
        Packet::PubAck(_) | Packet::PubComp(_) => Occurrence::Delivered,
        _ => Occurrence::Other,
    }
}

fn incoming5(packet: Packet5) -> Occurrence {
    match packet {
        Packet5::ConnAck(answer) => Occurrence::Connected {
            is_resumed: answer.session_present,
            longest_packet: answer.properties.and_then(|it| it.max_packet_size),
        },
        Packet5::SubAck(answer) => Occurrence::Subscribed {
            is_accepted: answer
                .return_codes
                .iter()
                .all(|code| matches!(code, Reason5::Success(_))),
        },
        Packet5::Publish(publish) => Occurrence::Message(Message {
            topic: String::from_utf8_lossy(&publish.topic).into(),
            payload: publish.payload.into(),
        }),
        Packet5::PubAck(answer) => match answer.reason {
            PubAckReason::Success | PubAckReason::NoMatchingSubscribers => Occurrence::Delivered,
            PubAckReason::NotAuthorized => Occurrence::Rejected(BrokerRefusal::NotAuthorized),
            PubAckReason::TopicNameInvalid => Occurrence::Rejected(BrokerRefusal::TopicName),
            PubAckReason::QuotaExceeded => Occurrence::Rejected(BrokerRefusal::Quota),
            PubAckReason::PayloadFormatInvalid => {
                Occurrence::Rejected(BrokerRefusal::PayloadFormat)
            }
            _ => Occurrence::Rejected(BrokerRefusal::Unspecified),
        },
        // A refusal ends the delivery here.
        Packet5::PubRec(answer) => match answer.reason {
            PubRecReason::Success | PubRecReason::NoMatchingSubscribers => Occurrence::Other,
            PubRecReason::NotAuthorized => Occurrence::Rejected(BrokerRefusal::NotAuthorized),
            PubRecReason::TopicNameInvalid => Occurrence::Rejected(BrokerRefusal::TopicName),
            PubRecReason::QuotaExceeded => Occurrence::Rejected(BrokerRefusal::Quota),
            PubRecReason::PayloadFormatInvalid => {
                Occurrence::Rejected(BrokerRefusal::PayloadFormat)
            }
            _ => Occurrence::Rejected(BrokerRefusal::Unspecified),
        },
        Packet5::PubComp(_) => Occurrence::Delivered,
        _ => Occurrence::Other,
    }
}

/// Shortest keep-alive of both versions of the library.
pub(super) const MIN_KEEP_ALIVE: Duration = Duration::from_secs(5);
