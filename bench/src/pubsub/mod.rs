//! Round trip of PubSub messages without a cycle, beside a bare echo of messages of the same length.
//!
//! Through Takt, each end sets cells, makes a UADP message, sends it, receives the other one, decodes it into cells and reads
//! them. The bare echo sends and receives bytes by the same kind of socket. Both ends are threads of this process.

mod bare;
mod options;
mod takt;

use std::net::UdpSocket;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use serde_json::json;
use takt_figures::{Column, Table};
use takt_statistics::SortedTimes;

pub use options::Options;

use crate::error::{BenchError, check_interrupt};
use crate::measure::{Percentiles, Samples};
use crate::seat::{CorePair, Placement, Seat};
use bare::BareEnd;
use takt::{Place, TaktEnd};

/// Time after which a message counts as lost.
const PATIENCE: Duration = Duration::from_millis(200);

/// Lost messages in a row after which the benchmark gives up.
const LOST: u32 = 5;

/// MAC addresses of the two ways: groups, so that no interface needs an address.
const THERE: [u8; 6] = [0x01, 0x00, 0x5E, 0x00, 0x54, 0x01];
const BACK: [u8; 6] = [0x01, 0x00, 0x5E, 0x00, 0x54, 0x02];

/// End of a round trip, on the thread that uses it.
trait End {
    fn send(&mut self, number: u64) -> Result<(), BenchError>;
    fn receive(&mut self) -> Result<Option<u64>, BenchError>;
}

impl End for TaktEnd {
    fn send(&mut self, number: u64) -> Result<(), BenchError> {
        TaktEnd::send(self, number)
    }

    fn receive(&mut self) -> Result<Option<u64>, BenchError> {
        TaktEnd::receive(self, PATIENCE)
    }
}

impl End for BareEnd {
    fn send(&mut self, number: u64) -> Result<(), BenchError> {
        BareEnd::send(self, number)
    }

    fn receive(&mut self) -> Result<Option<u64>, BenchError> {
        BareEnd::receive(self)
    }
}

/// Runs the benchmark and prints its lines.
///
/// # Errors
/// [`BenchError`]: a link cannot be opened, or messages do not return.
pub fn run(
    options: &Options,
    interrupted: &AtomicBool,
    line: impl FnMut(String),
) -> Result<(), BenchError> {
    let places = places(options)?;
    let length = TaktEnd::open(&places[0], options.fields)?.message()?.len();
    let cores = CorePair::choose()?;
    let mut placed = vec![PlacedSamples::new(Placement::Same)];
    if cores.are_two() {
        placed.push(PlacedSamples::new(Placement::Diff));
    }
    for _ in 0..options.rounds {
        for it in &mut placed {
            let setting = Setting {
                options,
                seats: [cores.client_core(it.placement), cores.server],
                interrupted,
            };
            let bare = bare_round(&setting, length)?;
            let through_takt = setting.round(
                || TaktEnd::open(&places[0], options.fields),
                || TaktEnd::open(&places[1], options.fields),
            )?;
            it.add(&bare, &through_takt);
        }
    }
    let socket = match options.interface {
        Some(_) => "Ethernet (AF_PACKET)",
        None => "UDP on loopback",
    };
    let mut report = takt_profile::results(line, options.json);
    for it in &placed {
        let ratio = it.ratio();
        for (way, percentiles) in it.ways() {
            report.row(&json!({ "way": way, "socket": socket, "cores": it.placement.name(), "bytes": length, "roundTripUs": percentiles, "ratio": ratio }))?;
        }
    }
    report.line(format!(
        "round trip of a message of {length} B without a cycle, {socket}, {} rounds in turns",
        options.rounds
    ));
    let micros = |name| Column::number(name).unit("\u{b5}s");
    let columns = [
        Column::text("cores"),
        Column::text("way"),
        Column::number("count"),
    ];
    let times = ["min", "median", "p99", "max"].map(micros);
    let ratio = [Column::number("ratio")];
    let mut table = Table::new(columns.into_iter().chain(times).chain(ratio));
    for it in &placed {
        for (way, percentiles) in it.ways() {
            let Percentiles {
                min, p50, p99, max, ..
            } = percentiles;
            let times = [min, p50, p99, max].map(|micros| format!("{micros:.2}"));
            let cells = [
                it.placement.name().to_owned(),
                way.to_owned(),
                percentiles.samples.to_string(),
            ];
            let ratio = match way {
                TAKT => format!("{:.2}", it.ratio()),
                _ => String::new(),
            };
            table.row(cells.into_iter().chain(times).chain([ratio]));
        }
    }
    report.table(&table);
    report.line(
        "ratio: median of the ratios of medians of all rounds. `same`: both ends on one core",
    );
    Ok(())
}

/// Names of the two ways.
const BARE: &str = "bare echo";
const TAKT: &str = "Takt PubSub";

/// Round trips of both ways with one placement of the threads.
struct PlacedSamples {
    placement: Placement,
    bare: Samples,
    takt: Samples,
    /// Ratios of the medians of each round.
    ratios: Vec<f64>,
}

impl PlacedSamples {
    fn new(placement: Placement) -> Self {
        Self {
            placement,
            bare: Samples::nanos(),
            takt: Samples::nanos(),
            ratios: Vec::new(),
        }
    }

    fn add(&mut self, bare: &Samples, takt: &Samples) {
        self.ratios
            .push(takt.percentiles().p50 / bare.percentiles().p50);
        self.bare.add(bare);
        self.takt.add(takt);
    }

    fn ratio(&self) -> f64 {
        let ratios = SortedTimes::new(self.ratios.clone());
        ratios.median().unwrap_or(f64::NAN)
    }

    fn ways(&self) -> [(&'static str, Percentiles); 2] {
        [
            (BARE, self.bare.percentiles()),
            (TAKT, self.takt.percentiles()),
        ]
    }
}

/// Setting of a round.
struct Setting<'a> {
    options: &'a Options,
    /// Cores of the measuring thread and of the echo.
    seats: [usize; 2],
    interrupted: &'a AtomicBool,
}

/// Returns the places of both ends.
fn places(options: &Options) -> Result<[Place; 2], BenchError> {
    let (there, back) = match options.interface {
        Some(_) => (
            "opc.eth://01-00-5E-00-54-01".to_owned(),
            "opc.eth://01-00-5E-00-54-02".to_owned(),
        ),
        None => {
            let free = || -> std::io::Result<String> {
                let socket = UdpSocket::bind("127.0.0.1:0")?;
                Ok(format!("opc.udp://{}", socket.local_addr()?))
            };
            let free = || free().map_err(BenchError::system("find a free UDP port"));
            (free()?, free()?)
        }
    };
    let place = |ids: (u16, u16), to: &str, at: &str, interface: &Option<String>| Place {
        own_id: ids.0,
        peer_id: ids.1,
        sends_to: to.to_owned(),
        receives_at: at.to_owned(),
        interface: interface.clone(),
    };
    Ok([
        place((1, 2), &there, &back, &options.interface),
        place((2, 1), &back, &there, &options.peer),
    ])
}

fn bare_round(setting: &Setting<'_>, length: usize) -> Result<Samples, BenchError> {
    match (&setting.options.interface, &setting.options.peer) {
        (Some(interface), Some(peer)) => setting.round(
            || BareEnd::ethernet(interface, [THERE, BACK], length),
            || BareEnd::ethernet(peer, [BACK, THERE], length),
        ),
        _ => {
            let (first, second) = BareEnd::udp(length)?;
            setting.round(|| Ok(first), || Ok(second))
        }
    }
}

impl Setting<'_> {
    /// Measures round trips from an end here to an end on another thread, which sends each number back.
    fn round<E: End, F: End>(
        &self,
        here: impl FnOnce() -> Result<E, BenchError>,
        there: impl FnOnce() -> Result<F, BenchError> + Send,
    ) -> Result<Samples, BenchError> {
        let stop = AtomicBool::new(false);
        let (ready, is_ready) = mpsc::sync_channel(1);
        let [own_core, echo_core] = self.seats;
        std::thread::scope(|scope| {
            let stop = &stop;
            let echo = scope.spawn(move || -> Result<(), BenchError> {
                let _seat = Seat::take(echo_core)?;
                let mut end = there()?;
                // The measuring thread waits for this, unless it has failed.
                let _ = ready.send(());
                while !stop.load(Ordering::Relaxed) {
                    if let Some(number) = end.receive()? {
                        end.send(number)?;
                    }
                }
                Ok(())
            });
            let measured = here().and_then(|mut end| {
                // An end that cannot be opened is reported by its thread.
                let _ = is_ready.recv();
                let _seat = Seat::take(own_core)?;
                measure(self.options, self.interrupted, &mut end)
            });
            stop.store(true, Ordering::Relaxed);
            let echoed = echo.join().unwrap_or_else(|_| {
                Err(BenchError::RoundTrip {
                    what: "the echo".to_owned(),
                    reason: "its thread panicked".to_owned(),
                })
            });
            echoed.and(measured)
        })
    }
}

fn measure(
    options: &Options,
    interrupted: &AtomicBool,
    end: &mut impl End,
) -> Result<Samples, BenchError> {
    let mut samples = Samples::nanos();
    // The first messages are learned and not counted.
    let warm = 200;
    let mut lost = 0;
    for number in 0..u64::from(options.samples) + warm {
        check_interrupt(interrupted)?;
        let started = Instant::now();
        end.send(number)?;
        let mut answer = end.receive()?;
        // Answers to lost numbers may come late.
        while answer.is_some_and(|answer| answer != number) {
            answer = end.receive()?;
        }
        let nanos = started.elapsed().as_nanos();
        lost = if answer.is_some() { 0 } else { lost + 1 };
        if lost >= LOST {
            return Err(BenchError::RoundTrip {
                what: "PubSub".to_owned(),
                reason: format!("{LOST} messages in a row did not return: check the interfaces"),
            });
        }
        if number >= warm && answer.is_some() {
            samples.record(u64::try_from(nanos).unwrap_or(u64::MAX));
        }
    }
    Ok(samples)
}
