//! Storing into a fixed message, reading one, and reading any message allocate nothing.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use takt_ua::{DateTime, StatusCode, Variant};
use takt_wire::{
    DataSetContent, DataSetContentRef, DataSetMessage, Fields, FieldsRef, FixedMessage,
    GroupHeader, NetworkMessage, NetworkMessageRef, PayloadParameters, PayloadRef, PublisherId,
};

struct Counting;

thread_local! {
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
}

// SAFETY: every call is passed unchanged to the system's allocator, which fulfils the contract.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.with(|count| count.set(count.get() + 1));
        // SAFETY: the contract of the caller is the one of `System`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: as above.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        ALLOCATIONS.with(|count| count.set(count.get() + 1));
        // SAFETY: as above.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn allocations(mut work: impl FnMut(u16)) -> u64 {
    let before = ALLOCATIONS.with(Cell::get);
    (0..10_000).for_each(&mut work);
    ALLOCATIONS.with(Cell::get) - before
}

fn template() -> NetworkMessage {
    let values = (0..10_u32).map(Variant::from).collect();
    NetworkMessage {
        group_header: Some(GroupHeader {
            writer_group_id: Some(1),
            sequence_number: Some(0),
            ..GroupHeader::default()
        }),
        timestamp: Some(DateTime::MIN),
        ..NetworkMessage::data(
            Some(PublisherId::UInt16(1)),
            vec![DataSetMessage {
                data_set_writer_id: Some(1),
                status: Some(StatusCode::Good),
                ..DataSetMessage::new(DataSetContent::KeyFrame(Fields::Variant(values)))
            }],
        )
    }
}

#[test]
fn counting_works() {
    assert!(allocations(|_| drop(std::hint::black_box(vec![1_u8]))) >= 10_000);
}

#[test]
fn a_cycle_of_a_fixed_message() {
    let mut message = FixedMessage::new(&template(), &[]).unwrap();
    let reader = message.reader();
    let slots: Vec<_> = (0..10)
        .map(|field| message.slot::<u32>(0, field).unwrap())
        .collect();
    let count = allocations(|cycle| {
        message.set_sequence_number(cycle);
        message.set_timestamp(DateTime(i64::from(cycle)));
        message.set_status(0, StatusCode::Good);
        for slot in &slots {
            message.store(*slot, u32::from(cycle));
        }
        message.store_variant(0, 0, &Variant::UInt32(7));
        let read = reader.read(message.bytes()).unwrap();
        assert_eq!(read.sequence_number(), Some(cycle));
        assert_eq!(read.get(slots[9]), u32::from(cycle));
    });
    assert_eq!(count, 0);
}

#[test]
fn looking_through_any_message() {
    let bytes = template().encode_to_vec().unwrap();
    let count = allocations(|_| {
        let message = NetworkMessageRef::new_checked(&bytes).unwrap();
        let payload = message.payload(&PayloadParameters::default()).unwrap();
        let PayloadRef::DataSetMessages(messages) = payload else {
            panic!("no DataSetMessages")
        };
        for message in messages.iter() {
            let DataSetContentRef::KeyFrame(FieldsRef::Variant(fields)) = message.unwrap().content
            else {
                panic!("no key frame")
            };
            assert_eq!(fields.iter().count(), 10);
        }
    });
    assert_eq!(count, 0);
}
