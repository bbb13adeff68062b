//! Options of links.

use std::time::Duration;

/// Options of all links. Each option names the links that it is for; other links ignore it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LinkOptions {
    /// `opc.udp`, `opc.eth`: network interface, by its name, one of its IP addresses, or its MAC address (NetworkInterface, OPC
    /// 10000-14, 6.2.7.5.3). `opc.eth` needs it; for `opc.udp` the routes decide if it is `None`.
    pub interface: Option<String>,
    /// Length of the longest message in bytes, sent or received. `None`: the longest that the link takes, which is 65 507 (IPv4)
    /// or 65 487 (IPv6) bytes for `opc.udp`, the interface's MTU (at most 1 500) for `opc.eth`, 64 KiB for `opc.iox2`, and 1 MiB
    /// for MQTT. It costs memory: as many bytes as this times `batch`.
    pub max_message_size: Option<usize>,
    /// Number of messages that are queued before they must be flushed, and that are received with one system call: 1 to 1024. If the
    /// messages of a flush leave [together](WithoutRoom::Discard), this is their greatest number, unless
    /// [`Sender::reserve_flush`](crate::Sender::reserve_flush) makes room for more.
    pub batch: usize,
    /// `opc.udp`: number of routers that a message may cross, TTL or hop limit. `None`: 1 for multicast, the system's for unicast.
    pub ttl: Option<u8>,
    /// `opc.udp`: Differentiated Services Code Point, 0 to 63.
    pub dscp: Option<u8>,
    /// `opc.udp`: true if subscribers on this host get multicast messages too.
    pub multicast_loopback: bool,
    /// `opc.udp`, `opc.eth`: SO_PRIORITY, by which queueing disciplines choose the traffic class: 0 to 15, above 6 for
    /// CAP_NET_ADMIN only. `None`: for `opc.eth` the PCP of the address, if it has one.
    pub priority: Option<u32>,
    /// `opc.udp`, `opc.eth`: size of the kernel's buffer in bytes, for sending or receiving. `None`: the system's default.
    pub socket_buffer: Option<usize>,
    /// `opc.udp`, `opc.eth`: greatest number of flushes whose messages wait in the kernel at a time, in the queueing discipline and
    /// in the queue of the network card, 1 or more. Further messages are [without room](WithoutRoom). It sets the size of the socket's buffer
    /// by the largest flush so far, unless `socket_buffer` does. The kernel counts memory, and never less than 4 608 bytes:
    /// four to six short messages. `None`: as much as the system's buffer takes, about 140 messages.
    pub send_room: Option<usize>,
    /// `opc.udp`, `opc.eth`: mode in which messages are sent with their launch time (SO_TXTIME, CLOCK_TAI), for a queueing
    /// discipline such as ETF; `None`: they are sent without. It needs CAP_NET_ADMIN. Messages committed without a launch time
    /// are sent without one, and ETF drops them. Messages that the queueing discipline drops are counted by their cause
    /// ([`Sender::launch_drops`](crate::Sender::launch_drops)). `opc.iox2` and MQTT ignore launch times.
    pub launch_times: Option<LaunchMode>,
    /// `opc.udp`, `opc.eth`: clock by which received messages have the time at which they were received
    /// ([`Received::time`](crate::Received::time)); `None`: they have no time. `opc.iox2` and MQTT have no such time.
    pub receive_times: Option<ReceiveClock>,
    /// `opc.udp`, `opc.eth`: treatment of messages for which the kernel has no room.
    pub without_room: WithoutRoom,
    /// `opc.iox2`: runtime directory in which processes meet, if not the usual one.
    pub runtime_directory: Option<std::path::PathBuf>,
    /// True if the receiver is always called without a timeout, again and again. `opc.iox2`: senders then need not wake it, which
    /// saves them system calls, and it has no descriptor. `opc.udp`, `opc.eth`: a call takes one message, if the messages before
    /// came one by one, which takes the kernel less time.
    pub poll_only: bool,
    /// Options of MQTT.
    pub mqtt: MqttOptions,
}

impl Default for LinkOptions {
    fn default() -> Self {
        Self {
            interface: None,
            max_message_size: None,
            batch: 32,
            ttl: None,
            dscp: None,
            multicast_loopback: true,
            priority: None,
            socket_buffer: None,
            send_room: None,
            launch_times: None,
            receive_times: None,
            without_room: WithoutRoom::Keep,
            runtime_directory: None,
            poll_only: false,
            mqtt: MqttOptions::default(),
        }
    }
}

/// Treatment of messages for which the kernel has no room (EAGAIN, or ENOBUFS without launch times), because its queues
/// are full.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WithoutRoom {
    /// They stay queued, and leave in their order when there is room: for messages each of which counts.
    Keep,
    /// They are discarded, and counted in [`LinkCounters::overflowed`](crate::LinkCounters::overflowed): for messages
    /// that the next one replaces. A message never waits for the flush of a newer one. The messages of a flush, such as the
    /// chunks of a long one, leave together or not at all: the socket's buffer has room for all of them. If the kernel still
    /// takes only a part although nothing else waits, the error is [`LinkError::Incomplete`](crate::LinkError::Incomplete).
    Discard,
    /// A message that is alone in its flush is discarded, as with `Discard`, because the next one replaces it. Several
    /// ones stay queued, as with `Keep`: otherwise a port with room for a part of them would always take the first ones,
    /// and the last ones would never leave.
    DiscardAlone,
}

/// Treatment of launch times by the queueing discipline, which must be configured alike.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LaunchMode {
    /// A message leaves at its launch time.
    Strict,
    /// A message leaves at its launch time at the latest (SOF_TXTIME_DEADLINE_MODE).
    Deadline,
}

/// Clock that measures when messages are received.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReceiveClock {
    /// CLOCK_REALTIME of the kernel, read when the network card's driver passes the message on (SO_TIMESTAMPNS).
    Software,
    /// PTP clock of the network card, read when the message comes from the wire (SO_TIMESTAMPING). Untested on
    /// hardware.
    ///
    /// The card's time stamps must be switched on: `ptp4l` does this for PTP's own frames, and
    /// `hwstamp_ctl -i INTERFACE -r 1` for all frames. A message that the card has not stamped has the kernel's time
    /// instead: [`ReceiveTime::clock`](crate::ReceiveTime::clock) tells which one it is. In the first moments after the
    /// link is opened, such a message may have no time.
    Hardware,
}

/// Options of MQTT alone (OPC 10000-14, 7.3.4).
#[derive(Clone, PartialEq, Eq)]
pub struct MqttOptions {
    /// Topic to publish to, or topic filter to subscribe to (QueueName, OPC 10000-14, 6.4.2.3.1).
    pub topic: String,
    /// Version of the protocol.
    pub version: MqttVersion,
    /// Quality of service: BestEffort and AtMostOnce are 0, AtLeastOnce 1, ExactlyOnce 2 (OPC 10000-14, 7.3.4.5).
    pub quality_of_service: u8,
    /// True if the broker keeps the last message for later subscribers, as metadata and status messages need.
    pub retain: bool,
    /// Encoding of the messages, which MQTT 5 sends as the content type.
    pub content: Content,
    /// Client identifier; two links with the same one would disconnect each other. With an identifier, the broker keeps a session
    /// of MQTT 3.1.1 for good. `None`: one that no other client has, for this time only.
    pub client_id: Option<String>,
    /// User name and password.
    pub credentials: Option<(String, String)>,
    /// Certificates of the trusted authorities, PEM. `None`: those of the operating system.
    pub trusted_certificates: Option<Vec<u8>>,
    /// Certificate chain and private key of the client, PEM.
    pub client_certificate: Option<(Vec<u8>, Vec<u8>)>,
    /// Credentials of other resources. A link does not use them: its owner chooses one by the ResourceUri of a configuration, with
    /// [`MqttOptions::choose`].
    pub resources: Vec<MqttResource>,
    /// Time after which a keep-alive is sent if nothing else is: 5 to 65535 seconds.
    pub keep_alive: Duration,
    /// Maximum number of messages that wait, for the broker or for the application; then the oldest is discarded and counted.
    pub queue: usize,
}

impl Default for MqttOptions {
    fn default() -> Self {
        Self {
            topic: String::new(),
            version: MqttVersion::V5,
            quality_of_service: 0,
            retain: false,
            content: Content::Uadp,
            client_id: None,
            credentials: None,
            trusted_certificates: None,
            client_certificate: None,
            resources: Vec::new(),
            keep_alive: Duration::from_secs(10),
            queue: 1000,
        }
    }
}

/// Credentials for a ResourceUri, which names a user at a broker, as in `mqtts://press@broker:8883` (OPC 10000-14, 6.4.2.2.1).
#[derive(Clone, PartialEq, Eq, Default)]
pub struct MqttResource {
    /// ResourceUri.
    pub resource_uri: String,
    /// User name and password.
    pub credentials: Option<(String, String)>,
    /// Certificates of the trusted authorities, PEM; `None`: those of the other options.
    pub trusted_certificates: Option<Vec<u8>>,
    /// Certificate chain and private key of the client, PEM.
    pub client_certificate: Option<(Vec<u8>, Vec<u8>)>,
}

impl std::fmt::Debug for MqttResource {
    /// Writes no password and no private key.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("MqttResource")
            .field("resource_uri", &self.resource_uri)
            .field(
                "user_name",
                &self.credentials.as_ref().map(|(name, _)| name),
            )
            .finish_non_exhaustive()
    }
}

impl MqttOptions {
    /// Uses the credentials of a resource; returns `false` if there are none for it.
    pub fn choose(&mut self, resource_uri: &str) -> bool {
        let mut resources = self.resources.iter();
        let Some(found) = resources.find(|it| it.resource_uri == resource_uri) else {
            return false;
        };
        // Also if the resource has none: those of another user must not be used instead.
        self.credentials.clone_from(&found.credentials);
        self.client_certificate
            .clone_from(&found.client_certificate);
        if found.trusted_certificates.is_some() {
            self.trusted_certificates
                .clone_from(&found.trusted_certificates);
        }
        true
    }
}

impl std::fmt::Debug for MqttOptions {
    /// Writes no password and no private key.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("MqttOptions")
            .field("topic", &self.topic)
            .field("version", &self.version)
            .field("quality_of_service", &self.quality_of_service)
            .field("retain", &self.retain)
            .field("content", &self.content)
            .field("client_id", &self.client_id)
            .field(
                "user_name",
                &self.credentials.as_ref().map(|(name, _)| name),
            )
            .field("keep_alive", &self.keep_alive)
            .field("queue", &self.queue)
            .finish_non_exhaustive()
    }
}

/// Version of MQTT that the standard names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MqttVersion {
    /// Version 3.1.1.
    V3,
    /// Version 5.0, whose messages have a content type.
    V5,
}

/// Encoding of NetworkMessages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Content {
    /// UADP (OPC 10000-14, 7.3.4.9.2).
    Uadp,
    /// JSON (OPC 10000-14, 7.3.4.9.1).
    Json,
}

impl Content {
    /// Returns the ContentType property of MQTT 5 (OPC 10000-14, 7.3.4.9).
    #[must_use]
    pub fn content_type(self) -> &'static str {
        match self {
            Self::Uadp => "application/opcua+uadp",
            Self::Json => "application/json",
        }
    }

    /// Returns the level `<Encoding>` of the topic tree (OPC 10000-14, Table 206).
    #[must_use]
    pub fn topic_level(self) -> &'static str {
        match self {
            Self::Uadp => "uadp",
            Self::Json => "json",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_resource_replaces_the_credentials_of_all() {
        let mut options = MqttOptions {
            credentials: Some(("all".to_owned(), "1".to_owned())),
            trusted_certificates: Some(b"authority".to_vec()),
            resources: vec![MqttResource {
                resource_uri: "mqtts://press@broker".to_owned(),
                credentials: Some(("press".to_owned(), "secret".to_owned())),
                ..MqttResource::default()
            }],
            ..MqttOptions::default()
        };
        assert!(!options.choose("mqtts://other@broker"));
        assert!(options.choose("mqtts://press@broker"));
        let user = options.credentials.as_ref().map(|(name, _)| name.as_str());
        assert_eq!(user, Some("press"));
        assert_eq!(
            options.trusted_certificates.as_deref(),
            Some(&b"authority"[..])
        );
        let shown = format!("{options:?} {:?}", options.resources);
        assert!(!shown.contains("secret"), "{shown}");
    }
}
