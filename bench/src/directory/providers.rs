//! Common properties of the Providers and servers.

/// Variables of each Provider.
pub(super) const VARIABLES: usize = 10;
/// Prefix of the names of the Providers.
pub(super) const NAME: &str = "BenchProvider";
