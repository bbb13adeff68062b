//! Measurement of one peer in one round.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crate::condition::{ConditionOptions, Requests};
use crate::environment::Environment;
use crate::load::Load;
use crate::protocol::SessionError;
use crate::random::Random;
use crate::row::{CaseResult, RoundResult, Subject};
use crate::session::Session;
use crate::table::PeerTable;
use crate::transfer;
use crate::usage::MachineTime;

/// Share of a processor that others may use before a round counts as disturbed.
const LOAD: f64 = 0.2;

/// Size of a round.
#[derive(Clone, Copy)]
pub(crate) struct RoundPlan<'a> {
    pub(crate) number: u32,
    /// Requests of all rounds under one condition.
    pub(crate) requests: &'a Requests,
    /// Requests of each case in this round.
    pub(crate) count: u32,
    pub(crate) seed: u64,
    pub(crate) options: &'a ConditionOptions,
    pub(crate) environment: &'a Environment,
}

/// Starts a peer with the scheduler of the plan.
pub(crate) fn start<'a>(
    table: &PeerTable,
    subject: &Subject,
    plan: RoundPlan<'a>,
    interrupted: &AtomicBool,
) -> Result<Session<'a>, SessionError> {
    let peer = table.peers.get(subject.place);
    let peer = peer.ok_or_else(|| SessionError::failed("the row is gone"))?;
    let scheduler = plan.options.scheduler;
    let scheduled = scheduler.enter().map_err(SessionError::failed)?;
    let arguments = (&subject.options[..], plan.seed);
    let session = Session::start(plan.environment, table, peer, arguments, interrupted)?;
    drop(scheduled);
    for side in session.sides().into_iter().flatten() {
        scheduler.verify(side)?;
    }
    Ok(session)
}

/// Measures all cases of a peer in a random order, with its processes started anew.
pub(crate) fn round(
    table: &PeerTable,
    subject: &Subject,
    plan: RoundPlan<'_>,
    interrupted: &AtomicBool,
) -> Result<RoundResult, SessionError> {
    let (count, seed) = (plan.count, plan.seed);
    // No peer uses a processor yet.
    let transfer_ns = transfer::between_processors();
    let mut session = start(table, subject, plan, interrupted)?;
    let condition = plan.requests.condition;
    let mut load = Load::start(condition, plan.options.load_rate, &session, interrupted)?;
    let mut cases = plan.requests.cases.clone();
    let mut random = Random::new(seed);
    random.shuffle(&mut cases);
    let (before, machine, begin) = (session.usage(), MachineTime::read(), Instant::now());
    let (load_before, received_before) = (load.cpu_ms(), load.received());
    // Requests that are not counted: memory, caches and connections are ready after them.
    let warm = (count / 10).clamp(10, 100);
    let wait_ms = u64::from(plan.requests.wait_ms);
    let mut measured = Vec::new();
    for case in cases {
        if interrupted.load(Ordering::Relaxed) {
            return Err(SessionError::Interrupted);
        }
        session.run(case, warm, 0, seed, interrupted)?;
        let result = session.run(case, count, wait_ms, random.next(), interrupted)?;
        let (mode, bytes) = case;
        measured.push(CaseResult {
            mode,
            bytes,
            nanos: result.samples.iter().flatten().copied().collect(),
            faults: result.faults(),
        });
    }
    let elapsed = begin.elapsed().max(Duration::from_millis(1));
    let (machine_after, load_after) = (MachineTime::read(), load.cpu_ms());
    let received = received_before
        .zip(load.received())
        .map(|(before, after)| after.saturating_sub(before) as f64 * 8e-6 / elapsed.as_secs_f64());
    let mut usage = session.usage();
    for (after, before) in usage.iter_mut().zip(before) {
        *after = after.since(before);
    }
    let own = session.time_here(&usage) + (load_after - load_before).max(0.0);
    Ok(RoundResult {
        label: subject.label.clone(),
        round: plan.number,
        condition,
        info: session.info.clone(),
        usage,
        requests: u64::from(count + warm) * measured.len() as u64,
        is_loaded: machine_after.others_since(machine, own, elapsed) > LOAD,
        processors: machine_after.used_since(machine, elapsed),
        received_mbits: received,
        transfer_ns,
        cases: measured,
    })
}
