//! `takt registry`: the SemanticRegistryServer.

use std::collections::HashMap;
use std::path::Path;
use std::time::Duration;

use serde_json::json;
use takt_app::client::Client;
use takt_app::serve::ServeOptions;
use takt_app::{
    Endpoint, EndpointUrl, HistoryStoreOptions, Identity, ReverseClient, ReverseListener, model,
};
use takt_registry::{
    MirrorOptions, NameBudget, RegisterAtOptions, Registry, RegistryHistoryOptions, RegistryOptions,
};
use takt_ua::{NodeId, StatusCode, Variant};

use super::connect::options;
use crate::arguments::{
    ConnectionArguments, MirrorArguments, RegistryArguments, RegistryCommand,
    RegistryServeArguments, listening,
};
use crate::server_interrupt;
use crate::{explain, output, secret_file};

pub fn run(arguments: RegistryArguments) -> miette::Result<()> {
    match arguments.command {
        None => serve(arguments.serve),
        Some(RegistryCommand::Forget {
            name,
            registry,
            json,
            connection,
        }) => forget(&name, &registry, &connection, json),
    }
}

fn serve(arguments: RegistryServeArguments) -> miette::Result<()> {
    takt_rt::heap::share_one_heap();
    let interrupt = server_interrupt::install()?;
    // Everything that the registry keeps is in one folder.
    let audit = arguments.security.audit.clone();
    let security = arguments.security.options(arguments.data.as_ref());
    let data = match arguments.data {
        Some(data) => data,
        None => takt_app::state_directory().map_err(|error| explain::state_directory(&error))?,
    };
    let names = NameBudget::for_providers(arguments.max_providers);
    let mut security_groups = arguments.security_group;
    for group in &mut security_groups {
        group.key_lifetime = arguments.key_lifetime;
    }
    let registry = Registry::start(RegistryOptions {
        application_name: arguments.name,
        endpoint: arguments.endpoint,
        database: data.join("registry.redb"),
        history: RegistryHistoryOptions {
            patterns: arguments.history,
            events: arguments.history_events,
            event_roles: arguments.history_events_role,
            interval: arguments.history_interval,
            store: HistoryStoreOptions {
                // The option is in MiB.
                max_size: arguments.history_max_size << 20,
                max_age: arguments.history_max_age,
            },
        },
        nodesets: arguments.nodeset,
        security_groups,
        push_targets: arguments.push_target,
        mirrors: mirrors(&arguments.mirrors)?,
        allow_tcp_registration: arguments.allow_tcp_registration,
        multicast: arguments.mdns,
        register_at: RegisterAtOptions {
            endpoints: arguments.register_at,
            security: arguments.register_security,
        },
        name_budget: NameBudget {
            namespaces: arguments.max_namespaces.unwrap_or(names.namespaces),
            ..names
        },
        budgets: arguments.memory.budgets(),
        serve: ServeOptions {
            no_tcp: arguments.no_tcp,
            group: arguments.share.group,
            security,
            audit,
            reverse_connect: arguments.reverse_connect,
            advertise: arguments.advertise,
            ..ServeOptions::default()
        },
    })
    .map_err(|error| explain::registry(&error))?;
    let name = registry.application_name().to_owned();
    output::ready(arguments.json, &name, registry.endpoints());
    // Arguments and the start took 0.6 MiB.
    takt_rt::heap::give_back();
    interrupt.wait(None);
    drop(registry);
    output::ended(arguments.json, &name);
    Ok(())
}

/// Returns the mirrors with their credentials.
fn mirrors(arguments: &MirrorArguments) -> miette::Result<Vec<MirrorOptions>> {
    let names: Vec<&str> = arguments
        .mirror
        .iter()
        .map(|mirror| mirror.name.as_str())
        .collect();
    check_names(arguments, &names)?;
    let mut mirrors = arguments.mirror.clone();
    let mut listeners: HashMap<EndpointUrl, ReverseListener> = HashMap::new();
    for (position, mirror) in mirrors.iter_mut().enumerate() {
        let name = mirror.name.clone();
        if names.iter().take(position).any(|other| **other == name) {
            return Err(explain::with_help(
                format!("two mirrors have the name {name}"),
                "Give them different names: --mirror NAME=URL.",
            ));
        }
        mirror.interval = arguments.mirror_interval;
        mirror.silence = arguments.mirror_silence;
        if let Some(choice) = of_mirror(&arguments.mirror_security, &name, &names) {
            mirror.security.choice = choice.parse().map_err(|error: String| {
                explain::with_help(error, "See --security in `takt browse --help`.")
            })?;
        }
        let any_host = &arguments.mirror_any_host;
        mirror.security.any_host = any_host.iter().any(|of| of.is_empty() || *of == name);
        let uri = of_mirror(&arguments.mirror_server_uri, &name, &names);
        mirror.server_uri = uri.map(str::to_owned);
        if let Some(address) = of_mirror(&arguments.mirror_listen, &name, &names) {
            mirror.reverse = Some(reverse_client(address, &mut listeners)?);
        }
        if let Some(user) = of_mirror(&arguments.mirror_user, &name, &names) {
            let file = of_mirror(&arguments.mirror_password_file, &name, &names);
            let name = user.to_owned();
            // The mirror reads the file again for each session. Reading it now shows a mistake at the start.
            let password = mirror_password(file)?;
            mirror.identity = match file {
                Some(file) => Identity::PasswordFile {
                    name,
                    file: file.into(),
                },
                None => Identity::UserName { name, password },
            };
        }
    }
    Ok(mirrors)
}

/// Refuses options for mirrors that do not exist.
fn check_names(arguments: &MirrorArguments, names: &[&str]) -> miette::Result<()> {
    let options = [
        ("--mirror-user", &arguments.mirror_user),
        ("--mirror-password-file", &arguments.mirror_password_file),
        ("--mirror-security", &arguments.mirror_security),
        ("--mirror-listen", &arguments.mirror_listen),
        ("--mirror-server-uri", &arguments.mirror_server_uri),
    ];
    for (option, values) in options {
        if let Some(unknown) = values.iter().find_map(|value| unknown_mirror(value, names)) {
            return Err(explain::with_help(
                format!("{option}: no mirror is named {unknown}"),
                format!(
                    "The mirrors are named {}. Write {option} MIRROR=VALUE if the value itself contains `=`.",
                    names.join(", ")
                ),
            ));
        }
    }
    let mut any_host = arguments.mirror_any_host.iter();
    match any_host.find(|of| !of.is_empty() && !names.contains(&of.as_str())) {
        Some(unknown) => Err(explain::with_help(
            format!("--mirror-any-host: no mirror is named {unknown}"),
            format!("The mirrors are named {}.", names.join(", ")),
        )),
        None => Ok(()),
    }
}

/// Returns the name of a mirror in the value of an option if there is no such mirror.
fn unknown_mirror<'a>(value: &'a str, names: &[&str]) -> Option<&'a str> {
    let (mirror, _) = value.split_once('=')?;
    (!names.contains(&mirror)).then_some(mirror)
}

/// Returns the socket at an address. Mirrors with the same address share it.
fn reverse_client(
    address: &str,
    listeners: &mut HashMap<EndpointUrl, ReverseListener>,
) -> miette::Result<ReverseClient> {
    const HELP: &str = "Write --mirror-listen HOST:PORT, for example 0.0.0.0:4841.";
    let url = listening(address).map_err(|error| explain::with_help(error, HELP))?;
    let listener = match listeners.get(&url) {
        Some(listener) => listener.clone(),
        None => {
            let opened = ReverseListener::bind(&url);
            let opened = opened.map_err(|error| explain::with_help(error, HELP))?;
            listeners.insert(url, opened.clone());
            opened
        }
    };
    // Mirrors try again, and see in between whether the registry ends.
    let wait = Duration::from_secs(1);
    Ok(ReverseClient { listener, wait })
}

/// Returns the value of an option for a mirror: the one with its name, or the one without a name.
fn of_mirror<'a>(values: &'a [String], name: &str, names: &[&str]) -> Option<&'a str> {
    let named = values.iter().find_map(|value| {
        let (mirror, value) = value.split_once('=')?;
        (mirror == name).then_some(value)
    });
    let is_named = |value: &&String| {
        let mirror = value.split_once('=').map(|(mirror, _)| mirror);
        mirror.is_some_and(|mirror| names.contains(&mirror))
    };
    let common = || values.iter().find(|value| !is_named(value));
    named.or_else(|| common().map(String::as_str))
}

fn mirror_password(file: Option<&str>) -> miette::Result<String> {
    const HELP: &str =
        "Give --mirror-password-file FILE, or set the variable TAKT_MIRROR_PASSWORD.";
    let password = match file {
        Some(file) => {
            let line = secret_file::first_line(Path::new(file));
            line.map_err(|error| explain::with_help(format!("{file}: {error}"), HELP))?
        }
        None => std::env::var("TAKT_MIRROR_PASSWORD")
            .map_err(|_| explain::with_help("the user of a mirror needs a password", HELP))?,
    };
    match password.is_empty() {
        true => Err(explain::with_help(
            "the password of a mirror is empty",
            HELP,
        )),
        false => Ok(password),
    }
}

fn forget(
    name: &str,
    registry: &Endpoint,
    connection: &ConnectionArguments,
    json: bool,
) -> miette::Result<()> {
    let explained = |error| explain::client(&error);
    let options = options(registry, connection)?;
    let mut client = Client::connect(registry, options).map_err(explained)?;
    let namespace = client
        .namespace_index(model::NAMESPACE_URI)
        .map_err(explained)?
        .ok_or_else(|| {
            explain::with_help(
                format!("{registry} is not a registry"),
                "See `takt registry --help`.",
            )
        })?;
    client
        .call_method(
            &NodeId::numeric(namespace, model::REGISTRY),
            &NodeId::numeric(namespace, model::REGISTRY_FORGET),
            vec![Variant::from(name)],
        )
        .map_err(|error| match error.status_code() {
            StatusCode::BadInvalidState => explain::with_help(
                format!("{name} is connected to the registry"),
                "Only a Provider that does not run can be removed: end it first.",
            ),
            StatusCode::BadNotFound => explain::with_help(
                format!("the registry knows no Provider {name}"),
                format!("`takt browse {registry} --depth 1` shows their names."),
            ),
            _ => explain::client(&error),
        })?;
    output::tell(
        json,
        || json!({"name": name, "registry": registry.to_string(), "removed": true}),
        format_args!("{name} is removed"),
    );
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_for_one_mirror_or_for_all() {
        let values = ["Left=anna", "operator"].map(str::to_owned);
        let names = ["Left", "Right"];
        assert_eq!(of_mirror(&values, "Left", &names), Some("anna"));
        assert_eq!(of_mirror(&values, "Right", &names), Some("operator"));
        assert_eq!(of_mirror(&values[..1], "Right", &names), None);
    }

    #[test]
    fn a_name_that_no_mirror_has_is_refused() {
        let names = ["Left", "Right"];
        assert_eq!(unknown_mirror("Left=anna", &names), None);
        assert_eq!(unknown_mirror("anna", &names), None);
        assert_eq!(unknown_mirror("Left=x=y", &names), None);
        assert_eq!(unknown_mirror("B=pw.txt", &names), Some("B"));
    }

    #[test]
    fn another_host_is_accepted_for_one_mirror_or_for_all() {
        use clap::Parser;

        #[derive(Parser)]
        struct Command {
            #[command(flatten)]
            mirrors: MirrorArguments,
        }
        let any_host = |options: &[&str]| {
            let two = [
                "takt",
                "--mirror",
                "Left=opc.tcp://10.0.0.7:4840",
                "--mirror",
                "Right=opc.tcp://10.0.0.8:4840",
            ];
            let parsed = Command::try_parse_from([&two[..], options].concat()).unwrap();
            let mirrors = mirrors(&parsed.mirrors)?;
            let any_host = mirrors.iter().map(|mirror| mirror.security.any_host);
            miette::Result::<Vec<bool>>::Ok(any_host.collect())
        };
        assert_eq!(any_host(&[]).unwrap(), [false, false]);
        assert_eq!(any_host(&["--mirror-any-host"]).unwrap(), [true, true]);
        let right = ["--mirror-any-host", "Right"];
        assert_eq!(any_host(&right).unwrap(), [false, true]);
        let error = any_host(&["--mirror-any-host", "Middle"]).unwrap_err();
        assert!(error.to_string().contains("Middle"), "{error}");
    }

    #[test]
    fn a_missing_password_of_a_mirror_names_its_options() {
        let error = mirror_password(Some("/no/such/file")).unwrap_err();
        let help = error.help().map(|help| help.to_string());
        assert!(help.is_some_and(|help| help.contains("--mirror-password-file")));
    }
}
