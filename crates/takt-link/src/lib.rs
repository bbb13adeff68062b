//! Ways of PubSub messages to the wire: one module per way. Bytes are sent and received; what they mean is
//! `takt-wire`'s and `takt-pubsub`'s business.
//!
//! | address | way | OPC 10000-14 |
//! |---|---|---|
//! | `opc.udp://<address>[:<port>]` | UDP datagrams, unicast, multicast or broadcast | 7.3.2 |
//! | `opc.eth://<MAC address>[:<VID>[.PCP]]` | Ethernet frames with EtherType 0xB62C, on a packet socket | 7.3.3 |
//! | `opc.iox2://<name>` | shared memory of this host, iceoryx2 (feature `iox2`) | |
//! | `mqtt://<host>[:<port>]`, `mqtts://<host>[:<port>]` | a topic of a broker, MQTT 3.1.1 or 5 (feature `mqtt`) | 7.3.4 |
//!
//! * **Sending**: a message is written where it is sent from ([`Sender::reserve`]), queued ([`Sender::commit`]), and all that is
//!   queued goes out with one system call ([`Sender::flush`]). Once open, nothing is allocated (for `opc.iox2`, iceoryx2 allocates a little for a loan).
//! * **Receiving**: as many messages as there are with one system call, each passed to a function where it was received, to be
//!   decrypted in place ([`Receiver::receive`]). Or a descriptor for epoll ([`Receiver::as_fd`]).
//! * **A link that is down** is a [`LinkState`] and an error of the calls that it fails, no more: interfaces that are switched off, vanish
//!   and come back, cables, routes. The link is opened again by itself.
//! * **Losses are counted** ([`Counters`]), also those that the kernel knows of.
//! * Whatever comes from the network is bounded by [`Options::max_message_size`], and is not looked at here beyond the link's own header.

mod address;
mod control;
mod error;
mod ethernet;
mod frame;
#[cfg(feature = "fuzzing")]
pub mod fuzzing;
mod interface;
#[cfg(feature = "iox2")]
mod iox2;
mod limits;
mod link;
#[cfg(feature = "mqtt")]
mod mqtt;
mod options;
mod socket;
mod topic;
mod udp;
mod unsafe_code;

pub use address::{
    Address, AddressError, DISCOVERY_ADDRESS, MQTT_PORT, MQTTS_PORT, MacAddress, UDP_PORT, VlanTag,
};
pub use error::{DownReason, LinkError, LinkState};
pub use frame::ETHERTYPE;
pub use link::{Counters, Received, Receiver, Sender, Source};
pub use options::{Content, MqttOptions, MqttVersion, Options};
pub use topic::{DEFAULT_PREFIX, MqttMessageType, TopicError, TopicTree};

/// Opens a link to send to `address`.
///
/// # Errors
/// A link that is down is opened all the same. An error means that address, options or rights are not right.
pub fn open_sender(address: &Address, options: &Options) -> Result<Box<dyn Sender>, LinkError> {
    Ok(match address {
        Address::Udp { host, port } => Box::new(udp::open_sender(host, *port, options)?),
        Address::Ethernet { host, vlan } => Box::new(ethernet::open_sender(*host, *vlan, options)?),
        #[cfg(feature = "mqtt")]
        Address::Mqtt {
            host,
            port,
            is_secure,
        } => Box::new(mqtt::MqttSender::open((host, *port, *is_secure), options)?),
        #[cfg(not(feature = "mqtt"))]
        Address::Mqtt { .. } => return Err(LinkError::NotBuilt("mqtt")),
        #[cfg(feature = "iox2")]
        Address::Iox2 { name } => Box::new(iox2::Iox2Sender::open(name, options)?),
        #[cfg(not(feature = "iox2"))]
        Address::Iox2 { .. } => return Err(LinkError::NotBuilt("iox2")),
    })
}

/// Opens a link to receive what is sent to `address`.
///
/// # Errors
/// As for [`open_sender`].
pub fn open_receiver(address: &Address, options: &Options) -> Result<Box<dyn Receiver>, LinkError> {
    Ok(match address {
        Address::Udp { host, port } => Box::new(udp::open_receiver(host, *port, options)?),
        Address::Ethernet { host, vlan } => {
            Box::new(ethernet::open_receiver(*host, *vlan, options)?)
        }
        #[cfg(feature = "mqtt")]
        Address::Mqtt {
            host,
            port,
            is_secure,
        } => Box::new(mqtt::MqttReceiver::open(
            (host, *port, *is_secure),
            options,
        )?),
        #[cfg(not(feature = "mqtt"))]
        Address::Mqtt { .. } => return Err(LinkError::NotBuilt("mqtt")),
        #[cfg(feature = "iox2")]
        Address::Iox2 { name } => Box::new(iox2::Iox2Receiver::open(name, options)?),
        #[cfg(not(feature = "iox2"))]
        Address::Iox2 { .. } => return Err(LinkError::NotBuilt("iox2")),
    })
}
