//! Order of the checks of passwords: guesses delay no right password for long, and take a bounded part of a processor.
//!
//! Logins wait in lanes, which take turns. A user who has logged in from an address before has a lane with this address; each
//! other known name has one, and all unknown names share one. So guesses wait behind guesses, whatever their names and addresses
//! are. A lane has a limited rate, also of quick checks: it is the rate of guesses. Within a lane, networks take turns.
//!
//! Costly checks take half of a processor at most. A refusal is sent a fixed time after its request, so that its time tells
//! neither whether the name is known nor whether the password was checked at all.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::net::IpAddr;
use std::time::{Duration, Instant};

use super::check::PasswordCheck;

/// Time between a login and its refusal. A login that was not checked until then is refused without a check.
pub(super) const REFUSAL: Duration = Duration::from_secs(1);

/// Shortest time between two checks of a lane, when its burst is used up.
const PAUSE: Duration = Duration::from_millis(33);

/// Number of checks of a lane that may come at once after a rest.
const BURST: u32 = 30;

/// Largest number of logins that wait in one lane: more would not be checked in time.
const MAX_IN_LANE: usize = 32;

/// Largest number of lanes, and of users with an address that has a lane.
const MAX_LANES: usize = 1024;

/// Largest number of refusals that wait for their time. Each has a Session.
const MAX_REFUSALS: usize = 4096;

/// Shortest time between two lines in the log about logins that were not checked.
const QUIET: Duration = Duration::from_secs(60);

/// Logins that wait for each other.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Lane {
    /// A user and a network from which this user has logged in.
    Proven(String, Option<IpAddr>),
    /// A known name.
    Name(String),
    /// All other names.
    Unknown,
}

struct Waiting {
    check: PasswordCheck,
    arrived: Instant,
}

struct State {
    waiting: VecDeque<Waiting>,
    /// Time up to which checks have been paid for.
    paid: Instant,
    /// Network of the last check.
    last: Option<Option<IpAddr>>,
}

impl State {
    /// Returns the time of the earliest next check.
    fn allowed_at(&self) -> Instant {
        // Soon after the start of the host, an Instant may not reach back that far.
        let burst = PAUSE * (BURST - 1);
        self.paid.checked_sub(burst).unwrap_or(self.paid)
    }

    /// Takes the first login of another network than the last one, or else the first one.
    fn take(&mut self) -> Option<Waiting> {
        let last = self.last;
        let mut waiting = self.waiting.iter();
        let other = waiting.position(|waiting| Some(waiting.check.network) != last);
        let taken = self.waiting.remove(other.unwrap_or(0))?;
        self.last = Some(taken.check.network);
        Some(taken)
    }

    /// Takes the last login of the network that has most of them.
    fn take_excess(&mut self) -> Option<Waiting> {
        let mut counts: HashMap<Option<IpAddr>, usize> = HashMap::new();
        for waiting in &self.waiting {
            *counts.entry(waiting.check.network).or_default() += 1;
        }
        let most = counts.into_iter().max_by_key(|(_, count)| *count)?.0;
        let at = self
            .waiting
            .iter()
            .rposition(|waiting| waiting.check.network == most)?;
        self.waiting.remove(at)
    }
}

/// A check that is to be made now.
pub(super) struct Next(Waiting);

/// A check that was made.
pub(super) struct Outcome {
    name: String,
    network: Option<IpAddr>,
    is_quick: bool,
    is_right: bool,
    arrived: Instant,
    end: Box<dyn FnOnce() + Send>,
}

impl Next {
    /// Makes the check.
    pub(super) fn run(self) -> Outcome {
        let Waiting { check, arrived } = self.0;
        Outcome {
            is_right: (check.run)(),
            name: check.name,
            network: check.network,
            is_quick: check.is_quick,
            arrived,
            end: check.end,
        }
    }
}

/// Logins that wait for their check, and refusals that wait for their time.
pub(super) struct Queue {
    lanes: BTreeMap<Lane, State>,
    /// Lanes with waiting logins; the next one first.
    turns: VecDeque<Lane>,
    /// Users with the networks from which they have logged in, and the times of their last logins.
    proven: HashMap<(String, Option<IpAddr>), Instant>,
    /// Time from which on a costly check may begin.
    free_at: Instant,
    /// Refusals by their arrival.
    refusals: VecDeque<(Instant, Box<dyn FnOnce() + Send>)>,
    logged: Option<Instant>,
}

impl Queue {
    pub(super) fn new(now: Instant) -> Self {
        Self {
            lanes: BTreeMap::new(),
            turns: VecDeque::new(),
            proven: HashMap::new(),
            free_at: now,
            refusals: VecDeque::new(),
            logged: None,
        }
    }

    /// Adds a login that has arrived at a time.
    pub(super) fn add(&mut self, check: PasswordCheck, arrived: Instant) {
        let pair = (check.name.clone(), check.network);
        let lane = match check.is_known {
            true if self.proven.contains_key(&pair) => Lane::Proven(pair.0, pair.1),
            true => Lane::Name(pair.0),
            false => Lane::Unknown,
        };
        if self.lanes.len() >= MAX_LANES && !self.lanes.contains_key(&lane) {
            self.lanes
                // A lane that has not rested stays: without its state, its guesses would get a new burst.
                .retain(|_, state| !state.waiting.is_empty() || state.paid > arrived);
        }
        let rested = State {
            waiting: VecDeque::new(),
            paid: arrived,
            last: None,
        };
        let state = self.lanes.entry(lane.clone()).or_insert(rested);
        if state.waiting.is_empty() {
            self.turns.push_back(lane);
        }
        state.waiting.push_back(Waiting { check, arrived });
        if state.waiting.len() > MAX_IN_LANE
            && let Some(excess) = state.take_excess()
        {
            self.refuse_unchecked(excess);
        }
    }

    /// Returns the next check, if one may begin now.
    pub(super) fn next(&mut self, now: Instant) -> Option<Next> {
        for _ in 0..self.turns.len() {
            let lane = self.turns.pop_front()?;
            let Some(state) = self.lanes.get_mut(&lane) else {
                continue;
            };
            let is_quick = state.waiting.front().is_some_and(|one| one.check.is_quick);
            let may = now >= state.allowed_at() && (is_quick || now >= self.free_at);
            let next = if may { state.take() } else { None };
            if next.is_some() {
                // The time of a rest is not saved: a lane has one burst at most.
                state.paid = state.paid.max(now) + PAUSE;
            }
            if !state.waiting.is_empty() {
                self.turns.push_back(lane);
            }
            if let Some(next) = next {
                return Some(Next(next));
            }
        }
        None
    }

    /// Notes a check that has taken some time.
    pub(super) fn done(&mut self, outcome: Outcome, took: Duration, now: Instant) {
        if !outcome.is_quick {
            // The pause is as long as the check, so checks take half of a processor at most.
            self.free_at = now + took;
        }
        if !outcome.is_right {
            return self.refuse(outcome.arrived, outcome.end);
        }
        if self.proven.len() >= MAX_LANES {
            let oldest = self.proven.iter().min_by_key(|(_, at)| **at);
            if let Some(oldest) = oldest.map(|(pair, _)| pair.clone()) {
                self.proven.remove(&oldest);
            }
        }
        self.proven.insert((outcome.name, outcome.network), now);
        (outcome.end)();
    }

    fn refuse(&mut self, arrived: Instant, end: Box<dyn FnOnce() + Send>) {
        // Checks do not end in the order in which their logins have arrived.
        let after = self
            .refusals
            .partition_point(|(other, _)| *other <= arrived);
        self.refusals.insert(after, (arrived, end));
    }

    fn refuse_unchecked(&mut self, waiting: Waiting) {
        let arrived = waiting.arrived;
        if self
            .logged
            .is_none_or(|logged| arrived.saturating_duration_since(logged) > QUIET)
        {
            tracing::warn!("too many passwords are tried: some are refused without a check");
            self.logged = Some(arrived);
        }
        self.refuse(arrived, waiting.check.end);
    }

    /// Takes the refusals whose time has come.
    pub(super) fn take_due(&mut self, now: Instant) -> Vec<Box<dyn FnOnce() + Send>> {
        let is_due = |arrived: Instant| now >= arrived + REFUSAL;
        let mut late = Vec::new();
        for state in self.lanes.values_mut() {
            while state.waiting.front().is_some_and(|one| is_due(one.arrived)) {
                late.extend(state.waiting.pop_front());
            }
        }
        for waiting in late {
            self.refuse_unchecked(waiting);
        }
        let due = self
            .refusals
            .partition_point(|(arrived, _)| is_due(*arrived));
        // Too early is better than an unlimited number of Sessions that wait for a refusal.
        let excess = self.refusals.len().saturating_sub(MAX_REFUSALS);
        self.refusals
            .drain(..due.max(excess))
            .map(|(_, end)| end)
            .collect()
    }

    /// Returns the time at which there may be something to do; `None` if nothing waits.
    pub(super) fn wake(&self) -> Option<Instant> {
        let refusal = self.refusals.front().map(|(arrived, _)| *arrived + REFUSAL);
        let lanes = self.lanes.values().filter_map(|state| {
            let first = state.waiting.front()?;
            let may = match first.check.is_quick {
                true => state.allowed_at(),
                false => state.allowed_at().max(self.free_at),
            };
            Some(may.min(first.arrived + REFUSAL))
        });
        lanes.chain(refusal).min()
    }
}

#[cfg(test)]
mod tests;
