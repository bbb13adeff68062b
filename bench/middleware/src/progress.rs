//! Results of a comparison that goes on: one JSON object on each line of a file.

use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::condition::Condition;
use crate::error::MiddlewareError;
use crate::options::MiddlewareOptions;
use crate::row::{Calls, Leftovers, RoundResult};

/// Name of the file in the folder of the results.
const NAME: &str = "progress.jsonl";

/// Options that results of one comparison have in common.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Common {
    version: String,
    sizes: Vec<u32>,
    samples: u32,
    rounds: u32,
    seed: u64,
    scheduler: String,
    load_rate: u32,
    /// Number of resting requests and the longest wait in ms.
    resting: [u32; 2],
    place: String,
}

impl Common {
    fn of(options: &MiddlewareOptions) -> Self {
        let (samples, rounds) = options.requests();
        let conditions = &options.conditions;
        Self {
            // Figures of another build are others.
            version: format!("{} {}", env!("CARGO_PKG_VERSION"), takt_profile::PROFILE),
            sizes: options.all_sizes(),
            samples,
            rounds,
            seed: options.seed,
            scheduler: conditions.scheduler.to_string(),
            load_rate: conditions.load_rate,
            resting: [conditions.resting_samples, conditions.resting_wait],
            place: options.place(),
        }
    }

    /// Returns the option that differs from those of `other`.
    fn difference(&self, other: &Self) -> Option<String> {
        let pairs = [
            ("version", self.version.clone(), other.version.clone()),
            ("sizes", list(&self.sizes), list(&other.sizes)),
            (
                "samples",
                self.samples.to_string(),
                other.samples.to_string(),
            ),
            ("rounds", self.rounds.to_string(), other.rounds.to_string()),
            ("seed", self.seed.to_string(), other.seed.to_string()),
            ("scheduler", self.scheduler.clone(), other.scheduler.clone()),
            (
                "load-rate",
                self.load_rate.to_string(),
                other.load_rate.to_string(),
            ),
            (
                "resting samples and wait",
                list(&self.resting),
                list(&other.resting),
            ),
            ("place", self.place.clone(), other.place.clone()),
        ];
        let differs = pairs.into_iter().find(|(_, one, other)| one != other)?;
        let (name, one, other) = differs;
        Some(format!("{name} {one} instead of {other}"))
    }
}

fn list(sizes: &[u32]) -> String {
    let sizes: Vec<String> = sizes.iter().map(u32::to_string).collect();
    sizes.join(",")
}

/// Line of the file.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Line {
    Common(Common),
    Round(RoundResult),
    Left { label: String, left: Leftovers },
    Calls { label: String, calls: Calls },
}

/// File of results, and the results in it.
#[derive(Debug)]
pub(crate) struct ProgressFile {
    path: PathBuf,
    file: File,
    pub(crate) rounds: Vec<RoundResult>,
    pub(crate) left: Vec<(String, Leftovers)>,
    pub(crate) calls: Vec<(String, Calls)>,
}

impl ProgressFile {
    /// Begins a file, or goes on with one (`--resume`).
    pub(crate) fn open(options: &MiddlewareOptions) -> Result<Self, MiddlewareError> {
        let path = options.output.join(NAME);
        let mut found = Found::default();
        let mut whole = 0;
        if options.resume && path.is_file() {
            whole = read(&path, options, &mut found)?;
        }
        let opened = OpenOptions::new()
            .create(true)
            .truncate(false)
            .write(true)
            .open(&path);
        let file = opened.map_err(MiddlewareError::file("write", &path))?;
        let mut progress = Self {
            path,
            file,
            rounds: found.rounds,
            left: found.left,
            calls: found.calls,
        };
        progress.cut(whole)?;
        if whole == 0 {
            progress.write(&Line::Common(Common::of(options)))?;
        }
        Ok(progress)
    }

    /// Removes the rest after the last whole line, which an interrupt may have left.
    fn cut(&mut self, length: u64) -> Result<(), MiddlewareError> {
        use std::io::{Seek, SeekFrom};
        let cut = self.file.set_len(length);
        let moved = cut.and_then(|()| self.file.seek(SeekFrom::End(0)));
        moved.map_err(MiddlewareError::file("write", &self.path))?;
        Ok(())
    }

    fn write(&mut self, line: &Line) -> Result<(), MiddlewareError> {
        let mut text = serde_json::to_string(line)
            .map_err(|error| MiddlewareError::Output(error.to_string()))?;
        text.push('\n');
        let written = self.file.write_all(text.as_bytes());
        written.map_err(MiddlewareError::file("write", &self.path))
    }

    /// Returns true if a round of a peer is in the file.
    pub(crate) fn has(&self, label: &str, condition: Condition, round: u32) -> bool {
        let same =
            |it: &RoundResult| it.label == label && (it.condition, it.round) == (condition, round);
        self.rounds.iter().any(same)
    }

    pub(crate) fn add(&mut self, round: RoundResult) -> Result<(), MiddlewareError> {
        let line = Line::Round(round);
        self.write(&line)?;
        if let Line::Round(round) = line {
            self.rounds.push(round);
        }
        Ok(())
    }

    pub(crate) fn add_left(
        &mut self,
        label: &str,
        left: &Leftovers,
    ) -> Result<(), MiddlewareError> {
        self.left.push((label.to_owned(), left.clone()));
        self.write(&Line::Left {
            label: label.to_owned(),
            left: left.clone(),
        })
    }

    pub(crate) fn add_calls(&mut self, label: &str, calls: Calls) -> Result<(), MiddlewareError> {
        self.calls.push((label.to_owned(), calls));
        self.write(&Line::Calls {
            label: label.to_owned(),
            calls,
        })
    }
}

/// Results in a file.
#[derive(Debug, Default)]
struct Found {
    rounds: Vec<RoundResult>,
    left: Vec<(String, Leftovers)>,
    calls: Vec<(String, Calls)>,
}

/// Reads the whole lines of a file. Returns their length in bytes.
fn read(
    path: &Path,
    options: &MiddlewareOptions,
    found: &mut Found,
) -> Result<u64, MiddlewareError> {
    let failed = || MiddlewareError::file("read", path);
    let mut reader = BufReader::new(File::open(path).map_err(failed())?);
    let (mut whole, mut text) = (0, String::new());
    loop {
        text.clear();
        let length = reader.read_line(&mut text).map_err(failed())?;
        if length == 0 || !text.ends_with('\n') {
            return Ok(whole);
        }
        let line = serde_json::from_str(&text).map_err(|error| MiddlewareError::Table {
            path: path.to_owned(),
            reason: error.to_string(),
        })?;
        match line {
            Line::Common(common) => {
                if let Some(reason) = common.difference(&Common::of(options)) {
                    return Err(MiddlewareError::OtherOptions {
                        path: path.to_owned(),
                        reason,
                    });
                }
            }
            Line::Round(round) => found.rounds.push(round),
            Line::Left { label, left } => found.left.push((label, left)),
            Line::Calls { label, calls } => found.calls.push((label, calls)),
        }
        whole += length as u64;
    }
}
