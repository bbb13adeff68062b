//! Captures of a run, and the applications whose messages they have.

use std::path::PathBuf;

use takt_analysis::SenderSpan;

use super::error::CollectError;
use super::traces::{TracePair, apart};
use crate::run_id::RunId;
use crate::scenario_loop::LoopEnd;

/// Capture at a port of a run.
#[derive(Debug, Clone)]
pub(super) struct RunCapture {
    pub(super) path: PathBuf,
    /// True for the port of the loopback.
    pub(super) is_loopback: bool,
    /// True if the network card stamped the packets.
    pub(super) has_card_stamps: bool,
    /// Step of the times, in nanoseconds.
    pub(super) step_nanos: u64,
    pub(super) senders: Vec<SenderSpan>,
}

impl RunCapture {
    fn side(&self) -> LoopEnd {
        match self.is_loopback {
            true => LoopEnd::Loopback,
            false => LoopEnd::Publisher,
        }
    }

    fn of_sender(&self, publisher_id: u64) -> Option<&SenderSpan> {
        let id = publisher_id.to_string();
        let mut senders = self.senders.iter();
        senders.find(|it| it.publisher_id.as_deref() == Some(id.as_str()))
    }

    /// Fails if several senders have one PublisherId: their messages cannot be told apart, and the others are those of a stranger.
    fn check_strangers(&self, publisher_id: u64) -> Result<(), CollectError> {
        let id = publisher_id.to_string();
        let own = self.senders.iter();
        let own = own.filter(|it| it.publisher_id.as_deref() == Some(id.as_str()));
        let named = own.flat_map(|sender| {
            let sources = sender.sources.iter();
            let named = sources.map(|source| format!("{source} ({})", sender.name));
            let nameless = sender.sources.is_empty().then(|| sender.name.clone());
            named.chain(nameless).collect::<Vec<_>>()
        });
        let senders: Vec<String> = named.collect();
        match senders.len() {
            0 | 1 => Ok(()),
            _ => Err(CollectError::Strangers {
                path: self.path.clone(),
                publisher_id,
                senders,
            }),
        }
    }

    /// Returns true if the capture has messages of an application. They must be of its run, at its time.
    fn has(&self, pair: &TracePair) -> Result<bool, CollectError> {
        let (publisher_id, loopback_id) = pair.publisher.notes.publisher_ids;
        self.check_strangers(publisher_id)?;
        self.check_strangers(loopback_id)?;
        let Some(published) = self.of_sender(publisher_id) else {
            return Ok(self.of_sender(loopback_id).is_some());
        };
        let path = || self.path.clone();
        let runs = published.group_versions.iter().copied().map(RunId);
        match runs.collect::<Vec<_>>().as_slice() {
            // Publishers of other origin may leave the GroupVersion out.
            [] => {}
            [found] if *found == pair.run => {}
            [found] => {
                return Err(CollectError::OtherRun {
                    path: path(),
                    found: *found,
                    publisher: pair.publisher.path.clone(),
                    run: pair.run,
                });
            }
            several => {
                return Err(CollectError::SeveralRuns {
                    path: path(),
                    runs: several.to_vec(),
                });
            }
        }
        // The capture has the clock of its own host.
        let trace = match self.side() {
            LoopEnd::Publisher => &pair.publisher,
            LoopEnd::Loopback => &pair.loopback,
        };
        // The clock of the card has a beginning of its own.
        if let Some(span) = trace.span
            && !self.has_card_stamps
        {
            apart(&self.path, published.span, &trace.path, span)?;
        }
        Ok(true)
    }
}

/// Captures of an application: indexes among those of the run.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct PairCaptures {
    pub(super) publisher: Option<usize>,
    pub(super) loopback: Option<usize>,
}

/// Captures of a run, and those of each of its applications.
#[derive(Debug)]
pub(super) struct AssignedCaptures {
    pub(super) captures: Vec<RunCapture>,
    pub(super) of_pairs: Vec<PairCaptures>,
}

/// Finds the applications whose messages the captures have.
pub(super) fn assign(
    captures: Vec<RunCapture>,
    pairs: &[TracePair],
) -> Result<AssignedCaptures, CollectError> {
    let mut of_pairs = vec![PairCaptures::default(); pairs.len()];
    for (index, capture) in captures.iter().enumerate() {
        let mut is_used = false;
        for (pair, own) in pairs.iter().zip(&mut of_pairs) {
            if !capture.has(pair)? {
                continue;
            }
            is_used = true;
            let place = match capture.side() {
                LoopEnd::Publisher => &mut own.publisher,
                LoopEnd::Loopback => &mut own.loopback,
            };
            let earlier = place.replace(index).and_then(|it| captures.get(it));
            if let Some(earlier) = earlier {
                return Err(CollectError::SamePort {
                    side: capture.side().name(),
                    application: pair.publisher.notes.end.application.clone(),
                    first: earlier.path.clone(),
                    second: capture.path.clone(),
                });
            }
        }
        if !is_used {
            let ids = pairs.iter().map(|pair| {
                let (publisher, loopback) = pair.publisher.notes.publisher_ids;
                format!("{publisher} and {loopback}")
            });
            return Err(CollectError::ForeignCapture {
                path: capture.path.clone(),
                ids: ids.collect::<Vec<_>>().join(", "),
            });
        }
    }
    check_stamps(&captures)?;
    Ok(AssignedCaptures { captures, of_pairs })
}

/// Refuses captures at the ports of Publishers of which some have stamps of the network card and others do not: the record of the case
/// has one kind of stamp for the sent frames of all applications.
fn check_stamps(captures: &[RunCapture]) -> Result<(), CollectError> {
    let find = |has_card_stamps: bool| {
        let mut of_publishers = captures.iter().filter(|it| !it.is_loopback);
        of_publishers.find(|it| it.has_card_stamps == has_card_stamps)
    };
    match (find(true), find(false)) {
        (Some(card), Some(other)) => Err(CollectError::MixedStamps {
            card: card.path.clone(),
            other: other.path.clone(),
        }),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn captures_of_publishers_have_one_kind_of_stamp() {
        let capture = |name: &str, is_loopback, has_card_stamps| RunCapture {
            path: name.into(),
            is_loopback,
            has_card_stamps,
            step_nanos: 1,
            senders: Vec::new(),
        };
        let kernel = capture("a", false, false);
        let card = capture("b", false, true);
        let of_loopback = capture("c", true, true);
        let mixed = [kernel.clone(), of_loopback.clone(), card.clone()];
        assert_eq!(
            check_stamps(&mixed).unwrap_err().to_string(),
            "the network card stamped b, but not a: both were made at the port of a publisher"
        );
        check_stamps(&[card.clone(), card, of_loopback.clone()]).unwrap();
        check_stamps(&[kernel.clone(), kernel, of_loopback]).unwrap();
    }
}
