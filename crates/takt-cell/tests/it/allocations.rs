//! Setting and reading allocate nothing.

use std::alloc::{GlobalAlloc, Layout, System};
use std::hint::black_box;
use std::sync::Arc;
use std::time::Duration;

use takt_cell::{Cell, CellReader, Publication};
use takt_rt::segment::SegmentView;
use takt_ua::binary::{Decode, Decoder, Encode, Encoder};
use takt_ua::enumerations::TimestampsToReturn;
use takt_ua::{DateTime, LocalizedText, NodeId, StatusCode, Variant, VariantRef};

struct Counting;

thread_local! {
    static ALLOCATIONS: std::cell::Cell<u64> = const { std::cell::Cell::new(0) };
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
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

const GOOD: StatusCode = StatusCode::Good;

/// Does the work 10 000 times and counts the allocations.
fn allocations(mut work: impl FnMut(u32)) -> u64 {
    let before = ALLOCATIONS.with(std::cell::Cell::get);
    for n in 0..if cfg!(miri) { 10 } else { 10_000 } {
        work(n);
    }
    ALLOCATIONS.with(std::cell::Cell::get) - before
}

#[test]
fn counting_works() {
    assert!(allocations(|n| drop(black_box(vec![n]))) >= 10);
}

#[test]
fn numbers() {
    let now = DateTime::now();
    let cell = Cell::of(&Variant::from(0_u32));
    let mut buffer = [0; 64];
    let count = allocations(|n| {
        cell.set_u32(n, GOOD, now).unwrap();
        assert_eq!(cell.read_scalar::<u32>().unwrap().0, Some(n));
        let mut encoder = Encoder::fixed(&mut buffer);
        cell.encode_data_value(&mut encoder, TimestampsToReturn::Both, now)
            .unwrap();
        cell.encode_value(&mut encoder).unwrap();
        cell.read_into(&mut [0; 5]).unwrap();
        cell.set(&Variant::UInt32(n), GOOD, now).unwrap();
        cell.set_status(StatusCode::BadOutOfService, now).unwrap();
        assert_eq!(cell.get().unwrap().value, None);
        cell.set_bool(true, GOOD, now).unwrap_err();
    });
    assert_eq!(count, 0);
}

#[test]
fn arrays_of_numbers() {
    let now = DateTime::now();
    let mut elements = vec![0.0_f64; 512];
    let value = Variant::from(elements.clone());
    let bytes = value.encode_to_vec();
    let cell = Cell::of(&value);
    let mut buffer = vec![0; 5000];
    let count = allocations(|_| {
        cell.set_f64s(&elements, GOOD, now).unwrap();
        cell.read_slice(&mut elements).unwrap();
        cell.encode_data_value(
            &mut Encoder::fixed(&mut buffer),
            TimestampsToReturn::Both,
            now,
        )
        .unwrap();
        cell.set(&value, GOOD, now).unwrap();
        cell.set_encoded(&bytes, GOOD, now).unwrap();
        cell.set_ref(
            &VariantRef::decode(&mut Decoder::new(&bytes)).unwrap(),
            GOOD,
            now,
        )
        .unwrap();
        cell.read_into(&mut buffer).unwrap();
        cell.set_f64s(&[0.0; 513], GOOD, now).unwrap_err();
    });
    assert_eq!(count, 0);
}

#[test]
fn texts_and_small_structures() {
    let now = DateTime::now();
    let text = "t".repeat(1000);
    let string = Variant::from(text.as_str());
    let cell = Cell::of(&string);
    let count = allocations(|_| {
        cell.set_string(Some(&text), GOOD, now).unwrap();
        cell.set(&string, GOOD, now).unwrap();
    });
    assert_eq!(count, 0);

    for value in [
        Variant::from(LocalizedText {
            locale: "en".into(),
            text: "Speed".into(),
        }),
        Variant::from(NodeId::string(2, "Speed")),
        Variant::from(vec![DateTime::MIN; 5]),
    ] {
        let cell = Cell::of(&value);
        assert_eq!(allocations(|_| cell.set(&value, GOOD, now).unwrap()), 0);
    }
}

#[test]
fn publications() {
    let now = DateTime::now();
    let encoded = Variant::from(vec![0_u32; 512]).encode_to_vec();
    let publication = Publication::of_cache(encoded.len()).unwrap();
    let location = publication.location().unwrap();
    let segment = takt_cell::shared::segment(location.segment).unwrap();
    let fd = segment.fd().try_clone_to_owned().unwrap();
    let view = SegmentView::open(&fd, usize::MAX).unwrap();
    let reader = CellReader::new(Arc::new(view), &location).unwrap();
    let mut elements = [0_u32; 512];
    let count = allocations(|_| {
        publication.set(&encoded, GOOD, now, now);
        let (read, reading) = reader.read_slice(&mut elements).unwrap();
        assert_eq!((read, reading.server_timestamp), (Some(512), Some(now)));
        assert!(reading.satisfies(Duration::from_secs(1), now));
        publication.withhold();
        reader.reading().unwrap_err();
    });
    assert_eq!(count, 0);
}
