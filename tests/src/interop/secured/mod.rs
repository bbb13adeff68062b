//! Secured channels with foreign software: each SecurityPolicy, mode and user, in both directions.

mod application;
mod checkers;
mod servers;
mod sessions;
mod site;

use std::fmt;

pub use application::Foreign;
pub use checkers::client_passes_secured_checks;
pub use servers::command_line_on_secured_channels;
pub use sessions::{client_logs_in_without_security, client_on_secured_channels};
pub use site::add_user_with;

use crate::peer::Peer;

/// SecurityPolicies with RSA, as OPC 10000-7 names them.
pub const POLICIES: [&str; 3] = [
    "Basic256Sha256",
    "Aes128_Sha256_RsaOaep",
    "Aes256_Sha256_RsaPss",
];

/// SecurityPolicies with elliptic curves that foreign software here has; each needs a certificate of its own.
pub const CURVE_POLICIES: [[&str; 1]; 2] = [["ECC_nistP256"], ["ECC_nistP384"]];

/// MessageSecurityModes of a secured channel.
const MODES: [&str; 2] = ["Sign", "SignAndEncrypt"];

/// Repetitions of what fails once in 256 times.
const REPETITIONS: usize = 3;

/// Kind of the token of a user (OPC 10000-4, 7.40).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Token {
    /// The anonymous user.
    Anonymous,
    /// A name with a password.
    UserName,
    /// An X.509 certificate.
    Certificate,
    /// A JSON Web Token, which is sent on encrypted channels only.
    Jwt,
}

impl fmt::Display for Token {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Anonymous => "anonymous",
            Self::UserName => "user name",
            Self::Certificate => "certificate",
            Self::Jwt => "JSON Web Token",
        })
    }
}

/// SecurityPolicy, mode and user of a Session.
#[derive(Debug, Clone, Copy)]
struct Case {
    policy: &'static str,
    mode: &'static str,
    token: Token,
}

impl fmt::Display for Case {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}, {}, {}", self.policy, self.mode, self.token)
    }
}

impl Case {
    /// Repeats `attempt` with a peer that fails at times by a known fault of its own. Returns the first success, or the last error.
    fn attempts<T, E>(
        &self,
        peer: Peer,
        mut attempt: impl FnMut() -> Result<T, E>,
    ) -> Result<T, E> {
        let fails_at_times = self.policy.starts_with("ECC_") && peer.shortens_shared_secrets();
        let repetitions = if fails_at_times { REPETITIONS } else { 0 };
        let mut result = attempt();
        for _ in 0..repetitions {
            if result.is_ok() {
                break;
            }
            result = attempt();
        }
        result
    }
}

/// Returns all possible combinations.
fn cases(policies: &'static [&str], tokens: &[Token]) -> Vec<Case> {
    let mut cases = Vec::new();
    for policy in policies {
        for mode in MODES {
            let tokens = tokens.iter().copied();
            let possible = tokens.filter(|token| *token != Token::Jwt || mode == "SignAndEncrypt");
            cases.extend(possible.map(|token| Case {
                policy,
                mode,
                token,
            }));
        }
    }
    cases
}
