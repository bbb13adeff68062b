//! State of a MonitoredItem that outlives the server.

use std::sync::{Arc, Weak};

use takt_ua::binary::{Decode, DecodeError, Decoder, Encode, EncodeError, Encoder};
use takt_ua::enumerations::TimestampsToReturn;
use takt_ua::structures::MonitoredItemCreateRequest;

use super::MonitoredItem;
use crate::subscriptions::sample::Sample;

/// MonitoredItem of a durable Subscription, as it is kept while no server runs.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct SavedItem {
    pub(crate) id: u32,
    /// Request that creates the item again.
    pub(crate) request: MonitoredItemCreateRequest,
    pub(crate) timestamps: TimestampsToReturn,
    /// Last sample, for the filter.
    pub(crate) last: Option<Sample>,
    /// Samples that are not published.
    pub(crate) samples: Vec<Sample>,
    pub(crate) has_overflow_event: bool,
    /// Ids of the items that this one triggers.
    pub(crate) links: Vec<u32>,
}

impl MonitoredItem {
    /// Returns the state; `None` if the item ends with the server.
    pub(crate) fn saved(&self) -> Option<SavedItem> {
        let state = self.state();
        let requested = state.parameters.requested.as_deref()?;
        let (samples, has_overflow_event) = state.queue.saved();
        let links = state.links.iter().filter_map(Weak::upgrade);
        Some(SavedItem {
            id: self.id,
            request: MonitoredItemCreateRequest {
                item_to_monitor: self.item_to_monitor.clone(),
                monitoring_mode: state.mode,
                requested_parameters: requested.clone(),
            },
            timestamps: state.parameters.timestamps,
            // Without its value, a sample cannot be compared with the next one.
            last: state.last.clone().filter(|_| !state.has_forgotten),
            samples,
            has_overflow_event,
            links: links.map(|linked| linked.id).collect(),
        })
    }

    /// Fills a new item with its earlier samples, which are to be published.
    pub(crate) fn restore(
        self: &Arc<Self>,
        last: Option<Sample>,
        samples: Vec<Sample>,
        has_overflow_event: bool,
    ) {
        let mut state = self.state();
        state.queue.restore(samples, has_overflow_event);
        if let Some(last) = last {
            state.remember(last);
        }
        self.list(&mut state);
    }
}

impl Encode for SavedItem {
    fn encode(&self, encoder: &mut Encoder<'_>) -> Result<(), EncodeError> {
        encoder.u32(self.id)?;
        self.request.encode(encoder)?;
        encoder.i32(self.timestamps.0)?;
        encoder.bool(self.last.is_some())?;
        if let Some(last) = &self.last {
            encode_sample(last, encoder)?;
        }
        encoder.array_length(Some(self.samples.len()))?;
        for sample in &self.samples {
            encode_sample(sample, encoder)?;
        }
        encoder.bool(self.has_overflow_event)?;
        encoder.array_length(Some(self.links.len()))?;
        self.links.iter().try_for_each(|link| encoder.u32(*link))
    }
}

impl Decode<'_> for SavedItem {
    fn decode(decoder: &mut Decoder<'_>) -> Result<Self, DecodeError> {
        let id = decoder.u32()?;
        let request = MonitoredItemCreateRequest::decode(decoder)?;
        let timestamps = TimestampsToReturn(decoder.i32()?);
        let last = match decoder.bool()? {
            true => Some(decode_sample(decoder)?),
            false => None,
        };
        let count = decoder.array_length(SAMPLE)?.unwrap_or_default();
        let samples = (0..count)
            .map(|_| decode_sample(decoder))
            .collect::<Result<_, _>>()?;
        let has_overflow_event = decoder.bool()?;
        let count = decoder.array_length(size_of::<u32>())?.unwrap_or_default();
        let links = (0..count)
            .map(|_| decoder.u32())
            .collect::<Result<_, _>>()?;
        Ok(Self {
            id,
            request,
            timestamps,
            last,
            samples,
            has_overflow_event,
            links,
        })
    }
}

/// Smallest size in bytes of an encoded sample.
const SAMPLE: usize = 24;

fn encode_sample(sample: &Sample, encoder: &mut Encoder<'_>) -> Result<(), EncodeError> {
    encoder.byte_string(Some(&sample.value))?;
    sample.status.encode(encoder)?;
    sample.source_timestamp.encode(encoder)?;
    sample.server_timestamp.encode(encoder)
}

fn decode_sample(decoder: &mut Decoder<'_>) -> Result<Sample, DecodeError> {
    Ok(Sample {
        value: decoder.byte_string()?.unwrap_or_default().to_vec(),
        status: decoder.value()?,
        source_timestamp: decoder.value()?,
        server_timestamp: decoder.value()?,
    })
}
