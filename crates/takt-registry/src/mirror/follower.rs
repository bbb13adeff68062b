//! State of the thread of a mirror, and the Properties that show it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use takt_app::ClientOptions;
use takt_rt::clock::after;

use super::budget::MirrorMemory;
use super::copy::Copy;
use super::live::LiveValues;
use super::options::MirrorOptions;
use super::problem;
use super::unreadable::Unreadable;
use crate::forwarding::{Gateway, Naming};

/// Longest wait for a change before the thread looks at other things.
pub(super) const LOOK: Duration = Duration::from_millis(50);

/// Time limit of a request.
const TIMEOUT: Duration = Duration::from_secs(10);

/// State of the thread of one mirror.
pub(super) struct Follower {
    pub(super) options: MirrorOptions,
    pub(super) client: ClientOptions,
    pub(super) memory: MirrorMemory,
    pub(super) copy: Copy,
    pub(super) gateway: Arc<Gateway>,
    pub(super) naming: Naming,
    pub(super) stop: Arc<AtomicBool>,
    /// Bytes of the kept values.
    pub(super) kept: usize,
    pub(super) last_scan: Option<Instant>,
    /// Values that cannot be decoded.
    pub(super) unreadable: Unreadable,
    /// Values that are read at the server for each Read.
    pub(super) live: Arc<LiveValues>,
}

impl Follower {
    /// Returns true if the server has not opened a connection that was needed besides this one (reverse connect).
    pub(super) fn lacks_connection(&self) -> bool {
        self.client.lacks_connection(&self.options.endpoint)
    }

    pub(super) fn show_connections(&self, lacks_connection: bool) {
        if lacks_connection {
            let text = problem::too_few_connections();
            tracing::warn!(mirror = self.options.name, "{text}");
        }
        self.show_available();
    }

    /// Shows that the server is there, and what is wrong all the same.
    pub(super) fn show_available(&self) {
        let mut problems = Vec::new();
        if self.lacks_connection() {
            problems.push(problem::too_few_connections());
        }
        problems.push(self.unreadable.text());
        problems.retain(|text| !text.is_empty());
        self.copy.show(true, &problems.join("; "));
    }

    pub(super) fn client_options(&self) -> ClientOptions {
        ClientOptions {
            timeout: TIMEOUT,
            ..self.client.clone()
        }
    }

    pub(super) fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    pub(super) fn sleep(&self, time: Duration) {
        let end = after(Instant::now(), time);
        while Instant::now() < end && !self.is_stopped() {
            std::thread::sleep(LOOK.min(time));
        }
    }
}
