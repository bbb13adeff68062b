//! Measurement of one attack in rounds: idle, attack.

use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use takt_app::{Client, ClientOptions, Endpoint};
use takt_attack::{Attack, AttackObserver, AttackTarget, PrivateNetwork, Slices, Usage};
use takt_statistics::TimeHistogram;

use super::options::Options;
use super::row::{ClientRow, Row, goal};
use super::victim::Victim;
use crate::error::{BenchError, check_interrupt};
use crate::measure::Percentiles;

/// Longest time that the server has to recover.
const RECOVERY: Duration = Duration::from_secs(10);

/// Longest time that a server may be busy after an attack.
const CATCHING_UP: Duration = Duration::from_secs(60);

/// Time until a server is idle after its first clients.
const WARM_UP: Duration = Duration::from_millis(500);

/// Latencies of a second client, without and with the attack.
struct Seen {
    transport: &'static str,
    observer: AttackObserver,
    idle: TimeHistogram,
    attacked: TimeHistogram,
    /// 99th percentile beside the attack in each round, in µs.
    rounds: Vec<f64>,
    failures: Vec<String>,
}

impl Seen {
    fn start(
        transport: &'static str,
        target: &AttackTarget,
        endpoint: &str,
        rate: u32,
    ) -> Result<Self, BenchError> {
        Ok(Self {
            transport,
            observer: AttackObserver::start(target, endpoint, rate, false)?,
            idle: TimeHistogram::of_a_minute(),
            attacked: TimeHistogram::of_a_minute(),
            rounds: Vec::new(),
            failures: Vec::new(),
        })
    }

    fn take(&mut self, is_attacked: bool) {
        let seen = self.observer.take();
        if is_attacked && seen.latency.count() > 0 {
            self.rounds.push(Percentiles::of_nanos(&seen.latency).p99);
        }
        let all = if is_attacked {
            &mut self.attacked
        } else {
            &mut self.idle
        };
        all.add(&seen.latency);
        self.failures.extend(seen.failures);
    }

    fn row(&self) -> ClientRow {
        let attacked = Percentiles::of_nanos(&self.attacked);
        ClientRow {
            transport: self.transport.to_owned(),
            idle: Percentiles::of_nanos(&self.idle),
            attacked,
            failures: self.failures.clone(),
            goal: goal(&self.rounds),
            rounds: self.rounds.clone(),
        }
    }
}

/// Setting of the measurements.
pub(super) struct Setting<'a> {
    pub(super) options: &'a Options,
    /// This program, which becomes the attackers.
    pub(super) program: &'a Path,
    /// Program of the attacked server.
    pub(super) server: &'a Path,
    pub(super) interrupted: &'a AtomicBool,
}

/// Measures second clients beside `attack`. A server that does not survive is part of the result, and so is the reason why an attack
/// is left out.
pub(super) fn measure(setting: &Setting<'_>, attack: Attack) -> Result<Row, BenchError> {
    if !attack.needs_network() {
        return measure_here(setting, attack);
    }
    if let Some(obstacle) = PrivateNetwork::obstacle() {
        return Ok(Row {
            error: Some(format!("left out: {obstacle}")),
            ..Row::new(attack, setting.options.rate)
        });
    }
    // The network is that of a thread, and of everything that it starts.
    std::thread::scope(|scope| {
        let measured = scope.spawn(|| {
            let network = PrivateNetwork::make()?;
            network.enter()?;
            measure_here(setting, attack)
        });
        let measured = measured.join();
        measured.unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}

fn measure_here(setting: &Setting<'_>, attack: Attack) -> Result<Row, BenchError> {
    let Setting {
        options,
        interrupted,
        ..
    } = *setting;
    let victim = Victim::start(setting.server, attack)?;
    let target = &victim.target;
    let mut clients = vec![
        Seen::start("opc.tcp", target, &target.opc_tcp, options.rate)?,
        Seen::start("opc.iox2", target, &target.opc_iox2, options.rate)?,
    ];
    pause(WARM_UP, interrupted)?;
    for client in &mut clients {
        let _ = client.observer.take();
    }
    let before = Usage::of(victim.id())?;
    Usage::reset_peak(victim.id())?;
    let mut row = Row {
        memory_before: before.resident,
        memory_peak: before.resident,
        memory_after: before.resident,
        descriptors_before: before.descriptors,
        descriptors_after: before.descriptors,
        recovered: true,
        ..Row::new(attack, options.rate)
    };
    let phases = phases(setting, (attack, &victim, &before), &mut clients, &mut row);
    row.clients = clients.iter().map(Seen::row).collect();
    match phases {
        Ok(()) => {}
        Err(BenchError::Interrupted) => return Err(BenchError::Interrupted),
        Err(error) => {
            row.recovered = false;
            row.error = Some(error.to_string());
        }
    }
    Ok(row)
}

/// Measures the phases of an attack on a server, which used this before.
fn phases(
    setting: &Setting<'_>,
    (attack, victim, before): (Attack, &Victim, &Usage),
    clients: &mut [Seen],
    row: &mut Row,
) -> Result<(), BenchError> {
    let Setting {
        options,
        program,
        interrupted,
        ..
    } = *setting;
    let phase = Duration::from_secs(u64::from(options.seconds));
    for _ in 0..options.rounds {
        pause(phase, interrupted)?;
        for client in &mut *clients {
            client.take(false);
        }
        let under_way = attack.start(program, &victim.target, options.divide)?;
        pause(phase, interrupted)?;
        let tally = under_way.finish()?;
        row.memory_peak = row.memory_peak.max(Usage::of(victim.id())?.peak);
        // Work that remains when the attackers leave is part of the attack.
        for client in &*clients {
            if !client.observer.catches_up(CATCHING_UP) {
                return Err(BenchError::Option(
                    "the server did not come to rest".to_owned(),
                ));
            }
        }
        let after = Usage::recovered(victim.id(), before, RECOVERY)?;
        for client in &mut *clients {
            client.take(true);
        }
        row.recovered &= after.is_recovered(before);
        row.memory_after = after.resident;
        row.descriptors_after = after.descriptors;
        row.attackers.add(&tally);
    }
    if let Some(slices) = slices(&victim.target)? {
        row.longest_slice = Some(slices.longest);
        row.slice_limit = Some(slices.limit);
    }
    Ok(())
}

/// Asks the server for its longest slice over a connection of its own.
fn slices(target: &AttackTarget) -> Result<Option<Slices>, BenchError> {
    let failed = "the server's longest slice";
    let endpoint: Endpoint = target
        .opc_tcp
        .parse()
        .map_err(BenchError::round_trip(failed))?;
    let options = ClientOptions::named("TaktBenchAttack");
    let mut client = Client::connect(&endpoint, options).map_err(BenchError::round_trip(failed))?;
    Slices::of(&mut client).map_err(BenchError::round_trip(failed))
}

fn pause(time: Duration, interrupted: &AtomicBool) -> Result<(), BenchError> {
    let until = Instant::now() + time;
    while Instant::now() < until {
        check_interrupt(interrupted)?;
        std::thread::sleep(Duration::from_millis(20).min(time));
    }
    Ok(())
}
