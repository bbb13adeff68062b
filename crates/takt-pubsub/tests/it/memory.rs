//! Memory that Publishers can make a Subscriber hold, counted by the allocator.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::time::{Duration, Instant};

use takt_pubsub::Now;
use takt_pubsub::ReceiveError;
use takt_pubsub::subscriber::{DEFAULT_MAX_MEMORY, Subscriber, SubscriberObserver};
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

/// Observer that counts readers that made room for others.
#[derive(Default)]
struct Forgotten(usize);

impl SubscriberObserver for Forgotten {
    fn forgotten(&mut self, _: &str) {
        self.0 += 1;
    }
}

fn receive(subscriber: &mut Subscriber, now: Now, text: String) -> Result<usize, ReceiveError> {
    receive_and_count(subscriber, now, text, &mut Forgotten::default())
}

fn receive_and_count(
    subscriber: &mut Subscriber,
    now: Now,
    text: String,
    forgotten: &mut Forgotten,
) -> Result<usize, ReceiveError> {
    let mut bytes = text.into_bytes();
    let received = subscriber.receive(now, PubSubState::Operational, &mut bytes, forgotten);
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
        let mut forgotten = Forgotten::default();
        for number in 0..300 {
            let message = attack(number);
            receive_and_count(&mut subscriber, clock.at(1), message, &mut forgotten)
                .unwrap_or_else(|error| panic!("{name}: {error}"));
            let (used, held) = (subscriber.memory().used(), held() - before);
            assert!(used <= DEFAULT_MAX_MEMORY, "{name}: {used} bytes charged");
            // All held memory is charged, except a part that does not grow with messages.
            assert!(
                held <= used + (256 << 10),
                "{name}: {held} bytes held, {used} charged"
            );
            // The budget is spent: further messages only take the places of others.
            if forgotten.0 > 20 {
                break;
            }
        }
        println!(
            "{name}: {} held, {} charged, {} forgotten, {} readers",
            held() - before,
            subscriber.memory().used(),
            forgotten.0,
            subscriber.readers().len()
        );
        assert!(subscriber.readers().len() > 1, "{name}");
        // Nested values are charged with their maximum size.
        assert!(
            20 * (held() - before) > subscriber.memory().used(),
            "{name}"
        );
        // There is room for others.
        let honest = meta_data("Honest", 1, &fields(100, "F", ""));
        receive(&mut subscriber, clock.at(1), honest).unwrap();
        let mut readers = subscriber.readers().iter();
        let reader = readers
            .find(|reader| reader.name() == "Honest/?/1")
            .unwrap();
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
fn forged_publishers_do_not_keep_a_new_one_out() {
    let clock = Clock(Instant::now());
    let mut subscriber = Subscriber::discovering(1_000);
    let send = |subscriber: &mut Subscriber, publisher: &str| {
        receive(subscriber, clock.at(1), data(publisher, r#""A":1"#))
    };
    let is_read = |subscriber: &Subscriber, publisher: &str| {
        let name = format!("{publisher}/?/1");
        subscriber
            .readers()
            .iter()
            .any(|reader| reader.name() == name)
    };
    // After one message only, it could make room for others.
    for _ in 0..2 {
        assert_eq!(send(&mut subscriber, "Honest"), Ok(1));
    }
    for number in 0..2_000 {
        let forged = format!("Forged{number}");
        assert_eq!(send(&mut subscriber, &forged), Ok(1), "{number}");
        // Publishers with more than one message stay.
        assert!(is_read(&subscriber, "Honest"), "{number}");
        assert!(subscriber.readers().len() <= 1_000);
    }
    for _ in 0..50 {
        assert_eq!(send(&mut subscriber, "New"), Ok(1));
    }
    // Forged Publishers that send more than once cannot keep others out, either.
    for number in 0..2_000 {
        for _ in 0..3 {
            let forged = format!("Persistent{number}");
            assert_eq!(send(&mut subscriber, &forged), Ok(1), "{number}");
        }
    }
    assert_eq!(send(&mut subscriber, "Newer"), Ok(1));
    assert!(is_read(&subscriber, "Newer"));
}
