//! The library: all papers with their tables and figures.

use std::path::{Path, PathBuf};

use crate::campaign::PaperCampaign;
use crate::element::PaperElement;
use crate::error::PaperError;
use crate::file::LibraryFile;
use crate::place::FileText;

/// Name of the file with all papers.
const FILE: &str = "papers.toml";

/// A table or figure that Takt cannot express.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MissingElement {
    /// Place in the paper: `Table V`.
    pub place: String,
    /// Title.
    pub title: String,
    /// Reason.
    pub reason: String,
}

/// A paper.
#[derive(Debug, Clone, PartialEq)]
pub struct Paper {
    /// Short name.
    pub id: String,
    /// Title.
    pub title: String,
    /// Authors, and where it was published.
    pub source: String,
    /// Tables and figures with a campaign.
    pub elements: Vec<PaperElement>,
    /// Tables and figures without one.
    pub missing: Vec<MissingElement>,
}

/// All papers.
#[derive(Debug, Clone, PartialEq)]
pub struct PaperLibrary {
    /// Folder of the files.
    pub folder: PathBuf,
    /// Papers in the order of the file.
    pub papers: Vec<Paper>,
}

impl PaperLibrary {
    /// Reads the library in a folder.
    ///
    /// # Errors
    /// A file cannot be read, or has a mistake.
    pub fn read(folder: &Path) -> Result<Self, PaperError> {
        let path = folder.join(FILE);
        let text =
            std::fs::read_to_string(&path).map_err(|error| PaperError::read(&path, error))?;
        let name = path.display().to_string();
        let text = FileText { name, text };
        let file: LibraryFile = toml::from_str(&text.text)
            .map_err(|error| text.mistake(&error.span().unwrap_or(0..0), error.message()))?;
        if *file.version.get_ref() != 1 {
            let message = "this version of Takt reads version 1";
            return Err(text.mistake(&file.version.span(), message));
        }
        let mut papers = Vec::with_capacity(file.papers.len());
        let mut names: Vec<String> = Vec::new();
        for paper in file.papers {
            let mut elements = Vec::with_capacity(paper.elements.len());
            for name in &paper.elements {
                if names.contains(name.get_ref()) {
                    let message = format!("`{}` occurs twice", name.get_ref());
                    return Err(text.mistake(&name.span(), message));
                }
                names.push(name.get_ref().clone());
                let path = folder.join(format!("{}.toml", name.get_ref()));
                if !path.is_file() {
                    let message = format!("there is no file {}", path.display());
                    return Err(text.mistake(&name.span(), message));
                }
                elements.push(PaperElement::read(&path, &paper.id)?);
            }
            let missing = paper.missing.into_iter().map(|it| MissingElement {
                place: it.place,
                title: it.title,
                reason: it.reason,
            });
            papers.push(Paper {
                id: paper.id,
                title: paper.title,
                source: paper.source,
                elements,
                missing: missing.collect(),
            });
        }
        Ok(Self {
            folder: folder.to_owned(),
            papers,
        })
    }

    /// Returns all tables and figures with a campaign.
    pub fn elements(&self) -> impl Iterator<Item = &PaperElement> {
        self.papers.iter().flat_map(|paper| &paper.elements)
    }

    /// Returns the elements with these names, or all without names.
    ///
    /// # Errors
    /// There is no element of a name.
    pub fn chosen(&self, names: &[String]) -> Result<Vec<&PaperElement>, PaperError> {
        if names.is_empty() {
            return Ok(self.elements().collect());
        }
        let chosen = names.iter().map(|name| {
            let mut elements = self.elements();
            elements
                .find(|element| element.name == *name)
                .ok_or_else(|| PaperError::Unknown {
                    name: name.clone(),
                    known: self.elements().map(|it| it.name.clone()).collect(),
                })
        });
        chosen.collect()
    }

    /// Returns the campaigns of elements, each once. A quick run of one of them has as many messages as all elements of the library need:
    /// results do not depend on the elements that were chosen.
    #[must_use]
    pub fn campaigns(&self, elements: &[&PaperElement]) -> Vec<PaperCampaign> {
        let mut campaigns: Vec<PaperCampaign> = Vec::new();
        for element in elements {
            for file in &element.campaigns {
                match campaigns.iter_mut().find(|it| it.file == *file) {
                    Some(known) => known.elements.push(element.name.clone()),
                    None => {
                        let users = self.elements().filter(|it| it.campaigns.contains(file));
                        campaigns.push(PaperCampaign::of(element, file, users));
                    }
                }
            }
        }
        campaigns
    }
}
