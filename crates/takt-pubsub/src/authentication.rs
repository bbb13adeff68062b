//! Authentication at a broker: ResourceUri and AuthenticationProfileUri (OPC 10000-14, 6.4.2.2).

use takt_link::{LinkOptions, MqttOptions};
use takt_ua::ExtensionObject;
use takt_ua::structures::{
    BrokerConnectionTransportDataType, BrokerDataSetReaderTransportDataType,
    BrokerDataSetWriterTransportDataType, BrokerWriterGroupTransportDataType,
};

use crate::error::ConfigurationProblem;

/// AuthenticationProfileUri of user name and password: the only one that is supported.
pub(crate) const USER_NAME: &str =
    "http://opcfoundation.org/UA-Profile/Authentication/mqtt-username";

/// Parameters of one component.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Authentication {
    pub(crate) resource_uri: String,
    pub(crate) profile_uri: String,
}

impl Authentication {
    /// Returns the parameters in the TransportSettings of a connection, group, writer or reader.
    pub(crate) fn of(settings: &ExtensionObject) -> Self {
        macro_rules! of {
            ($($structure:ty),*) => {$(
                if let Ok(settings) = settings.decode_as::<$structure>() {
                    return Self {
                        resource_uri: settings.resource_uri.to_string(),
                        profile_uri: settings.authentication_profile_uri.to_string(),
                    };
                }
            )*};
        }
        of!(
            BrokerConnectionTransportDataType,
            BrokerWriterGroupTransportDataType,
            BrokerDataSetWriterTransportDataType,
            BrokerDataSetReaderTransportDataType
        );
        Self::default()
    }

    /// Returns these parameters; those that are missing are the ones of `outer`.
    pub(crate) fn or(self, outer: &Self) -> Self {
        let or = |own: String, outer: &String| if own.is_empty() { outer.clone() } else { own };
        Self {
            resource_uri: or(self.resource_uri, &outer.resource_uri),
            profile_uri: or(self.profile_uri, &outer.profile_uri),
        }
    }

    /// Returns true if the profile is supported, or left to the transport.
    pub(crate) fn is_supported(&self) -> bool {
        self.profile_uri.is_empty() || self.profile_uri == USER_NAME
    }

    /// Chooses the credentials of a link. Without credentials of its own, a resource has those of all brokers.
    pub(crate) fn apply(&self, options: &mut LinkOptions) -> Result<(), ConfigurationProblem> {
        let mqtt: &mut MqttOptions = &mut options.mqtt;
        let uri = self.resource_uri.as_str();
        let is_anonymous =
            |mqtt: &MqttOptions| mqtt.credentials.is_none() && mqtt.client_certificate.is_none();
        if !uri.is_empty() && !mqtt.choose(uri) && is_anonymous(mqtt) {
            let what = format!("there are no credentials for '{uri}'");
            return Err(ConfigurationProblem::parameter("ResourceUri", what));
        }
        if !self.is_supported() {
            let what = format!("'{}' is not supported: use {USER_NAME}", self.profile_uri);
            return Err(ConfigurationProblem::parameter(
                "AuthenticationProfileUri",
                what,
            ));
        }
        if self.profile_uri == USER_NAME && mqtt.credentials.is_none() {
            let what = "there is no user name with a password";
            return Err(ConfigurationProblem::parameter(
                "AuthenticationProfileUri",
                what,
            ));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use takt_link::MqttResource;

    use super::*;

    fn authentication(resource_uri: &str, profile_uri: &str) -> Authentication {
        Authentication {
            resource_uri: resource_uri.to_owned(),
            profile_uri: profile_uri.to_owned(),
        }
    }

    #[test]
    fn missing_and_unsupported_credentials_are_errors() {
        let mut options = LinkOptions::default();
        let apply = |it: &Authentication, options: &mut LinkOptions| {
            it.apply(options).err().map(|error| error.to_string())
        };
        assert_eq!(apply(&authentication("", ""), &mut options), None);
        let unknown = apply(&authentication("mqtt://a@b", ""), &mut options);
        assert!(unknown.is_some_and(|text| text.starts_with("ResourceUri")));
        for profile in [
            USER_NAME,
            "http://opcfoundation.org/UA-Profile/Authentication/mqtt-jwt",
        ] {
            let refused = apply(&authentication("", profile), &mut options);
            assert!(refused.is_some_and(|text| text.starts_with("AuthenticationProfileUri")));
        }
        options.mqtt.resources = vec![MqttResource {
            resource_uri: "mqtt://a@b".to_owned(),
            credentials: Some(("a".to_owned(), "secret".to_owned())),
            ..MqttResource::default()
        }];
        assert_eq!(
            apply(&authentication("mqtt://a@b", USER_NAME), &mut options),
            None
        );
        assert!(options.mqtt.credentials.is_some());
    }

    #[test]
    fn a_component_has_the_parameters_of_the_outer_one() {
        let outer = authentication("mqtt://a@b", USER_NAME);
        assert_eq!(Authentication::default().or(&outer), outer);
        let own = authentication("mqtt://c@b", "").or(&outer);
        assert_eq!(own, authentication("mqtt://c@b", USER_NAME));
    }
}
