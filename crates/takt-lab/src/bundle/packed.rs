//! Files of a run, as they are packed.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{BufReader, BufWriter, Read, Write};
use std::path::{Component, Path, PathBuf};

use takt_control::trace_file::{self, TraceReader};

use super::archive::archive;
use super::captured::{Addresses, rewritten};
use super::described;
use super::error::BundleError;
use super::names::PrivateNames;
use crate::case_record::{CASE_RECORD, CaseRecord};
use crate::run_directory::{DESCRIPTION, RunApplication, RunCase, RunDescription, SCENARIO};

/// Folder of all files in the archive.
const FOLDER: &str = "takt-run";

/// Kind of a packed file, which decides where names are sought.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum FileKind {
    /// Text of a person, such as a scenario: everywhere, also parts of full names.
    Written,
    /// Text of Takt: everywhere.
    Text,
    /// Trace: in its description. Its records are numbers.
    Trace,
    /// Capture: among printable bytes.
    Capture,
}

/// Files of a run without names of users and hosts.
#[derive(Debug)]
pub struct RunBundle {
    /// Folder of the packed files.
    folder: PathBuf,
    /// Files by their names in the folder.
    files: BTreeMap<String, FileKind>,
    /// Number of packets of captures that are not of the run.
    left_out: u64,
}

impl RunBundle {
    /// Reads the directory of a run, and writes its files into an empty folder as they are packed. The folder is then a directory of the
    /// run, too.
    ///
    /// # Errors
    /// [`BundleError`]: a file is missing or damaged, or cannot be written. Cases that failed are packed without files.
    pub fn of(directory: &Path, folder: &Path) -> Result<Self, BundleError> {
        let mut description = RunDescription::read(directory)?;
        description.host = described::facts(&description.host);
        let mut bundle = Self {
            folder: folder.to_owned(),
            files: BTreeMap::new(),
            left_out: 0,
        };
        let scenario = read(&directory.join(SCENARIO))?;
        for name in histograms(directory, &scenario) {
            let content = read(&directory.join(&name))?;
            bundle.write(&name, FileKind::Written, &content)?;
        }
        bundle.write(SCENARIO, FileKind::Written, &scenario)?;
        let mut addresses = Addresses::default();
        for case in &mut description.cases {
            case.failure = case.failure.as_deref().map(described::failure);
            if case.failure.is_none() {
                bundle.add_case(directory, case, &mut addresses)?;
            }
        }
        bundle.add(DESCRIPTION, &serde_json::to_vec_pretty(&description)?)?;
        Ok(bundle)
    }

    /// Adds the files of a case, under names of their kinds.
    fn add_case(
        &mut self,
        run: &Path,
        case: &mut RunCase,
        addresses: &mut Addresses,
    ) -> Result<(), BundleError> {
        let folder = inside(&case.directory)?.to_owned();
        let name = folder.display().to_string();
        let directory = run.join(&folder);
        let mut record = described::record(&CaseRecord::read(&directory)?);
        let ids = case.applications.iter();
        let ids = ids.flat_map(|it| [it.publisher_id, it.loopback_id].map(|id| id.to_string()));
        let ids: Vec<String> = ids.collect();
        let mut captures: Vec<(PathBuf, PathBuf)> = Vec::new();
        for (number, application) in (1..).zip(&mut case.applications) {
            let RunApplication {
                publisher_trace,
                loopback_trace,
                publisher_capture,
                loopback_capture,
                ..
            } = application;
            for (path, end) in [(publisher_trace, "publisher"), (loopback_trace, "loopback")] {
                let from = directory.join(inside(path)?);
                *path = format!("application-{number}.{end}.trace").into();
                self.add_trace(&from, &format!("{name}/{}", path.display()))?;
            }
            for path in [publisher_capture, loopback_capture].into_iter().flatten() {
                let known = captures.iter().find(|(earlier, _)| earlier == path);
                if let Some((_, packed)) = known {
                    path.clone_from(packed);
                    continue;
                }
                let packed = PathBuf::from(format!("capture-{}.pcapng", captures.len() + 1));
                let from = directory.join(inside(path)?);
                let input = File::open(&from).map_err(io(&from))?;
                let output =
                    self.create(&format!("{name}/{}", packed.display()), FileKind::Capture)?;
                self.left_out += rewritten(input, output, &ids, addresses)
                    .map_err(|damage| BundleError::Capture { path: from, damage })?;
                captures.push((path.clone(), packed.clone()));
                *path = packed;
            }
        }
        record.captures.retain_mut(|it| {
            let known = captures
                .iter()
                .find(|(from, _)| from.as_os_str() == it.file.as_str());
            let packed = known.map(|(_, packed)| packed.display().to_string());
            it.file = packed.unwrap_or_default();
            !it.file.is_empty()
        });
        let text = serde_json::to_vec_pretty(&record)?;
        self.add(&format!("{name}/{CASE_RECORD}"), &text)
    }

    /// Adds a file, such as the verdicts.
    ///
    /// # Errors
    /// [`BundleError::Io`].
    pub fn add(&mut self, name: &str, content: &[u8]) -> Result<(), BundleError> {
        self.write(name, FileKind::Text, content)
    }

    fn write(&mut self, name: &str, kind: FileKind, content: &[u8]) -> Result<(), BundleError> {
        let path = self.folder.join(name);
        let mut file = self.create(name, kind)?;
        let written = file.write_all(content).and_then(|()| file.flush());
        written.map_err(io(&path))
    }

    /// Adds a trace whose description has known lines only. Its records are copied as a stream.
    fn add_trace(&mut self, from: &Path, name: &str) -> Result<(), BundleError> {
        let mut input = BufReader::new(File::open(from).map_err(io(from))?);
        let mut output = self.create(name, FileKind::Trace)?;
        let beginning = beginning(&mut input).map_err(io(from))?;
        let beginning = trace_file::described(&beginning, described::lines).map_err(|error| {
            BundleError::Trace {
                path: from.to_owned(),
                error,
            }
        })?;
        let copied = output.write_all(&beginning);
        let copied = copied.and_then(|()| std::io::copy(&mut input, &mut output));
        let copied = copied.and_then(|_| output.flush());
        copied.map_err(io(from))
    }

    /// Creates a file of the folder.
    fn create(&mut self, name: &str, kind: FileKind) -> Result<BufWriter<File>, BundleError> {
        let path = self.folder.join(name);
        // The folder itself is there, unless another thread removes it because the process ends.
        if let Some((case, _)) = name.split_once('/') {
            let parent = self.folder.join(case);
            match fs::create_dir(&parent) {
                Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
                made => made.map_err(io(&parent))?,
            }
        }
        let file = File::create(&path).map_err(io(&path))?;
        self.files.insert(name.to_owned(), kind);
        Ok(BufWriter::new(file))
    }

    /// Returns the number of packets of captures that are not packed, because they are not of the run.
    #[must_use]
    pub const fn left_out(&self) -> u64 {
        self.left_out
    }

    /// Returns the names of the files in the archive, in their order.
    pub fn names(&self) -> impl Iterator<Item = String> {
        self.files.keys().map(|name| in_archive(name))
    }

    /// Looks for names that the archive must not have.
    ///
    /// # Errors
    /// [`BundleError::Name`], [`BundleError::Io`].
    pub fn check(&self, names: &PrivateNames) -> Result<(), BundleError> {
        for (file, kind) in &self.files {
            let path = self.folder.join(file);
            let open = || File::open(&path).map_err(io(&path));
            let found = match kind {
                FileKind::Written => names.found_in_written(open()?).map_err(io(&path))?,
                FileKind::Text => names.found_in_text(open()?).map_err(io(&path))?,
                FileKind::Capture => names.found_in_binary(open()?).map_err(io(&path))?,
                FileKind::Trace => {
                    let reader = TraceReader::new(BufReader::new(open()?));
                    let reader = reader.map_err(|error| BundleError::Trace {
                        path: path.clone(),
                        error,
                    })?;
                    let lines = reader.header().description.iter();
                    let mut lines = lines.flat_map(|(name, value)| [name, value]);
                    lines.find_map(|text| names.found_in(text.as_bytes()))
                }
            };
            if let Some(name) = names.found_in(file.as_bytes()).or(found) {
                return Err(BundleError::Name {
                    file: in_archive(file),
                    name: name.to_owned(),
                });
            }
        }
        Ok(())
    }

    /// Writes the archive, and returns its length in bytes. [`check`](Self::check) comes before.
    ///
    /// # Errors
    /// [`BundleError::Write`], [`BundleError::Io`], [`BundleError::Archive`].
    pub fn archive(&self, output: &mut impl Write) -> Result<u64, BundleError> {
        let files = self.files.keys();
        let files = files.map(|name| (in_archive(name), self.folder.join(name)));
        let files: Vec<(String, PathBuf)> = files.collect();
        let files = files.iter();
        archive(
            files.map(|(name, path)| (name.as_str(), path.as_path())),
            output,
        )
    }
}

/// Returns the name of a file in the archive.
fn in_archive(name: &str) -> String {
    format!("{FOLDER}/{name}")
}

/// Returns a path that stays in its folder.
fn inside(path: &Path) -> Result<&Path, BundleError> {
    let is_plain = |part: Component<'_>| matches!(part, Component::Normal(_));
    match path.components().all(is_plain) && path.components().count() == 1 {
        true => Ok(path),
        false => Err(BundleError::Outside(path.to_owned())),
    }
}

/// Returns the names of the histograms beside the scenario. A scenario with mistakes has none: the report names them.
fn histograms(directory: &Path, text: &[u8]) -> Vec<String> {
    let name = directory.join(SCENARIO).display().to_string();
    let text = String::from_utf8_lossy(text);
    let file = takt_scenario::ScenarioFile::parse(&text, &name);
    let names = file.map(|file| {
        let names = file.histogram_files().into_iter();
        names.map(|it| it.to_owned()).collect::<Vec<String>>()
    });
    let names = names.unwrap_or_default();
    names
        .into_iter()
        .filter(|name| inside(Path::new(name)).is_ok())
        .collect()
}

/// Reads the beginning of a trace file up to its first record: 12 bytes, a description whose length they have, and 8 bytes.
fn beginning(input: &mut impl Read) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    input.by_ref().take(12).read_to_end(&mut bytes)?;
    let length = bytes.last_chunk().copied().map_or(0, u32::from_le_bytes);
    // A damaged file may have any length: descriptions have 64 KiB at most.
    let length = u64::from(length).min(1 << 16);
    input.by_ref().take(length + 8).read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn read(path: &Path) -> Result<Vec<u8>, BundleError> {
    fs::read(path).map_err(io(path))
}

fn io(path: &Path) -> impl FnOnce(std::io::Error) -> BundleError {
    let path = path.to_owned();
    move |error| BundleError::Io { path, error }
}
