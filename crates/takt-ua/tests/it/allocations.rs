//! Decoding the borrowed forms, and encoding into a buffer, allocates nothing.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use takt_ua::binary::{Decode, Decoder, Encode, Encoder};
use takt_ua::structures::{
    CallMethodRequest, CallRequest, ReadRequest, ReadResponse, ReadValueId, ResponseHeader,
    WriteRequest, WriteValue,
};
use takt_ua::views::{CallRequestRef, ReadRequestRef, ReadResponseRef, WriteRequestRef};
use takt_ua::{DataValue, DateTime, NodeId, Variant};

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

fn allocations(work: impl Fn()) -> u64 {
    let before = ALLOCATIONS.with(Cell::get);
    for _ in 0..100 {
        work();
    }
    ALLOCATIONS.with(Cell::get) - before
}

fn nodes() -> impl Iterator<Item = NodeId> {
    (0..10).map(|number| NodeId::string(2, &format!("Node{number}")))
}

#[test]
fn counting_works() {
    assert!(allocations(|| drop(std::hint::black_box(vec![1u8]))) >= 100);
}

#[test]
fn read_request() {
    let nodes_to_read = nodes().map(|node_id| ReadValueId {
        node_id,
        attribute_id: 13,
        index_range: "0:3".into(),
        ..ReadValueId::default()
    });
    let request = ReadRequest {
        nodes_to_read: nodes_to_read.collect(),
        ..ReadRequest::default()
    };
    let message = request.encode_to_vec();
    let count = allocations(|| {
        let view = ReadRequestRef::decode(&mut Decoder::new(&message)).unwrap();
        assert_eq!(
            view.nodes_to_read
                .iter()
                .filter(|node| node.attribute_id == 13)
                .count(),
            10
        );
    });
    assert_eq!(count, 0);
}

#[test]
fn write_request() {
    let values = [
        Variant::from(1.5),
        Variant::from("text"),
        Variant::from((0..1024).collect::<Vec<u32>>()),
    ];
    let nodes_to_write = nodes().zip(values).map(|(node_id, value)| WriteValue {
        node_id,
        attribute_id: 13,
        value: DataValue::good(value).with_source_timestamp(DateTime(1)),
        ..WriteValue::default()
    });
    let request = WriteRequest {
        nodes_to_write: nodes_to_write.collect(),
        ..WriteRequest::default()
    };
    let message = request.encode_to_vec();
    let count = allocations(|| {
        let view = WriteRequestRef::decode(&mut Decoder::new(&message)).unwrap();
        assert_eq!(
            view.nodes_to_write
                .iter()
                .filter(|node| node.value.value.is_some())
                .count(),
            3
        );
    });
    assert_eq!(count, 0);
}

#[test]
fn call_request() {
    let request = CallRequest {
        methods_to_call: vec![CallMethodRequest {
            object_id: NodeId::string(1, "Machine"),
            method_id: NodeId::string(1, "Start"),
            input_arguments: vec![Variant::from(1u32), Variant::from("fast")],
        }],
        ..CallRequest::default()
    };
    let message = request.encode_to_vec();
    let count = allocations(|| {
        let view = CallRequestRef::decode(&mut Decoder::new(&message)).unwrap();
        let arguments = view
            .methods_to_call
            .iter()
            .flat_map(|method| method.input_arguments.iter());
        assert_eq!(arguments.count(), 2);
    });
    assert_eq!(count, 0);
}

#[test]
fn read_response_both_ways() {
    let response = ReadResponse {
        response_header: ResponseHeader::default(),
        results: vec![DataValue::good(7u32), DataValue::good(vec![1u32; 1024])],
        diagnostic_infos: Vec::new(),
    };
    let message = response.encode_to_vec();
    let buffer = std::cell::RefCell::new(vec![0u8; message.len()]);
    let count = allocations(|| {
        let view = ReadResponseRef::decode(&mut Decoder::new(&message)).unwrap();
        assert_eq!(view.results.len(), 2);
        view.encode(&mut Encoder::fixed(&mut buffer.borrow_mut()))
            .unwrap();
        response
            .encode(&mut Encoder::fixed(&mut buffer.borrow_mut()))
            .unwrap();
    });
    assert_eq!(count, 0);
    assert_eq!(*buffer.borrow(), message);
}
