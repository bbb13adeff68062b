//! Probes of Subscribers for metadata.

use std::time::{Duration, Instant};

use takt_wire::{DiscoveryProbe, PublisherId, WireEncodeError};

use super::probe_message;
use super::schedule::RandomDelay;

/// Time that a Subscriber waits for the first answer.
const FIRST_PATIENCE: Duration = Duration::from_millis(500);

/// Longest time between two probes for the same metadata.
const LONGEST_PATIENCE: Duration = Duration::from_secs(60);

/// Sender of probes for missing metadata, as in OPC 10000-14, 7.2.4.6.12.2. The first probe is sent after a random time of 100 ms
/// to 500 ms, and not at all if the answer to another Subscriber has come by then. It is sent again after 500 ms, and then after
/// twice the time before, up to a minute.
#[derive(Debug)]
pub struct Prober {
    questions: Vec<Question>,
    delay: RandomDelay,
}

#[derive(Debug)]
struct Question {
    publisher_id: PublisherId,
    data_set_writer_id: u16,
    due: Instant,
    patience: Duration,
}

impl Prober {
    /// Creates a prober. `seed` makes the delays random.
    pub fn new(seed: u64) -> Self {
        Self {
            questions: Vec::new(),
            delay: RandomDelay::new(seed),
        }
    }

    /// Creates a prober with a seed of the operating system. Without such a seed it still works if there is only one Subscriber.
    #[cfg(feature = "runtime")]
    pub(crate) fn with_random_delays() -> Self {
        Self::new(getrandom::u64().unwrap_or_default())
    }

    /// Sets all that is missing: see [`Subscriber::missing_meta_data`](crate::subscriber::Subscriber::missing_meta_data).
    pub fn set_missing(&mut self, now: Instant, missing: &[(PublisherId, Vec<u16>)]) {
        let is_missing = |question: &Question| {
            missing.iter().any(|(publisher_id, ids)| {
                question.publisher_id == *publisher_id && ids.contains(&question.data_set_writer_id)
            })
        };
        // An answer to another Subscriber may have come meanwhile.
        self.questions.retain(is_missing);
        for (publisher_id, ids) in missing {
            for id in ids {
                let mut questions = self.questions.iter();
                let is_known = questions.any(|question| {
                    question.publisher_id == *publisher_id && question.data_set_writer_id == *id
                });
                // A question that waits already keeps its time and its patience: this is called every few milliseconds.
                if !is_known {
                    self.questions.push(Question {
                        publisher_id: publisher_id.clone(),
                        data_set_writer_id: *id,
                        due: self.delay.after(now),
                        patience: FIRST_PATIENCE,
                    });
                }
            }
        }
    }

    /// Returns the time at which [`handle_timeout`](Self::handle_timeout) is to be called.
    pub fn next_timeout(&self) -> Option<Instant> {
        self.questions.iter().map(|question| question.due).min()
    }

    /// Returns the probes that are to be sent now, one for each Publisher: it asks for all that is missing of one.
    ///
    /// # Errors
    /// A probe cannot be encoded.
    pub fn handle_timeout(&mut self, now: Instant) -> Result<Vec<Vec<u8>>, WireEncodeError> {
        let mut probes: Vec<(PublisherId, Vec<u16>)> = Vec::new();
        for question in self.questions.iter_mut().filter(|it| it.due <= now) {
            question.due = now + question.patience;
            question.patience = (question.patience * 2).min(LONGEST_PATIENCE);
            let id = question.data_set_writer_id;
            let same =
                |(publisher_id, _): &&mut (PublisherId, _)| *publisher_id == question.publisher_id;
            match probes.iter_mut().find(same) {
                Some((_, ids)) => ids.push(id),
                None => probes.push((question.publisher_id.clone(), vec![id])),
            }
        }
        let encode = |(publisher_id, data_set_writer_ids)| {
            let probe = DiscoveryProbe::DataSetMetaData {
                data_set_writer_ids,
            };
            probe_message(publisher_id, probe)
        };
        probes.into_iter().map(encode).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn probes_back_off_until_an_announcement() {
        let start = Instant::now();
        let mut prober = Prober::new(3);
        let missing = [
            (PublisherId::Byte(1), vec![5, 6]),
            (PublisherId::Byte(2), vec![5]),
        ];
        prober.set_missing(start, &missing);
        let first = prober.next_timeout().unwrap() - start;
        assert!(first >= Duration::from_millis(100) && first <= Duration::from_millis(500));
        assert!(prober.handle_timeout(start).unwrap().is_empty());
        // Both questions to the first Publisher are one probe.
        let late = start + Duration::from_secs(1);
        assert_eq!(prober.handle_timeout(late).unwrap().len(), 2);
        prober.set_missing(late, &missing[..1]);
        let mut now = late;
        let mut waits = Vec::new();
        for _ in 0..9 {
            let next = prober.next_timeout().unwrap();
            waits.push((next - now).as_millis());
            assert_eq!(prober.handle_timeout(next).unwrap().len(), 1);
            now = next;
        }
        let expected = [500, 1000, 2000, 4000, 8000, 16_000, 32_000, 60_000, 60_000];
        assert_eq!(waits, expected);
        prober.set_missing(now, &[]);
        assert_eq!(prober.next_timeout(), None);
    }
}
