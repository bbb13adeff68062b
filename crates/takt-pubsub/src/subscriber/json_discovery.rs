//! Announcements of Publishers in JSON (OPC 10000-14, 7.2.5.5), with the content of those in UADP.

use takt_ua::{DateTime, StatusCode};
use takt_wire::json::{JsonDiscoveryContent, JsonDiscoveryMessage};
use takt_wire::{
    AnnouncementContent, ApplicationInformation, DiscoveryAnnouncement, PublisherIdRef,
};

use super::connection::Subscriber;
use super::json::JsonSource;
use super::origin::Origin;
use super::received::SubscriberObserver;
use crate::error::ReceiveError;
use crate::time::Now;

impl Subscriber {
    /// Passes metadata on to readers, and reports every announcement to the observer.
    pub(super) fn take_json_discovery(
        &mut self,
        message: JsonDiscoveryMessage,
        origin: &Origin<'_>,
        now: Now,
        observer: &mut dyn SubscriberObserver,
    ) -> Result<(), ReceiveError> {
        let mut outcome = Ok(());
        let publisher_id = message.publisher_id.as_str();
        if let JsonDiscoveryContent::DataSetMetaData {
            data_set_writer_id,
            data_set_writer_name,
            meta_data,
            writer_group_name,
        } = &message.content
        {
            let source = JsonSource {
                publisher_id,
                writer_group_name: writer_group_name.as_str(),
                data_set_writer_id: *data_set_writer_id,
                data_set_writer_name: data_set_writer_name.as_str(),
                origin,
            };
            if source.says_writer() {
                if self.max_discovered > 0 {
                    outcome = self.announce_writer(&source.said(), now, observer);
                }
                let given = self.give_meta_data(
                    meta_data,
                    now.date_time,
                    observer,
                    |reader, protection| protection.is_none() && reader.is_of(source),
                );
                outcome = outcome.and(given);
            }
        }
        let announcement = DiscoveryAnnouncement {
            // JSON has no sequence number.
            sequence_number: 0,
            content: announcement(message.content, message.timestamp),
        };
        let publisher_id = PublisherIdRef::String(message.publisher_id.as_option());
        observer.announced(publisher_id, &announcement);
        outcome
    }
}

/// Converts JSON content to the UADP announcement with the same content.
fn announcement(content: JsonDiscoveryContent, timestamp: DateTime) -> AnnouncementContent {
    match content {
        JsonDiscoveryContent::DataSetMetaData {
            data_set_writer_id,
            meta_data,
            ..
        } => AnnouncementContent::DataSetMetaData {
            data_set_writer_id: data_set_writer_id.unwrap_or(0),
            meta_data: Box::new(meta_data),
            status_code: StatusCode::Good,
        },
        JsonDiscoveryContent::ApplicationDescription {
            description,
            server_capabilities,
        } => AnnouncementContent::ApplicationInformation(
            ApplicationInformation::ApplicationDescription {
                application_description: Box::new(description),
                capabilities: server_capabilities,
            },
        ),
        JsonDiscoveryContent::ServerEndpoints(endpoints) => {
            AnnouncementContent::PublisherEndpoints {
                endpoints,
                status_code: StatusCode::Good,
            }
        }
        JsonDiscoveryContent::Status {
            is_cyclic,
            status,
            next_report_time,
        } => AnnouncementContent::ApplicationInformation(ApplicationInformation::Status {
            status,
            cyclic: next_report_time
                .filter(|_| is_cyclic)
                .map(|next| (next, timestamp)),
        }),
        JsonDiscoveryContent::PubSubConnection(connection) => {
            AnnouncementContent::PubSubConnections(vec![connection])
        }
        JsonDiscoveryContent::ActionMetaData {
            data_set_writer_id,
            action_targets,
            request,
            response,
            action_methods,
            ..
        } => AnnouncementContent::ActionMetaData {
            data_set_writer_id: data_set_writer_id.unwrap_or(0),
            action_targets,
            request,
            response,
            action_methods,
        },
        JsonDiscoveryContent::ActionResponder(connection) => {
            AnnouncementContent::ActionResponder(vec![connection])
        }
    }
}
