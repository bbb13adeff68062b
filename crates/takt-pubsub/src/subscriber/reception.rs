//! Messages that go through the general decoder, and the discovery of DataSetWriters by them.

use takt_ua::enumerations::PubSubState;
use takt_wire::{
    AnnouncementContent, DamagedField, DataSetMessageRef, DiscoveryAnnouncement, NetworkMessageRef,
    NetworkMessageType, PayloadParameters, PayloadRef,
};

use super::connection::{Reception, Subscriber};
use super::data_set_reader::DataSetReader;
use super::identity::Said;
use super::origin::Origin;
use super::protection::is_signed;
use super::received::SubscriberObserver;
use crate::error::ReceiveError;
use crate::security::SIGNATURE_LENGTH;
use crate::time::Now;

impl Subscriber {
    pub(super) fn receive_general(
        &mut self,
        origin: &Origin<'_>,
        now: Now,
        connection: PubSubState,
        bytes: &[u8],
        protection: Option<usize>,
        observer: &mut dyn SubscriberObserver,
    ) -> Result<Reception, ReceiveError> {
        let message = NetworkMessageRef::new_checked(bytes)?;
        if message.action_header.is_some() {
            // A request has the PublisherId of its Responder, and a response is for its Requestor.
            return Ok(Reception::default());
        }
        // Existing readers receive the message even if there is no room for new ones.
        let mut errors = Vec::new();
        if self.max_discovered > 0 {
            errors.extend(self.discover(&message, origin, now, observer).err());
        }
        let wanted = self.wanting(&message, origin, connection, protection);
        if protection.is_none() && is_signed(&message) {
            // A Subscriber that makes its readers itself would receive the message, if it had the keys.
            return match wanted.is_empty() && self.max_discovered == 0 {
                true => {
                    self.note_unclaimed_uadp(&message, origin, observer);
                    Ok(Reception::default())
                }
                false => Err(ReceiveError::NotExpected),
            };
        }
        let wanted = self.with_right_length(wanted, &message, bytes.len(), &mut errors);
        let signature_length = protection.map_or(0, |_| SIGNATURE_LENGTH);
        let mut accepted = Vec::new();
        let (mut declined, mut claimed, mut is_mended) = (false, false, false);
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
            let mended;
            let found = match message.data_set_message_at(offset, signature_length) {
                Ok(found) => Ok((found, &[][..])),
                Err(error) => {
                    match message.mend_data_set_message_at(offset, signature_length, error) {
                        Ok(message) => {
                            mended = message;
                            Ok((mended.message()?, mended.fields()))
                        }
                        Err(lost) => Err(self.lose(&[index], None, &lost).unwrap_or(error.into())),
                    }
                }
            };
            let received = found.and_then(|(found, damaged)| {
                self.pass_on(index, &message, (&found, damaged), now, observer)
            });
            claimed |= !matches!(received, Ok(None));
            match received {
                // The position in the payload is not known, so the fast path cannot learn this message.
                Ok(Some(true)) => accepted.push((index, usize::MAX)),
                Ok(_) => {}
                Err(error) => errors.push(error),
            }
        }
        let announced = message.network_message_type != NetworkMessageType::DataSetMessage;
        // The payload is decoded only if somebody takes it.
        if wanted.is_empty() && !announced {
            if !claimed && errors.is_empty() {
                self.note_unclaimed_uadp(&message, origin, observer);
            }
            return Reception::of(accepted.len(), errors, observer);
        }
        let reassembled;
        let parameters = PayloadParameters {
            signature_length,
            ..PayloadParameters::default()
        };
        let payload = match message.payload(&parameters)? {
            PayloadRef::Chunk(chunk) => {
                // Several senders may have one PublisherId. Their chunks are told apart by the origin.
                let number = origin.number(&self.origins);
                match self.reassembler(protection).push_from(
                    number,
                    &message,
                    &chunk,
                    now.instant,
                )? {
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
                    let mended;
                    let (found, damaged) = match found {
                        Ok(found) => (found, &[][..]),
                        Err(error) => match messages.mend(position, error) {
                            Ok(message) => {
                                mended = message;
                                is_mended = true;
                                (mended.message()?, mended.fields())
                            }
                            // Such a DataSetMessage is skipped; the others are not.
                            Err(lost) => {
                                let id = messages.data_set_writer_id(position);
                                if let Some(error) = self.lose(&wanted, id, &lost) {
                                    claimed = true;
                                    errors.push(error);
                                }
                                continue;
                            }
                        },
                    };
                    for index in &wanted {
                        let found = (&found, damaged);
                        let received = self.pass_on(*index, &message, found, now, observer);
                        claimed |= !matches!(received, Ok(None));
                        match received {
                            Ok(Some(true)) => accepted.push((*index, position)),
                            Ok(Some(false)) => declined = true,
                            Ok(None) => {}
                            Err(error) => errors.push(error),
                        }
                    }
                }
                if !claimed && errors.is_empty() {
                    self.note_unclaimed_uadp(&message, origin, observer);
                }
            }
            PayloadRef::DiscoveryAnnouncement(announcement) => {
                if let Some(publisher_id) = message.publisher_id {
                    let place = (origin, protection);
                    let taken =
                        self.take_announcement(&message, &announcement, place, now, observer);
                    errors.extend(taken.err());
                    observer.announced(publisher_id, &announcement);
                }
            }
            // Probes are for Publishers, and chunks were put together above.
            PayloadRef::DiscoveryProbe(_) | PayloadRef::Chunk(_) => {}
        }
        if !errors.is_empty() {
            return Reception::of(accepted.len(), errors, observer);
        }
        let placed = accepted.iter().any(|(_, position)| *position == usize::MAX);
        // Messages of several senders may have one layout, if they do not say their Publisher.
        let id = message.data_set_writer_ids().next();
        let is_exact =
            self.max_discovered == 0 || !Said::of_uadp(&message, id, origin).needs_sender();
        // A learned layout names its readers. One that declined this message would be left out of all further ones.
        if !accepted.is_empty() && !declined && !is_mended && !placed && !message.chunk && is_exact
        {
            self.layouts.learn(
                (bytes, origin.link),
                signature_length,
                &accepted,
                &self.readers,
                &self.memory,
            );
        }
        Reception::of(accepted.len(), errors, observer)
    }

    /// Makes readers for DataSetWriters that have none yet.
    fn discover(
        &mut self,
        message: &NetworkMessageRef<'_>,
        origin: &Origin<'_>,
        now: Now,
        observer: &mut dyn SubscriberObserver,
    ) -> Result<(), ReceiveError> {
        // A Subscriber that makes its readers itself has no keys, and cannot read a signed message.
        if message.network_message_type != NetworkMessageType::DataSetMessage || is_signed(message)
        {
            return Ok(());
        }
        let mut outcome = Ok(());
        // Without a PayloadHeader, there is one reader for all.
        let ids = message.data_set_writer_ids().map(Some);
        let unnamed = message.data_set_writer_ids().next().is_none();
        for id in ids.chain(unnamed.then_some(None)) {
            let said = Said::of_uadp(message, id, origin);
            // The ids of a message are few.
            self.made_for_message = 0;
            let discovered = self.discover_writer(&said, now, observer);
            outcome = outcome.and(discovered.map(|_| ()));
        }
        outcome
    }

    fn note_unclaimed_uadp(
        &mut self,
        message: &NetworkMessageRef<'_>,
        origin: &Origin<'_>,
        observer: &mut dyn SubscriberObserver,
    ) {
        let id = message.data_set_writer_ids().next();
        let said = Said::of_uadp(message, id, origin);
        self.note_unclaimed(origin.link, &said, observer);
    }

    /// Returns the indexes of the readers that accept a message.
    fn wanting(
        &self,
        message: &NetworkMessageRef<'_>,
        origin: &Origin<'_>,
        connection: PubSubState,
        protection: Option<usize>,
    ) -> Vec<usize> {
        let readers = self.readers.iter().zip(&self.group_of).enumerate();
        let wanting = readers.filter(|(index, (reader, group))| {
            let same = self.protection_of.get(*index) == Some(&protection);
            let group = self.groups.get(**group);
            same && group.is_some_and(|group| reader.listens(group.state(connection)))
                && reader.wants(message, origin)
        });
        wanting.map(|(index, _)| index).collect()
    }

    /// Returns the readers without those that take a DataSetMessage of this message and whose messages are shorter. Messages that are too
    /// long come here from the fast path, too.
    fn with_right_length(
        &self,
        mut wanted: Vec<usize>,
        message: &NetworkMessageRef<'_>,
        found: usize,
        errors: &mut Vec<ReceiveError>,
    ) -> Vec<usize> {
        // Announcements of metadata belong to no flow.
        if message.network_message_type != NetworkMessageType::DataSetMessage {
            return wanted;
        }
        let is_for = |reader: &DataSetReader| {
            let mut ids = message.data_set_writer_ids().peekable();
            match ids.peek() {
                None => reader.wants_writer(None),
                Some(_) => ids.any(|id| reader.wants_writer(Some(id))),
            }
        };
        wanted.retain(|index| {
            let reader = self.readers.get(*index);
            let longest = reader.and_then(|reader| Some((reader, reader.longest?)));
            let too_long = longest.filter(|(reader, longest)| found > *longest && is_for(reader));
            errors.extend(too_long.map(|(reader, longest)| ReceiveError::Length {
                reader: reader.name().to_owned(),
                longest,
                found,
            }));
            too_long.is_none()
        });
        wanted
    }

    /// Passes a DataSetMessage to the reader; returns true if it has accepted it, `None` if it is not for it.
    fn pass_on(
        &mut self,
        index: usize,
        message: &NetworkMessageRef<'_>,
        found: (&DataSetMessageRef<'_>, &[DamagedField]),
        now: Now,
        observer: &mut dyn SubscriberObserver,
    ) -> Result<Option<bool>, ReceiveError> {
        match self.readers.get_mut(index) {
            Some(reader) if reader.wants_writer(found.0.data_set_writer_id) => {
                reader.receive(message, found, now, observer).map(Some)
            }
            _ => Ok(None),
        }
    }

    /// Passes metadata to readers; to readers of protected messages only if the announcement is protected, too. Metadata may
    /// come before the first message of a discovered DataSetWriter, as brokers keep it.
    fn take_announcement(
        &mut self,
        message: &NetworkMessageRef<'_>,
        announcement: &DiscoveryAnnouncement,
        (origin, protection): (&Origin<'_>, Option<usize>),
        now: Now,
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
        // The Publisher has no metadata to give. The readers keep theirs.
        if status_code.is_bad() {
            return Ok(());
        }
        let said = Said::of_uadp(message, Some(*data_set_writer_id), origin);
        if self.max_discovered > 0 {
            self.announce_writer(&said, now, observer)?;
        }
        self.give_meta_data(meta_data, now.date_time, observer, |reader, expected| {
            expected == protection && reader.wants_announced(&said, origin.link)
        })
    }
}
