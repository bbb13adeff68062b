//! Certificate of a server, for peers with `security=tls`.

use std::process::{Command, Stdio};

use crate::{Options, text};

/// Makes the certificate of a server without a broker and its key, in the private folder. Returns both as PEM.
pub fn certificate(options: &Options) -> Result<(String, String), String> {
    let script = include_str!("../../src/certificate.sh");
    let words = ["-c", script, "certificate", &options.address, &options.folder];
    let status = Command::new("sh").args(words).stdin(Stdio::null()).status().map_err(text)?;
    if !status.success() {
        return Err(format!("openssl: {}/openssl.log", options.folder));
    }
    Ok((authority(options)?, read(options, "server.key")?))
}

/// Returns the certificate of the server or the broker as PEM: the authority that a client trusts.
pub fn authority(options: &Options) -> Result<String, String> {
    read(options, "server.crt")
}

fn read(options: &Options, name: &str) -> Result<String, String> {
    std::fs::read_to_string(format!("{}/{name}", options.folder)).map_err(text)
}
