//! `takt user`: the users of servers, and Unix users and groups over shared memory, with their roles.

use std::path::{Path, PathBuf};

use miette::IntoDiagnostic;
use serde_json::{Value, json};
use takt_app::users::{User, UserFile, UserKind, UserProof, UsersError, unix_group, unix_user};
use takt_crypto::{Certificate, PasswordHash, PolicyProfile, now};
use takt_figures::{Column, Report, Table};
use takt_space::{RoleSet, UserRole};

use crate::arguments::{UserArguments, UserCommand};
use crate::output::joined;
use crate::{explain, output, secret_file};

pub fn run(arguments: &UserArguments) -> miette::Result<()> {
    let path = match &arguments.users {
        Some(path) => path.clone(),
        None => {
            let folder = takt_app::state_directory();
            let folder = folder.map_err(|error| explain::state_directory(&error))?;
            takt_app::prepare_state_directory(&folder)
                .map_err(|error| explain::state_directory(&error))?;
            folder.join("users")
        }
    };
    let file = UserFile::new(path, RoleSet::default());
    match &arguments.command {
        UserCommand::List { json } => {
            // The default file is made with the first user. A given one that does not exist is a wrong path.
            if let Some(path) = arguments.users.as_ref().filter(|path| !path.exists()) {
                return Err(explain::with_help(
                    format!("{} does not exist", path.display()),
                    "`takt user add` makes the file. With `takt registry --data DIRECTORY` it is DIRECTORY/users.",
                ));
            }
            list(&file.read().map_err(failed)?, *json)
        }
        UserCommand::Add {
            name,
            role,
            password_file,
            certificate,
            json,
        } => {
            let (name, kind) = name.get();
            let mut warnings = Vec::new();
            let proof = match (kind, certificate) {
                (UserKind::UnixUser, _) => unix_user(name).map_err(failed)?,
                (UserKind::UnixGroup, _) => unix_group(name).map_err(failed)?,
                (UserKind::Login, Some(path)) => certificate_of(path, &mut warnings)?,
                (UserKind::Login, None) => {
                    let password = password(password_file.as_ref())?;
                    let hash = PasswordHash::of(password.as_bytes());
                    UserProof::Password(hash.map_err(|error| failed(error.into()))?)
                }
            };
            let user = User {
                name: name.to_owned(),
                roles: RoleSet::default(),
                proof,
            };
            let roles = match role.iter().copied().reduce(RoleSet::union) {
                Some(roles) => roles,
                // A new password does not change the roles.
                None => file
                    .read()
                    .map_err(failed)?
                    .iter()
                    .find(|other| user.is_same(other))
                    .map_or(UserRole::Operator.into(), |known| known.roles),
            };
            let user = User { roles, ..user };
            let added = joined(row(&user), json!({"warnings": warnings}));
            file.add(user).map_err(failed)?;
            output::warnings(*json, &warnings);
            let text = format_args!("{}{name} is {roles}", what(kind));
            output::tell(*json, || added, text);
            Ok(())
        }
        UserCommand::Remove { name, json } => {
            let (name, kind) = name.get();
            let what = what(kind);
            match file.remove(name, kind).map_err(failed)? {
                true => {
                    output::tell(
                        *json,
                        || json!({"name": name, "kind": kind_name(kind), "removed": true}),
                        format_args!("{what}{name} is removed"),
                    );
                    Ok(())
                }
                false => Err(explain::with_help(
                    format!(
                        "there is no {}{name}",
                        if what.is_empty() { "user " } else { what }
                    ),
                    "`takt user list` shows the names; --unix-user and --unix-group name Unix users and groups.",
                )),
            }
        }
    }
}

/// Returns the words before the name of a Unix user or group.
fn what(kind: UserKind) -> &'static str {
    match kind {
        UserKind::Login => "",
        UserKind::UnixUser => "Unix user ",
        UserKind::UnixGroup => "Unix group ",
    }
}

/// Returns the kind of a name for programs.
fn kind_name(kind: UserKind) -> &'static str {
    match kind {
        UserKind::Login => "user",
        UserKind::UnixUser => "Unix user",
        UserKind::UnixGroup => "Unix group",
    }
}

fn failed(error: UsersError) -> miette::Report {
    let help = match &error {
        UsersError::Line { .. } => {
            "Is it a file of users? Correct the line, or remove it. A server with such a file keeps the users from before."
        }
        UsersError::KnownCertificate(_) => {
            "A certificate is the proof of one user: remove the other user, or give this one another certificate."
        }
        UsersError::Io { source, .. } => explain::file_help(source),
        _ => "`takt user --help` tells more.",
    };
    explain::with_help(error, help)
}

fn certificate_of(path: &Path, warnings: &mut Vec<String>) -> miette::Result<UserProof> {
    let read = Certificate::from_file(path);
    let read =
        read.map_err(|error| explain::with_help(error, "A certificate is a file in DER or PEM."))?;
    if let Some(error) = read.shortcoming(&PolicyProfile::ALL, now()) {
        warnings.push(format!("the user is refused all the same: {error}"));
    }
    Ok(UserProof::Certificate(read.fingerprint()))
}

fn list(users: &[User], json: bool) -> miette::Result<()> {
    let mut report = Report::new(output::line, json);
    if users.is_empty() {
        report.line("no users; `takt user add NAME` adds one");
    } else {
        let columns = [
            Column::text("name").whole(),
            Column::text("roles"),
            Column::text("proof"),
        ];
        let mut table = Table::new(columns);
        for user in users {
            table.row([
                user.name.clone(),
                user.roles.to_string(),
                proof(user).to_owned(),
            ]);
        }
        report.table(&table);
    }
    for user in users {
        report.row(&row(user)).into_diagnostic()?;
    }
    Ok(())
}

/// Returns a user for programs.
fn row(user: &User) -> Value {
    let roles: Vec<&str> = user.roles.iter().map(UserRole::name).collect();
    json!({"name": user.name, "roles": roles, "proof": proof(user)})
}

fn proof(user: &User) -> &'static str {
    match user.proof {
        UserProof::Password(_) => "password",
        UserProof::Certificate(_) => "certificate",
        UserProof::UnixUser(_) => "Unix user",
        UserProof::UnixGroup(_) => "Unix group",
    }
}

/// Reads a password from the first line of a file, or from the environment.
pub fn password(file: Option<&PathBuf>) -> miette::Result<String> {
    const HELP: &str = "Give --password-file FILE, or set the variable TAKT_PASSWORD.";
    let password = match file {
        None => std::env::var("TAKT_PASSWORD")
            .map_err(|_| explain::with_help("the user needs a password", HELP))?,
        Some(file) => {
            let line = secret_file::first_line(file);
            line.map_err(|error| explain::with_help(format!("{}: {error}", file.display()), HELP))?
        }
    };
    match password.is_empty() {
        true => Err(explain::with_help("the password is empty", HELP)),
        false => Ok(password),
    }
}
