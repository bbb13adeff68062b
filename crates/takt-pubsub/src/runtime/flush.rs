//! Flushes of a WriterGroup: the messages of a publishing interval, which a cyclic sender passes to the kernel together.

use std::time::Duration;

use takt_link::{KernelQueue, LinkError, Sender, WithoutRoom};
use takt_ua::Variant;
use takt_ua::binary::{Encode, Encoder};
use takt_ua::enumerations::{MessageSecurityMode, PubSubState};
use takt_ua::structures::{
    PubSubConnectionDataType, PublishedDataSetDataType, WriterGroupDataType,
};
use takt_ua::{DataValue, UaString};

use super::links::LinkPlan;
use crate::check::SECURITY;
use crate::error::ConfigurationError;
use crate::publisher::{
    DataSource, FieldSource, Output, PublishedField, Reserved, WriterGroup, longest_value,
};
use crate::time::Now;

impl LinkPlan {
    /// Lets only the messages of a few intervals wait in the kernel, as `queue` says, if each interval replaces the messages of the one
    /// before: the newest ones leave, or are discarded and counted. Messages each of which counts stay queued as before. `ahead` is
    /// the time from making a message to its launch time, 0 without launch times. Room in the options of the link takes precedence.
    pub fn limit_waiting(&mut self, queue: KernelQueue, interval: Duration, ahead: Duration) {
        let options = &mut self.options;
        if options.without_room == WithoutRoom::Keep {
            return;
        }
        options.without_room = WithoutRoom::Discard;
        if options.send_room.is_none() && options.socket_buffer.is_none() {
            options.send_room = queue.cycles(interval, ahead, options);
        }
    }
}

/// Longest messages that a WriterGroup is known to send in an interval: those of the longest values that the metadata allows, or of the
/// values at the start where these are longer.
#[derive(Debug)]
pub struct LongestInterval {
    /// Group with these values, without security; `None` if it cannot be made.
    group: Option<WriterGroup>,
    /// Length of the longest message of the group, in bytes, without the parts of its security.
    limit: usize,
    /// Length of the parts of security of a message, in bytes.
    security: usize,
}

impl LongestInterval {
    /// Creates a WriterGroup as [`WriterGroup::new`] does, and its longest interval.
    ///
    /// # Errors
    /// Those of [`WriterGroup::new`].
    pub fn of_new_group(
        connection: &PubSubConnectionDataType,
        configuration: &WriterGroupDataType,
        data_sets: &[PublishedDataSetDataType],
        source: &mut dyn DataSource,
    ) -> Result<(WriterGroup, Self), ConfigurationError> {
        let mut noting = NotingSource {
            source,
            values: Vec::new(),
        };
        let group = WriterGroup::new(connection, configuration, data_sets, &mut noting)?;
        let mut plain = WriterGroupDataType {
            enabled: true,
            // There are no keys yet.
            security_mode: MessageSecurityMode::None,
            security_group_id: UaString::null(),
            max_network_message_size: 0,
            ..configuration.clone()
        };
        // A writer may be enabled later.
        for writer in &mut plain.data_set_writers {
            writer.enabled = true;
        }
        let mut values = noting.values.into_iter();
        let mut longest = |field: PublishedField<'_>| {
            let values = [longest_value(field.meta_data), values.next().flatten()];
            let longest = values.into_iter().flatten().max_by_key(length)?;
            Some(FieldSource::Constant(DataValue::good(longest)))
        };
        let longest = WriterGroup::new(connection, &plain, data_sets, &mut longest);
        let configured = configuration.max_network_message_size as usize;
        let this = Self {
            group: longest.ok(),
            limit: if configured == 0 {
                usize::MAX
            } else {
                configured
            },
            security: match configuration.security_mode {
                MessageSecurityMode::Sign | MessageSecurityMode::SignAndEncrypt => SECURITY,
                _ => 0,
            },
        };
        Ok((group, this))
    }

    /// Makes room in a link for the messages of the interval, so that the link allocates nothing for them.
    ///
    /// # Errors
    /// [`LinkError::TooMany`]: no link sends so many messages together.
    pub fn reserve(self, sender: &mut dyn Sender) -> Result<(), LinkError> {
        sender.reserve_flush(self.messages(sender.max_message_size()))
    }

    /// Makes room as [`reserve`](Self::reserve) does, and for more messages beside them: `more` gives their number by that of the
    /// interval. Returns the number for which there is room.
    ///
    /// # Errors
    /// [`LinkError::TooMany`]: no link sends the messages of the interval, with one more if there are to be more, together.
    pub(super) fn reserve_with(
        self,
        sender: &mut dyn Sender,
        more: impl FnOnce(usize) -> usize,
    ) -> Result<usize, LinkError> {
        let messages = self.messages(sender.max_message_size());
        let more = more(messages);
        match sender.reserve_flush(messages.saturating_add(more)) {
            Ok(()) => Ok(more),
            Err(LinkError::TooMany { maximum }) if maximum > messages => {
                sender.reserve_flush(maximum).map(|()| maximum - messages)
            }
            Err(error) => Err(error),
        }
    }

    /// Returns the number of messages, for a link whose longest message has this length in bytes.
    fn messages(mut self, max_message_size: usize) -> usize {
        let mut counting = Counting {
            limit: max_message_size
                .min(self.limit)
                .saturating_sub(self.security),
            count: 0,
            message: Vec::new(),
        };
        if let Some(group) = &mut self.group {
            // Values that cannot be encoded are reported when the group sends them.
            group.publish_all(Now::read(), PubSubState::Operational, &mut counting);
        }
        counting.count
    }
}

/// Returns the length of a value in bytes, in the UA Binary encoding.
fn length(value: &Variant) -> usize {
    let mut bytes = Vec::new();
    let encoded = value.encode(&mut Encoder::growing(&mut bytes, usize::MAX));
    encoded.map_or(0, |()| bytes.len())
}

/// Source that notes the values at the start, in the order in which a WriterGroup asks for its fields.
struct NotingSource<'s> {
    source: &'s mut dyn DataSource,
    values: Vec<Option<Variant>>,
}

impl DataSource for NotingSource<'_> {
    fn source(&mut self, field: PublishedField<'_>) -> Option<FieldSource> {
        let found = self.source.source(field);
        self.values.push(match &found {
            Some(source @ (FieldSource::Cell(_) | FieldSource::Constant(_))) => source.read().value,
            // A function is called in publishing intervals only.
            Some(FieldSource::Callback(_)) | None => None,
        });
        found
    }
}

/// Output that counts messages.
struct Counting {
    limit: usize,
    count: usize,
    message: Vec<u8>,
}

impl Output for Counting {
    type Error = std::convert::Infallible;
    type Reservation<'a> = Counted<'a>;

    fn max_message_size(&self) -> usize {
        self.limit
    }

    fn reserve(&mut self, length: usize) -> Result<Counted<'_>, Self::Error> {
        self.message.resize(length, 0);
        Ok(Counted(self))
    }
}

/// Message that is counted when it is committed.
struct Counted<'a>(&'a mut Counting);

impl AsMut<[u8]> for Counted<'_> {
    fn as_mut(&mut self) -> &mut [u8] {
        &mut self.0.message
    }
}

impl Reserved for Counted<'_> {
    type Error = std::convert::Infallible;

    fn commit(self) -> Result<(), Self::Error> {
        self.0.count += 1;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use takt_link::LinkOptions;

    use super::*;

    #[test]
    fn only_messages_that_replace_each_other_have_little_room() {
        let millisecond = Duration::from_millis(1);
        let limited = |without_room, options: LinkOptions, queue| {
            let mut plan = LinkPlan {
                address: "opc.udp://127.0.0.1:4840".parse().unwrap(),
                options: LinkOptions {
                    without_room,
                    interface: Some("lo".to_owned()),
                    ..options
                },
            };
            plan.limit_waiting(queue, millisecond, 3 * millisecond);
            (plan.options.without_room, plan.options.send_room)
        };
        let (automatic, system) = (KernelQueue::default(), KernelQueue::System);
        let (alone, whole) = (WithoutRoom::DiscardAlone, WithoutRoom::Discard);
        let default = LinkOptions::default;
        // Those of 3.5 ms, and the newest one.
        let found = limited(alone, default(), automatic);
        assert_eq!(found, (whole, Some(5)));
        let found = limited(alone, default(), KernelQueue::Cycles(7));
        assert_eq!(found, (whole, Some(7)));
        assert_eq!(limited(alone, default(), system), (whole, None));
        let keep = WithoutRoom::Keep;
        assert_eq!(limited(keep, default(), automatic), (keep, None));
        let given = LinkOptions {
            send_room: Some(2),
            ..default()
        };
        assert_eq!(limited(alone, given, automatic), (whole, Some(2)));
        let given = LinkOptions {
            socket_buffer: Some(9_000),
            ..default()
        };
        assert_eq!(limited(alone, given, automatic), (whole, None));
    }
}
