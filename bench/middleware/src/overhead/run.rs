//! The count: each peer once, one after the other.

use std::sync::atomic::AtomicBool;
use std::time::Duration;

use takt_figures::Report;

use super::account::account;
use super::messages::messages;
use super::options::OverheadOptions;
use super::recording::Recording;
use super::report;
use super::row::OverheadRow;
use crate::error::MiddlewareError;
use crate::protocol::SessionError;
use crate::table::{PeerEntry, PeerTable};

/// Option whose variants send the same bytes as the others.
const POLL: &str = "poll=true";

/// Counts the bytes of all peers, prints the tables and writes `overhead.csv`, `overhead.jsonl`, `overhead.md` and `overhead.txt`.
///
/// # Errors
/// [`MiddlewareError`]: a table or file that cannot be used, an interrupt, or a required peer that was not counted.
pub fn run(
    options: &OverheadOptions,
    interrupted: &AtomicBool,
    line: impl FnMut(String),
) -> Result<(), MiddlewareError> {
    let table = PeerTable::load(options.peers.as_deref())?;
    let folder = &options.output;
    std::fs::create_dir_all(folder).map_err(MiddlewareError::file("create", folder))?;
    let mut sizes = options.sizes.clone();
    sizes.sort_unstable();
    sizes.dedup();
    let pause = Duration::from_millis(options.pause.into());
    let mut rows = Vec::new();
    for peer in &table.peers {
        let plain = [Vec::new()];
        for variant in plain.iter().chain(&peer.variants) {
            let label = [std::slice::from_ref(&peer.name), variant]
                .concat()
                .join(" ");
            let is_wanted = options.only.is_empty()
                || options
                    .only
                    .iter()
                    .any(|text| label.contains(text.as_str()));
            if is_wanted && !variant.iter().any(|option| option == POLL) {
                rows.push(row(
                    &table,
                    peer,
                    (variant, &label),
                    (&sizes, pause),
                    interrupted,
                )?);
            }
        }
    }
    if rows.is_empty() {
        return Err(MiddlewareError::NoMatch(options.only.join(",")));
    }
    report::show(&mut Report::new(line, options.json), &rows, &sizes, options)?;
    let missing = rows.iter().filter(|it| it.required && it.missing.is_some());
    let missing: Vec<&str> = missing.map(|row| row.peer.as_str()).collect();
    match options.require && !missing.is_empty() {
        true => Err(MiddlewareError::Required(missing.join(", "))),
        false => Ok(()),
    }
}

/// Counts the bytes of one variant of a peer.
fn row(
    table: &PeerTable,
    peer: &PeerEntry,
    (variant, label): (&[String], &str),
    (sizes, pause): (&[u32], Duration),
    interrupted: &AtomicBool,
) -> Result<OverheadRow, MiddlewareError> {
    let missing = |reason: String| OverheadRow::missing(label, &peer.title, peer.required, reason);
    if let Some(reason) = table.missing(peer) {
        return Ok(missing(reason));
    }
    let recording = match Recording::make(table, peer, variant, (sizes, pause), interrupted) {
        Ok(recording) => recording,
        Err(SessionError::Interrupted) => return Err(MiddlewareError::Interrupted),
        Err(SessionError::Failed(reason)) => return Ok(missing(reason)),
    };
    let messages = match messages(peer.group, &recording.file) {
        Ok(messages) => messages,
        Err(reason) => return Ok(missing(reason)),
    };
    let course = &recording.course;
    let begin = course.windows.first().map_or(course.end, |it| it.begin);
    let seconds = course.end.saturating_sub(begin).as_secs_f64();
    let mut row = missing(String::new());
    let entries = account(&messages, course);
    row.fill(entries, sizes, &recording.memory, seconds);
    Ok(row)
}
