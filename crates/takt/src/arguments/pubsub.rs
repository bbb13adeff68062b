//! What can be typed after `takt pubsub`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

use super::security_key::SecurityKey;

#[derive(Debug, Subcommand)]
pub enum PubSubCommand {
    /// Configuration files of publishers and subscribers.
    #[command(subcommand)]
    Config(ConfigCommand),
    /// Show every field of messages in UADP, with its place.
    #[command(after_help = "Examples:\n  \
        takt pubsub decode capture.pcapng\n  \
        takt pubsub decode \"51 01 2a 01 ...\" --json\n  \
        tcpdump -w - -i eth0 udp port 4840 | takt pubsub decode -\n  \
        takt pubsub decode capture.pcapng --key 1:SIGNING:ENCRYPTING:NONCE\n  \
        takt pubsub decode capture.pcapng --config subscriber.toml")]
    Decode(DecodeArguments),
    /// Print a dissector for Wireshark, in Lua.
    #[command(after_help = "Example:\n  \
        takt pubsub dissector > ~/.local/lib/wireshark/plugins/uadp.lua")]
    Dissector,
}

#[derive(Debug, Subcommand)]
pub enum ConfigCommand {
    /// Convert between TOML and the standard's binary file (UABinaryFileDataType). Nothing is lost either way.
    #[command(after_help = "Examples:\n  \
        takt pubsub config convert publisher.toml publisher.uabinary\n  \
        takt pubsub config convert publisher.bin publisher.toml --force\n  \
        takt pubsub config convert publisher.uabinary - --to toml")]
    Convert(ConvertArguments),
    /// Say what is wrong with a configuration file.
    #[command(after_help = "Example:\n  takt pubsub config check publisher.toml")]
    Check(CheckArguments),
}

#[derive(Debug, Args)]
pub struct ConvertArguments {
    /// The file to read; - for the standard input.
    pub input: PathBuf,
    /// The file to write; - for the standard output.
    pub output: PathBuf,
    /// What INPUT is. By default its extension says so, or else its first byte.
    #[arg(long, value_name = "FORMAT")]
    pub from: Option<ConfigFormat>,
    /// What OUTPUT shall be. By default its extension says so; for the standard output, what INPUT is not.
    #[arg(long, value_name = "FORMAT")]
    pub to: Option<ConfigFormat>,
    /// Replace OUTPUT if it exists.
    #[arg(long)]
    pub force: bool,
}

#[derive(Debug, Args)]
pub struct CheckArguments {
    /// The file to read; - for the standard input.
    pub file: PathBuf,
    /// What it is. By default its extension says so, or else its first byte.
    #[arg(long, value_name = "FORMAT")]
    pub from: Option<ConfigFormat>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ConfigFormat {
    /// The text that people write (.toml).
    Toml,
    /// The standard's file (.uabinary, .bin).
    Binary,
}

#[derive(Debug, Args)]
pub struct DecodeArguments {
    /// A capture (pcapng or pcap) or a file of one message; a message in hex; or - for any of these from the standard input.
    #[arg(value_name = "FILE|HEX|-")]
    pub input: String,
    /// A key, in hex but for its SecurityTokenId; may be given more than once.
    #[arg(long, value_name = "TOKEN:SIGNING:ENCRYPTING:NONCE")]
    pub key: Vec<SecurityKey>,
    /// A configuration (TOML or binary), as `takt publish` and `takt subscribe` take it: its metadata tells RawData fields apart.
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// UDP datagrams to this port only. By default those to port 4840, and whatever else can be read as UADP.
    #[arg(long, value_name = "PORT")]
    pub port: Option<u16>,
    /// Print JSON, one object a message.
    #[arg(long)]
    pub json: bool,
}
