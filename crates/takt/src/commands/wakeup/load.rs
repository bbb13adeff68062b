//! Loads beside a measurement. Each is a process of its own that ends with this one, however it ends.

use std::io::Read;
use std::net::UdpSocket;
use std::process::Command;

use miette::IntoDiagnostic;
use takt_rt::affinity;
use takt_rt::child::{ChildError, ChildProcess, Ending};

use crate::arguments::LoadKind;
use crate::explain;

/// Bytes that the load of memory maps and writes in each turn.
const MAPPED: usize = 32 << 20;

/// Size in bytes of a page, at least: each of them is written once.
const PAGE: usize = 4096;

/// Size in bytes of the packets of the load of the network.
const PACKET: usize = 1400;

/// Starts loads. They end when the result is dropped.
pub(super) fn start(kinds: &[LoadKind]) -> miette::Result<Vec<ChildProcess>> {
    let program = std::env::current_exe().into_diagnostic()?;
    let start = |kind: &LoadKind| {
        let (name, ending, mut command) = match kind {
            LoadKind::StressNg => ("stress-ng", Ending::Signal, stress_ng()),
            LoadKind::Processors => ("processors", Ending::Input, Command::new(&program)),
            LoadKind::Memory => ("memory", Ending::Input, Command::new(&program)),
            LoadKind::Network => ("network", Ending::Input, Command::new(&program)),
        };
        if *kind != LoadKind::StressNg {
            command.args(["wakeup", "--as-load", name]);
        }
        ChildProcess::start(name, &mut command, ending).map_err(|error| refused(name, &error))
    };
    kinds.iter().map(start).collect()
}

/// Returns the command of stress-ng. `setpriv` ends it with this process: stress-ng does not ask the kernel for that.
fn stress_ng() -> Command {
    let mut command = Command::new("setpriv");
    command.args(["--pdeathsig", "TERM", "stress-ng", "--quiet"]);
    command.args([
        "--cpu",
        "0",
        "--vm",
        "1",
        "--vm-bytes",
        "64M",
        "--timer",
        "1",
        "--sock",
        "1",
    ]);
    command
}

fn refused(name: &str, error: &ChildError) -> miette::Report {
    explain::with_help(
        format!("the load {name} {error}"),
        "`apt-get install stress-ng` installs stress-ng; --load memory needs no other program.",
    )
}

/// Is a load until the standard input ends, that is until the measuring process has ended.
pub(super) fn be(kind: LoadKind) -> miette::Result<()> {
    let work: fn() = match kind {
        LoadKind::Processors => compute,
        LoadKind::Memory => map,
        LoadKind::Network => send,
        LoadKind::StressNg => {
            return Err(explain::with_help(
                "stress-ng is a program of its own",
                "Use --load stress-ng.",
            ));
        }
    };
    let cores = affinity::available().into_diagnostic()?;
    for core in cores.as_slice().iter().copied() {
        let thread = std::thread::Builder::new().name("load".to_owned());
        let thread = thread.spawn(move || {
            // Without the core it is a load all the same.
            let _ = affinity::pin(core);
            loop {
                work();
            }
        });
        thread.into_diagnostic()?;
    }
    let mut rest = Vec::new();
    // Any failure ends the process, too, and its threads with it.
    let _ = std::io::stdin().lock().read_to_end(&mut rest);
    Ok(())
}

fn compute() {
    let sum = (0..1_000_000_u64).fold(0, |sum, it| std::hint::black_box(sum ^ it.rotate_left(7)));
    std::hint::black_box(sum);
}

fn map() {
    let mut memory = vec![0_u8; MAPPED];
    memory.iter_mut().step_by(PAGE).for_each(|byte| *byte = 1);
    std::hint::black_box(&memory);
}

fn send() {
    let Ok(socket) = UdpSocket::bind("127.0.0.1:0") else {
        return std::thread::yield_now();
    };
    let Ok(address) = socket.local_addr() else {
        return;
    };
    let packet = [0; PACKET];
    for _ in 0..100_000 {
        // Nobody reads them: the kernel drops those for which there is no room.
        let _ = socket.send_to(&packet, address);
    }
}
