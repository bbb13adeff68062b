//! First reading of a file: which trace points and counters it has.

use takt_control::TraceRecord;

use crate::capture::CapturedMessage;

/// Counters and times of a trace point.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct PointSurvey {
    /// Number of records.
    pub(crate) count: u64,
    /// First counter.
    pub(crate) first: u64,
    /// Furthest counter.
    pub(crate) last: u64,
    /// Number of times that are before the time of the record before: the clock was set back.
    pub(crate) backward: u64,
    /// Earliest time of a record.
    pub(crate) begin: i64,
    /// Latest time of a record.
    pub(crate) end: i64,
    time: i64,
}

impl PointSurvey {
    pub(crate) fn note(&mut self, record: TraceRecord) {
        self.add(record.counter, record.nanos);
    }

    fn add(&mut self, counter: u64, nanos: i64) {
        if self.count == 0 {
            (self.first, self.last) = (counter, counter);
            (self.begin, self.end) = (nanos, nanos);
        } else {
            self.begin = self.begin.min(nanos);
            self.end = self.end.max(nanos);
            if is_after(counter, self.last) {
                self.last = counter;
            }
            self.backward += u64::from(nanos < self.time);
        }
        self.count += 1;
        self.time = nanos;
    }
}

/// Returns true if a counter, which may wrap around, comes after another one.
pub(crate) const fn is_after(counter: u64, other: u64) -> bool {
    counter.wrapping_sub(other).cast_signed() > 0
}

/// Messages of each sender of a capture.
#[derive(Debug, Default)]
pub(crate) struct SenderSurvey {
    pub(crate) senders: Vec<SurveyedSender>,
    furthest: Option<u64>,
}

/// Messages of a sender of a capture.
#[derive(Debug, Clone, Default)]
pub(crate) struct SurveyedSender {
    pub(crate) survey: PointSurvey,
    /// GroupVersions of its messages, in the order in which they came first.
    pub(crate) group_versions: Vec<u32>,
    /// Indexes of the hardware addresses from which they came, in the same order.
    pub(crate) sources: Vec<usize>,
    /// Number of counters that this sender had before all others.
    leads: u64,
}

/// Number of GroupVersions, and of hardware addresses, that are told apart.
const MOST_VERSIONS: usize = 8;

impl SenderSurvey {
    pub(crate) fn note(&mut self, message: CapturedMessage) {
        if self.senders.len() <= message.sender {
            let blank = SurveyedSender::default();
            self.senders.resize(message.sender + 1, blank);
        }
        let CapturedMessage { counter, nanos, .. } = message;
        if let Some(sender) = self.senders.get_mut(message.sender) {
            sender.survey.add(counter, nanos);
            let versions = &mut sender.group_versions;
            if let Some(version) = message.group_version
                && versions.len() < MOST_VERSIONS
                && !versions.contains(&version)
            {
                versions.push(version);
            }
            if let Some(source) = message.source
                && sender.sources.len() < MOST_VERSIONS
                && !sender.sources.contains(&source)
            {
                sender.sources.push(source);
            }
            if self.furthest.is_none_or(|it| is_after(counter, it)) {
                sender.leads += 1;
                self.furthest = Some(counter);
            }
        }
    }

    /// Returns the index of the sender that has most counters first: a loopback only has them after its Publisher.
    pub(crate) fn leader(&self) -> Option<usize> {
        let senders = self.senders.iter().enumerate();
        senders
            .max_by_key(|(_, sender)| sender.leads)
            .map(|(index, _)| index)
    }
}
