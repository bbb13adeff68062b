//! User's part of the papers' applications.

use std::ops::ControlFlow;

use takt_analysis::CounterStatistics;
use takt_control::{
    ControlApplication, ControlCycle, ReceivedMessage, SentMessage, Trace, TracePoint,
};

use crate::payload::CounterPayload;
use crate::run_id::RunId;
use crate::scenario_loop::LoopEnd;
use crate::torn_data::TornData;

/// Publisher, which counts in each cycle, or loopback, which sends the last received counter back; or Subscriber, which does not.
///
/// All fields of each message are compared. Torn data ends the loop. A message with another number of fields is of another
/// sender: it is counted, and not sent back.
#[derive(Debug)]
pub struct ScenarioApplication {
    end: LoopEnd,
    /// False for a Subscriber: it takes messages as a loopback does, and sends nothing back.
    sends: bool,
    input: CounterPayload,
    output: CounterPayload,
    counter: u64,
    /// Last counter that was received.
    last: u64,
    /// Cycles in which the last two messages were made, and their counters.
    made: [(u64, u64); 2],
    /// Trace points of this end: T1 and T8, or T4 and T5.
    pub trace: Trace,
    /// Received counters.
    pub counters: CounterStatistics,
    /// Torn data that ended the loop.
    pub torn: Option<TornData>,
    /// Number of messages with another number of fields than those of the application.
    pub other_fields: u64,
    /// Number of fields of the last one of them.
    pub last_other_fields: usize,
    /// Number of cycles that were skipped.
    pub skipped: u64,
    /// Ids of the runs of the other end, from its messages, in the order in which they came first.
    pub peer_runs: Vec<RunId>,
}

/// Number of runs of the other end that are told apart.
const MOST_RUNS: usize = 8;

impl ScenarioApplication {
    /// Creates the application of an end, with its cells and room for trace records.
    #[must_use]
    pub fn new(end: LoopEnd, input: CounterPayload, output: CounterPayload, trace: Trace) -> Self {
        Self {
            end,
            sends: true,
            input,
            output,
            counter: 0,
            last: 0,
            // No cycle has this number.
            made: [(u64::MAX, 0); 2],
            trace,
            counters: CounterStatistics::default(),
            torn: None,
            other_fields: 0,
            last_other_fields: 0,
            skipped: 0,
            // Room for all of them, because the real-time thread must not allocate.
            peer_runs: Vec::with_capacity(MOST_RUNS),
        }
    }

    /// Makes a Subscriber of a loopback: it sends nothing back.
    #[must_use]
    pub fn one_way(self) -> Self {
        Self {
            sends: false,
            ..self
        }
    }

    /// Notes the run of a message.
    fn note_run(&mut self, run: RunId) {
        let runs = &mut self.peer_runs;
        if runs.last() != Some(&run) && runs.len() < MOST_RUNS && !runs.contains(&run) {
            runs.push(run);
        }
    }
}

impl ControlApplication for ScenarioApplication {
    fn received(&mut self, message: &ReceivedMessage<'_>) {
        let fields = message.data_set.len();
        if fields != self.input.cells().len() {
            self.other_fields += 1;
            self.last_other_fields = fields;
            return;
        }
        let (counter, different) = self.input.get();
        self.last = counter;
        if let Some((field, value)) = different {
            self.torn.get_or_insert_with(|| TornData {
                counter,
                field,
                value,
                values: self.input.values(),
            });
        }
        self.counters.note(counter);
        if let Some(version) = message.data_set.group_version {
            self.note_run(RunId(version));
        }
        let point = match self.end {
            LoopEnd::Publisher => TracePoint::T8,
            LoopEnd::Loopback => TracePoint::T4,
        };
        self.trace.add(point, counter, message.taken_nanos);
    }

    fn update(&mut self, cycle: &ControlCycle) -> ControlFlow<()> {
        self.skipped += cycle.skipped;
        self.counter = match self.end {
            LoopEnd::Publisher => self.counter.wrapping_add(1),
            LoopEnd::Loopback => self.last,
        };
        self.made = [self.made[1], (cycle.number, self.counter)];
        self.output.set(self.counter);
        match self.torn {
            Some(_) => ControlFlow::Break(()),
            None => ControlFlow::Continue(()),
        }
    }

    fn publishes(&self) -> bool {
        // A loopback has nothing to send back before its first message.
        self.end == LoopEnd::Publisher || (self.sends && self.counter > 0)
    }

    fn sent(&mut self, message: &SentMessage) {
        if message.messages == 0 {
            // It never left: the counters of the loop have it, and in a trace it would be lost on the wire.
            return;
        }
        let point = match self.end {
            LoopEnd::Publisher => TracePoint::T1,
            LoopEnd::Loopback => TracePoint::T5,
        };
        // With an offset behind the user's phase, the function has already run for the next message.
        let mut made = self.made.iter();
        let made = made.find(|(cycle, _)| *cycle == message.cycle);
        let counter = made.map_or(self.counter, |(_, counter)| *counter);
        self.trace.add(point, counter, message.handed_over_nanos);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_that_leaves_after_the_next_update_keeps_its_counter() {
        let cells = || CounterPayload::new(1);
        let trace = Trace::with_capacity(2);
        let mut publisher = ScenarioApplication::new(LoopEnd::Publisher, cells(), cells(), trace);
        let cycle = |number| ControlCycle {
            number,
            start_nanos: 0,
            wake_up_latency_nanos: 0,
            skipped: 0,
            received: 0,
            missed: 0,
            deadline_missed: false,
        };
        let sent = |cycle| SentMessage {
            cycle,
            handed_over_nanos: 7,
            launch_nanos: None,
            messages: 1,
        };
        for number in [40, 41] {
            assert_eq!(publisher.update(&cycle(number)), ControlFlow::Continue(()));
        }
        publisher.sent(&sent(40));
        publisher.sent(&SentMessage {
            messages: 0,
            ..sent(41)
        });
        publisher.sent(&sent(41));
        let counters = publisher
            .trace
            .records()
            .iter()
            .map(|record| record.counter);
        assert_eq!(counters.collect::<Vec<_>>(), [1, 2]);
    }
}
