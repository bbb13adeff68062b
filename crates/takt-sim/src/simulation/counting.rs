//! Statistics from notes.

use takt_scenario::FlowSource;

use super::Simulation;
use crate::frames::Frame;
use crate::notes::Arrival;

impl Simulation {
    /// Notes an arrived frame.
    pub(super) fn note(&mut self, place: u32, frame: &Frame) {
        let arrival = Arrival {
            counter: frame.counter,
            handed_over: frame.handed_over,
            published: frame.published,
            departed: frame.departed,
            first_bit: frame.first_bit,
            began: frame.began,
            arrived: self.now,
        };
        let first = self.ways[frame.flow()].first as usize;
        let hops = self.frames.hops(place);
        if self.notes.note(frame.flow(), first, arrival, hops) {
            self.count(frame.flow());
        }
    }

    /// Counts the noted arrivals of a flow.
    fn count(&mut self, flow: usize) {
        let way = &self.ways[flow];
        let (arrivals, hops) = self.notes.take(flow, way.first as usize, way.hops.into());
        let statistics = &mut self.flow_statistics[flow];
        statistics.pass(hops);
        for arrival in arrivals {
            statistics.arrive(arrival.arrived, arrival.arrived - arrival.departed);
            if !matches!(way.source, FlowSource::Cross(_)) {
                let from_first_bit = arrival.arrived - arrival.began;
                statistics.one_way_from_first_bit.record(from_first_bit);
            }
        }
        match way.source {
            FlowSource::Publish(id) if self.loopbacks[id.0].is_none() => {
                let statistics = &mut self.application_statistics[id.0];
                for arrival in arrivals {
                    let _ = statistics.receive(arrival.counter);
                }
            }
            FlowSource::Return(id) => {
                let statistics = &mut self.application_statistics[id.0];
                for arrival in arrivals {
                    // A message that the loopback sent again has no round trip of its own.
                    if statistics.receive(arrival.counter) {
                        let round_trip = arrival.arrived - arrival.published;
                        statistics.round_trip.record(round_trip);
                        let from_first_bit = arrival.arrived - arrival.first_bit;
                        statistics.round_trip_from_first_bit.record(from_first_bit);
                        if let Some(loopback) = &mut self.loopbacks[id.0] {
                            let taken = loopback.subscriber.take(arrival.arrived) + loopback.verify;
                            let round_trip = taken - arrival.handed_over;
                            statistics.application_round_trip.record(round_trip);
                        }
                    }
                }
            }
            FlowSource::Branch(id, receiver) => {
                let further = &mut self.application_statistics[id.0].further;
                let counters = receiver.checked_sub(1).and_then(|it| further.get_mut(it));
                if let Some(counters) = counters {
                    for arrival in arrivals {
                        counters.receive(arrival.counter);
                    }
                }
            }
            FlowSource::Publish(_) | FlowSource::Cross(_) => {}
        }
    }

    /// Counts the ports that a frame has passed which will not arrive, also for the copies that bridges would have made behind.
    pub(super) fn count_hops(&mut self, place: u32) {
        let frame = *self.frames.get(place);
        if !frame.counted {
            return;
        }
        let copies = self.copies_behind(&frame);
        for flow in std::iter::once(frame.packet.flow).chain(copies) {
            self.flow_statistics[flow as usize].pass(self.frames.hops(place));
        }
    }

    /// Counts all notes.
    pub(super) fn count_all(&mut self) {
        for flow in 0..self.ways.len() {
            self.count(flow);
            // A message is sent once, to all of its subscribers.
            let sends = match self.ways[flow].source {
                FlowSource::Branch(id, _) => self.publishers[id.0].flow as usize,
                _ => flow,
            };
            self.flow_statistics[flow].sent = self.ways[sends].sent;
        }
        for place in self.frames.left() {
            self.count_hops(place);
        }
        let options = self.options.simulation;
        let end = options.cycles.saturating_sub(options.trim);
        let publishers = self.publishers.iter().zip(&mut self.application_statistics);
        for (publisher, statistics) in publishers {
            statistics.published = publisher.counter.min(end).saturating_sub(options.trim);
        }
    }
}
