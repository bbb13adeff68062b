//! `takt trust`: the certificates that this user's applications, or a server, have, trust and have rejected.

mod listing;
mod local;
mod remote;

use serde_json::{Value, json};
use takt_app::certificates;
use takt_crypto::KeyKind;

use crate::arguments::{TrustArguments, TrustCommand, TrustServerArguments};
use crate::output::joined;
use crate::{explain, output};

pub fn run(arguments: &TrustArguments) -> miette::Result<()> {
    let folder = arguments.certificates.as_ref();
    let path = folder.map(|folder| &**folder);
    let store = match &arguments.command {
        TrustCommand::List { .. } | TrustCommand::Show { .. } => {
            // A command that only shows certificates makes no folders.
            certificates::open_store_to_read(path)
        }
        _ => certificates::open_store(path),
    };
    let store = store.map_err(|error| explain::certificates(&error))?;
    let connect = |remote| remote::connect(remote, folder);
    match &arguments.command {
        TrustCommand::List { json, remote } => match connect(remote)? {
            Some(mut client) => remote::list(&mut client, *json),
            None => local::list(&store, *json),
        },
        TrustCommand::Add {
            subject,
            issuer,
            json,
            remote,
        } => match connect(remote)? {
            Some(mut client) => {
                remote::add(&mut client, &store, subject, *issuer)?.tell(*json, remote)
            }
            None => local::add(&store, subject, *issuer)?.tell(*json, remote),
        },
        TrustCommand::Reject {
            subject,
            json,
            remote,
        } => match connect(remote)? {
            Some(mut client) => remote::reject(&mut client, subject)?.tell(*json, remote),
            None => local::reject(&store, subject)?.tell(*json, remote),
        },
        TrustCommand::Renew {
            name,
            host,
            key,
            self_signed,
            ca,
            ca_key,
            days,
            json,
            remote,
        } => match connect(remote)? {
            Some(mut client) => {
                let ca = ca.as_deref().zip(ca_key.as_deref());
                let renewed = remote::renew(&mut client, key.unwrap_or(KeyKind::Rsa), ca, *days)?;
                renewed.tell(*json, remote)
            }
            None => {
                let name = name.as_deref().unwrap_or_default();
                let tell = |changed: Changed| changed.tell(*json, remote);
                local::renew(&store, name, host, *key, *self_signed, tell)
            }
        },
        TrustCommand::Show { certificate, json } => local::show(&store, certificate, *json),
    }
}

/// Change of a certificate or revocation list.
struct Changed {
    /// Line for people.
    text: String,
    /// The certificate or revocation list, as in a list.
    object: Value,
    warnings: Vec<String>,
}

impl Changed {
    /// Prints the change and its warnings.
    #[allow(clippy::unnecessary_wraps, reason = "it ends each command")]
    fn tell(self, json: bool, remote: &TrustServerArguments) -> miette::Result<()> {
        let Self {
            text,
            object,
            warnings,
        } = self;
        let server = remote.server.as_ref().map(ToString::to_string);
        let others = json!({"server": server, "warnings": warnings});
        output::tell(json, || joined(object, others), text);
        output::warnings(json, &warnings);
        Ok(())
    }
}
