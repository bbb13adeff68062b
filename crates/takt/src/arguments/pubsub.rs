//! Arguments of `takt pubsub`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

use super::security_key::SecurityKey;

#[derive(Debug, Subcommand)]
pub enum PubSubCommand {
    /// Convert and check configuration files.
    #[command(subcommand)]
    Config(ConfigCommand),
    /// Show all fields of UADP messages with their positions.
    #[command(after_help = "Examples:\n  \
        takt pubsub decode capture.pcapng\n  \
        takt pubsub decode \"51 01 2a 01 ...\" --json\n  \
        tcpdump -w - -i eth0 udp port 4840 | takt pubsub decode -\n  \
        takt pubsub decode capture.pcapng --key 1:SIGNING:ENCRYPTING:NONCE\n  \
        takt pubsub decode capture.pcapng --config subscriber.toml")]
    Decode(DecodeArguments),
    /// Print a dissector of UADP for Wireshark, in Lua.
    #[command(after_help = "Example:\n  \
        takt pubsub dissector > ~/.local/lib/wireshark/plugins/uadp.lua")]
    Dissector,
}

#[derive(Debug, Subcommand)]
pub enum ConfigCommand {
    /// Convert between TOML and the binary file of the standard (UABinaryFileDataType), without loss in both directions.
    #[command(after_help = "Examples:\n  \
        takt pubsub config convert publisher.toml publisher.uabinary\n  \
        takt pubsub config convert publisher.bin publisher.toml --force\n  \
        takt pubsub config convert publisher.uabinary - --to toml")]
    Convert(ConvertArguments),
    /// Check a configuration file, and list its mistakes.
    #[command(after_help = "Example:\n  takt pubsub config check publisher.toml")]
    Check(CheckArguments),
}

#[derive(Debug, Args)]
pub struct ConvertArguments {
    /// File to read; - for the standard input.
    pub input: PathBuf,
    /// File to write; - for the standard output.
    pub output: PathBuf,
    /// Format of INPUT. By default the extension decides, or else the first byte.
    #[arg(long, value_name = "FORMAT")]
    pub from: Option<ConfigFormat>,
    /// Format of OUTPUT. By default the extension decides. The default for the standard output is the format that INPUT does not have.
    #[arg(long, value_name = "FORMAT")]
    pub to: Option<ConfigFormat>,
    /// Replace OUTPUT if it exists.
    #[arg(long)]
    pub force: bool,
    /// Print one JSON object about the file OUTPUT.
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct CheckArguments {
    /// File to read; - for the standard input.
    pub file: PathBuf,
    /// Format of the file. By default the extension decides, or else the first byte.
    #[arg(long, value_name = "FORMAT")]
    pub from: Option<ConfigFormat>,
    /// Print one JSON object, with all mistakes.
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ConfigFormat {
    /// Text (.toml).
    Toml,
    /// Binary file of the standard (.uabinary, .bin).
    Binary,
    /// JSON DataEncoding of the standard (.json); it is only read.
    Json,
}

#[derive(Debug, Args)]
pub struct DecodeArguments {
    /// Capture file (pcapng or pcap), file of one message, message in hexadecimal digits, or - for the standard input.
    #[arg(value_name = "FILE|HEX|-")]
    pub input: String,
    /// Key in hexadecimal digits, after its SecurityTokenId; can be given several times.
    #[arg(long, value_name = "TOKEN:SIGNING:ENCRYPTING:NONCE")]
    pub key: Vec<SecurityKey>,
    /// Configuration (TOML or binary file) whose metadata describes RawData fields.
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// Only UDP datagrams to this port. The default is port 4840, and every datagram that is a valid UADP message.
    #[arg(long, value_name = "PORT")]
    pub port: Option<u16>,
    /// Print JSON, one object for each message.
    #[arg(long)]
    pub json: bool,
}
