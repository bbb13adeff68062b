//! Arguments of `takt trust`.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Subcommand};
use takt_app::Endpoint;
use takt_crypto::KeyKind;

use super::values::{duration, endpoint, host};
use super::{ConnectionSecurityArguments, ReverseArguments};

#[derive(Debug, Args)]
pub struct TrustArguments {
    #[command(subcommand)]
    pub command: TrustCommand,
    /// Folder of certificates; default is `pki` in the state directory of the user.
    #[arg(long, value_name = "DIRECTORY", global = true)]
    pub certificates: Option<PathBuf>,
}

/// A server whose certificates are managed instead of those in the own folders.
#[derive(Debug, Clone, Args)]
pub struct TrustServerArguments {
    /// Manage the certificates of this server (opc.tcp://host:port) instead of those of this user. The server has to be one with
    /// ServerConfiguration, and the user of the session a security-admin there.
    #[arg(long, value_name = "ENDPOINT", value_parser = endpoint)]
    pub server: Option<Endpoint>,
    /// Longest time that a request to --server may take.
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = duration)]
    pub timeout: Duration,
    #[command(
        flatten,
        next_help_heading = "Connection to --server, encrypted by default"
    )]
    pub reverse: ReverseArguments,
    #[command(
        flatten,
        next_help_heading = "Connection to --server, encrypted by default"
    )]
    pub security: ConnectionSecurityArguments,
}

#[derive(Debug, Subcommand)]
pub enum TrustCommand {
    /// List the own, trusted and rejected certificates, and revocation lists (CRL).
    List {
        #[command(flatten)]
        remote: TrustServerArguments,
        /// Print JSON, one object for each certificate.
        #[arg(long)]
        json: bool,
    },
    /// Trust a certificate: a rejected one, by the beginning of its thumbprint, or one in a file.
    Add {
        /// Thumbprint, at least its first 8 digits, or a file (DER or PEM): a certificate or a revocation list (CRL).
        #[arg(value_name = "CERTIFICATE")]
        subject: String,
        /// The certificate belongs to an issuer (CA) that completes chains, but is not trusted by itself.
        #[arg(long)]
        issuer: bool,
        /// Print one JSON object.
        #[arg(long)]
        json: bool,
        #[command(flatten)]
        remote: TrustServerArguments,
    },
    /// Trust a certificate no more.
    Reject {
        /// Thumbprint, at least its first 8 digits, or a file. The revocation list (CRL) of the same issuer as one in a file is removed.
        #[arg(value_name = "CERTIFICATE")]
        subject: String,
        /// Print one JSON object.
        #[arg(long)]
        json: bool,
        #[command(flatten)]
        remote: TrustServerArguments,
    },
    /// Replace the own certificate of an application. The new one keeps names and addresses of the host, and is used for new
    /// connections at once.
    Renew {
        /// ApplicationName, as `takt trust list` shows it.
        #[arg(required_unless_present = "server", conflicts_with = "server")]
        name: Option<String>,
        /// More names or addresses of this host.
        #[arg(long, value_name = "HOST", value_parser = host, conflicts_with = "server")]
        host: Vec<String>,
        /// Replace only the certificate with this kind of key: RSA, nistP256, nistP384 or curve25519; of --server, RSA is the default.
        #[arg(long, value_name = "KIND")]
        key: Option<KeyKind>,
        /// Replace a certificate that an issuer (CA) has signed by a self-signed one, too.
        #[arg(long, conflicts_with = "server")]
        self_signed: bool,
        /// Certificate of the issuer (CA) that signs the new certificate of --server (DER or PEM).
        #[arg(
            long,
            value_name = "FILE",
            requires = "ca_key",
            conflicts_with = "name"
        )]
        ca: Option<PathBuf>,
        /// Private key of the issuer (PEM).
        #[arg(long, value_name = "FILE", requires = "ca", conflicts_with = "name")]
        ca_key: Option<PathBuf>,
        /// Validity of the new certificate of --server in days.
        #[arg(long, value_name = "DAYS", default_value_t = 365, conflicts_with = "name",
            value_parser = clap::value_parser!(u32).range(1..=3650))]
        days: u32,
        /// Print JSON, one object for each new certificate.
        #[arg(long)]
        json: bool,
        #[command(flatten)]
        remote: TrustServerArguments,
    },
    /// Show the content of a certificate, or of a revocation list (CRL).
    Show {
        /// Thumbprint, at least its first 8 digits, or a file (DER or PEM).
        certificate: String,
        /// Print one JSON object.
        #[arg(long)]
        json: bool,
    },
}
