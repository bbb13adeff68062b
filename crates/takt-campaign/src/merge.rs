//! Merging of shares: the result of all shares is the one of a single run.

use std::collections::HashSet;
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Write};
use std::path::{Path, PathBuf};

use crate::error::{CampaignError, MergeFlaw};
use crate::folder::{
    CampaignDescription, FACTS, FolderLock, JOURNAL, ROWS, SOURCE, TABLE, write_whole,
};
use crate::row::CampaignRow;
use crate::shard::Shard;
use crate::table::write_table;

/// A folder with a share.
struct Part {
    directory: PathBuf,
    description: CampaignDescription,
    shard: Shard,
    /// Keeps runs from changing the folder.
    _lock: FolderLock,
}

/// Merges the shares in folders, given in any order, into a new folder. Returns the number of rows.
///
/// # Errors
/// [`CampaignError`].
pub fn merge_shards(directories: &[PathBuf], to: &Path) -> Result<usize, CampaignError> {
    let parts = parts(directories)?;
    let [first, ..] = parts.as_slice() else {
        return Err(CampaignError::NotMerged(MergeFlaw::Missing(Vec::new())));
    };
    let is_empty = |mut files: fs::ReadDir| files.next().is_none();
    if to.exists() && !fs::read_dir(to).is_ok_and(is_empty) {
        return Err(match CampaignDescription::read(to) {
            Ok(earlier) => CampaignError::Occupied {
                directory: to.to_owned(),
                name: earlier.name,
                rows: crate::store::RowStore::count(to),
            },
            Err(_) => CampaignError::NotEmpty(to.to_owned()),
        });
    }
    // The folder gets its name when it is complete.
    let parent = to.parent().filter(|it| !it.as_os_str().is_empty());
    let parent = parent.unwrap_or(Path::new("."));
    let failed = |error| CampaignError::io(to, error);
    fs::create_dir_all(parent).map_err(failed)?;
    let folder = tempfile::Builder::new().prefix("merge-").tempdir_in(parent);
    let folder = folder.map_err(failed)?;
    let directory = folder.path();
    let rows = merge_rows(&parts, &directory.join(ROWS))?;
    write_table(&directory.join(ROWS), &directory.join(TABLE))?;
    copy(&first.directory.join(SOURCE), &directory.join(SOURCE))?;
    write_whole(&directory.join(FACTS), |file| {
        for part in &parts {
            io::copy(&mut File::open(part.directory.join(FACTS))?, file)?;
        }
        Ok(())
    })?;
    // A share without a row of uml does not tell.
    let kernel = parts.iter().find_map(|it| it.description.kernel.clone());
    let description = CampaignDescription {
        shard: None,
        kernel,
        ..first.description.clone()
    };
    description.write(directory)?;
    // `tempfile` makes folders that only their owner may read.
    let metadata = fs::metadata(&first.directory).map_err(failed)?;
    fs::set_permissions(directory, metadata.permissions()).map_err(failed)?;
    fs::rename(directory, to).map_err(failed)?;
    // Nothing is left to be removed.
    let _ = folder.keep();
    Ok(rows)
}

/// Returns the shares in their order: all of one campaign, and complete.
fn parts(directories: &[PathBuf]) -> Result<Vec<Part>, CampaignError> {
    let mut parts: Vec<Part> = Vec::with_capacity(directories.len());
    let flaw = |flaw| Err(CampaignError::NotMerged(flaw));
    for directory in directories {
        let description = CampaignDescription::read(directory)?;
        let Some(shard) = description.shard else {
            return flaw(MergeFlaw::Whole(directory.clone()));
        };
        // Before the lock: the same folder may be named twice.
        if let Some(same) = parts.iter().find(|part| part.shard == shard) {
            return flaw(MergeFlaw::Twice(same.directory.clone(), directory.clone()));
        }
        let lock = FolderLock::take(directory)?;
        if directory.join(JOURNAL).exists() || !directory.join(ROWS).exists() {
            return Err(CampaignError::Incomplete(directory.clone()));
        }
        parts.push(Part {
            directory: directory.clone(),
            description,
            shard,
            _lock: lock,
        });
    }
    parts.sort_by_key(|part| part.shard.number);
    let Some(first) = parts.first() else {
        return Ok(parts);
    };
    let of = first.shard.of;
    let kernel = parts.iter().find_map(|it| it.description.kernel.clone());
    let same = |part: &Part| {
        let shard = first.description.shard;
        let other = CampaignDescription {
            shard,
            kernel: first.description.kernel.clone(),
            ..part.description.clone()
        };
        let own = part.description.kernel.as_ref();
        let has_kernel = own.is_none() || own == kernel.as_ref();
        part.shard.of == of && has_kernel && other == first.description
    };
    if let Some(other) = parts.iter().find(|part| !same(part)) {
        let (one, other) = (first.directory.clone(), other.directory.clone());
        return flaw(MergeFlaw::Different(one, other));
    }
    let there: HashSet<u32> = parts.iter().map(|part| part.shard.number).collect();
    let missing = (1..=of).filter(|number| !there.contains(number));
    let missing: Vec<Shard> = missing.map(|number| Shard { number, of }).collect();
    match missing.is_empty() {
        true => Ok(parts),
        false => flaw(MergeFlaw::Missing(missing)),
    }
}

/// Lines of a share, with the case and backend of each.
struct Lines {
    path: PathBuf,
    lines: io::Split<BufReader<File>>,
    next: Option<(String, String, Vec<u8>)>,
}

impl Lines {
    fn open(path: PathBuf) -> Result<Self, CampaignError> {
        let file = File::open(&path).map_err(|error| CampaignError::io(&path, error))?;
        let mut lines = Self {
            path,
            lines: BufReader::new(file).split(b'\n'),
            next: None,
        };
        lines.advance()?;
        Ok(lines)
    }

    fn advance(&mut self) -> Result<(), CampaignError> {
        self.next = None;
        if let Some(line) = self.lines.next() {
            let line = line.map_err(|error| CampaignError::io(&self.path, error))?;
            let row: CampaignRow =
                serde_json::from_slice(&line).map_err(|error| CampaignError::Damaged {
                    path: self.path.clone(),
                    reason: error.to_string(),
                })?;
            self.next = Some((row.case, row.backend, line));
        }
        Ok(())
    }
}

/// Writes the rows of all shares in the order of the campaign: the items are dealt to the shares one after the other, so they come back
/// in the same way.
fn merge_rows(parts: &[Part], to: &Path) -> Result<usize, CampaignError> {
    let sources = parts
        .iter()
        .map(|part| Lines::open(part.directory.join(ROWS)));
    let mut sources = sources.collect::<Result<Vec<_>, _>>()?;
    let items = parts.first().map_or(0, |part| part.description.items);
    let (mut rows, mut outcome) = (0, Ok(()));
    let written = write_whole(to, |file| {
        for item in 0..items {
            let index = item % sources.len().max(1);
            let Some(source) = sources.get_mut(index) else {
                break;
            };
            let Some((case, backend, _)) = source.next.clone() else {
                outcome = Err(missing(source));
                return Err(io::Error::other("rows are missing"));
            };
            while let Some((_, _, line)) = source
                .next
                .take_if(|next| next.0 == case && next.1 == backend)
            {
                file.write_all(&line)?;
                file.write_all(b"\n")?;
                rows += 1;
                if let Err(error) = source.advance() {
                    outcome = Err(error);
                    return Err(io::Error::other("a row cannot be read"));
                }
            }
        }
        Ok(())
    });
    outcome?;
    written?;
    match sources.iter().find(|source| source.next.is_some()) {
        None => Ok(rows),
        Some(source) => Err(CampaignError::Damaged {
            path: source.path.clone(),
            reason: "it has rows of more cases than its campaign".to_owned(),
        }),
    }
}

fn missing(source: &Lines) -> CampaignError {
    CampaignError::Damaged {
        path: source.path.clone(),
        reason: "rows of cases are missing".to_owned(),
    }
}

fn copy(from: &Path, to: &Path) -> Result<(), CampaignError> {
    fs::copy(from, to)
        .map(|_| ())
        .map_err(|error| CampaignError::io(from, error))
}
