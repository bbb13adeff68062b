//! Encoding of DataValues with the timestamps that a client asked for (OPC 10000-4, 7.11 and 7.39).

use takt_cell::{Cell, CellError};
use takt_layout::{ResponseWriter, Span, Times};
use takt_space::StoredValue;
use takt_ua::binary::{Encode, EncodeError, Encoder};
use takt_ua::enumerations::TimestampsToReturn;
use takt_ua::{DataValue, DateTime, StatusCode, VariantRef};

/// Receiver of the results of a Read request, one after another.
pub(crate) trait Results {
    /// Returns the server timestamp of values that do not have their own.
    fn now(&self) -> DateTime;

    /// Returns the number of encoded bytes.
    fn position(&self) -> usize;

    /// Adds a result that is only a StatusCode.
    #[inline(never)]
    fn status(&mut self, status: StatusCode) -> Result<(), EncodeError> {
        self.encode(None, status, None)
    }

    /// Adds a DataValue, with the parts that the client wants.
    fn data_value(&mut self, value: &DataValue) -> Result<(), EncodeError>;

    /// Adds a DataValue that is given in parts.
    fn encode(
        &mut self,
        value: Option<&VariantRef<'_>>,
        status: StatusCode,
        source_time: Option<DateTime>,
    ) -> Result<(), EncodeError>;

    /// Adds the content of a cell.
    fn cell(&mut self, cell: &Cell) -> Result<(), CellError>;

    /// Adds a stored value.
    fn stored(&mut self, stored: &StoredValue) -> Result<(), EncodeError>;
}

/// Results in the binary DataEncoding.
pub(crate) struct EncodedResults<'e, 'b> {
    pub(crate) response: &'e mut Encoder<'b>,
    pub(crate) timestamps: TimestampsToReturn,
    pub(crate) now: DateTime,
}

impl Results for EncodedResults<'_, '_> {
    #[inline]
    fn now(&self) -> DateTime {
        self.now
    }

    #[inline]
    fn position(&self) -> usize {
        self.response.position()
    }

    #[inline]
    fn cell(&mut self, cell: &Cell) -> Result<(), CellError> {
        cell.encode_data_value(self.response, self.timestamps, self.now)
            .map(drop)
    }

    #[inline]
    fn stored(&mut self, stored: &StoredValue) -> Result<(), EncodeError> {
        stored.encode_data_value(self.response, self.timestamps, self.now)
    }

    fn data_value(&mut self, value: &DataValue) -> Result<(), EncodeError> {
        let (source, server) = wanted(self.timestamps);
        // A missing status means Good.
        let good = value.status.filter(|status| *status != StatusCode::Good);
        let server_time = value.server_timestamp.unwrap_or(self.now);
        // Encodes only the parts that the client wants; they are borrowed, so that the value is not copied.
        header(
            self.response,
            value.value.is_some(),
            good.is_some(),
            source && value.source_timestamp.is_some(),
            server,
            source && value.source_picoseconds.is_some(),
        )?;
        if let Some(value) = &value.value {
            value.encode(self.response)?;
        }
        if let Some(status) = good {
            status.encode(self.response)?;
        }
        if let (true, Some(time)) = (source, value.source_timestamp) {
            time.encode(self.response)?;
        }
        if let (true, Some(picoseconds)) = (source, value.source_picoseconds) {
            self.response.u16(picoseconds)?;
        }
        if server {
            server_time.encode(self.response)
        } else {
            Ok(())
        }
    }

    fn encode(
        &mut self,
        value: Option<&VariantRef<'_>>,
        status: StatusCode,
        source_time: Option<DateTime>,
    ) -> Result<(), EncodeError> {
        let (source, server) = wanted(self.timestamps);
        let source_time = source_time.filter(|_| source);
        let is_good = status == StatusCode::Good;
        header(
            self.response,
            value.is_some(),
            !is_good,
            source_time.is_some(),
            server,
            false,
        )?;
        if let Some(value) = value {
            value.encode(self.response)?;
        }
        if !is_good {
            status.encode(self.response)?;
        }
        if let Some(time) = source_time {
            time.encode(self.response)?;
        }
        if server {
            self.now.encode(self.response)
        } else {
            Ok(())
        }
    }
}

/// Returns two flags: the client wants the source timestamp, and the client wants the server timestamp.
#[inline]
fn wanted(timestamps: TimestampsToReturn) -> (bool, bool) {
    let source = matches!(
        timestamps,
        TimestampsToReturn::Source | TimestampsToReturn::Both
    );
    let server = matches!(
        timestamps,
        TimestampsToReturn::Server | TimestampsToReturn::Both
    );
    (source, server)
}

/// Results in the fixed layout of shared memory.
pub(crate) struct LaidOutResults<'e, 'b> {
    pub(crate) response: ResponseWriter<'e, 'b>,
    pub(crate) timestamps: TimestampsToReturn,
    pub(crate) now: DateTime,
}

impl LaidOutResults<'_, '_> {
    /// Writes the next record, with the timestamps that the client wants.
    #[inline]
    fn put(&mut self, value: Span, status: StatusCode, times: &Times) {
        let (source, server) = wanted(self.timestamps);
        let times = Times {
            source_timestamp: times.source_timestamp.filter(|_| source),
            source_picoseconds: times.source_picoseconds.filter(|_| source),
            server_timestamp: server.then_some(times.server_timestamp.unwrap_or(self.now)),
            server_picoseconds: None,
        };
        self.response.data_value(value, status, &times);
    }

    #[inline]
    fn put_at(&mut self, value: Span, status: StatusCode, source_timestamp: Option<DateTime>) {
        let times = Times {
            source_timestamp,
            ..Times::default()
        };
        self.put(value, status, &times);
    }
}

impl Results for LaidOutResults<'_, '_> {
    #[inline]
    fn now(&self) -> DateTime {
        self.now
    }

    #[inline]
    fn position(&self) -> usize {
        self.response.position()
    }

    #[inline]
    fn cell(&mut self, cell: &Cell) -> Result<(), CellError> {
        let (value, reading) = self
            .response
            .values()
            .value(|encoder| cell.encode_value(encoder))?;
        let source_timestamp = reading.source_timestamp;
        let times = Times {
            source_timestamp: (!source_timestamp.is_null()).then_some(source_timestamp),
            server_timestamp: reading.server_timestamp,
            ..Times::default()
        };
        // With a Bad status there is no value (OPC 10000-4, 7.11).
        if reading.length == 0 || reading.status.is_bad() {
            // It is there already, because value and status are read together.
            self.response.take_back(value);
            self.put(Span::NONE, reading.status, &times);
        } else {
            self.put(value, reading.status, &times);
        }
        Ok(())
    }

    fn stored(&mut self, stored: &StoredValue) -> Result<(), EncodeError> {
        let (value, status, time) = stored.read_encoded(|encoded, status, time| {
            if status.is_bad() {
                return Ok((Span::NONE, status, time));
            }
            let (value, ()) = self
                .response
                .values()
                .value(|encoder| encoder.bytes(encoded))?;
            Ok((value, status, time))
        })?;
        // DateTime::MIN stands for a missing timestamp.
        self.put_at(value, status, (time != DateTime::MIN).then_some(time));
        Ok(())
    }

    fn data_value(&mut self, value: &DataValue) -> Result<(), EncodeError> {
        let span = match &value.value {
            Some(value) => {
                self.response
                    .values()
                    .value(|encoder| value.encode(encoder))?
                    .0
            }
            None => Span::NONE,
        };
        let times = Times {
            source_timestamp: value.source_timestamp,
            source_picoseconds: value.source_picoseconds,
            server_timestamp: value.server_timestamp,
            server_picoseconds: None,
        };
        self.put(span, value.status_code(), &times);
        Ok(())
    }

    fn encode(
        &mut self,
        value: Option<&VariantRef<'_>>,
        status: StatusCode,
        source_time: Option<DateTime>,
    ) -> Result<(), EncodeError> {
        let span = match value {
            Some(value) => {
                self.response
                    .values()
                    .value(|encoder| value.encode(encoder))?
                    .0
            }
            None => Span::NONE,
        };
        self.put_at(span, status, source_time);
        Ok(())
    }
}

/// Encodes the encoding mask of a DataValue (OPC 10000-6, 5.2.2.17).
#[inline]
fn header(
    response: &mut Encoder<'_>,
    value: bool,
    status: bool,
    source_time: bool,
    server_time: bool,
    source_picoseconds: bool,
) -> Result<(), EncodeError> {
    let bit = |present: bool, position: u8| u8::from(present) << position;
    response.u8(bit(value, 0)
        | bit(status, 1)
        | bit(source_time, 2)
        | bit(server_time, 3)
        | bit(source_picoseconds, 4))
}
