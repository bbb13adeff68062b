//! Arguments of `takt analyze`.

use std::path::PathBuf;

use clap::Args;

#[derive(Debug, Args)]
pub struct AnalyzeArguments {
    /// Trace files and captures (pcapng or pcap) of one run, a directory with them, or that of a case of `takt lab run`.
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// Capture that was made at the port of the loopback; others were made at that of the Publisher. In a directory,
    /// these are the captures whose names begin with "loopback".
    #[arg(long, value_name = "FILE")]
    pub at_loopback: Vec<PathBuf>,
    /// Capture whose packets the network card stamped (`tcpdump -j adapter_unsynced`); others have times of the kernel.
    #[arg(long, value_name = "FILE")]
    pub card_stamps: Vec<PathBuf>,
    /// Publisher in the captures; default is the PublisherId that has each counter first.
    #[arg(long, value_name = "PUBLISHER_ID")]
    pub publisher_id: Option<String>,
    /// Loopback in the captures; default is the other PublisherId.
    #[arg(long, value_name = "PUBLISHER_ID")]
    pub loopback_id: Option<String>,
    /// Application of a case of `takt lab run`; default is the only one.
    #[arg(long, value_name = "NAME")]
    pub application: Option<String>,
    /// Number of messages to leave out at each end.
    #[arg(long, value_name = "COUNT", default_value = "20000")]
    pub trim: u64,
    /// Compare times of both hosts: their clocks are synchronized.
    #[arg(long)]
    pub synchronized: bool,
    /// Write the quantities to this CSV file.
    #[arg(long, value_name = "FILE")]
    pub csv: Option<PathBuf>,
    /// Write each delay of each message to this Parquet file.
    #[cfg(feature = "parquet")]
    #[arg(long, value_name = "FILE")]
    pub parquet: Option<PathBuf>,
    /// Print the quantities as JSON.
    #[arg(long)]
    pub json: bool,
}
