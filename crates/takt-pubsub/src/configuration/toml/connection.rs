//! PubSubConnections (OPC 10000-14, 6.2.7).

use takt_ua::structures::{NetworkAddressUrlDataType, PubSubConnectionDataType};
use takt_ua::{ExtensionObject, UaString};
use toml::{Spanned, Value};

use super::link_times::{read_word, write_word};
use super::problem::Problem;
use super::property::{Property, read_properties, write_properties};
use super::reader_group::ReaderGroup;
use super::scalar::{Enabled, Nullable, read_string, write_string};
use super::settings::{BrokerConnection, Mapping, read_transport, write_transport};
use super::table::table;
use super::value::{AnyStructure, PublisherIdValue, TomlValue, toml_value};
use super::writer_group::WriterGroup;
use crate::link_times::RECEIVE_TIMES;

/// Address: a URL, or any other structure.
#[derive(Debug, Clone, PartialEq)]
enum Address {
    Url(String),
    Other(AnyStructure),
}

impl TomlValue for Address {
    fn read(value: &Value) -> Result<Self, String> {
        match value {
            Value::String(url) if url.contains("://") => Ok(Self::Url(url.clone())),
            Value::Table(_) => AnyStructure::read(value).map(Self::Other),
            _ => Err("expected a URL, such as \"opc.udp://239.0.0.1:4840\"".to_owned()),
        }
    }

    fn write(&self) -> Value {
        match self {
            Self::Url(url) => url.as_str().into(),
            Self::Other(other) => other.write(),
        }
    }
}

toml_value!(Address);

const PROFILES: &str = "http://opcfoundation.org/UA-Profile/Transport/";

/// Returns the usual TransportProfileUri of addresses of this kind (OPC 10000-7); null if the standard has none.
fn usual_profile(address: Option<&Address>, json: bool) -> UaString {
    let Some(Address::Url(url)) = address else {
        return UaString::null();
    };
    let transport = match url.split_once("://") {
        Some(("opc.udp", _)) => "udp",
        Some(("opc.eth", _)) => "eth",
        Some(("mqtt" | "mqtts" | "ws" | "wss", _)) => "mqtt",
        Some(("amqp" | "amqps", _)) => "amqp",
        _ => return UaString::null(),
    };
    let mapping = if json { "json" } else { "uadp" };
    format!("{PROFILES}pubsub-{transport}-{mapping}").into()
}

table! {
    /// PubSubConnection.
    Connection {
        name: Option<String>,
        enabled: Enabled,
        publisher_id: Option<PublisherIdValue>,
        address: Option<Address>,
        network_interface: Option<Spanned<String>>,
        json: bool,
        transport_profile_uri: Option<Nullable>,
        broker: Option<BrokerConnection>,
        transport_settings: Option<Spanned<AnyStructure>>,
        receive_times: Option<String>,
        connection_properties: Vec<Property>,
        writer_groups: Vec<Spanned<WriterGroup>>,
        reader_groups: Vec<ReaderGroup>,
    }
}

impl Connection {
    pub(super) fn read(self) -> Result<PubSubConnectionDataType, Problem> {
        let usual = usual_profile(self.address.as_ref(), self.json);
        let profile = self.transport_profile_uri.map_or(usual, |said| said.0);
        let mapping = match self.json {
            true => Mapping::Json,
            false => Mapping::of_profile(profile.as_str()),
        };
        let address = match (self.address, self.network_interface) {
            (None, None) => ExtensionObject::NULL,
            (Some(Address::Url(url)), interface) => {
                ExtensionObject::from_structure(&NetworkAddressUrlDataType {
                    network_interface: read_string(interface.map(Spanned::into_inner)),
                    url: url.into(),
                })
            }
            (Some(Address::Other(other)), None) => other.0,
            (_, Some(interface)) => {
                let message = "network_interface needs an address that is a URL";
                return Err(Problem::new(message, interface.span()));
            }
        };
        let (writers, readers) = (self.writer_groups, self.reader_groups);
        let mut connection_properties = read_properties(self.connection_properties);
        read_word(
            &mut connection_properties,
            RECEIVE_TIMES,
            self.receive_times,
        );
        Ok(PubSubConnectionDataType {
            name: read_string(self.name),
            enabled: self.enabled.0,
            publisher_id: self.publisher_id.map(|id| id.0).unwrap_or_default(),
            transport_profile_uri: profile,
            address,
            connection_properties,
            transport_settings: read_transport(self.broker, self.transport_settings)?,
            writer_groups: writers
                .into_iter()
                .map(|group| WriterGroup::read(group, mapping))
                .collect::<Result<_, _>>()?,
            reader_groups: readers
                .into_iter()
                .map(|group| group.read(mapping))
                .collect::<Result<_, _>>()?,
        })
    }

    pub(super) fn write(connection: &PubSubConnectionDataType) -> Self {
        let (address, network_interface) = write_address(&connection.address);
        let profile = &connection.transport_profile_uri;
        let mapping = Mapping::of_profile(profile.as_str());
        let usual = usual_profile(address.as_ref(), mapping == Mapping::Json);
        let is_usual = *profile == usual;
        let (broker, transport_settings) = write_transport(&connection.transport_settings);
        let id = &connection.publisher_id;
        let (receive_times, connection_properties) =
            write_word(&connection.connection_properties, RECEIVE_TIMES);
        let (writers, readers) = (&connection.writer_groups, &connection.reader_groups);
        let writers = writers
            .iter()
            .map(|group| Spanned::new(0..0, WriterGroup::write(group, mapping)));
        let readers = readers
            .iter()
            .map(|group| ReaderGroup::write(group, mapping));
        Self {
            name: write_string(&connection.name),
            enabled: Enabled(connection.enabled),
            publisher_id: (!id.is_empty()).then(|| PublisherIdValue(id.clone())),
            address,
            network_interface: network_interface.map(|name| Spanned::new(0..0, name)),
            json: is_usual && mapping == Mapping::Json,
            transport_profile_uri: (!is_usual).then(|| Nullable(profile.clone())),
            broker,
            transport_settings,
            receive_times,
            connection_properties: write_properties(&connection_properties),
            writer_groups: writers.collect(),
            reader_groups: readers.collect(),
        }
    }
}

fn write_address(address: &ExtensionObject) -> (Option<Address>, Option<String>) {
    if address.is_null() {
        return (None, None);
    }
    let other = || (Some(Address::Other(AnyStructure(address.clone()))), None);
    let Ok(known) = address.decode_as::<NetworkAddressUrlDataType>() else {
        return other();
    };
    // An address that the two keys cannot express is written as a structure.
    match known.url.as_option() {
        Some(url) if url.contains("://") && ExtensionObject::from_structure(&known) == *address => {
            let interface = write_string(&known.network_interface);
            (Some(Address::Url(url.to_owned())), interface)
        }
        _ => other(),
    }
}
