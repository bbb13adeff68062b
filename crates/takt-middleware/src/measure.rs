//! Measurement of one peer in one round.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crate::environment::Environment;
use crate::own::Mode;
use crate::protocol::SessionError;
use crate::row::{CaseResult, RoundResult, Subject};
use crate::session::Session;
use crate::statistics::Random;
use crate::table::PeerTable;
use crate::usage::MachineTime;

/// Share of a processor that others may use before a round counts as disturbed.
const LOAD: f64 = 0.2;

/// Size of a round.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RoundPlan<'a> {
    pub(crate) number: u32,
    /// Payloads in bytes.
    pub(crate) sizes: &'a [u32],
    /// Requests of each case.
    pub(crate) count: u32,
    pub(crate) seed: u64,
}

/// Measures all cases of a peer in a random order, with its processes started anew.
pub(crate) fn round(
    environment: &Environment,
    table: &PeerTable,
    subject: &Subject,
    plan: RoundPlan<'_>,
    interrupted: &AtomicBool,
) -> Result<RoundResult, SessionError> {
    let (count, seed) = (plan.count, plan.seed);
    let peer = table.peers.get(subject.place);
    let peer = peer.ok_or_else(|| SessionError::failed("the row is gone"))?;
    let mut session = Session::start(
        environment,
        table,
        peer,
        (&subject.options, seed),
        interrupted,
    )?;
    let of_mode = |mode: &Mode| {
        plan.sizes
            .iter()
            .map(|size| (*mode, *size))
            .collect::<Vec<_>>()
    };
    let mut cases: Vec<(Mode, u32)> = Mode::ALL.iter().flat_map(of_mode).collect();
    let mut random = Random::new(seed);
    random.shuffle(&mut cases);
    let (before, machine, begin) = (session.usage(), MachineTime::read(), Instant::now());
    // Requests that are not counted: memory, caches and connections are ready after them.
    let warm = (count / 10).clamp(10, 100);
    let mut measured = Vec::new();
    for case in cases {
        if interrupted.load(Ordering::Relaxed) {
            return Err(SessionError::Interrupted);
        }
        session.run(case, warm, 0, seed, interrupted)?;
        let result = session.run(case, count, 0, random.next(), interrupted)?;
        let (mode, bytes) = case;
        measured.push(CaseResult {
            mode,
            bytes,
            nanos: result.samples.iter().flatten().copied().collect(),
            faults: [result.wrong, result.lost, result.late, result.duplicate],
        });
    }
    let elapsed = begin.elapsed().max(Duration::from_millis(1));
    let mut usage = session.usage();
    for (after, before) in usage.iter_mut().zip(before) {
        *after = after.since(before);
    }
    let own = session.time_here(&usage);
    Ok(RoundResult {
        label: subject.label.clone(),
        round: plan.number,
        info: session.info.clone(),
        usage,
        requests: u64::from(count + warm) * measured.len() as u64,
        is_loaded: MachineTime::read().others_since(machine, own, elapsed) > LOAD,
        cases: measured,
    })
}
