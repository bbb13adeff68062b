//! Checks that hold for each attack: the second clients are served, the server stays within its budgets, and returns to its previous
//! state.

use std::time::{Duration, Instant};

use takt_attack::{Attack, AttackObserver, Slices, Usage};
use takt_services::ServerBudgets;

use crate::attacked::{PATIENCE, RATE, Server};

/// Duration of an attack, from its first message on.
fn duration(attack: Attack) -> Duration {
    match attack {
        // A mirror connects again after pauses. Records that never expire come for a while.
        Attack::HostileMirror | Attack::Mdns => Duration::from_secs(10),
        _ => Duration::from_millis(2500),
    }
}

/// Time limit for a server to return to its previous state.
const RECOVERY: Duration = Duration::from_secs(10);

/// Memory in bytes that is not counted: memory kept by the allocator, and buffers of fixed size.
const SLACK: u64 = 8 << 20;

/// Length of the longest value over TCP in KiB. Its KiB count in one slice, once when it is checked and once when it is stored.
const VALUE: u64 = 16 << 10;

/// KiB of memory of the elements of one operation.
const ELEMENTS: u64 = 16 << 10;

/// Attacks `server` with counts divided by `divisor`, and checks everything that holds against every attack. Calls `meanwhile` during
/// the attack.
///
/// # Panics
/// If the server does not withstand the attack.
pub fn withstands(server: &Server, attack: Attack, divisor: u32, meanwhile: impl FnOnce()) {
    let target = server.target();
    let observe = |endpoint: &str, with_newcomers: bool| {
        AttackObserver::start(&target, endpoint, RATE, with_newcomers).unwrap()
    };
    let clients = [&target.opc_tcp, &target.opc_iox2].map(|endpoint| observe(endpoint, false));
    for client in &clients {
        assert!(client.catches_up(PATIENCE));
    }
    let before = Usage::of(server.id()).unwrap();
    Usage::reset_peak(server.id()).unwrap();

    let newcomers: Vec<AttackObserver> = match attack {
        // All places are used by clients of the same user.
        Attack::ShmClients => Vec::new(),
        _ => vec![
            observe(&target.opc_tcp, true),
            observe(&target.opc_iox2, true),
        ],
    };
    let under_way = attack
        .start(&crate::binary::attacker(), &target, divisor)
        .unwrap();
    std::thread::sleep(duration(attack));
    // A new client gets in during the attack, although many attackers wait for the same place.
    for newcomer in &newcomers {
        let _ = newcomer.take();
        eventually_served(attack, newcomer);
    }
    meanwhile();
    let tally = under_way.finish().unwrap();
    for client in clients.iter().chain(&newcomers) {
        assert!(
            client.catches_up(PATIENCE),
            "{}: a client hangs",
            attack.name()
        );
    }
    drop(newcomers);
    let peak = Usage::of(server.id()).unwrap().peak;
    let after = Usage::recovered(server.id(), &before, RECOVERY).unwrap();
    println!(
        "{}: {tally:?}, before {before:?}, peak {peak}, after {after:?}",
        attack.name()
    );

    let sent = tally.connections + tally.messages;
    assert!(
        sent > 0,
        "{}: there was no attack: {tally:?}",
        attack.name()
    );
    for client in &clients {
        let seen = client.take();
        assert_eq!(seen.failures, [""; 0], "{}: {tally:?}", attack.name());
        assert!(seen.latency.count() > 0, "{}", attack.name());
    }
    let budgets = ServerBudgets::default();
    let budget = match attack.is_without_session() {
        true => budgets.max_memory_without_session,
        false => budgets.max_memory,
    };
    let taken = peak.saturating_sub(before.resident);
    let most = u64::try_from(budget).unwrap() + SLACK;
    assert!(
        taken <= most,
        "{} took {taken} bytes of {most}",
        attack.name()
    );
    assert!(
        after.is_recovered(&before) || attack.leaves_memory(),
        "{}: {before:?}, then {after:?}",
        attack.name()
    );
    let slices = Slices::of(&mut server.client()).unwrap().unwrap();
    let limit = match attack {
        Attack::LargeValues => slices.limit + 2 * VALUE,
        // One operation with the largest number of elements, decoded once in a slice: each KiB of their memory is two units.
        Attack::Elements => slices.limit + 2 * ELEMENTS,
        _ => slices.limit,
    };
    assert!(slices.longest <= limit, "{}: {slices:?}", attack.name());
}

/// Waits until a new client has connected, read and disconnected.
fn eventually_served(attack: Attack, newcomer: &AttackObserver) {
    let deadline = Instant::now() + PATIENCE;
    loop {
        let seen = newcomer.take();
        assert_eq!(seen.failures, [""; 0], "{}", attack.name());
        if seen.newcomers > 0 {
            return;
        }
        let name = attack.name();
        assert!(Instant::now() < deadline, "{name}: nobody new is served");
        std::thread::sleep(Duration::from_millis(50));
    }
}
