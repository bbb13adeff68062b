//! What can be typed after `takt publish` and `takt subscribe`.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use takt_app::Endpoint;
use takt_pubsub::security::SecurityKeyUpdate;

use super::{GroupArguments, duration, endpoint};

#[derive(Debug, Args)]
pub struct PublishArguments {
    /// The configuration: TOML, or the standard's binary file; - for the standard input.
    pub file: PathBuf,
    /// Publish the Variables of this server that the configuration names.
    #[arg(long, value_name = "ENDPOINT", value_parser = endpoint)]
    pub from: Option<Endpoint>,
    /// Publish this value in fields of this name: NAME=VALUE.
    #[arg(long, value_name = "NAME=VALUE")]
    pub set: Vec<String>,
    /// Make up the values of all other fields.
    #[arg(long)]
    pub simulate: bool,
    #[command(flatten)]
    pub run: RunArguments,
}

#[derive(Debug, Args)]
pub struct SubscribeArguments {
    /// A configuration (TOML, or the standard's binary file), or an address: opc.udp://239.0.0.1:4840, opc.eth://…, opc.iox2://…,
    /// mqtt://broker. From an address all that comes is shown.
    pub source: String,
    /// With an address: the network interface.
    #[arg(long, value_name = "NAME")]
    pub interface: Option<String>,
    /// With the address of a broker: the topic filter.
    #[arg(long, value_name = "FILTER", default_value = "opcua/#")]
    pub topic: String,
    /// Print JSON, one object a DataSetMessage.
    #[arg(long)]
    pub json: bool,
    /// End after so many DataSetMessages.
    #[arg(long, value_name = "NUMBER")]
    pub count: Option<u64>,
    #[command(flatten)]
    pub run: RunArguments,
}

/// What both have in common.
#[derive(Debug, Args)]
pub struct RunArguments {
    /// End after this time.
    #[arg(long = "for", value_name = "TIME", value_parser = duration)]
    pub run_for: Option<Duration>,
    /// Ask this SecurityKeyService for keys, for example opc.iox2://SemanticRegistryServer.
    #[arg(long, value_name = "ENDPOINT", value_parser = endpoint)]
    pub keys: Option<Endpoint>,
    /// A key of a SecurityGroup: GROUP=TOKEN:SIGNING:ENCRYPTING:NONCE, the last three in hexadecimal digits.
    #[arg(long, value_name = "KEY", value_parser = key)]
    pub key: Vec<(String, SecurityKeyUpdate)>,
    /// Run with this real-time priority (SCHED_FIFO), 1 to 99.
    #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(u8).range(1..=99))]
    pub priority: Option<u8>,
    /// Run on this core.
    #[arg(long, value_name = "NUMBER")]
    pub core: Option<usize>,
    /// How long a request to a server may take.
    #[arg(long, value_name = "TIME", default_value = "2s", value_parser = duration)]
    pub timeout: Duration,
    #[command(flatten)]
    pub share: GroupArguments,
}

/// Keys that are typed do not change.
const LIFETIME: Duration = Duration::from_secs(365 * 24 * 3600);

fn key(text: &str) -> Result<(String, SecurityKeyUpdate), String> {
    let form = || {
        "a key is GROUP=TOKEN:SIGNING:ENCRYPTING:NONCE, the last three in hexadecimal digits"
            .to_owned()
    };
    let (group, key) = text.split_once('=').ok_or_else(form)?;
    let [token, signing, encrypting, nonce] =
        <[&str; 4]>::try_from(key.split(':').collect::<Vec<_>>()).map_err(|_| form())?;
    let part = |name: &str, text: &str, lengths: &[usize]| {
        let bytes = hexadecimal(text).ok_or_else(form)?;
        match lengths.contains(&bytes.len()) {
            true => Ok(bytes),
            false => Err(format!(
                "the {name} has {} bytes; it must have {lengths:?}",
                bytes.len()
            )),
        }
    };
    let encrypting = part("encrypting key", encrypting, &[16, 32])?;
    let policy = match encrypting.len() {
        16 => takt_pubsub::security::SecurityPolicy::PubSubAes128Ctr,
        _ => takt_pubsub::security::SecurityPolicy::PubSubAes256Ctr,
    };
    let mut data = part("signing key", signing, &[32])?;
    data.extend(encrypting);
    data.extend(part("key nonce", nonce, &[4])?);
    let update = SecurityKeyUpdate {
        security_policy_uri: policy.uri().to_owned(),
        first_token_id: token.parse().map_err(|_| form())?,
        keys: vec![data.into()],
        time_to_next_key: LIFETIME,
        key_lifetime: LIFETIME,
    };
    Ok((group.to_owned(), update))
}

fn hexadecimal(text: &str) -> Option<Vec<u8>> {
    let (pairs, rest) = text.as_bytes().as_chunks::<2>();
    let byte = |pair: &[u8; 2]| {
        let digits = std::str::from_utf8(pair).ok()?;
        digits
            .bytes()
            .all(|digit| digit.is_ascii_hexdigit())
            .then_some(())?;
        u8::from_str_radix(digits, 16).ok()
    };
    rest.is_empty().then_some(())?;
    pairs.iter().map(byte).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_read_and_what_is_wrong_with_them_is_said() {
        let (signing, encrypting) = ("11".repeat(32), "22".repeat(16));
        let (group, update) = key(&format!("Plant=7:{signing}:{encrypting}:01020304")).unwrap();
        assert_eq!((group.as_str(), update.first_token_id), ("Plant", 7));
        assert!(update.security_policy_uri.ends_with("Aes128-CTR"));
        assert_eq!(update.keys[0].len(), 52);
        for wrong in ["Plant", "Plant=7:11:22", "=x:11:22:33"] {
            assert!(key(wrong).is_err(), "{wrong}");
        }
        let error = key(&format!("Plant=7:{signing}:2222:01020304")).unwrap_err();
        assert!(error.contains("encrypting key has 2 bytes"), "{error}");
    }
}
