//! Once warm, a request over opc.tcp allocates nothing: neither in the server nor in the client.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use crate::support::echo_server::EchoServer;
use crate::support::plant::Plant;
use takt_crypto::PolicyProfile;
use takt_tcp::{TcpClient, TcpClientConfig, TcpServerConfig, TransportLimits};
use takt_ua::enumerations::MessageSecurityMode;

struct Counting;

static ALLOCATIONS: AtomicU64 = AtomicU64::new(0);

// SAFETY: all calls are passed to the system's allocator unchanged; counting touches no allocated memory.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
        // SAFETY: the caller keeps the contract of `alloc`, which is the same one.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller keeps the contract of `dealloc`, and all memory here comes from `System`.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
        // SAFETY: the caller keeps the contract of `realloc`, and all memory here comes from `System`.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

const PATIENCE: Duration = Duration::from_secs(60);

#[test]
fn ten_thousand_requests_without_an_allocation() {
    takt_malloc::alone(|| {
        // Its alarm was set for the handshake, and goes off between the requests: looking through deadlines allocates
        // nothing either.
        let mut config = TcpServerConfig::default();
        config.connection.handshake_timeout = Duration::from_millis(200);
        allocates_nothing("None", config, TcpClientConfig::default(), 10_000);

        let plant = Plant::new(2048, 2048);
        for profile in PolicyProfile::ALL {
            for mode in [
                MessageSecurityMode::Sign,
                MessageSecurityMode::SignAndEncrypt,
            ] {
                let mut config = TcpServerConfig {
                    connection: plant.server_config(),
                    ..TcpServerConfig::default()
                };
                let mut connection = plant.client_config(profile, mode);
                let limits = TransportLimits::default();
                (config.connection.limits, connection.limits) = (limits, limits);
                let client = TcpClientConfig {
                    connection,
                    ..TcpClientConfig::default()
                };
                let kind = format!("{} {mode:?}", profile.name);
                allocates_nothing(&kind, config, client, 200);
            }
        }
    });
}

fn allocates_nothing(kind: &str, server: TcpServerConfig, client: TcpClientConfig, rounds: usize) {
    let server = EchoServer::start(server);
    let mut client = TcpClient::connect(&server.url, client, PATIENCE).unwrap();
    let body = vec![42; 100_000];
    // One chunk, small and larger, then two chunks.
    for (size, rounds) in [(64, rounds), (4200, rounds), (100_000, rounds / 10)] {
        let mut round = || {
            let request = |e: &mut takt_ua::binary::Encoder<'_>| e.bytes(&body[..size]);
            let response = client.request(PATIENCE, request).unwrap();
            assert_eq!(response.len(), size);
        };
        (0..100).for_each(|_| round());
        // The test's own machinery allocates now and then, in another thread; what a request allocates is allocated
        // in every run. A secured server looks at its folders every two seconds.
        let mut run = || {
            let before = ALLOCATIONS.load(Ordering::Relaxed);
            (0..rounds).for_each(|_| round());
            ALLOCATIONS.load(Ordering::Relaxed) - before
        };
        let least = (0..10).map(|_| run()).find(|count| *count == 0);
        assert_eq!(least, Some(0), "{kind}, {size} bytes");
    }
}
