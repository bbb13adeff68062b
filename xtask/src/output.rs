//! Generated files: formatting, writing, and comparison with the committed files.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::error::Error;

/// A file to be written.
pub(crate) struct GeneratedFile {
    /// Path from the root of the repository.
    pub(crate) path: PathBuf,
    /// Contents of the file; Rust code is formatted when it is applied.
    pub(crate) content: Vec<u8>,
}

impl GeneratedFile {
    /// Creates a file below the root of the repository.
    pub(crate) fn new(path: impl Into<PathBuf>, content: impl Into<Vec<u8>>) -> Self {
        Self {
            path: path.into(),
            content: content.into(),
        }
    }
}

/// Writes the files that changed, or with `check` fails if there are any. Other files in the folders `owned`, which
/// contain only generated files, are of an earlier version and are removed.
pub(crate) fn apply(
    root: &Path,
    files: Vec<GeneratedFile>,
    owned: &[&str],
    check: bool,
) -> Result<(), Error> {
    let mut different = Vec::new();
    for path in strangers(root, &files, owned)? {
        different.push(format!("{}: is not generated any more", path.display()));
        if !check {
            println!("{}: removed", path.display());
            let path = root.join(path);
            std::fs::remove_file(&path).map_err(|source| Error::File { path, source })?;
        }
    }
    for mut file in files {
        if file
            .path
            .extension()
            .is_some_and(|extension| extension == "rs")
        {
            file.content = rustfmt(root, file.content)?;
        }
        let path = root.join(&file.path);
        let committed = match std::fs::read(&path) {
            Ok(content) => content,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Vec::new(),
            Err(source) => return Err(Error::File { path, source }),
        };
        if committed == file.content {
            continue;
        }
        if check {
            different.push(format!(
                "{}: {}",
                file.path.display(),
                difference(&committed, &file.content)
            ));
        } else {
            println!("{}: written", file.path.display());
            if let Some(folder) = path.parent() {
                std::fs::create_dir_all(folder).map_err(|source| Error::File {
                    path: folder.to_owned(),
                    source,
                })?;
            }
            std::fs::write(&path, &file.content).map_err(|source| Error::File { path, source })?;
        }
    }
    if check && !different.is_empty() {
        Err(Error::Differs(different))
    } else {
        Ok(())
    }
}

/// Returns the files in the folders `owned` that are not among `files`.
fn strangers(root: &Path, files: &[GeneratedFile], owned: &[&str]) -> Result<Vec<PathBuf>, Error> {
    let mut result = Vec::new();
    for folder in owned {
        let path = root.join(folder);
        let entries = match std::fs::read_dir(&path) {
            Ok(entries) => entries,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => continue,
            Err(source) => return Err(Error::File { path, source }),
        };
        for entry in entries {
            let entry = entry.map_err(|source| Error::File {
                path: path.clone(),
                source,
            })?;
            let name = Path::new(folder).join(entry.file_name());
            if files.iter().all(|file| file.path != name) {
                result.push(name);
            }
        }
    }
    Ok(result)
}

/// Different lines that [`difference`] shows at most. An inserted paragraph makes all lines behind it different.
const SHOWN_DIFFERENCES: usize = 8;

/// Returns a text about the difference of two versions of a file: sizes, and the first different lines.
fn difference(committed: &[u8], generated: &[u8]) -> String {
    let sizes = format!(
        "{} bytes committed, {} generated",
        committed.len(),
        generated.len()
    );
    let (Ok(committed), Ok(generated)) = (
        std::str::from_utf8(committed),
        std::str::from_utf8(generated),
    ) else {
        let offset = committed
            .iter()
            .zip(generated)
            .take_while(|(old, new)| old == new)
            .count();
        return format!("{sizes}, first difference at byte {offset}");
    };
    let mut lines = Vec::new();
    let (mut old, mut new) = (committed.lines(), generated.lines());
    for number in 1.. {
        match (old.next(), new.next()) {
            (None, None) => break,
            (old, new) if old == new => (),
            (old, new) => lines.push(format!(
                "\n  line {number}\n  - {}\n  + {}",
                old.unwrap_or("(end of file)").trim(),
                new.unwrap_or("(end of file)").trim()
            )),
        }
        if lines.len() == SHOWN_DIFFERENCES {
            break;
        }
    }
    if lines.is_empty() {
        return format!("{sizes}, only the ends of lines differ");
    }
    format!("{sizes}, the first different lines:{}", lines.concat())
}

/// Formats Rust code by the repository's own settings.
fn rustfmt(root: &Path, code: Vec<u8>) -> Result<Vec<u8>, Error> {
    let missing = |source| Error::Program {
        program: "rustfmt",
        hint: "rustup component add rustfmt",
        source,
    };
    let mut child = Command::new("rustfmt")
        .args(["--edition", "2024", "--quiet"])
        .current_dir(root)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(missing)?;
    // A thread writes the input, because rustfmt may fill its output pipe before it has read all of it.
    let input = child.stdin.take();
    let writer = std::thread::spawn(move || match input {
        Some(mut input) => input.write_all(&code),
        None => Ok(()),
    });
    let output = child.wait_with_output().map_err(missing)?;
    match writer.join() {
        Ok(Ok(())) if output.status.success() => Ok(output.stdout),
        _ => Err(Error::Rustfmt(
            String::from_utf8_lossy(&output.stderr).into_owned(),
        )),
    }
}
