//! Files of a report: the HTML page, and its pictures.

use std::io;
use std::path::{Path, PathBuf};

use takt_figures::{Picture, PictureError, Theme};

use crate::campaign::{self, ReportedCampaign};
use crate::comparison::{ComparedRun, Requirement};
use crate::page::{self, Composed};

/// Reason why a file of a report cannot be written.
#[derive(Debug, thiserror::Error)]
pub enum ReportFileError {
    /// The page cannot be written.
    #[error("cannot write {}: {error}", path.display())]
    Page {
        /// Path of the page.
        path: PathBuf,
        /// Error of the operating system.
        #[source]
        error: io::Error,
    },
    /// The directory of the pictures cannot be made.
    #[error("cannot make {}: {error}", path.display())]
    Directory {
        /// Path of the directory.
        path: PathBuf,
        /// Error of the operating system.
        #[source]
        error: io::Error,
    },
    /// A picture cannot be written.
    #[error(transparent)]
    Picture(#[from] PictureError),
}

/// The report of runs: one HTML page without scripts and without references to other files.
pub struct RunReport(Composed);

impl RunReport {
    /// Composes the report of runs, judged by these requirements. Errors come first. Pictures and settings are those of 12
    /// applications, with the longest round trips, or with `all` those of all applications.
    #[must_use]
    pub fn of(runs: &[ComparedRun], requirements: &[Requirement], all: bool) -> Self {
        Self::with_campaigns(runs, &[], requirements, all)
    }

    /// Does the same with results of campaigns behind the runs. Without requirements, disciplines are ranked by all that rows can be judged
    /// by.
    #[must_use]
    pub fn with_campaigns(
        runs: &[ComparedRun],
        campaigns: &[ReportedCampaign],
        requirements: &[Requirement],
        all: bool,
    ) -> Self {
        let names = campaigns.iter();
        let names = names.map(|it| it.summary.description.name.as_str());
        let names: Vec<&str> = names.collect();
        let mut composed = page::compose(runs, &names, requirements, all);
        for it in campaigns {
            let pictures = campaign::add(&mut composed.page, it, requirements);
            composed.pictures.extend(pictures);
        }
        Self(composed)
    }

    /// Returns the page.
    #[must_use]
    pub fn html(&self) -> String {
        self.0.page.html()
    }

    /// Writes the page. A file of this name is replaced.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn write(&self, path: &Path) -> Result<(), ReportFileError> {
        std::fs::write(path, self.html()).map_err(|error| ReportFileError::Page {
            path: path.to_owned(),
            error,
        })
    }

    /// Writes each picture into a directory, as SVG and as PNG. The directory is made if it is not there.
    ///
    /// # Errors
    /// The directory cannot be made, or a picture cannot be written.
    pub fn write_pictures(&self, directory: &Path) -> Result<(), ReportFileError> {
        std::fs::create_dir_all(directory).map_err(|error| ReportFileError::Directory {
            path: directory.to_owned(),
            error,
        })?;
        for picture in &self.0.pictures {
            for file in Picture::of_each_kind(directory, &picture.name) {
                file.draw(&picture.figure, Theme::Auto)?;
            }
        }
        Ok(())
    }
}
