//! Topic tree of MQTT (OPC 10000-14, 7.3.4.7).
//!
//! ```text
//! <Prefix>/<Encoding>/<MqttMessageType>/<PublisherId>[/<WriterGroup>[/<DataSetWriter>]]
//! ```

use thiserror::Error;

use crate::options::Content;

/// Prefix in the examples of the standard (OPC 10000-14, 5.3.8); any other may be chosen.
pub const DEFAULT_PREFIX: &str = "opcua";

/// Characters that no level of a topic has: they have a special meaning in topics and filters (MQTT 5, 4.7), for which the
/// standard has no replacement.
pub const NOT_IN_LEVELS: [char; 4] = ['/', '+', '#', '\0'];

/// Level `<MqttMessageType>` (OPC 10000-14, Table 204).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MqttMessageType {
    /// DataSetMessages.
    Data,
    /// DataSetMetaData of a DataSetWriter.
    MetaData,
    /// ApplicationDescription.
    Application,
    /// ServerEndpoints.
    Endpoints,
    /// Status of a Publisher.
    Status,
    /// PubSubConnection: the configuration of a Publisher.
    Connection,
    /// ActionRequest.
    ActionRequest,
    /// ActionResponse.
    ActionResponse,
    /// ActionMetaData.
    ActionMetaData,
    /// ActionResponder.
    ActionResponder,
}

/// Error in the parts of a topic.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum TopicError {
    /// A level is empty, or has a character with a special meaning in topics.
    #[error("{0:?} cannot be a level of a topic: it is empty or has one of / + # in it")]
    Level(String),
    /// The topic is longer than MQTT allows.
    #[error("the topic has {0} bytes; at most 65535 are allowed")]
    TooLong(usize),
    /// The topic has a DataSetWriter without a WriterGroup, or a message type that needs both without them.
    #[error("a topic {0:?} needs other levels: see OPC 10000-14, 7.3.4.7")]
    Levels(MqttMessageType),
}

impl MqttMessageType {
    /// Returns the name of the level in topics.
    #[must_use]
    pub fn topic_level(self) -> &'static str {
        match self {
            Self::Data => "data",
            Self::MetaData => "metadata",
            Self::Application => "application",
            Self::Endpoints => "endpoints",
            Self::Status => "status",
            Self::Connection => "connection",
            Self::ActionRequest => "action-request",
            Self::ActionResponse => "action-response",
            Self::ActionMetaData => "action-metadata",
            Self::ActionResponder => "action-responder",
        }
    }

    /// Returns true if the broker keeps the last message (RETAIN in OPC 10000-14, Table 204).
    #[must_use]
    pub fn retain(self) -> bool {
        !matches!(
            self,
            Self::Data | Self::ActionRequest | Self::ActionResponse
        )
    }
}

/// Topics of a system.
///
/// ```
/// use takt_link::{Content, MqttMessageType, TopicTree};
///
/// let tree = TopicTree::new("opcua", Content::Uadp)?;
/// let topic = tree.topic(MqttMessageType::Data, "7", Some("Fast"), Some("Temperatures"))?;
/// assert_eq!(topic, "opcua/uadp/data/7/Fast/Temperatures");
/// assert_eq!(tree.filter(MqttMessageType::Data, Some("7")), Ok("opcua/uadp/data/7/#".to_owned()));
/// # Ok::<(), takt_link::TopicError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TopicTree {
    prefix: String,
    content: Content,
}

impl TopicTree {
    /// Creates the topics below a prefix, which may have several levels, for one encoding.
    ///
    /// # Errors
    /// [`TopicError::Level`].
    pub fn new(prefix: &str, content: Content) -> Result<Self, TopicError> {
        prefix
            .split('/')
            .try_for_each(|part| level(part).map(drop))?;
        Ok(Self {
            prefix: prefix.to_owned(),
            content,
        })
    }

    /// Returns the topic of messages of a Publisher (or Responder). `publisher_id` is its PublisherId as text; data has at least
    /// a WriterGroup, Actions have only a WriterGroup, metadata has a DataSetWriter too, and messages about a whole Publisher
    /// have neither.
    ///
    /// # Errors
    /// [`TopicError`].
    pub fn topic(
        &self,
        kind: MqttMessageType,
        publisher_id: &str,
        writer_group: Option<&str>,
        data_set_writer: Option<&str>,
    ) -> Result<String, TopicError> {
        use MqttMessageType as Kind;
        let (group, writer) = (writer_group.is_some(), data_set_writer.is_some());
        let is_right = match kind {
            Kind::Data => group,
            Kind::MetaData | Kind::ActionMetaData => group && writer,
            Kind::ActionRequest | Kind::ActionResponse => group && !writer,
            _ => !group && !writer,
        };
        if !is_right {
            return Err(TopicError::Levels(kind));
        }
        let mut topic = self.start(kind);
        for part in [Some(publisher_id), writer_group, data_set_writer]
            .into_iter()
            .flatten()
        {
            topic.push('/');
            topic.push_str(level(part)?);
        }
        checked(topic)
    }

    /// Returns the filter for all messages of that type, of one Publisher or of all.
    ///
    /// # Errors
    /// [`TopicError`].
    pub fn filter(
        &self,
        kind: MqttMessageType,
        publisher_id: Option<&str>,
    ) -> Result<String, TopicError> {
        let mut filter = self.start(kind);
        if let Some(publisher_id) = publisher_id {
            filter.push('/');
            filter.push_str(level(publisher_id)?);
        }
        filter.push_str("/#");
        checked(filter)
    }

    fn start(&self, kind: MqttMessageType) -> String {
        let encoding = self.content.topic_level();
        format!("{}/{encoding}/{}", self.prefix, kind.topic_level())
    }
}

fn level(text: &str) -> Result<&str, TopicError> {
    if text.is_empty() || text.contains(NOT_IN_LEVELS) {
        return Err(TopicError::Level(text.to_owned()));
    }
    Ok(text)
}

fn checked(topic: String) -> Result<String, TopicError> {
    match u16::try_from(topic.len()) {
        Ok(_) => Ok(topic),
        Err(_) => Err(TopicError::TooLong(topic.len())),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    #[test]
    fn topics_are_those_of_the_standard() {
        let tree = TopicTree::new("plant/line1", Content::Json).unwrap();
        let topic = |kind, group, writer| tree.topic(kind, "Mixer", group, writer);
        let expected = |text: &str| Ok(text.to_owned());
        use MqttMessageType as Kind;
        assert_eq!(
            topic(Kind::Data, Some("G"), None),
            expected("plant/line1/json/data/Mixer/G")
        );
        assert_eq!(
            topic(Kind::Data, Some("G"), Some("W")),
            expected("plant/line1/json/data/Mixer/G/W")
        );
        assert_eq!(
            topic(Kind::MetaData, Some("G"), Some("W")),
            expected("plant/line1/json/metadata/Mixer/G/W")
        );
        for (kind, level) in [
            (Kind::Application, "application"),
            (Kind::Endpoints, "endpoints"),
            (Kind::Status, "status"),
            (Kind::Connection, "connection"),
            (Kind::ActionResponder, "action-responder"),
        ] {
            assert_eq!(
                topic(kind, None, None),
                Ok(format!("plant/line1/json/{level}/Mixer"))
            );
            assert_eq!(topic(kind, Some("G"), None), Err(TopicError::Levels(kind)));
            assert!(kind.retain());
        }
        assert!(!Kind::Data.retain());
        assert_eq!(
            topic(Kind::Data, None, None),
            Err(TopicError::Levels(Kind::Data))
        );
        assert_eq!(
            topic(Kind::Data, None, Some("W")),
            Err(TopicError::Levels(Kind::Data))
        );
        assert_eq!(
            tree.filter(Kind::Status, None),
            expected("plant/line1/json/status/#")
        );
    }

    #[test]
    fn invalid_topic_levels_are_refused() {
        for text in ["", "a/b", "+", "a#", "\0"] {
            let tree = TopicTree::new(DEFAULT_PREFIX, Content::Uadp).unwrap();
            let topic = tree.topic(MqttMessageType::Status, text, None, None);
            assert_eq!(topic, Err(TopicError::Level(text.to_owned())));
        }
        assert!(TopicTree::new("a//b", Content::Uadp).is_err());
        let long = "a".repeat(70_000);
        let tree = TopicTree::new(&long, Content::Uadp).unwrap();
        let topic = tree.topic(MqttMessageType::Status, "7", None, None);
        assert!(matches!(topic, Err(TopicError::TooLong(_))));
    }
}
