//! File with the Conditions that clients still have to see, for the next run of the registry.
//!
//! Without it, a Condition that ends while the registry is not running would stay active for clients and in the history: its server does
//! not report it any more, and the registry would not know that it ever did. A kill loses the changes of the last moment.

use std::error::Error;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use takt_app::write_private_file;
use takt_space::{AddressSpace, Event};
use takt_ua::binary::{Decoder, Encode};
use takt_ua::{ByteString, NodeId, UaString};

/// Beginning of the file.
const MARK: &str = "takt conditions 1";

/// Shortest time between two looks at the Conditions.
const PAUSE: Duration = Duration::from_millis(500);

/// Largest size of an Event in the file, in bytes.
const MAX_EVENT: usize = 64 << 10;

/// Largest size of the file in bytes.
const MAX_FILE: usize = 64 << 20;

/// The Object of a server, and the last Event of one of its Conditions.
pub(super) type KeptCondition = (NodeId, Arc<Event>);

/// The file.
pub(crate) struct KeptConditions {
    path: PathBuf,
    written: Vec<KeptCondition>,
    looked: Option<Instant>,
    has_failed: bool,
}

impl KeptConditions {
    /// Takes the file beside a database.
    pub(crate) fn new(database: &Path) -> Self {
        Self {
            path: database.with_extension("conditions"),
            written: Vec::new(),
            looked: None,
            has_failed: false,
        }
    }

    /// Returns the Conditions of the last run. Those whose namespace is another one now are left out.
    pub(super) fn last_run(&mut self, space: &AddressSpace) -> Vec<KeptCondition> {
        let read = match fs::read(&self.path) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Vec::new(),
            read => read.map_err(Box::<dyn Error>::from),
        };
        match read.and_then(|bytes| decoded(&bytes, &|index| space.namespaces().uri(index))) {
            Ok(conditions) => self.written = conditions,
            Err(error) => {
                let path = self.path.display();
                tracing::warn!(%error, "{path}: ends of alarms may be missing");
            }
        }
        self.written.clone()
    }

    /// Returns true if it is time to look at the Conditions.
    pub(super) fn is_due(&mut self, now: Instant) -> bool {
        let is_due = |at: Instant| now.saturating_duration_since(at) >= PAUSE;
        let is_due = self.looked.is_none_or(is_due);
        if is_due {
            self.looked = Some(now);
        }
        is_due
    }

    /// Writes the Conditions if they are others than those of the file. A file without any is removed.
    pub(super) fn save(&mut self, conditions: Vec<KeptCondition>, space: &AddressSpace) {
        let is_same =
            |(one, other): (&KeptCondition, &KeptCondition)| Arc::ptr_eq(&one.1, &other.1);
        let (new, old) = (conditions.iter(), self.written.iter());
        if new.len() == old.len() && new.zip(old).all(is_same) {
            return;
        }
        let saved = match conditions.is_empty() {
            true => fs::remove_file(&self.path),
            false => {
                let bytes = encoded(&conditions, &|index| space.namespaces().uri(index));
                write_private_file(&self.path, &bytes)
            }
        };
        match saved {
            Err(error) if error.kind() != ErrorKind::NotFound => {
                if !self.has_failed {
                    let path = self.path.display();
                    tracing::warn!(%error, "{path}: alarms are not kept for the next run");
                }
                self.has_failed = true;
            }
            _ => self.has_failed = false,
        }
        // What could not be written is not tried again until it is another one.
        self.written = conditions;
    }
}

/// Returns the URI of a namespace.
type Uris<'a> = &'a dyn Fn(u16) -> Option<Arc<str>>;

fn encoded(conditions: &[KeptCondition], uris: Uris<'_>) -> Vec<u8> {
    let mut bytes = UaString::from(MARK).encode_to_vec();
    for (object, event) in conditions {
        let uri = uris(event.condition().namespace);
        let (Some(uri), Some(record)) = (uri, event.to_record(MAX_EVENT)) else {
            continue;
        };
        if bytes.len() + record.len() > MAX_FILE {
            break;
        }
        bytes.extend(object.encode_to_vec());
        bytes.extend(UaString::from(&*uri).encode_to_vec());
        bytes.extend(ByteString::from(record).encode_to_vec());
    }
    bytes
}

fn decoded(bytes: &[u8], uris: Uris<'_>) -> Result<Vec<KeptCondition>, Box<dyn Error>> {
    let mut decoder = Decoder::new(bytes);
    if decoder.string()? != Some(MARK) {
        return Err("it is no file of Conditions of this version".into());
    }
    let mut conditions = Vec::new();
    while decoder.remaining() > 0 {
        let (object, uri): (NodeId, UaString) = (decoder.value()?, decoder.value()?);
        let record: ByteString = decoder.value()?;
        let event = Event::of_record(record.as_bytes())?;
        if uris(event.condition().namespace).is_some_and(|now| *now == *uri.as_str()) {
            conditions.push((object, Arc::new(event)));
        }
    }
    Ok(conditions)
}

#[cfg(test)]
mod tests {
    use takt_ua::ids;

    use super::*;

    fn uri(index: u16) -> Option<Arc<str>> {
        (index < 9).then(|| format!("urn:{index}").into())
    }

    fn conditions() -> Vec<KeptCondition> {
        let condition = |namespace: u16| {
            let event = Event::new(ids::ALARM_CONDITION_TYPE, NodeId::string(namespace, "Oven"))
                .of_condition(NodeId::string(namespace, "Oven/Hot"))
                .field("Retain", true);
            (NodeId::numeric(namespace, 1), Arc::new(event))
        };
        vec![condition(3), condition(4)]
    }

    #[test]
    fn conditions_are_those_of_the_last_run() {
        let bytes = encoded(&conditions(), &uri);
        assert_eq!(decoded(&bytes, &uri).unwrap(), conditions());
        // An index that stands for another namespace now.
        let moved = |index: u16| match index {
            3 => Some("urn:other".into()),
            index => uri(index),
        };
        assert_eq!(decoded(&bytes, &moved).unwrap(), conditions()[1..]);
        // One without a namespace is not kept.
        assert!(
            decoded(&encoded(&conditions(), &|_| None), &uri)
                .unwrap()
                .is_empty()
        );
    }

    #[test]
    fn a_broken_file_is_refused() {
        let bytes = encoded(&conditions(), &uri);
        let whole = |length: usize| decoded(&bytes[..length], &uri).ok().map(|it| it.len());
        for length in 0..bytes.len() {
            // A file that ends between two Conditions has the first ones.
            assert!(whole(length).is_none_or(|count| count < 2), "{length}");
        }
        assert!(decoded(b"something else", &uri).is_err());
    }
}
