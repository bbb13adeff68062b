//! Options of `takt bench reads`.

use takt_crypto::PolicyProfile;

use super::subjects::Security;

/// Options of the benchmark.
#[derive(Debug, Clone, clap::Args)]
pub struct Options {
    /// Number of Reads per row, over all rounds.
    #[arg(long, value_name = "COUNT", default_value_t = 10_000, value_parser = clap::value_parser!(u64).range(10..=10_000_000))]
    pub reads: u64,
    /// Number of rounds in which they are sent, each with fresh servers.
    #[arg(long, value_name = "COUNT", default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub rounds: u32,
    /// Security of the channels: `none`, or SecurityPolicies, which sign and encrypt.
    #[arg(
        long,
        value_name = "LIST",
        value_delimiter = ',',
        value_parser = security,
        default_value = "none,Basic256Sha256,Aes256_Sha256_RsaPss,ECC_nistP256"
    )]
    pub security: Vec<Security>,
    /// Print JSON, one object a row.
    #[arg(long)]
    pub json: bool,
}

fn security(text: &str) -> Result<Security, String> {
    if text.eq_ignore_ascii_case("none") {
        return Ok(Security(None));
    }
    let profile = PolicyProfile::by_name(text).filter(|it| !it.cipher.is_authenticated());
    let known = PolicyProfile::ALL
        .into_iter()
        .filter(|it| !it.cipher.is_authenticated());
    profile
        .map(|profile| Security(Some(profile)))
        .ok_or_else(|| {
            let names: Vec<&str> = known.map(|profile| profile.name).collect();
            format!("`none`, or one of {}", names.join(", "))
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn policies_are_known_by_name() {
        assert_eq!(security("None").unwrap().name(), "None");
        assert_eq!(security("basic256sha256").unwrap().name(), "Basic256Sha256");
        for text in ["", "Basic128", "ECC_curve25519"] {
            assert!(
                security(text).unwrap_err().contains("ECC_nistP256"),
                "{text}"
            );
        }
    }
}
