//! CPU time and instructions of a published frame, with Takt and with open62541 in turns.
//!
//! ```text
//! cargo build --release -p takt-peer-open62541 --bin open62541-publish-bench
//! sudo unshare --net sh -c 'ip link add v0 type veth peer name v1; ip link set v0 up; ip link set v1 up
//!     target/release/open62541-publish-bench v0'
//! ```
//!
//! Each cycle sets all fields, reads the clock, makes the message and sends it. CPU time is that of the thread, in user space and in
//! the kernel, which carries the frame to the other end of the link. Instructions are those in user space, counted by callgrind if
//! valgrind is installed: the difference between a long and a short run, so that the start does not count.

use std::mem::MaybeUninit;
use std::process::{Command, ExitCode};

use takt_peer_open62541::publish::{Way, check};

const USAGE: &str = "open62541-publish-bench INTERFACE [--packets N] [--fields N] [--only WAY]";

/// Number of turns of each way.
const TURNS: usize = 10;

/// Packets of the two runs whose instructions are counted.
const SHORT: u32 = 1_000;
const LONG: u32 = 6_000;

/// Command line.
struct Options {
    interface: String,
    packets: u32,
    fields: usize,
    /// Publish with this way alone, and print nothing: the program under callgrind.
    only: Option<Way>,
}

impl Options {
    fn parse(mut arguments: impl Iterator<Item = String>) -> Result<Self, String> {
        let mut options = Self {
            interface: arguments.next().ok_or(USAGE)?,
            packets: 200_000,
            fields: 10,
            only: None,
        };
        while let Some(name) = arguments.next() {
            let value = arguments.next().ok_or(USAGE)?;
            let fault = |_| format!("{name}: `{value}` is no number that fits");
            match name.as_str() {
                "--packets" => options.packets = value.parse().map_err(fault)?,
                "--fields" => options.fields = value.parse().map_err(fault)?,
                "--only" => {
                    let way = Way::ALL.into_iter().find(|way| way.name() == value);
                    options.only = Some(way.ok_or(USAGE)?);
                }
                _ => return Err(USAGE.to_owned()),
            }
        }
        Ok(options)
    }
}

fn main() -> ExitCode {
    let run = Options::parse(std::env::args().skip(1)).and_then(|options| match options.only {
        Some(way) => publish(&options, way),
        None => compare(&options),
    });
    match run {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn publish(options: &Options, way: Way) -> Result<(), String> {
    let mut publisher = way.open(&options.interface, options.fields)?;
    (0..options.packets).try_for_each(|value| publisher.publish(value))
}

fn compare(options: &Options) -> Result<(), String> {
    let length = check(options.fields)?;
    let turn = options.packets / TURNS as u32;
    let mut measured = Vec::new();
    for way in Way::ALL {
        let mut publisher = way.open(&options.interface, options.fields)?;
        (0..1000).try_for_each(|value| publisher.publish(value))?;
        measured.push((way, publisher, Vec::new()));
    }
    for _ in 0..TURNS {
        for (_, publisher, times) in &mut measured {
            let before = cpu_nanos()?;
            (0..turn).try_for_each(|value| publisher.publish(value))?;
            times.push((cpu_nanos()? - before) / f64::from(turn));
        }
    }
    println!(
        "message of {length} B with {} x UInt32, {} packets each in {TURNS} turns, at {}",
        options.fields, options.packets, options.interface
    );
    println!("Takt's message is equal to open62541's");
    println!(
        "{:20} {:>14} {:>14}",
        "way", "CPU ns/packet", "instr./packet"
    );
    for (way, _, mut times) in measured {
        times.sort_by(f64::total_cmp);
        let median = times.get(times.len() / 2).copied().unwrap_or(f64::NAN);
        let counted = match instructions(options, way)? {
            Some(counted) => format!("{counted:.0}"),
            None => "no valgrind".to_owned(),
        };
        println!("{:20} {median:>14.0} {counted:>14}", way.name());
    }
    Ok(())
}

/// Returns the CPU time of this thread, in user space and in the kernel.
fn cpu_nanos() -> Result<f64, String> {
    let mut usage = MaybeUninit::<libc::rusage>::uninit();
    // SAFETY: the call writes the whole structure, or fails.
    let usage = unsafe {
        match libc::getrusage(libc::RUSAGE_THREAD, usage.as_mut_ptr()) {
            0 => usage.assume_init(),
            _ => return Err(format!("getrusage: {}", std::io::Error::last_os_error())),
        }
    };
    let nanos = |time: libc::timeval| 1e9 * time.tv_sec as f64 + 1e3 * time.tv_usec as f64;
    Ok(nanos(usage.ru_utime) + nanos(usage.ru_stime))
}

/// Returns the instructions in user space of one packet; `None` without valgrind.
fn instructions(options: &Options, way: Way) -> Result<Option<f64>, String> {
    let (Some(short), Some(long)) = (counted(options, way, SHORT)?, counted(options, way, LONG)?)
    else {
        return Ok(None);
    };
    Ok(Some((long - short) / f64::from(LONG - SHORT)))
}

/// Returns the instructions of a run with this number of packets.
fn counted(options: &Options, way: Way, packets: u32) -> Result<Option<f64>, String> {
    let own = std::env::current_exe().map_err(|error| error.to_string())?;
    let output = Command::new("valgrind")
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
        .arg(own)
        .args([options.interface.as_str(), "--only", way.name()])
        .args(["--packets", &packets.to_string()])
        .args(["--fields", &options.fields.to_string()])
        .output();
    let Ok(output) = output else {
        return Ok(None);
    };
    let text = String::from_utf8_lossy(&output.stderr);
    if !output.status.success() {
        return Err(format!("{} under valgrind: {text}", way.name()));
    }
    let line = text.lines().find_map(|line| line.split_once("Collected :"));
    let count = line.and_then(|(_, count)| count.trim().parse().ok());
    count
        .map(Some)
        .ok_or_else(|| format!("no count of {}", way.name()))
}
