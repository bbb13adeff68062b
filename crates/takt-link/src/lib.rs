//! Links of PubSub messages: one module per kind of link. A link sends and receives bytes; `takt-wire` and `takt-pubsub` encode and
//! decode the messages.
//!
//! | address | link | OPC 10000-14 |
//! |---|---|---|
//! | `opc.udp://<address>[:<port>]` | UDP datagrams, unicast, multicast or broadcast | 7.3.2 |
//! | `opc.eth://<MAC address>[:<VID>[.PCP]]` | Ethernet frames with EtherType 0xB62C, on a packet socket | 7.3.3 |
//! | `opc.iox2://<name>` | shared memory of this host, iceoryx2 (feature `iox2`) | |
//! | `mqtt://<host>[:<port>]`, `mqtts://<host>[:<port>]` | a topic of a broker, MQTT 3.1.1 or 5 (feature `mqtt`) | 7.3.4 |
//!
//! * **Sending**: a message is written to the memory from which it is sent ([`Sender::reserve`]), queued ([`Reservation::commit`]),
//!   and all queued messages are sent with one system call ([`Sender::flush`]). An open link allocates nothing; only for `opc.iox2`,
//!   iceoryx2 allocates a few bytes for each message.
//! * **Launch times**: a message can be committed with the time at which it shall leave ([`Reservation::commit_at`]). With
//!   [`LinkOptions::launch_times`], `opc.udp` and `opc.eth` pass it to the kernel (SO_TXTIME); other links ignore it.
//!   [`Sender::launch_drops`] counts the messages that were too late for it, by cause.
//! * **Receiving**: one system call receives as many messages as there are. Each is passed to a function in the memory to which it was
//!   received, and may be decrypted in place ([`Receiver::receive`]). There is a descriptor for epoll ([`Receiver::as_fd`]). With
//!   [`LinkOptions::receive_times`], messages of `opc.udp` and `opc.eth` have the time at which the kernel or the
//!   network card received them.
//! * **A link that is down** is a [`LinkState`], and an error of the calls that fail for it: interfaces that are switched off, vanish
//!   and come back, cables, routes. The link opens its socket again by itself.
//! * **Losses are counted** ([`LinkCounters`]), including those that the kernel reports.
//! * Received messages are at most [`LinkOptions::max_message_size`] long. Only the header of the link is read here.

#![deny(unsafe_code)]

mod address;
mod control;
mod counters;
mod down_reason;
mod error;
mod frame;
mod frames;
#[cfg(feature = "fuzzing")]
pub mod fuzzing;
mod interface;
mod kernel_queue;
mod launch_report;
mod launch_time;
mod limits;
mod link;
#[cfg(feature = "iox2")]
mod loan;
mod network_card;
mod options;
mod received;
mod reservation;
mod socket;
mod topic;
mod transports;
#[allow(unsafe_code, reason = "system calls, and descriptors of iceoryx2")]
mod unsafe_code;

pub use address::{
    Address, AddressError, DISCOVERY_ADDRESS, MQTT_PORT, MQTTS_PORT, MacAddress, UDP_PORT, VlanTag,
};
pub use counters::{BrokerRefusal, LaunchDrops, LinkCounters};
pub use error::{ConnectionRefusal, DownReason, LinkError, LinkState, TlsFailure};
pub use frame::ETHERTYPE;
pub use frames::{FrameListener, FrameSender, HeardFrame};
pub use interface::interface_name;
pub use kernel_queue::KernelQueue;
pub use launch_time::LaunchTime;
pub use link::{Receiver, Sender};
pub use network_card::{NetworkCard, TimeStamping, transmit_report_delay};
pub use options::{
    Content, LaunchMode, LinkOptions, MqttOptions, MqttResource, MqttVersion, ReceiveClock,
    WithoutRoom,
};
pub use received::{ReceiveTime, Received, Source};
pub use reservation::Reservation;
pub use topic::{DEFAULT_PREFIX, MqttMessageType, NOT_IN_LEVELS, TopicError, TopicTree};
pub use transports::{open_receiver, open_sender};
