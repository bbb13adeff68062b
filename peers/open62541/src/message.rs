//! open62541's codec of NetworkMessages, and its real-time path, to be measured.

use std::ffi::c_void;

use open62541_sys as sys;

use crate::Status;
use crate::pubsub::OffsetTable;

/// Larger than open62541's `UA_NetworkMessage`, which the crate does not describe.
const NETWORK_MESSAGE_SIZE: usize = 4096;

#[repr(C, align(16))]
struct RawNetworkMessage([u8; NETWORK_MESSAGE_SIZE]);

// open62541/pubsub.h
unsafe extern "C" {
    fn UA_NetworkMessage_decodeBinary(
        source: *const sys::UA_ByteString,
        message: *mut RawNetworkMessage,
        options: *const c_void,
        decode_options: *const c_void,
    ) -> sys::UA_StatusCode;
    fn UA_NetworkMessage_encodeBinary(
        message: *const RawNetworkMessage,
        buffer: *mut sys::UA_ByteString,
        options: *const c_void,
    ) -> sys::UA_StatusCode;
    fn UA_NetworkMessage_clear(message: *mut RawNetworkMessage);
}

/// A message that open62541 has decoded.
pub struct NetworkMessage(Box<RawNetworkMessage>);

impl NetworkMessage {
    /// A message without anything in it.
    #[must_use]
    pub fn empty() -> Self {
        Self(Box::new(RawNetworkMessage([0; NETWORK_MESSAGE_SIZE])))
    }

    /// Decodes another message, in place of this one.
    ///
    /// # Errors
    /// Error of open62541.
    pub fn decode(&mut self, bytes: &[u8]) -> Result<(), Status> {
        let source = sys::UA_ByteString {
            length: bytes.len(),
            data: bytes.as_ptr().cast_mut(),
        };
        // SAFETY: the source is only read and outlives the call. There is more room than open62541 needs, and what was there before
        // is freed first; zeros are an empty message. The options may be null.
        Status::check(unsafe {
            UA_NetworkMessage_clear(&raw mut *self.0);
            UA_NetworkMessage_decodeBinary(
                &raw const source,
                &raw mut *self.0,
                std::ptr::null(),
                std::ptr::null(),
            )
        })
    }

    /// Encodes the message; returns how many bytes that are.
    ///
    /// # Errors
    /// Error of open62541, for example that there is not enough room.
    pub fn encode(&self, buffer: &mut [u8]) -> Result<usize, Status> {
        let mut target = sys::UA_ByteString {
            length: buffer.len(),
            data: buffer.as_mut_ptr(),
        };
        // SAFETY: the message has been decoded, or is empty; a buffer that is not empty is written to, and not allocated.
        Status::check(unsafe {
            UA_NetworkMessage_encodeBinary(&raw const *self.0, &raw mut target, std::ptr::null())
        })?;
        Ok(target.length)
    }
}

impl Drop for NetworkMessage {
    fn drop(&mut self) {
        // SAFETY: the message has been decoded, or is empty, and is not used again.
        unsafe { UA_NetworkMessage_clear(&raw mut *self.0) };
    }
}

/// Bytes of the longest thing that is stored: a time.
const LONGEST: usize = 8;

/// A publisher with open62541's offset table. The library makes the table, and its users write this loop.
pub struct FixedPublisher {
    /// With room for the longest value behind it.
    message: Vec<u8>,
    length: usize,
    offsets: Vec<(u32, usize)>,
    values: Vec<sys::UA_DataValue>,
    /// Memory to which the values point; its address must not change.
    store: Box<[u32]>,
    number: u16,
}

impl FixedPublisher {
    /// For a message of UInt32 fields.
    #[must_use]
    pub fn new(table: OffsetTable, fields: usize) -> Self {
        Self::with_header(&[], table, fields)
    }

    /// For a message of UInt32 fields, with the header of a frame in front of it.
    #[must_use]
    pub fn with_header(header: &[u8], mut table: OffsetTable, fields: usize) -> Self {
        table.message.splice(..0, header.iter().copied());
        for (_, offset) in &mut table.offsets {
            *offset += header.len();
        }
        let mut store: Box<[u32]> = (0..).take(fields).collect();
        let values = store.iter_mut().map(|value| {
            let mut data_value = sys::UA_DataValue::default();
            // SAFETY: the value points to a number that lives as long as it does, and never frees it: it is not cleared.
            unsafe {
                let number = crate::data::description::<sys::UA_UInt32>();
                let value = std::ptr::from_mut(value).cast();
                sys::UA_Variant_setScalar(&raw mut data_value.value, value, number);
            }
            data_value
        });
        let raw = sys::UA_PubSubOffsetType::UA_PUBSUBOFFSETTYPE_DATASETFIELD_RAW;
        let raw = table.offsets.iter().filter(|(kind, _)| *kind == raw.0);
        assert_eq!(raw.count(), fields, "another number of fields");
        let length = table.message.len();
        let inside = table.offsets.iter().all(|(_, offset)| *offset < length);
        assert!(inside, "outside of the message");
        let mut message = table.message;
        message.resize(length + LONGEST, 0);
        Self {
            values: values.collect(),
            message,
            length,
            offsets: table.offsets,
            store,
            number: 0,
        }
    }

    /// Changes the values that are stored next.
    pub fn set(&mut self, values: &[u32]) {
        self.store.copy_from_slice(values);
    }

    /// Stores everything that changes, as fast as C does it: fields are known to have four bytes, and nothing is checked twice.
    pub fn store(&mut self, time: i64) {
        use sys::UA_PubSubOffsetType as Type;
        self.number = self.number.wrapping_add(1);
        let message = self.message.as_mut_ptr();
        let mut values = self.values.as_ptr();
        for (kind, offset) in &self.offsets {
            // SAFETY: `new` has made sure that what is stored lies inside the message or the room behind it, and that there are as many values as fields,
            // each of which points to a number of four bytes.
            unsafe {
                let target = message.add(*offset);
                match Type(*kind) {
                    Type::UA_PUBSUBOFFSETTYPE_NETWORKMESSAGE_SEQUENCENUMBER
                    | Type::UA_PUBSUBOFFSETTYPE_DATASETMESSAGE_SEQUENCENUMBER => {
                        target.cast::<u16>().write_unaligned(self.number);
                    }
                    Type::UA_PUBSUBOFFSETTYPE_NETWORKMESSAGE_TIMESTAMP
                    | Type::UA_PUBSUBOFFSETTYPE_DATASETMESSAGE_TIMESTAMP => {
                        target.cast::<i64>().write_unaligned(time);
                    }
                    Type::UA_PUBSUBOFFSETTYPE_DATASETMESSAGE_STATUS => {
                        target.cast::<u16>().write_unaligned(0);
                    }
                    Type::UA_PUBSUBOFFSETTYPE_DATASETFIELD_RAW => {
                        let value = (*values).value.data.cast::<u32>();
                        target.cast::<u32>().write_unaligned(value.read());
                        values = values.add(1);
                    }
                    _ => {}
                }
            }
        }
    }

    /// The message as it is now, with the header in front of it.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        self.message.get(..self.length).unwrap_or_default()
    }
}
