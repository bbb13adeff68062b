//! Arguments that `takt publish` and `takt subscribe` share.

use std::time::Duration;

use clap::Args;
use takt_app::Endpoint;

use super::values::{duration, endpoint};
use super::{ClientSecurityArguments, GroupArguments, MqttArguments, SecurityKey};

/// Arguments of `takt publish` and `takt subscribe`: time, keys, and the thread.
#[derive(Debug, Args)]
pub struct PubSubRunArguments {
    /// End after this time.
    #[arg(long = "for", value_name = "TIME", value_parser = duration)]
    pub run_for: Option<Duration>,
    /// SecurityKeyService that is asked for keys: opc.iox2://SemanticRegistryServer, or opc.tcp://host:port, encrypted.
    #[arg(long, value_name = "ENDPOINT", value_parser = endpoint)]
    pub keys: Option<Endpoint>,
    /// Endpoint at which a SecurityKeyService pushes keys, for example opc.tcp://0.0.0.0:4850. The configuration names the service in
    /// default_security_key_services.
    #[arg(long, value_name = "ENDPOINT", value_parser = endpoint, conflicts_with = "keys")]
    pub key_endpoint: Option<Endpoint>,
    /// ApplicationName of --key-endpoint; the ApplicationUri is urn:takt:pubsub:NAME [default: publisher-HOST or subscriber-HOST].
    #[arg(long, value_name = "NAME", requires = "key_endpoint")]
    pub key_name: Option<String>,
    /// Key of a SecurityGroup: GROUP=TOKEN:SIGNING:ENCRYPTING:NONCE, the last three in hexadecimal digits.
    #[arg(long, value_name = "KEY", value_parser = key)]
    pub key: Vec<(String, SecurityKey)>,
    /// Run with this real-time priority (SCHED_FIFO), 1 to 99.
    #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(u8).range(1..=99))]
    pub priority: Option<u8>,
    /// Run on this core.
    #[arg(long, value_name = "NUMBER")]
    pub core: Option<usize>,
    /// Longest time that a request to a server may take.
    #[arg(long, value_name = "TIME", default_value = "2s", value_parser = duration)]
    pub timeout: Duration,
    #[command(flatten)]
    pub share: GroupArguments,
    #[command(flatten)]
    pub security: ClientSecurityArguments,
    #[command(flatten)]
    pub mqtt: MqttArguments,
}

/// Parses `GROUP=KEY`.
fn key(text: &str) -> Result<(String, SecurityKey), String> {
    let (group, key) = text
        .split_once('=')
        .ok_or("write GROUP=TOKEN:SIGNING:ENCRYPTING:NONCE")?;
    Ok((group.to_owned(), key.parse()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_one_of_a_group() {
        let (signing, encrypting) = ("11".repeat(32), "22".repeat(16));
        let (group, parsed) = key(&format!("Plant=7:{signing}:{encrypting}:01020304")).unwrap();
        assert_eq!((group.as_str(), parsed.update.first_token_id), ("Plant", 7));
        assert!(key(&format!("7:{signing}:{encrypting}:01020304")).is_err());
        assert!(key("Plant=7").is_err());
    }
}
