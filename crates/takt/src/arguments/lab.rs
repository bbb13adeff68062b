//! Arguments of `takt lab`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

use super::values::{count, setting};

#[derive(Debug, Subcommand)]
pub enum LabCommand {
    /// Build the kernel of the backend `uml`: User-Mode Linux with all queueing disciplines, links with a rate, and virtual time.
    #[command(after_help = "Examples:\n  \
        apt-get install linux-source-6.12 make gcc flex bison bc && takt lab setup\n  \
        takt lab setup --source ~/linux-6.12\n\n\
        The kernel is kept in TAKT_LAB_CACHE, by default ~/.cache/takt/lab.")]
    Setup(LabSetupArguments),
    /// Run a scenario on a network in the Linux kernel, and record it: traces, captures, counts.
    #[command(after_help = "Examples:\n  \
        takt lab run scenarios/e3.toml --field discipline=etf\n  \
        takt lab run scenarios/line.toml --messages 2000 --to line-run\n  \
        takt lab run scenarios/b.toml --without-disciplines\n\n\
        docs/lab.md describes the backends and the directory of a run.")]
    Run(LabRunArguments),
    /// Make the directory of a run from traces and captures that were made by hand, on one host or two.
    #[command(after_help = "Examples:\n  \
        takt publish e3.toml --interface enp3s0 --cycles 20000 --trace publisher.trace     (host 1)\n  \
        takt loopback e3.toml --interface enp3s0 --for 30s --trace loopback.trace          (host 2)\n  \
        takt lab collect e3-run e3.toml publisher.trace loopback.trace\n  \
        takt report e3-run\n\n\
        docs/analysis.md describes the files.")]
    Collect(LabCollectArguments),
    /// Pack a run, facts and verdicts into one archive without names of users and hosts, as evidence for others.
    #[command(after_help = "Example:\n  \
        takt lab bundle e3-run --to e3-run.tar\n\n\
        docs/hardware.md tells what is packed, and what is missing so far.")]
    Bundle(LabBundleArguments),
    /// Run what `takt lab run` has prepared, in the running kernel.
    #[command(hide = true)]
    Inside(LabInsideArguments),
}

#[derive(Debug, Args)]
pub struct LabSetupArguments {
    /// Unpacked tree of a Linux kernel, instead of the installed package linux-source-6.12.
    #[arg(long, value_name = "FOLDER")]
    pub source: Option<PathBuf>,
    /// Number of files that are compiled at the same time; default is the number of processors.
    #[arg(long, value_name = "COUNT")]
    pub jobs: Option<usize>,
    /// Build it again if it is built already.
    #[arg(long)]
    pub again: bool,
    /// Print JSON, one object for each event: started, step, built.
    #[arg(long)]
    pub json: bool,
}

/// Place at which a scenario runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum LabBackend {
    /// Namespaces, veth and bridges on the kernel of this host: functional runs, no figures of hardware.
    Netns,
    /// User-Mode Linux with all queueing disciplines, links with a rate, and virtual time.
    Uml,
    /// Debian's ready-made User-Mode Linux with all queueing disciplines: functional runs without root and without a build.
    UmlReady,
}

#[derive(Debug, Args)]
pub struct LabRunArguments {
    /// Scenario file (TOML). Each combination of swept values is a case.
    pub scenario: PathBuf,
    /// Backend.
    #[arg(long, default_value = "netns")]
    pub backend: LabBackend,
    /// Other value of a field of the scenario, for example discipline=cbs; it replaces the sweep of this field.
    #[arg(long = "field", value_name = "FIELD=VALUE", value_parser = setting)]
    pub settings: Vec<(String, String)>,
    /// Messages of each application; default is the number of cycles of the scenario, at most 20000, and at most 10 s.
    #[arg(long, value_name = "COUNT", value_parser = count)]
    pub messages: Option<u64>,
    /// Directory of the run, which is made; default is lab-NAME in the current directory, with a number if that exists.
    #[arg(long = "to", value_name = "DIRECTORY")]
    pub directory: Option<PathBuf>,
    /// Leave the ports as the kernel makes them. Times are then not comparable with bounds and simulations.
    #[arg(long)]
    pub without_disciplines: bool,
    /// Print JSON, one object for each event: started; case, with its results; ended.
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct LabCollectArguments {
    /// Directory of the run, which is made.
    pub directory: PathBuf,
    /// Scenario file (TOML), a trace of each side, and captures (pcapng or pcap). A capture whose name begins with
    /// `loopback` was made at the port of the loopback.
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// Capture at the port of the loopback, whatever its name.
    #[arg(long, value_name = "FILE")]
    pub at_loopback: Vec<PathBuf>,
    /// Capture whose packets the network card stamped (`tcpdump -j adapter_unsynced`); others have times of the kernel.
    #[arg(long, value_name = "FILE")]
    pub card_stamps: Vec<PathBuf>,
    /// The clocks of the hosts are synchronized: compare times of both, also if their facts do not tell how far they differ.
    #[arg(long)]
    pub synchronized: bool,
    /// Print one JSON object.
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct LabBundleArguments {
    /// Directory of a run.
    pub directory: PathBuf,
    /// Archive (tar); default is the name of the directory with `.tar` behind it.
    #[arg(long = "to", value_name = "FILE")]
    pub file: Option<PathBuf>,
    /// Name of this host or user that is a word of the run as well, and may be in the archive.
    #[arg(long, value_name = "NAME")]
    pub allow: Vec<String>,
    /// Print one JSON object.
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct LabInsideArguments {
    /// Directory that `takt lab run` has prepared.
    pub directory: PathBuf,
    /// Arguments that the kernel adds.
    pub others: Vec<String>,
}
