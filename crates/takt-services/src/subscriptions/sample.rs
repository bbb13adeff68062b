//! One sampled value, an entry of the queue of a MonitoredItem.

use takt_space::StoredValue;
use takt_ua::binary::{Decode, Decoder, Encode, EncodeError, Encoder};
use takt_ua::enumerations::TimestampsToReturn;
use takt_ua::{DataValue, DateTime, NumericRange, StatusCode, Variant};

/// InfoBits of a DataValue beside which the queue lost a value: InfoType DataValue, Overflow (OPC 10000-4, 7.39.1).
const OVERFLOW: u32 = 0x0480;

/// An encoded value with its StatusCode and timestamps.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Sample {
    /// An encoded Variant (OPC 10000-6, 5.2.2.16), empty if there is no value.
    pub(crate) value: Vec<u8>,
    pub(crate) status: StatusCode,
    /// Source timestamp; [`DateTime::MIN`]: none.
    pub(crate) source_timestamp: DateTime,
    pub(crate) server_timestamp: DateTime,
}

impl Sample {
    /// Creates a sample of a DataValue as of `now`.
    pub(crate) fn of(value: &DataValue, now: DateTime) -> Self {
        let status = value.status_code();
        // With a Bad status there is no value (OPC 10000-4, 7.11).
        let encoded = value.value.as_ref().filter(|_| !status.is_bad());
        Self {
            value: encoded.map(Encode::encode_to_vec).unwrap_or_default(),
            status,
            source_timestamp: value.source_timestamp.unwrap_or(DateTime::MIN),
            server_timestamp: value.server_timestamp.unwrap_or(now),
        }
    }

    /// Creates a sample of a StatusCode without a value.
    pub(crate) fn status(status: StatusCode, now: DateTime) -> Self {
        Self {
            value: Vec::new(),
            status,
            source_timestamp: DateTime::MIN,
            server_timestamp: now,
        }
    }

    /// Creates the entry of a queue of Events: the encoded fields of one.
    pub(crate) fn event(fields: Vec<u8>) -> Self {
        Self {
            value: fields,
            ..Self::status(StatusCode::Good, DateTime::MIN)
        }
    }

    /// Decodes the value.
    pub(crate) fn variant(&self) -> Variant {
        Variant::decode(&mut Decoder::with_limits(&self.value, StoredValue::LIMITS))
            .unwrap_or_default()
    }

    /// Returns the part of the value that an IndexRange names.
    pub(crate) fn part(self, range: Option<&NumericRange>) -> Self {
        let Some(range) = range.filter(|_| !self.value.is_empty()) else {
            return self;
        };
        match range.read(&self.variant()) {
            Ok(part) => Self {
                value: part.encode_to_vec(),
                ..self
            },
            Err(status) => Self::status(status, self.server_timestamp),
        }
    }

    /// Returns the approximate bytes of memory of the sample.
    pub(crate) fn size(&self) -> usize {
        size_of::<Self>() + self.value.len()
    }

    /// Sets the Overflow bit: values beside this one were lost.
    pub(crate) fn set_overflow(&mut self) {
        self.status = StatusCode(self.status.0 | OVERFLOW);
    }

    /// Appends the DataValue (OPC 10000-6, 5.2.2.17).
    pub(crate) fn encode(
        &self,
        timestamps: TimestampsToReturn,
        encoder: &mut Encoder<'_>,
    ) -> Result<(), EncodeError> {
        let wanted = |which| timestamps == which || timestamps == TimestampsToReturn::Both;
        let source = wanted(TimestampsToReturn::Source) && self.source_timestamp != DateTime::MIN;
        let server = wanted(TimestampsToReturn::Server);
        let has_value = !self.value.is_empty();
        let has_status = self.status != StatusCode::Good;
        let bit = |present: bool, position: u8| u8::from(present) << position;
        encoder.u8(bit(has_value, 0) | bit(has_status, 1) | bit(source, 2) | bit(server, 3))?;
        encoder.bytes(&self.value)?;
        if has_status {
            self.status.encode(encoder)?;
        }
        if source {
            self.source_timestamp.encode(encoder)?;
        }
        if server {
            self.server_timestamp.encode(encoder)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sample_is_encoded_as_the_requested_data_value() {
        let value = DataValue::good(7_u32)
            .with_source_timestamp(DateTime(1))
            .with_server_timestamp(DateTime(2));
        let mut sample = Sample::of(&value, DateTime(3));
        let mut bytes = Vec::new();
        let mut encoder = Encoder::growing(&mut bytes, 100);
        sample
            .encode(TimestampsToReturn::Both, &mut encoder)
            .unwrap();
        assert_eq!(
            DataValue::decode(&mut Decoder::new(&bytes)).unwrap(),
            DataValue {
                status: None,
                ..value
            }
        );

        sample.set_overflow();
        let mut bytes = Vec::new();
        let mut encoder = Encoder::growing(&mut bytes, 100);
        sample
            .encode(TimestampsToReturn::Neither, &mut encoder)
            .unwrap();
        let read = DataValue::decode(&mut Decoder::new(&bytes)).unwrap();
        assert_eq!(read.status, Some(StatusCode(0x480)));
        assert!(read.status_code().is_good());
        assert_eq!((read.source_timestamp, read.server_timestamp), (None, None));
    }

    #[test]
    fn a_bad_status_has_no_value() {
        let value = DataValue::good(7_u32).with_status(StatusCode::BadNoCommunication);
        assert!(Sample::of(&value, DateTime(3)).value.is_empty());
    }
}
