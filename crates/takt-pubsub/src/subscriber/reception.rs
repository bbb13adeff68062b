//! Messages that go through the general decoder, and the discovery of DataSetWriters by them.

use takt_ua::Variant;
use takt_ua::enumerations::PubSubState;
use takt_ua::structures::DataSetReaderDataType;
use takt_wire::{
    AnnouncementContent, DataSetContentRef, DataSetMessageRef, DiscoveryAnnouncement,
    NetworkMessageRef, NetworkMessageType, PayloadParameters, PayloadRef, PublisherIdRef,
};

use super::connection::{Reception, Subscriber};
use super::data_set_reader::DataSetReader;
use super::protection::is_signed;
use super::received::SubscriberObserver;
use crate::error::ReceiveError;
use crate::security::SIGNATURE_LENGTH;
use crate::time::Now;

impl Subscriber {
    pub(super) fn receive_general(
        &mut self,
        now: Now,
        connection: PubSubState,
        bytes: &[u8],
        protection: Option<usize>,
        observer: &mut dyn SubscriberObserver,
    ) -> Result<Reception, ReceiveError> {
        let message = NetworkMessageRef::new_checked(bytes)?;
        // Existing readers receive the message even if there is no room for new ones.
        let mut outcome = match self.max_discovered {
            0 => Ok(()),
            _ => self.discover(&message, now, observer),
        };
        let wanted = self.wanting(&message, connection, protection);
        if protection.is_none() && is_signed(&message) {
            // A Subscriber that makes its readers itself would receive the message, if it had the keys.
            return match wanted.is_empty() && self.max_discovered == 0 {
                true => Ok(Reception::default()),
                false => Err(ReceiveError::NotExpected),
            };
        }
        let signature_length = protection.map_or(0, |_| SIGNATURE_LENGTH);
        let payload = |offset: u16| {
            let at = message.data_set_message_at(offset, signature_length);
            at.map_err(ReceiveError::from)
        };
        let mut accepted = Vec::new();
        let mut declined = false;
        // Messages without a PayloadHeader: a reader may have the place of its DataSetMessage (OPC 10000-14, 6.3.1.4.3).
        let (placed, wanted): (Vec<_>, Vec<_>) = wanted.into_iter().partition(|index| {
            let offset = self
                .readers
                .get(*index)
                .map_or(0, DataSetReader::data_set_offset);
            offset != 0 && message.data_set_writer_ids().next().is_none() && !message.chunk
        });
        for index in placed {
            let offset = self
                .readers
                .get(index)
                .map_or(0, DataSetReader::data_set_offset);
            let received = payload(offset)
                .and_then(|found| self.pass_on(index, &message, &found, now, observer));
            match received {
                Ok(Some(true)) => accepted.push((index, usize::MAX)),
                Ok(_) => {}
                Err(error) => outcome = Err(error),
            }
        }
        let announced = message.network_message_type != NetworkMessageType::DataSetMessage;
        if wanted.is_empty() && !announced {
            return outcome.map(|()| Reception {
                accepted: accepted.len(),
                fixed: false,
            });
        }
        let reassembled;
        let parameters = PayloadParameters {
            signature_length,
            ..PayloadParameters::default()
        };
        let payload = match message.payload(&parameters)? {
            PayloadRef::Chunk(chunk) => {
                match self
                    .reassembler(protection)
                    .push(&message, &chunk, now.instant)?
                {
                    None => return Ok(Reception::default()),
                    Some(whole) => {
                        reassembled = whole.bytes;
                        message.reassembled_payload(&reassembled)?
                    }
                }
            }
            payload => payload,
        };
        match payload {
            PayloadRef::DataSetMessages(messages) => {
                for (position, found) in messages.iter().enumerate() {
                    // A DataSetMessage that cannot be decoded is skipped; the others are not.
                    let found = match found {
                        Ok(found) => found,
                        Err(error) => {
                            outcome = Err(error.into());
                            continue;
                        }
                    };
                    for index in &wanted {
                        match self.pass_on(*index, &message, &found, now, observer) {
                            Ok(Some(true)) => accepted.push((*index, position)),
                            Ok(Some(false)) => declined = true,
                            Ok(None) => {}
                            Err(error) => outcome = Err(error),
                        }
                    }
                }
            }
            PayloadRef::DiscoveryAnnouncement(announcement) => {
                if let Some(publisher_id) = message.publisher_id {
                    outcome =
                        self.take_announcement(publisher_id, &announcement, protection, observer);
                    observer.announced(publisher_id, &announcement);
                }
            }
            PayloadRef::DiscoveryProbe(_) | PayloadRef::Chunk(_) => {}
        }
        outcome?;
        let placed = accepted.iter().any(|(_, position)| *position == usize::MAX);
        if !accepted.is_empty() && !declined && !placed && !message.chunk {
            self.layouts.learn(
                bytes,
                signature_length,
                &accepted,
                &self.readers,
                &self.memory,
            );
        }
        Ok(Reception {
            accepted: accepted.len(),
            fixed: false,
        })
    }

    /// Makes readers for DataSetWriters that have none yet.
    fn discover(
        &mut self,
        message: &NetworkMessageRef<'_>,
        now: Now,
        observer: &mut dyn SubscriberObserver,
    ) -> Result<(), ReceiveError> {
        if message.network_message_type != NetworkMessageType::DataSetMessage || is_signed(message)
        {
            return Ok(());
        }
        let group = message
            .group_header
            .and_then(|group| group.writer_group_id)
            .unwrap_or(0);
        let mut outcome = Ok(());
        // Without a PayloadHeader, there is one reader for all.
        let unnamed = message.data_set_writer_ids().next().is_none().then_some(0);
        for id in message.data_set_writer_ids().chain(unnamed) {
            let known = |reader: &DataSetReader| reader.wants(message) && reader.reads(id);
            if self.readers.iter().any(known) {
                continue;
            }
            let publisher = message.publisher_id.map(|id| id.to_owned());
            let name = match &publisher {
                Some(publisher) => format!("{publisher}/{group}/{id}"),
                None => format!("?/{group}/{id}"),
            };
            let configuration = DataSetReaderDataType {
                name: name.as_str().into(),
                enabled: true,
                publisher_id: publisher.map(Variant::from).unwrap_or_default(),
                writer_group_id: group,
                data_set_writer_id: id,
                ..DataSetReaderDataType::default()
            };
            outcome = outcome.and(self.add_reader(&configuration, "", now, observer));
        }
        outcome
    }

    /// Returns the indexes of the readers that accept a message.
    fn wanting(
        &self,
        message: &NetworkMessageRef<'_>,
        connection: PubSubState,
        protection: Option<usize>,
    ) -> Vec<usize> {
        let readers = self.readers.iter().zip(&self.group_of).enumerate();
        let wanting = readers.filter(|(index, (reader, group))| {
            let same = self.protection_of.get(*index) == Some(&protection);
            let group = self.groups.get(**group);
            same && group.is_some_and(|group| reader.listens(group.state(connection)))
                && reader.wants(message)
        });
        wanting.map(|(index, _)| index).collect()
    }

    /// Passes a DataSetMessage to the reader; returns true if it has accepted it, `None` if it is not for it.
    fn pass_on(
        &mut self,
        index: usize,
        message: &NetworkMessageRef<'_>,
        found: &DataSetMessageRef<'_>,
        now: Now,
        observer: &mut dyn SubscriberObserver,
    ) -> Result<Option<bool>, ReceiveError> {
        match self.readers.get_mut(index) {
            Some(reader)
                if reader.wants_writer(found.data_set_writer_id)
                    && found.content != DataSetContentRef::Invalid =>
            {
                reader.receive(message, found, now, observer).map(Some)
            }
            _ => Ok(None),
        }
    }

    /// Passes metadata to readers; to readers of protected messages only if the announcement is protected, too.
    fn take_announcement(
        &mut self,
        publisher_id: PublisherIdRef<'_>,
        announcement: &DiscoveryAnnouncement,
        protection: Option<usize>,
        observer: &mut dyn SubscriberObserver,
    ) -> Result<(), ReceiveError> {
        let AnnouncementContent::DataSetMetaData {
            data_set_writer_id,
            meta_data,
            status_code,
        } = &announcement.content
        else {
            return Ok(());
        };
        self.give_meta_data(meta_data, observer, |reader, expected| {
            !status_code.is_bad()
                && expected == protection
                && reader.wants_announced(publisher_id, *data_set_writer_id)
        })
    }
}
