//! Kinds of links, one module for each: `docs/add-a-transport.md` describes a new one.

mod ethernet;
#[cfg(feature = "iox2")]
mod iox2;
#[cfg(feature = "mqtt")]
mod mqtt;
mod udp;

use crate::address::Address;
use crate::error::LinkError;
use crate::link::{Receiver, Sender};
use crate::options::LinkOptions;

/// Opens a link to send to `address`.
///
/// # Errors
/// The address or an option is wrong, or rights are missing. A link that is down is no error.
pub fn open_sender(address: &Address, options: &LinkOptions) -> Result<Box<dyn Sender>, LinkError> {
    Ok(match address {
        Address::Udp { host, port } => udp::open_sender(host, *port, options)?,
        Address::Ethernet { host, vlan } => ethernet::open_sender(*host, *vlan, options)?,
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

/// Opens a link to receive the messages sent to `address`.
///
/// # Errors
/// The errors are those of [`open_sender`].
pub fn open_receiver(
    address: &Address,
    options: &LinkOptions,
) -> Result<Box<dyn Receiver>, LinkError> {
    Ok(match address {
        Address::Udp { host, port } => udp::open_receiver(host, *port, options)?,
        Address::Ethernet { host, vlan } => ethernet::open_receiver(*host, *vlan, options)?,
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
