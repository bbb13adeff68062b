//! System calls of the peers for each request, counted in requests of their own, whose times are not used.

use std::sync::atomic::AtomicBool;

use takt_rt::system_calls::{SystemCallCounter, SystemCallError};

use crate::error::MiddlewareError;
use crate::measure::{RoundPlan, start};
use crate::progress::ProgressFile;
use crate::protocol::SessionError;
use crate::row::{Calls, Subject};
use crate::steps::{StepKind, Steps};
use crate::table::PeerTable;
use crate::usage::members;

/// Requests of each case before the counted ones.
const WARM: u32 = 10;
/// Counted requests of each case.
const COUNTED: u32 = 100;

/// Returns the reason why the kernel does not count system calls for this user; `None` if it does.
pub(crate) fn forbidden() -> Option<SystemCallError> {
    SystemCallCounter::start(&[std::process::id()]).err()
}

/// Counts the system calls of all peers, if the kernel permits it.
pub(crate) fn calls(
    table: &PeerTable,
    subjects: &mut [Subject],
    plan: RoundPlan<'_>,
    (progress, steps): (&mut ProgressFile, &mut Steps),
    interrupted: &AtomicBool,
) -> Result<(), MiddlewareError> {
    let is_permitted = forbidden().is_none();
    for subject in subjects {
        let known = progress.calls.iter();
        let known = known.rev().find(|(label, _)| *label == subject.label);
        subject.calls = known.map(|(_, calls)| *calls);
        if !is_permitted || subject.missing.is_some() || subject.calls.is_some() {
            steps.skip(StepKind::Calls);
            continue;
        }
        steps.begin(StepKind::Calls, &subject.label);
        match count(table, subject, plan, interrupted) {
            Ok(calls) => {
                progress.add_calls(&subject.label, calls)?;
                subject.calls = Some(calls);
            }
            Err(SessionError::Interrupted) => return Err(MiddlewareError::Interrupted),
            Err(SessionError::Failed(reason)) => {
                subject.missing = Some(format!("system calls: {reason}"));
            }
        }
        steps.end(StepKind::Calls);
    }
    Ok(())
}

/// Counts the system calls of a peer over all cases of the plan.
fn count(
    table: &PeerTable,
    subject: &Subject,
    plan: RoundPlan<'_>,
    interrupted: &AtomicBool,
) -> Result<Calls, SessionError> {
    let mut session = start(table, subject, plan, interrupted)?;
    let cases = &plan.requests.cases;
    for case in cases {
        session.run(*case, WARM, 0, plan.seed, interrupted)?;
    }
    let [server, client, broker] = session.sides();
    let counter = |sides: &[Option<u32>]| {
        let processes: Vec<u32> = sides
            .iter()
            .flatten()
            .flat_map(|side| members(*side))
            .collect();
        SystemCallCounter::start(&processes).map_err(SessionError::failed)
    };
    let counters = [counter(&[client])?, counter(&[server, broker])?];
    for case in cases {
        session.run(*case, COUNTED, 0, plan.seed, interrupted)?;
    }
    let requests = f64::from(COUNTED) * cases.len().max(1) as f64;
    let [client, server] = counters.map(|it| it.count().map(|count| count as f64 / requests));
    Ok(Calls {
        client: client.map_err(SessionError::failed)?,
        server: server.map_err(SessionError::failed)?,
    })
}
