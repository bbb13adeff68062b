//! Memory that Publishers can make a Subscriber hold, counted by the allocator.
#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test fails by panicking"
)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::time::{Duration, Instant};

use takt_pubsub::Now;
use takt_pubsub::ReceiveError;
use takt_pubsub::subscriber::{DEFAULT_MAX_MEMORY, Subscriber};
use takt_ua::DateTime;
use takt_ua::enumerations::PubSubState;

/// Allocator that counts the bytes that the allocations of each thread hold.
struct Counting;

thread_local! {
    static HELD: Cell<isize> = const { Cell::new(0) };
}

fn count(bytes: usize, sign: isize) {
    let _ = HELD.try_with(|held| held.set(held.get() + sign * bytes.cast_signed()));
}

// SAFETY: all calls are passed on as they are; counting neither allocates nor panics.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size(), 1);
        // SAFETY: the caller's obligations are those of `alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        count(layout.size(), -1);
        // SAFETY: the caller's obligations are those of `dealloc`, and `alloc` was the same allocator's.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn held() -> usize {
    HELD.get().max(0).cast_unsigned()
}

/// Clock of a test, which starts at this time.
struct Clock(Instant);

impl Clock {
    fn at(&self, seconds: u64) -> Now {
        Now {
            instant: self.0 + Duration::from_secs(seconds),
            date_time: DateTime::now(),
        }
    }
}

fn receive(subscriber: &mut Subscriber, now: Now, text: String) -> Result<usize, ReceiveError> {
    let mut bytes = text.into_bytes();
    let received = subscriber.receive(now, PubSubState::Operational, &mut bytes, &mut ());
    received.map(|reception| reception.accepted)
}

/// Returns an announcement of metadata by Publisher `publisher`; `parts` are further members of the metadata.
fn meta_data(publisher: &str, version: usize, parts: &str) -> String {
    format!(
        r#"{{"MessageId":"1","MessageType":"ua-metadata","PublisherId":"{publisher}","DataSetWriterId":1,"MetaData":{{"Name":"D",
        "ConfigurationVersion":{{"MajorVersion":{version},"MinorVersion":0}},{parts}}}}}"#
    )
}

fn data(publisher: &str, payload: &str) -> String {
    format!(
        r#"{{"MessageId":"1","MessageType":"ua-data","PublisherId":"{publisher}","Messages":[{{"DataSetWriterId":1,"Payload":{{{payload}}}}}]}}"#
    )
}

fn join(count: usize, part: impl Fn(usize) -> String) -> String {
    (0..count).map(part).collect::<Vec<_>>().join(",")
}

fn field(name: &str, more: &str) -> String {
    format!(r#"{{"Name":"{name}","BuiltInType":11,"DataType":"i=11","ValueRank":-1{more}}}"#)
}

fn fields(count: usize, name: &str, more: &str) -> String {
    let fields = join(count, |index| field(&format!("{name}{index}"), more));
    format!(r#""Fields":[{fields}]"#)
}

/// Function that returns the message with this number.
type Attack = Box<dyn Fn(usize) -> String>;

/// Returns messages that make a Subscriber keep much memory, by name.
fn attacks() -> Vec<(&'static str, Attack)> {
    let publisher = |number: usize| format!("P{number}");
    let long = "x".repeat(100_000);
    let longer = long.clone();
    vec![
        (
            "many fields",
            Box::new(move |number| meta_data(&publisher(number), 1, &fields(2_000, "F", ""))),
        ),
        (
            "long names of fields",
            Box::new(move |number| {
                meta_data(
                    &publisher(number),
                    1,
                    &fields(10, &long, r#","Description":{"Text":"d"}"#),
                )
            }),
        ),
        (
            "long names of Publishers",
            Box::new(move |number| meta_data(&format!("{longer}{number}"), 1, &fields(1, "F", ""))),
        ),
        (
            "properties",
            Box::new(move |number| {
                let values = join(500, |_| r#"{"UaType":1,"Value":true}"#.to_owned());
                let property = format!(
                    r#","Properties":[{{"Key":"K","Value":{{"UaType":24,"Value":[{values}]}}}}]"#
                );
                meta_data(&publisher(number), 1, &fields(2, "F", &property))
            }),
        ),
        (
            "structures",
            Box::new(move |number| {
                let structure = |index: usize| {
                    let fields = join(20, |field| {
                        format!(r#"{{"Name":"S{field}","DataType":"i=11","ValueRank":-1}}"#)
                    });
                    format!(
                        r#"{{"DataTypeId":"ns=1;i={}","Name":"T","StructureDefinition":{{"DefaultEncodingId":"ns=1;i={}","Fields":[{fields}]}}}}"#,
                        2 * index + 1,
                        2 * index + 2
                    )
                };
                let used = join(100, |index| {
                    format!(
                        r#"{{"Name":"F{index}","BuiltInType":22,"DataType":"ns=1;i={}","ValueRank":-1}}"#,
                        2 * index + 1
                    )
                });
                let structures = join(100, structure);
                let parts = format!(
                    r#""Namespaces":["urn:a"],"StructureDataTypes":[{structures}],"Fields":[{used}]"#
                );
                meta_data(&publisher(number), 1, &parts)
            }),
        ),
        (
            "names in messages",
            Box::new(move |number| {
                let long = "y".repeat(5_000);
                data(
                    &publisher(number),
                    &join(100, |index| format!(r#""{long}{index}":{index}"#)),
                )
            }),
        ),
    ]
}

#[test]
fn announcements_stay_within_the_budget() {
    for (name, attack) in attacks() {
        let clock = Clock(Instant::now());
        let before = held();
        let mut subscriber = Subscriber::discovering(1_000);
        let mut refused = 0;
        for number in 0..300 {
            match receive(&mut subscriber, clock.at(1), attack(number)) {
                Ok(_) => {}
                Err(error) if error.is_limit() => refused += 1,
                Err(error) => panic!("{name}: {error}"),
            }
            let (used, held) = (subscriber.memory().used(), held() - before);
            assert!(used <= DEFAULT_MAX_MEMORY, "{name}: {used} bytes charged");
            // All held memory is charged, except a part that does not grow with messages.
            assert!(
                held <= used + (256 << 10),
                "{name}: {held} bytes held, {used} charged"
            );
            if refused > 20 {
                break;
            }
        }
        println!(
            "{name}: {} held, {} charged, {refused} refused, {} readers",
            held() - before,
            subscriber.memory().used(),
            subscriber.readers().len()
        );
        assert!(subscriber.readers().len() > 1, "{name}");
        // Nested values are charged with their maximum size.
        assert!(
            20 * (held() - before) > subscriber.memory().used(),
            "{name}"
        );
        // A minute later, there is room for others.
        let honest = meta_data("Honest", 1, &fields(100, "F", ""));
        receive(&mut subscriber, clock.at(62), honest).unwrap();
        let reader = subscriber.readers().last().unwrap();
        assert_eq!(reader.meta_data().fields.len(), 100, "{name}");
        drop(subscriber);
        assert!(held() <= before + (64 << 10), "{name}");
    }
}

#[test]
fn metadata_that_is_announced_again_takes_the_place_of_the_old_one() {
    let clock = Clock(Instant::now());
    let mut subscriber = Subscriber::discovering(10);
    let announce = |subscriber: &mut Subscriber, version| {
        let text = meta_data("P", version, &fields(1_000, "F", ""));
        receive(subscriber, clock.at(1), text).unwrap();
        subscriber.memory().used()
    };
    let first = announce(&mut subscriber, 1);
    assert!(first > 100_000);
    for version in 2..20 {
        assert_eq!(announce(&mut subscriber, version), first);
    }
}

#[test]
fn forged_publishers_block_others_for_a_short_time_only() {
    let clock = Clock(Instant::now());
    let mut subscriber = Subscriber::discovering(1_000);
    let send = |subscriber: &mut Subscriber, publisher: &str, seconds| {
        receive(subscriber, clock.at(seconds), data(publisher, r#""A":1"#))
    };
    assert_eq!(send(&mut subscriber, "Honest", 0), Ok(1));
    for number in 0..2_000 {
        let outcome = send(&mut subscriber, &format!("Forged{number}"), 1);
        match outcome {
            Ok(accepted) => assert!(accepted == 1 && number < 999, "{number}"),
            Err(error) => assert!(error.is_limit() && number >= 999, "{number}: {error}"),
        }
    }
    assert_eq!(subscriber.readers().len(), 1_000);
    // A Publisher with a reader keeps it, others wait until the forged ones were silent for a minute.
    assert_eq!(send(&mut subscriber, "Honest", 50), Ok(1));
    let refused = send(&mut subscriber, "New", 50).unwrap_err();
    assert!(refused.is_limit());
    assert_eq!(
        refused.to_string(),
        "New/?/1 is not read: the limit of 1000 other DataSetWriters is reached"
    );
    assert_eq!(send(&mut subscriber, "New", 70), Ok(1));
    let names: Vec<&str> = subscriber
        .readers()
        .iter()
        .map(|reader| reader.name())
        .collect();
    assert_eq!(names, ["Honest/?/1", "New/?/1"]);
}
