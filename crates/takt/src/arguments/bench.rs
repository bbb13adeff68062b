//! Arguments of `takt bench`.

use std::ffi::OsString;

use clap::Args;

#[derive(Debug, Args)]
pub struct BenchArguments {
    /// Benchmark and its options.
    #[arg(
        trailing_var_arg = true,
        allow_hyphen_values = true,
        value_name = "ARGUMENTS"
    )]
    pub arguments: Vec<OsString>,
}

impl BenchArguments {
    /// Returns true if the arguments ask which benchmarks there are.
    pub fn ask_for_help(&self) -> bool {
        let first = self.arguments.first();
        first.is_none_or(|first| ["help", "--help", "-h"].iter().any(|word| first == word))
    }
}
