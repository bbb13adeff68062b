//! EventFilters of any content: validation and evaluation do no harm, and take a bounded effort.

use std::sync::LazyLock;

use takt_rt::memory_budget::MemoryBudget;
use takt_space::{AddressSpace, Event};
use takt_ua::binary::{Decode, Decoder, Encode, Encoder};
use takt_ua::structures::EventFilter;
use takt_ua::{ExtensionObject, NodeId, Structure, ids};

static SPACE: LazyLock<AddressSpace> =
    LazyLock::new(|| AddressSpace::new("urn:fuzz", 16, 100, MemoryBudget::new(1 << 20)));

static EVENT: LazyLock<Event> = LazyLock::new(|| {
    Event::new(ids::EXCLUSIVE_LIMIT_ALARM_TYPE, ids::SERVER)
        .of_condition(NodeId::string(1, "Overtemperature"))
        .message("Spindle/Temperature 91.5 above limit 90")
        .severity(700)
        .source_name("Spindle/Temperature")
        .field("Retain", true)
        .field("HighLimit", 90.0)
        .subfield("AckedState", "Id", false)
});

pub(crate) fn run(bytes: &[u8]) {
    // The TypeId and the length are added, so that the whole input is the body of the filter.
    let mut encoded = Vec::new();
    let mut encoder = Encoder::growing(&mut encoded, bytes.len() + 64);
    let type_id = NodeId::numeric(0, EventFilter::BINARY_ENCODING_ID);
    type_id.encode(&mut encoder).expect("there is room");
    encoder.u8(1).expect("there is room");
    encoder.byte_string(Some(bytes)).expect("there is room");
    let filter = ExtensionObject::decode(&mut Decoder::with_limits(&encoded, takt_fuzz::LIMITS));
    if let Ok(filter) = filter {
        takt_services::fuzzing::event_filter(&filter, &EVENT, &SPACE);
    }
}
