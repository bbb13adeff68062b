//! DataValues as a client wants them: with the timestamps that it asked for (OPC 10000-4, 7.11 and 7.39).

use takt_ua::binary::{Encode, EncodeError, Encoder};
use takt_ua::enumerations::TimestampsToReturn;
use takt_ua::{DataValue, DateTime, StatusCode, VariantRef};

/// The results of a Read request, encoded one after another.
pub(super) struct Results<'e, 'b> {
    pub(super) response: &'e mut Encoder<'b>,
    pub(super) timestamps: TimestampsToReturn,
    /// The server timestamp of values that do not have their own.
    pub(super) now: DateTime,
}

impl Results<'_, '_> {
    /// A result that is only a StatusCode.
    #[inline(never)]
    pub(super) fn status(&mut self, status: StatusCode) -> Result<(), EncodeError> {
        self.encode(None, status, None)
    }

    pub(super) fn data_value(&mut self, value: &DataValue) -> Result<(), EncodeError> {
        let (source, server) = self.wanted();
        let good = value.status.filter(|status| *status != StatusCode::Good);
        let server_time = value.server_timestamp.unwrap_or(self.now);
        // Only the parts that the client wants; borrowed, so that the value is not copied.
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

    pub(super) fn encode(
        &mut self,
        value: Option<&VariantRef<'_>>,
        status: StatusCode,
        source_time: Option<DateTime>,
    ) -> Result<(), EncodeError> {
        let (source, server) = self.wanted();
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

    /// Whether the client wants the source timestamp, and the server timestamp.
    fn wanted(&self) -> (bool, bool) {
        let source = matches!(
            self.timestamps,
            TimestampsToReturn::Source | TimestampsToReturn::Both
        );
        let server = matches!(
            self.timestamps,
            TimestampsToReturn::Server | TimestampsToReturn::Both
        );
        (source, server)
    }
}

/// The encoding mask of a DataValue (OPC 10000-6, 5.2.2.17).
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
