//! `takt user`: the users of servers over opc.tcp, with their roles.

use std::path::{Path, PathBuf};

use miette::IntoDiagnostic;
use serde_json::json;
use takt_app::users::{User, UserFile, UserProof, UsersError};
use takt_crypto::{Certificate, PasswordHash};
use takt_report::{Column, Report, Table};
use takt_space::UserRole;

use crate::arguments::{UserArguments, UserCommand};
use crate::{explain, output};

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
    let file = UserFile::new(path, UserRole::Observer);
    match &arguments.command {
        UserCommand::List { json } => list(&file, *json),
        UserCommand::Add {
            name,
            role,
            password_file,
            certificate,
        } => {
            let proof = match certificate {
                Some(path) => certificate_of(path)?,
                None => {
                    let password = password(password_file.as_ref())?;
                    let hash = PasswordHash::of(password.as_bytes());
                    UserProof::Password(hash.map_err(|error| failed(error.into()))?)
                }
            };
            let user = User {
                name: name.clone(),
                role: *role,
                proof,
            };
            file.add(user).map_err(failed)?;
            output::line(format_args!("{name} is {role}"));
            Ok(())
        }
        UserCommand::Remove { name } => match file.remove(name).map_err(failed)? {
            true => {
                output::line(format_args!("{name} is removed"));
                Ok(())
            }
            false => Err(explain::with_help(
                format!("there is no user {name}"),
                "`takt user list` shows the names.",
            )),
        },
    }
}

fn failed(error: UsersError) -> miette::Report {
    explain::with_help(error, "`takt user --help` tells more.")
}

fn certificate_of(path: &Path) -> miette::Result<UserProof> {
    let read = Certificate::from_file(path);
    let read =
        read.map_err(|error| explain::with_help(error, "A certificate is a file in DER or PEM."))?;
    Ok(UserProof::Certificate(read.fingerprint()))
}

fn list(file: &UserFile, json: bool) -> miette::Result<()> {
    let users = file.users();
    let mut report = Report::new(output::line, json);
    if users.is_empty() {
        report.line("no users; `takt user add NAME` adds one");
    } else {
        let columns = [
            Column::text("name"),
            Column::text("role"),
            Column::text("proof"),
        ];
        let mut table = Table::new(columns);
        for user in users.iter() {
            table.row([
                user.name.clone(),
                user.role.to_string(),
                proof(user).to_owned(),
            ]);
        }
        report.table(&table);
    }
    for user in users.iter() {
        let role = user.role.to_string();
        let row = json!({"name": user.name, "role": role, "proof": proof(user)});
        report.row(&row).into_diagnostic()?;
    }
    Ok(())
}

fn proof(user: &User) -> &'static str {
    match user.proof {
        UserProof::Password(_) => "password",
        UserProof::Certificate(_) => "certificate",
    }
}

/// Reads a password from the first line of a file, or from the environment.
pub fn password(file: Option<&PathBuf>) -> miette::Result<String> {
    const HELP: &str = "Give --password-file FILE, or set the variable TAKT_PASSWORD.";
    let Some(file) = file else {
        return std::env::var("TAKT_PASSWORD")
            .map_err(|_| explain::with_help("the user needs a password", HELP));
    };
    let text = std::fs::read_to_string(file);
    let text =
        text.map_err(|error| explain::with_help(format!("{}: {error}", file.display()), HELP))?;
    let first = text.lines().next().unwrap_or_default();
    match first.is_empty() {
        true => Err(explain::with_help("the password is empty", HELP)),
        false => Ok(first.to_owned()),
    }
}
