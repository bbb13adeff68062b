//! Keeper of the keys of SecurityGroups, which requests new keys in time.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use takt_pubsub::runtime::PubSub;
use takt_pubsub::security::KeyRing;

use crate::ClientError;
use crate::client::Client;

/// Number of requested keys: the current one, and enough others for a temporary absence of the service.
const KEYS: u32 = 4;

/// Pause after a service did not return the first keys.
const RETRY: Duration = Duration::from_secs(1);

/// Requests the keys of a PubSub from a SecurityKeyService, and new ones before they expire (OPC 10000-14, 5.4.5.3).
pub struct KeyKeeper {
    client: Client,
    rings: HashMap<String, Tended>,
}

#[derive(Default)]
struct Tended {
    ring: KeyRing,
    /// Earliest time of the next request after a failure.
    not_before: Option<Instant>,
}

impl KeyKeeper {
    /// Creates a keeper that asks this service, over `opc.iox2` or encrypted `opc.tcp`.
    pub fn new(client: Client) -> Self {
        Self {
            client,
            rings: HashMap::new(),
        }
    }

    /// Requests the keys that are due. Call it about once per second.
    ///
    /// # Errors
    /// An error if the service did not respond, or does not return the keys; it is asked again. The PubSub continues
    /// with its present keys.
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
    ring.update(&update, now)
        .map_err(|error| ClientError::protocol(format!("SecurityGroup {id}"), error))
}
