//! `takt trust`: the certificates that this user's applications, or a server, have, trust and have rejected.

mod changed;
mod listing;
mod local;
mod remote;

use takt_app::certificates;
use takt_crypto::KeyKind;

use crate::arguments::{Given, TrustArguments, TrustCommand};
use crate::explain;

pub fn run(arguments: &TrustArguments, given: &Given) -> miette::Result<()> {
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
    let connect = |remote| remote::connect(remote, folder, given);
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
                let tell = |changed: changed::Changed| changed.tell(*json, remote);
                local::renew(&store, name, host, *key, *self_signed, tell)
            }
        },
        TrustCommand::Show { certificate, json } => local::show(&store, certificate, *json),
    }
}
