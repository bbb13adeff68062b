//! Times of the frames of one simulation at each port. The search derives its next try from them.

use std::collections::BTreeMap;

use takt_scenario::{Flow, FlowSource, PortIndex};

use crate::Time;
use crate::observer::{Message, Observer, Passage};

/// Passages of all frames, in the order in which their transmissions began.
#[derive(Debug, Default)]
pub(crate) struct Trace {
    passages: Vec<Passage>,
}

impl Observer for Trace {
    fn message(&mut self, _: &Message) {}

    fn passage(&mut self, passage: &Passage) {
        self.passages.push(*passage);
    }
}

impl Trace {
    /// Returns the passages of the message that took the longest time on these flows together: one way, or the ways there and
    /// back.
    pub(crate) fn latest(&self, flows: &[FlowSource]) -> Vec<Passage> {
        self.latest_of(|passage| flows.contains(&passage.source))
    }

    /// Returns the passages of the message that took the longest time on the path of a flow, also at ports that it shares.
    pub(crate) fn latest_on(&self, flow: &Flow) -> Vec<Passage> {
        if flow.fork.is_none() {
            return self.latest(&[flow.source]);
        }
        // Of the flows of an application with several subscribers, one has each port as its own.
        let application = flow.source.application();
        self.latest_of(|passage| {
            passage.source.application() == application && flow.ports.contains(&passage.port)
        })
    }

    fn latest_of(&self, is_own: impl Fn(&Passage) -> bool) -> Vec<Passage> {
        let own = |passage: &&Passage| is_own(passage);
        let mut spans: BTreeMap<u64, (Time, Time)> = BTreeMap::new();
        for passage in self.passages.iter().filter(own) {
            let begin = (passage.queued, passage.arrived);
            // Passages are in the order of time, so the last one of a message has its end.
            spans.entry(passage.counter).or_insert(begin).1 = passage.arrived;
        }
        let delay = |(queued, arrived): &(Time, Time)| *arrived - *queued;
        let latest = spans.iter().max_by_key(|(_, span)| delay(span));
        let Some((counter, _)) = latest else {
            return Vec::new();
        };
        let passages = self.passages.iter().filter(own);
        passages
            .filter(|passage| passage.counter == *counter)
            .copied()
            .collect()
    }

    /// Returns the passages through a port.
    pub(crate) fn at(&self, port: PortIndex) -> impl Iterator<Item = &Passage> + Clone {
        let passages = self.passages.iter();
        passages.filter(move |passage| passage.port == port)
    }
}

#[cfg(test)]
mod tests {
    use takt_scenario::ApplicationIndex;

    use super::*;

    #[test]
    fn the_latest_message_is_that_of_both_ways() {
        let mut trace = Trace::default();
        let (there, back) = (
            FlowSource::Publish(ApplicationIndex(0)),
            FlowSource::Return(ApplicationIndex(0)),
        );
        let other = FlowSource::Publish(ApplicationIndex(1));
        for (source, counter, port, queued, arrived) in [
            (there, 0, 0, 0, 50),
            (there, 1, 0, 100, 110),
            (back, 0, 1, 60, 70),
            (other, 0, 0, 0, 500),
            (back, 1, 1, 150, 190),
        ] {
            trace.passage(&Passage {
                source,
                counter,
                port: PortIndex(port),
                queued: Time::picoseconds(queued),
                arrived: Time::picoseconds(arrived),
            });
        }
        let counters = |flows: &[FlowSource]| -> Vec<u64> {
            let latest = trace.latest(flows);
            latest.iter().map(|passage| passage.counter).collect()
        };
        assert_eq!(counters(&[there]), [0]);
        assert_eq!(counters(&[there, back]), [1, 1]);
        assert!(counters(&[]).is_empty());
        assert_eq!(trace.at(PortIndex(0)).count(), 3);
    }
}
