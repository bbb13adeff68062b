//! A request allocates nothing, neither in the client nor in the server, including the libraries that they use.

use crate::common::*;
use takt_shm::{ShmClient, WaitPolicy};

#[test]
fn requests_allocate_nothing() {
    takt_malloc::alone(|| {
        for wait in [WaitPolicy::ADAPTIVE, WaitPolicy::Sleep, WaitPolicy::Spin] {
            let directory = RuntimeDirectory::new();
            let server = ServerThread::start_waiting("Echo", server_config(directory.path()), wait);
            let _server = server.unwrap();
            let config = client_config(directory.path(), wait);
            let mut client = ShmClient::connect(&name("Echo"), &config, TIMEOUT).unwrap();
            for (size, count) in [(4, 10_000), (4200, 1000), (50_000, 1000)] {
                let body = vec![1; size];
                let mut requests = |count: usize| {
                    for _ in 0..count {
                        let response = client
                            .request(|encoder| encoder.bytes(&body), TIMEOUT)
                            .unwrap();
                        assert_eq!(response.len(), size);
                    }
                };
                // The first requests determine how much memory is needed.
                requests(10);
                let counted = takt_malloc::least(|| requests(count));
                assert_eq!(counted, 0, "{wait:?}, {size} bytes");
            }
        }
    });
}
