//! Message and transport settings: separate tables for the settings of the UADP and JSON mappings and of brokers; any other
//! settings are written as a structure.

use serde::{Deserialize, Serialize};
use takt_ua::enumerations::{BrokerTransportQualityOfService, DataSetOrderingType};
use takt_ua::structures as ua;
use takt_ua::{ExtensionObject, Guid, Structure, UaString};
use toml::Spanned;

use super::mask::{
    JsonDataSetMessageContentMask, JsonNetworkMessageContentMask, Mask,
    UadpDataSetMessageContentMask, UadpNetworkMessageContentMask, UsualMasks, mapping_of_layout,
};
use super::problem::Problem;
use super::scalar::{Enumeration, Milliseconds, Text, is_default, read_string, write_string};
use super::value::AnyStructure;

/// Mapping without MessageSettings: UADP or JSON, as in the TransportProfileUri.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mapping {
    Uadp,
    Json,
}

impl Mapping {
    pub(super) fn of_profile(uri: &str) -> Self {
        if uri.ends_with("-json") {
            Self::Json
        } else {
            Self::Uadp
        }
    }

    /// Returns the mapping of a HeaderLayoutUri; this one if the layout is not of Annex A.
    pub(super) fn of_layout(self, uri: Option<&str>) -> Self {
        match uri.and_then(mapping_of_layout) {
            Some("JSON") => Self::Json,
            Some("UADP") => Self::Uadp,
            _ => self,
        }
    }
}

/// Settings that have a table of their own.
pub(super) trait Settings: Sized + PartialEq {
    type Structure: Structure;
    fn read(&self, usual: &UsualMasks) -> Self::Structure;
    fn write(settings: &Self::Structure, usual: &UsualMasks) -> Self;
}

/// Type of a member that represents a field of type `F` alone.
trait Member<F> {
    fn read(&self) -> F;
    fn write(field: &F) -> Self;
}

impl Member<u16> for u16 {
    fn read(&self) -> u16 {
        *self
    }

    fn write(field: &u16) -> Self {
        *field
    }
}

impl Member<u32> for u32 {
    fn read(&self) -> u32 {
        *self
    }

    fn write(field: &u32) -> Self {
        *field
    }
}

impl Member<f64> for Milliseconds {
    fn read(&self) -> f64 {
        self.0
    }

    fn write(field: &f64) -> Self {
        Self(*field)
    }
}

impl Member<UaString> for Option<String> {
    fn read(&self) -> UaString {
        read_string(self.clone())
    }

    fn write(field: &UaString) -> Self {
        write_string(field)
    }
}

impl Member<Guid> for Text<Guid> {
    fn read(&self) -> Guid {
        self.0
    }

    fn write(field: &Guid) -> Self {
        Self(*field)
    }
}

/// Declares names of enumeration values, of which 0 is the default.
macro_rules! names {
    ($($name:ident = $enumeration:ident;)*) => {$(
        type $name = Enumeration<{ $enumeration::TYPE_ID }>;

        impl Member<$enumeration> for Option<$name> {
            fn read(&self) -> $enumeration {
                $enumeration(self.map_or(0, |name| name.0))
            }

            fn write(field: &$enumeration) -> Self {
                (field.0 != 0).then_some(Enumeration(field.0))
            }
        }
    )*};
}

names! {
    Qos = BrokerTransportQualityOfService;
    Ordering = DataSetOrderingType;
}

/// Declares a table, and how each of its members is read and written, unless its type says it.
macro_rules! settings {
    (@read $value:ident $member:ident) => { $value.$member.read() };
    (@read $value:ident $member:ident $read:expr) => { $read };
    (@write $value:ident $member:ident) => { Member::write(&$value.$member) };
    (@write $value:ident $member:ident $write:expr) => { $write };
    ($(
        $(#[$doc:meta])*
        $name:ident = $structure:ident as $value:ident, $usual:ident {
            $($member:ident: $type:ty $(= $read:expr, $write:expr)?;)*
        }
    )*) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
        #[serde(deny_unknown_fields, default)]
        pub(super) struct $name {
            $(#[serde(skip_serializing_if = "is_default")] $member: $type,)*
        }

        impl Settings for $name {
            type Structure = ua::$structure;

            fn read(&self, $usual: &UsualMasks) -> Self::Structure {
                let $value = self;
                $(let $member = settings!(@read $value $member $($read)?);)*
                ua::$structure { $($member,)* }
            }

            fn write($value: &Self::Structure, $usual: &UsualMasks) -> Self {
                Self { $($member: settings!(@write $value $member $($write)?),)* }
            }
        }
    )*};
}

settings! {
    /// Settings of a WriterGroup (OPC 10000-14, 6.3.1.1).
    UadpWriterGroup = UadpWriterGroupMessageDataType as it, usual {
        group_version: u32;
        data_set_ordering: Option<Ordering>;
        network_message_content_mask: Option<Mask<UadpNetworkMessageContentMask>> =
            it.network_message_content_mask.map_or(usual.uadp_network_message, |mask| mask.0),
            Mask::unless(it.network_message_content_mask, usual.uadp_network_message);
        sampling_offset: Option<Milliseconds> = it.sampling_offset.map_or(-1.0, |it| it.0),
            (it.sampling_offset != -1.0).then_some(Milliseconds(it.sampling_offset));
        publishing_offset: Vec<Milliseconds> = it.publishing_offset.iter().map(|it| it.0).collect(),
            it.publishing_offset.iter().copied().map(Milliseconds).collect();
    }

    /// Settings of a DataSetWriter (OPC 10000-14, 6.3.1.3).
    UadpDataSetWriter = UadpDataSetWriterMessageDataType as it, usual {
        data_set_message_content_mask: Option<Mask<UadpDataSetMessageContentMask>> =
            it.data_set_message_content_mask.map_or(usual.uadp_data_set_message, |mask| mask.0),
            Mask::unless(it.data_set_message_content_mask, usual.uadp_data_set_message);
        configured_size: u16;
        network_message_number: u16;
        data_set_offset: u16;
    }

    /// Settings of a DataSetReader (OPC 10000-14, 6.3.1.4).
    UadpDataSetReader = UadpDataSetReaderMessageDataType as it, usual {
        group_version: u32;
        network_message_number: u16;
        data_set_offset: u16;
        data_set_class_id: Text<Guid>;
        network_message_content_mask: Option<Mask<UadpNetworkMessageContentMask>> =
            it.network_message_content_mask.map_or(usual.uadp_network_message, |mask| mask.0),
            Mask::unless(it.network_message_content_mask, usual.uadp_network_message);
        data_set_message_content_mask: Option<Mask<UadpDataSetMessageContentMask>> =
            it.data_set_message_content_mask.map_or(usual.uadp_data_set_message, |mask| mask.0),
            Mask::unless(it.data_set_message_content_mask, usual.uadp_data_set_message);
        publishing_interval: Milliseconds;
        receive_offset: Milliseconds;
        processing_offset: Milliseconds;
    }

    /// Settings of a WriterGroup (OPC 10000-14, 6.3.2.1).
    JsonWriterGroup = JsonWriterGroupMessageDataType as it, usual {
        network_message_content_mask: Option<Mask<JsonNetworkMessageContentMask>> =
            it.network_message_content_mask.map_or(usual.json_network_message, |mask| mask.0),
            Mask::unless(it.network_message_content_mask, usual.json_network_message);
    }

    /// Settings of a DataSetWriter (OPC 10000-14, 6.3.2.3).
    JsonDataSetWriter = JsonDataSetWriterMessageDataType as it, usual {
        data_set_message_content_mask: Option<Mask<JsonDataSetMessageContentMask>> =
            it.data_set_message_content_mask.map_or(usual.json_data_set_message, |mask| mask.0),
            Mask::unless(it.data_set_message_content_mask, usual.json_data_set_message);
    }

    /// Settings of a DataSetReader (OPC 10000-14, 6.3.2.4).
    JsonDataSetReader = JsonDataSetReaderMessageDataType as it, usual {
        network_message_content_mask: Option<Mask<JsonNetworkMessageContentMask>> =
            it.network_message_content_mask.map_or(usual.json_network_message, |mask| mask.0),
            Mask::unless(it.network_message_content_mask, usual.json_network_message);
        data_set_message_content_mask: Option<Mask<JsonDataSetMessageContentMask>> =
            it.data_set_message_content_mask.map_or(usual.json_data_set_message, |mask| mask.0),
            Mask::unless(it.data_set_message_content_mask, usual.json_data_set_message);
    }

    /// Settings of a connection to a broker (OPC 10000-14, 6.4.2.2).
    BrokerConnection = BrokerConnectionTransportDataType as it, _usual {
        resource_uri: Option<String>;
        authentication_profile_uri: Option<String>;
    }

    /// Settings of a WriterGroup at a broker (OPC 10000-14, 6.4.2.3).
    BrokerWriterGroup = BrokerWriterGroupTransportDataType as it, _usual {
        queue_name: Option<String>;
        resource_uri: Option<String>;
        authentication_profile_uri: Option<String>;
        requested_delivery_guarantee: Option<Qos>;
    }

    /// Settings of a DataSetWriter at a broker (OPC 10000-14, 6.4.2.5).
    BrokerDataSetWriter = BrokerDataSetWriterTransportDataType as it, _usual {
        queue_name: Option<String>;
        resource_uri: Option<String>;
        authentication_profile_uri: Option<String>;
        requested_delivery_guarantee: Option<Qos>;
        meta_data_queue_name: Option<String>;
        meta_data_update_time: Milliseconds;
    }

    /// Settings of a DataSetReader at a broker (OPC 10000-14, 6.4.2.6).
    BrokerDataSetReader = BrokerDataSetReaderTransportDataType as it, _usual {
        queue_name: Option<String>;
        resource_uri: Option<String>;
        authentication_profile_uri: Option<String>;
        requested_delivery_guarantee: Option<Qos>;
        meta_data_queue_name: Option<String>;
    }
}

/// MessageSettings: at most one of `uadp`, `json` and `message_settings`.
#[derive(Debug, Clone)]
pub(super) struct MessageSettings<U, J> {
    pub(super) uadp: Option<U>,
    pub(super) json: Option<J>,
    pub(super) message_settings: Option<Spanned<AnyStructure>>,
}

impl<U: Settings + Default, J: Settings + Default> MessageSettings<U, J> {
    /// Returns the mapping of the settings; `usual` if there are none.
    pub(super) fn mapping(&self, usual: Mapping) -> Mapping {
        match (&self.uadp, &self.json) {
            (Some(_), _) => Mapping::Uadp,
            (None, Some(_)) => Mapping::Json,
            (None, None) => usual,
        }
    }

    pub(super) fn read(
        self,
        usual: &UsualMasks,
        mapping: Mapping,
        place: std::ops::Range<usize>,
    ) -> Result<ExtensionObject, Problem> {
        let both = "only one of uadp, json and message_settings is allowed";
        match (self.uadp, self.json, self.message_settings) {
            (None, None, Some(settings)) => Ok(settings.into_inner().0),
            (Some(_), None, Some(settings)) | (None, Some(_), Some(settings)) => {
                Err(Problem::new(both, settings.span()))
            }
            (Some(_), Some(_), _) => Err(Problem::new(both, place)),
            (Some(uadp), None, None) => Ok(ExtensionObject::from_structure(&uadp.read(usual))),
            (None, Some(json), None) => Ok(ExtensionObject::from_structure(&json.read(usual))),
            (None, None, None) => Ok(match mapping {
                Mapping::Uadp => ExtensionObject::from_structure(&U::default().read(usual)),
                Mapping::Json => ExtensionObject::from_structure(&J::default().read(usual)),
            }),
        }
    }

    pub(super) fn write(settings: &ExtensionObject, usual: &UsualMasks, mapping: Mapping) -> Self {
        let mut written = Self {
            uadp: short::<U>(settings, usual),
            json: short::<J>(settings, usual),
            message_settings: None,
        };
        if written.uadp.is_none() && written.json.is_none() {
            written.message_settings = Some(Spanned::new(0..0, AnyStructure(settings.clone())));
        }
        // Settings with their usual values are left out.
        if mapping == Mapping::Uadp && written.uadp.as_ref().is_some_and(|it| *it == U::default()) {
            written.uadp = None;
        }
        if mapping == Mapping::Json && written.json.as_ref().is_some_and(|it| *it == J::default()) {
            written.json = None;
        }
        written
    }
}

/// Returns the table, if it represents all of the settings.
fn short<S: Settings>(settings: &ExtensionObject, usual: &UsualMasks) -> Option<S> {
    let table = S::write(&settings.decode_as().ok()?, usual);
    (ExtensionObject::from_structure(&table.read(usual)) == *settings).then_some(table)
}

/// Reads TransportSettings: at most one of `broker` and `transport_settings`.
pub(super) fn read_transport<S: Settings>(
    broker: Option<S>,
    other: Option<Spanned<AnyStructure>>,
) -> Result<ExtensionObject, Problem> {
    match (broker, other) {
        (None, None) => Ok(ExtensionObject::NULL),
        (None, Some(settings)) => Ok(settings.into_inner().0),
        (Some(broker), None) => {
            let usual = UsualMasks::of_layout(None);
            Ok(ExtensionObject::from_structure(&broker.read(&usual)))
        }
        (Some(_), Some(settings)) => {
            let message = "only one of broker and transport_settings is allowed";
            Err(Problem::new(message, settings.span()))
        }
    }
}

pub(super) fn write_transport<S: Settings>(
    settings: &ExtensionObject,
) -> (Option<S>, Option<Spanned<AnyStructure>>) {
    let broker = short(settings, &UsualMasks::of_layout(None));
    let other = (broker.is_none() && !settings.is_null())
        .then(|| Spanned::new(0..0, AnyStructure(settings.clone())));
    (broker, other)
}
