//! `takt bench peers`: list and installation of the foreign peers.

use std::fs;
use std::io::{BufRead, IsTerminal, Write};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};

use clap::{Args, Subcommand};
use serde::Serialize;
use takt_figures::{Column, Report, Table};
use takt_rt::child::{ChildError, ChildProcess, Ending};

use crate::error::MiddlewareError;
use crate::load::STRESS;
use crate::packages::{apt, download_size, missing_packages};
use crate::table::{BUILT, PeerEntry, PeerTable};
use crate::usage::kill_group;

/// Commands of `takt bench peers`.
#[derive(Debug, Clone, Subcommand)]
pub enum PeersCommand {
    /// Print the peers: whether they are required and installed, and the size of their download.
    List(PeersOptions),
    /// Install the Debian packages of foreign peers, and build their programs.
    Install {
        /// Peers.
        #[command(flatten)]
        options: PeersOptions,
        /// Do not ask before the download.
        #[arg(long)]
        yes: bool,
    },
}

/// Choice of peers.
#[derive(Debug, Clone, Args)]
pub struct PeersOptions {
    /// Names of peers; by default all.
    #[arg(value_name = "NAME")]
    pub names: Vec<String>,
    /// Only the peers that a complete report has.
    #[arg(long)]
    pub required: bool,
    /// Table of foreign peers; by default that of the repository.
    #[arg(long, value_name = "FILE")]
    pub peers: Option<PathBuf>,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
}

/// State of a peer's program.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
enum State {
    /// Part of this program.
    Own,
    Installed,
    /// Built of other sources.
    Outdated,
    /// Not built, or not up to the end.
    Missing,
}

/// Peer as it is on this host.
#[derive(Debug, Clone, Serialize)]
struct Found {
    name: String,
    title: String,
    required: bool,
    state: State,
    /// Debian packages that are missing.
    packages: Vec<String>,
    /// Size of all its Debian packages in MiB.
    download_mib: u32,
    /// Size of the crates that its build fetches, in MiB.
    crates_mib: u32,
    #[serde(skip)]
    place: usize,
}

/// Lists peers, or installs them.
///
/// # Errors
/// [`MiddlewareError`]: an unknown name, an interrupt, or peers that cannot be installed.
pub fn peers(
    command: &PeersCommand,
    interrupted: &AtomicBool,
    line: impl FnMut(String),
) -> Result<(), MiddlewareError> {
    let (PeersCommand::List(options) | PeersCommand::Install { options, .. }) = command;
    let table = PeerTable::load(options.peers.as_deref())?;
    let found = find(&table, options)?;
    let mut report = Report::new(line, options.json);
    match command {
        PeersCommand::List(_) => list(&mut report, &found),
        PeersCommand::Install { yes, .. } => {
            // The load of the processors belongs to no peer.
            let tools = match options.names.is_empty() {
                true => missing_packages(&[STRESS.to_owned()]),
                false => Vec::new(),
            };
            install(&mut report, &table, (&found, &tools), *yes, interrupted)
        }
    }
}

fn find(table: &PeerTable, options: &PeersOptions) -> Result<Vec<Found>, MiddlewareError> {
    let mut found = Vec::new();
    for name in &options.names {
        if !table.peers.iter().any(|peer| peer.name == *name) {
            return Err(MiddlewareError::NoMatch(name.clone()));
        }
    }
    let wanted = |peer: &PeerEntry| {
        (options.names.is_empty() || options.names.contains(&peer.name))
            && (peer.required || !options.required)
    };
    for (place, peer) in table
        .peers
        .iter()
        .enumerate()
        .filter(|(_, peer)| wanted(peer))
    {
        found.push(Found {
            name: peer.name.clone(),
            title: peer.title.clone(),
            required: peer.required,
            state: state(table, peer),
            packages: missing_packages(&peer.packages),
            download_mib: peer.download_mib,
            crates_mib: peer.crates_mib,
            place,
        });
    }
    Ok(found)
}

fn state(table: &PeerTable, peer: &PeerEntry) -> State {
    match (table.missing(peer), peer.build.is_empty()) {
        (_, true) => State::Own,
        (Some(_), false) => State::Missing,
        (None, false) if table.is_current(peer) => State::Installed,
        (None, false) => State::Outdated,
    }
}

/// Prints the peers in columns that a terminal with 80 characters has room for; JSON has all fields.
fn list(report: &mut Report<impl FnMut(String)>, found: &[Found]) -> Result<(), MiddlewareError> {
    let mut table = Table::new([
        Column::text("name"),
        Column::text("required"),
        Column::text("state"),
        Column::number("download").unit("MiB"),
        Column::text("missing packages"),
    ]);
    for peer in found {
        let state = match peer.state {
            State::Own => "part of Takt",
            State::Installed => "installed",
            State::Outdated => "outdated",
            State::Missing => "not installed",
        };
        table.row([
            peer.name.clone(),
            if peer.required { "yes" } else { "no" }.to_owned(),
            state.to_owned(),
            peer.download_mib
                .saturating_add(peer.crates_mib)
                .to_string(),
            peer.packages.join(" "),
        ]);
        report
            .row(peer)
            .map_err(|error| MiddlewareError::Output(error.to_string()))?;
    }
    report.table(&table);
    Ok(())
}

fn install(
    report: &mut Report<impl FnMut(String)>,
    table: &PeerTable,
    (found, tools): (&[Found], &[String]),
    yes: bool,
    interrupted: &AtomicBool,
) -> Result<(), MiddlewareError> {
    let wanted = |it: &&Found| {
        matches!(it.state, State::Missing | State::Outdated) || !it.packages.is_empty()
    };
    let wanted: Vec<&Found> = found.iter().filter(wanted).collect();
    if wanted.is_empty() && tools.is_empty() {
        report.note("All peers are installed.");
        return Ok(());
    }
    let names = wanted.iter().map(|it| &it.name).chain(tools);
    let names: Vec<&str> = names.map(String::as_str).collect();
    let packages = wanted.iter().flat_map(|it| it.packages.clone());
    let mut packages: Vec<String> = packages.chain(tools.iter().cloned()).collect();
    packages.sort_unstable();
    packages.dedup();
    let download: u32 = wanted.iter().map(|it| it.download_mib).sum();
    report.note(&format!("Peers: {}", names.join(", ")));
    report.note(&match (packages.is_empty(), download_size(&packages)) {
        (true, _) => "Download: no Debian packages".to_owned(),
        (false, Some(mib)) => format!(
            "Download: {mib:.1} MiB of Debian packages: {}",
            packages.join(" ")
        ),
        (false, None) => format!(
            "Download: about {download} MiB of Debian packages: {}",
            packages.join(" ")
        ),
    });
    let crates: u32 = wanted.iter().map(|it| it.crates_mib).sum();
    if crates > 0 {
        report.note(&format!(
            "Crates: at most {crates} MiB, where cargo does not have them yet"
        ));
    }
    if !yes && !is_confirmed() {
        return Err(MiddlewareError::Unconfirmed);
    }
    let mut failed = Vec::new();
    // One by one if all at once fail: a package that is not there keeps no other peer away.
    let is_complete = apt(&packages).is_ok();
    if !is_complete && let Err(reason) = apt(tools) {
        failed.push((STRESS.to_owned(), reason));
    }
    for peer in wanted {
        if interrupted.load(Ordering::Relaxed) {
            return Err(MiddlewareError::Interrupted);
        }
        report.note(&format!("Building {} ...", peer.name));
        let packages = if is_complete {
            Ok(())
        } else {
            apt(&peer.packages)
        };
        match packages.and_then(|()| build(table, peer, interrupted)) {
            Ok(()) => {}
            Err(_) if interrupted.load(Ordering::Relaxed) => {
                return Err(MiddlewareError::Interrupted);
            }
            Err(reason) => failed.push((peer.name.clone(), reason)),
        }
    }
    let Some((_, reason)) = failed.first() else {
        report.note("Installed.");
        return Ok(());
    };
    let names: Vec<&str> = failed.iter().map(|(name, _)| name.as_str()).collect();
    Err(MiddlewareError::Install {
        peer: names.join(", "),
        reason: reason.clone(),
    })
}

/// Asks the user, if there is a terminal.
fn is_confirmed() -> bool {
    let input = std::io::stdin();
    if !input.is_terminal() {
        return false;
    }
    eprint!("Install? [y/N] ");
    // A terminal that is gone gives no answer.
    let _ = std::io::stderr().flush();
    let mut answer = String::new();
    let read = input.lock().read_line(&mut answer);
    read.is_ok() && matches!(answer.trim(), "y" | "Y" | "yes")
}

/// Builds the program of a peer. The output is in a file beside the program's folder.
fn build(table: &PeerTable, peer: &Found, interrupted: &AtomicBool) -> Result<(), String> {
    let (Some(folder), Some(root)) = (&table.folder, &table.root) else {
        return Err("the table of peers was not found".to_owned());
    };
    let entry = table.peers.get(peer.place);
    let Some((program, rest)) = entry.and_then(|entry| entry.build.split_first()) else {
        return Ok(());
    };
    let log = root.join(BUILT).join(format!("{}.log", peer.name));
    let made = log.parent().map_or(Ok(()), fs::create_dir_all);
    let file = made
        .and_then(|()| fs::File::create(&log))
        .map_err(|error| error.to_string())?;
    let mut command = Command::new(folder.join(program));
    command
        .args(rest)
        .current_dir(folder)
        .stderr(Stdio::from(file));
    let child = ChildProcess::start("build", &mut command, Ending::Input);
    let child = child.map_err(|error| format!("the build {error}"))?;
    let group = child.id();
    match child.finish(interrupted) {
        Ok((_, status)) if status.success() => Ok(()),
        Err(ChildError::Interrupted) => {
            // Compilers that the script has started.
            kill_group(group);
            Err("interrupted".to_owned())
        }
        Ok(_) => Err(format!("the build failed: {}", log.display())),
        Err(error) => Err(format!("the build {error}")),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    /// Build of a peer that ends before its last step if there is a file `src/wrong.c`.
    const BUILD: &str = "#!/bin/sh
set -e
built=../../target/middleware/$1
mkdir -p $built
rm -f $built/complete
sums=$(sha256sum src/a.c)
echo >../../target/a
test ! -e src/wrong.c
echo \"$sums\" >$built/complete
";

    #[test]
    fn a_program_is_missing_installed_or_built_of_other_sources() {
        let root = tempfile::tempdir().unwrap();
        let folder = root.path().join("peers/middleware");
        fs::create_dir_all(folder.join("src")).unwrap();
        let text = "[[peer]]\nname = \"a\"\ntitle = \"A\"\ngroup = \"mqtt\"\nbuild = [\"build\", \"a\"]\nprogram = [\"target/a\"]\n";
        fs::write(folder.join("peers.toml"), text).unwrap();
        fs::write(folder.join("src/a.c"), "").unwrap();
        fs::write(folder.join("build"), BUILD).unwrap();
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        fs::set_permissions(folder.join("build"), mode).unwrap();
        let table = PeerTable::load(Some(&folder.join("peers.toml"))).unwrap();
        let options = PeersOptions {
            names: vec!["a".to_owned()],
            required: false,
            peers: None,
            json: false,
        };
        let found = || find(&table, &options).unwrap().remove(0);
        let build = || super::build(&table, &found(), &AtomicBool::new(false));
        let reason = || table.missing(&table.peers[found().place]);
        assert_eq!(found().state, State::Missing);
        // The program is there, but its build did not come to its end.
        fs::write(folder.join("src/wrong.c"), "").unwrap();
        assert!(build().is_err() && root.path().join("target/a").is_file());
        assert_eq!(found().state, State::Missing);
        assert!(reason().is_some());
        fs::remove_file(folder.join("src/wrong.c")).unwrap();
        build().unwrap();
        assert_eq!(found().state, State::Installed);
        assert_eq!(reason(), None);
        // The time of a file does not matter, its content does.
        fs::write(folder.join("src/a.c"), "").unwrap();
        assert_eq!(found().state, State::Installed);
        fs::write(folder.join("src/a.c"), "int a;").unwrap();
        assert_eq!(found().state, State::Outdated);
    }
}
