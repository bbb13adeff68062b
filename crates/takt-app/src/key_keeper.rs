//! Keys of SecurityGroups, asked for in time.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use takt_pubsub::runtime::PubSub;
use takt_pubsub::security::KeyRing;

use crate::ClientError;
use crate::client::Client;

/// How many keys are asked for: the current one, and enough to outlive a service that is away for a while.
const KEYS: u32 = 4;

/// How long to wait after a service did not give the first keys.
const RETRY: Duration = Duration::from_secs(1);

/// Asks a SecurityKeyService for the keys that a PubSub needs, again and again before they run out
/// (OPC 10000-14, 5.4.5.3).
pub struct KeyKeeper {
    client: Client,
    rings: HashMap<String, Tended>,
}

#[derive(Default)]
struct Tended {
    ring: KeyRing,
    /// After a failure: not before this.
    not_before: Option<Instant>,
}

impl KeyKeeper {
    /// Asks this service, over `opc.iox2`.
    pub fn new(client: Client) -> Self {
        Self {
            client,
            rings: HashMap::new(),
        }
    }

    /// Asks for keys where it is time to. To be called every second or so.
    ///
    /// # Errors
    /// The service did not answer, or does not give the keys; it is asked again. What runs goes on with the keys it
    /// has.
    pub fn tend(&mut self, running: &PubSub, now: Instant) -> Result<(), ClientError> {
        let mut outcome = Ok(());
        for id in running.security_group_ids() {
            let tended = self.rings.entry(id.clone()).or_default();
            let due = tended.ring.request_at().is_none_or(|at| at <= now)
                && tended.not_before.is_none_or(|at| at <= now);
            if !due {
                continue;
            }
            match ask(&mut self.client, &id, &mut tended.ring, now) {
                Ok(()) => {
                    tended.not_before = None;
                    running.set_keys(&id, &tended.ring);
                }
                Err(error) => {
                    tended.ring.request_failed(now);
                    tended.not_before = Some(now + RETRY);
                    outcome = Err(error);
                }
            }
        }
        outcome
    }
}

fn ask(client: &mut Client, id: &str, ring: &mut KeyRing, now: Instant) -> Result<(), ClientError> {
    let update = client.get_security_keys(id, KEYS)?;
    let failed = |reason: String| ClientError::Protocol {
        endpoint: format!("SecurityGroup {id}"),
        reason,
    };
    ring.update(&update, now)
        .map_err(|error| failed(error.to_string()))
}
