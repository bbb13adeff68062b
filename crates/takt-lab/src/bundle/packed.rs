//! Files of a run, as they are packed.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::{Component, Path, PathBuf};

use takt_control::trace_file;

use super::archive::archive;
use super::captured::{Addresses, rewritten};
use super::described;
use super::error::BundleError;
use super::names::PrivateNames;
use crate::case_record::{CASE_RECORD, CaseRecord};
use crate::run_directory::{DESCRIPTION, RunApplication, RunCase, RunDescription, SCENARIO};

/// Folder of all files in the archive.
const FOLDER: &str = "takt-run";

/// Files of a run without names of users and hosts.
#[derive(Debug)]
pub struct RunBundle {
    /// Content by name in the archive.
    files: BTreeMap<String, Vec<u8>>,
    /// Number of packets of captures that are not of the run.
    left_out: u64,
}

impl RunBundle {
    /// Reads the directory of a run.
    ///
    /// # Errors
    /// [`BundleError`]: a file is missing or damaged. Cases that failed are packed without files.
    pub fn of(directory: &Path) -> Result<Self, BundleError> {
        let mut description = RunDescription::read(directory)?;
        description.host = described::facts(&description.host);
        let mut bundle = Self {
            files: BTreeMap::new(),
            left_out: 0,
        };
        let scenario = read(&directory.join(SCENARIO))?;
        for name in histograms(directory, &scenario) {
            let content = read(&directory.join(&name))?;
            bundle.add(&name, content);
        }
        bundle.add(SCENARIO, scenario);
        let mut addresses = Addresses::default();
        for case in &mut description.cases {
            case.failure = case.failure.as_deref().map(described::failure);
            if case.failure.is_none() {
                bundle.add_case(directory, case, &mut addresses)?;
            }
        }
        bundle.add(DESCRIPTION, serde_json::to_vec_pretty(&description)?);
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
                let content = trace(&directory.join(inside(path)?))?;
                *path = format!("application-{number}.{end}.trace").into();
                self.add(&format!("{name}/{}", path.display()), content);
            }
            for path in [publisher_capture, loopback_capture].into_iter().flatten() {
                let known = captures.iter().find(|(earlier, _)| earlier == path);
                if let Some((_, packed)) = known {
                    path.clone_from(packed);
                    continue;
                }
                let packed = PathBuf::from(format!("capture-{}.pcapng", captures.len() + 1));
                let from = directory.join(inside(path)?);
                let file = File::open(&from).map_err(io(&from))?;
                let (content, left_out) = rewritten(file, &ids, addresses)
                    .map_err(|damage| BundleError::Capture { path: from, damage })?;
                self.left_out += left_out;
                self.add(&format!("{name}/{}", packed.display()), content);
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
        self.add(&format!("{name}/{CASE_RECORD}"), text);
        Ok(())
    }

    /// Adds a file, such as the verdicts.
    pub fn add(&mut self, name: &str, content: Vec<u8>) {
        self.files.insert(format!("{FOLDER}/{name}"), content);
    }

    /// Writes the files of the run into a directory, as they are packed: with the same names as in the archive, below its folder.
    ///
    /// # Errors
    /// [`BundleError::Io`].
    pub fn unpack(&self, directory: &Path) -> Result<(), BundleError> {
        let folder = format!("{FOLDER}/");
        for (name, content) in &self.files {
            let path = directory.join(name.strip_prefix(&folder).unwrap_or(name));
            if let Some(parent) = path.parent() {
                fs::create_dir_all(parent).map_err(io(parent))?;
            }
            fs::write(&path, content).map_err(io(&path))?;
        }
        Ok(())
    }

    /// Returns the number of packets of captures that are not packed, because they are not of the run.
    #[must_use]
    pub const fn left_out(&self) -> u64 {
        self.left_out
    }

    /// Returns the names of the files, in their order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.files.keys().map(String::as_str)
    }

    /// Returns the archive, if it has none of these names.
    ///
    /// # Errors
    /// [`BundleError::Name`], [`BundleError::Archive`].
    pub fn archive(&self, names: &PrivateNames) -> Result<Vec<u8>, BundleError> {
        for (file, content) in &self.files {
            let found = names
                .found_in(file.as_bytes())
                .or_else(|| names.found_in(content));
            if let Some(name) = found {
                return Err(BundleError::Name {
                    file: file.clone(),
                    name: name.to_owned(),
                });
            }
        }
        let files = self.files.iter();
        archive(files.map(|(name, content)| (name.as_str(), content.as_slice())))
    }
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

/// Returns a trace whose description has known lines only.
fn trace(path: &Path) -> Result<Vec<u8>, BundleError> {
    let content = read(path)?;
    trace_file::described(&content, described::lines).map_err(|error| BundleError::Trace {
        path: path.to_owned(),
        error,
    })
}

fn read(path: &Path) -> Result<Vec<u8>, BundleError> {
    fs::read(path).map_err(io(path))
}

fn io(path: &Path) -> impl FnOnce(std::io::Error) -> BundleError {
    let path = path.to_owned();
    move |error| BundleError::Io { path, error }
}
