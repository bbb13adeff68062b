//! What can be typed after `takt pubsub`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

#[derive(Debug, Subcommand)]
pub enum PubSubCommand {
    /// Configuration files of publishers and subscribers.
    #[command(subcommand)]
    Config(ConfigCommand),
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
