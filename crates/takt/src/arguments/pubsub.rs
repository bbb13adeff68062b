//! What can be typed after `takt pubsub`.

use clap::{Args, Subcommand};

use super::security_key::SecurityKey;

#[derive(Debug, Subcommand)]
pub enum PubSubCommand {
    /// Show every field of messages in UADP, with its place.
    #[command(after_help = "Examples:\n  \
        takt pubsub decode capture.pcapng\n  \
        takt pubsub decode \"51 01 2a 01 ...\" --json\n  \
        tcpdump -w - -i eth0 udp port 4840 | takt pubsub decode -\n  \
        takt pubsub decode capture.pcapng --key 1:SIGNING:ENCRYPTING:NONCE")]
    Decode(DecodeArguments),
    /// Print a dissector for Wireshark, in Lua.
    #[command(after_help = "Example:\n  \
        takt pubsub dissector > ~/.local/lib/wireshark/plugins/uadp.lua")]
    Dissector,
}

#[derive(Debug, Args)]
pub struct DecodeArguments {
    /// A capture (pcapng or pcap) or a file of one message; a message in hex; or - for any of these from the standard input.
    #[arg(value_name = "FILE|HEX|-")]
    pub input: String,
    /// A key, in hex but for its SecurityTokenId; may be given more than once.
    #[arg(long, value_name = "TOKEN:SIGNING:ENCRYPTING:NONCE")]
    pub key: Vec<SecurityKey>,
    /// UDP datagrams to this port only. By default those to port 4840, and whatever else can be read as UADP.
    #[arg(long, value_name = "PORT")]
    pub port: Option<u16>,
    /// Print JSON, one object a message.
    #[arg(long)]
    pub json: bool,
}
