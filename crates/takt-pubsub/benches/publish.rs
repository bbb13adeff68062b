//! Cost of publishing, compared with the system call that it needs: a bare `sendto` of the same bytes.

#![allow(clippy::unwrap_used, clippy::panic, missing_docs)] // A benchmark may panic.

#[path = "../tests/it/support.rs"]
mod support;

use std::hint::black_box;
use std::net::UdpSocket;
use std::time::Instant;

use criterion::{Criterion, criterion_group, criterion_main};
use takt_link::{Address, LinkOptions, open_sender};
use takt_pubsub::Now;
use takt_pubsub::runtime::LinkOutput;
use takt_ua::Variant;
use takt_ua::enumerations::{DataSetFieldContentMask, MessageSecurityMode, PubSubState};

use support::Setup;

/// Sends messages to a socket that is never read: the kernel drops messages when it is full, which takes the same time.
fn benchmark(criterion: &mut Criterion) {
    let target = UdpSocket::bind("127.0.0.1:0").unwrap();
    let to = target.local_addr().unwrap();
    let address: Address = format!("opc.udp://{to}").parse().unwrap();
    for fields in [10, 100] {
        for mode in [
            MessageSecurityMode::None,
            MessageSecurityMode::SignAndEncrypt,
        ] {
            let values: Vec<_> = (0..fields).map(Variant::UInt32).collect();
            let mut setup = Setup::new(&values);
            setup.writer().data_set_field_content_mask = DataSetFieldContentMask::RawData;
            setup.protect(mode);
            let mut group = setup.build();
            group.set_keys(&support::keys(1, Instant::now()));
            let mut messages: Vec<Vec<u8>> = Vec::new();
            group
                .publish(Now::read(), PubSubState::Operational, &mut messages)
                .unwrap();
            let bytes = messages.remove(0);

            let mut benchmarks = criterion.benchmark_group(format!("{fields} x UInt32, {mode:?}"));
            let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
            benchmarks.bench_function("bare sendto", |bencher| {
                bencher.iter(|| socket.send_to(black_box(&bytes), to).unwrap());
            });
            let mut sender = open_sender(&address, &LinkOptions::default()).unwrap();
            benchmarks.bench_function("publish", |bencher| {
                bencher.iter(|| {
                    let output = &mut LinkOutput::new(sender.as_mut());
                    group
                        .publish(Now::read(), PubSubState::Operational, output)
                        .unwrap();
                    sender.flush().unwrap()
                });
            });
            // If this differs from the first measurement, the machine was not quiet.
            benchmarks.bench_function("bare sendto, again", |bencher| {
                bencher.iter(|| socket.send_to(black_box(&bytes), to).unwrap());
            });
            benchmarks.finish();
        }
    }
}

criterion_group!(benches, benchmark);
criterion_main!(benches);
