//! npm packages from which the code is generated: pinned, verified, and stored in the git-ignored `.cache/`.
//!
//! `node-opcua-nodesets` has the NodeSet2 and type files of the standard. Two parts come from its sibling packages:
//! the NodeIds of the service messages, which the standard's NodeSet lacks (`node-opcua-constants`), and the
//! StatusCodes (`node-opcua-status-code`). Only names and numbers are taken.

use std::path::{Path, PathBuf};
use std::process::Command;

use sha2::{Digest, Sha512};

use crate::error::Error;

/// One version of one package.
struct Package {
    name: &'static str,
    version: &'static str,
    /// SHA-512 of the `.tgz` file, in hexadecimal.
    sha512: &'static str,
}

const NODESETS: Package = Package {
    name: "node-opcua-nodesets",
    version: "2.182.0",
    sha512: "5b31b3c97714e4973732ca5fec2aa7f3033f820446f4d1b18b0bde79a57415ee5538762ac1676dd4375c6d3e129bbb4c16d39bdb1fb127c94bef54f4f6f59906",
};

const CONSTANTS: Package = Package {
    name: "node-opcua-constants",
    version: "2.183.0",
    sha512: "4af9309919b7f36ad3c0787f1786a1108589c781593048e36b2eed313e5080c41c02568aa488e68698ad69f5ba501419c7b01010b726fe620bfe1874b8acd627",
};

const STATUS_CODES: Package = Package {
    name: "node-opcua-status-code",
    version: "2.183.0",
    sha512: "d36f81b764e4f03035712cc99817ca512c8439c2e7b3ffc9a69f669e557e2f82289680b83322a726b8df590e6bba8117fb743f2534681c2dcc1eacf07e96aff6",
};

/// Contents of the source files.
pub(crate) struct Sources {
    /// `Opc.Ua.NodeSet2.xml`
    pub(crate) nodeset: String,
    /// `Opc.Ua.Types.bsd`
    pub(crate) types: String,
    /// `opcua_node_ids.ts`
    pub(crate) node_ids: String,
    /// `_generated_status_codes.ts`
    pub(crate) status_codes: String,
}

impl Sources {
    /// Reads the files, fetching the packages that are not in `.cache/` yet.
    pub(crate) fn load(root: &Path) -> Result<Self, Error> {
        let cache = root.join(".cache");
        let nodesets = NODESETS.archive(&cache)?;
        NODESETS.unpack(&cache, &nodesets)?;
        Ok(Self {
            nodeset: extract(&nodesets, "package/nodesets/Opc.Ua.NodeSet2.xml")?,
            types: extract(&nodesets, "package/nodesets/Opc.Ua.Types.bsd")?,
            node_ids: extract(
                &CONSTANTS.archive(&cache)?,
                "package/source/opcua_node_ids.ts",
            )?,
            status_codes: extract(
                &STATUS_CODES.archive(&cache)?,
                "package/source/_generated_status_codes.ts",
            )?,
        })
    }
}

impl Package {
    /// Returns the verified package file, fetched if it is not in `cache` yet.
    fn archive(&self, cache: &Path) -> Result<PathBuf, Error> {
        let name = format!("{}-{}.tgz", self.name, self.version);
        let archive = cache.join(&name);
        if !archive.exists() {
            self.fetch(cache, &name)?;
        }
        let bytes = std::fs::read(&archive).map_err(|source| Error::File {
            path: archive.clone(),
            source,
        })?;
        let actual: String = Sha512::digest(&bytes)
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect();
        if actual != self.sha512 {
            return Err(Error::Hash {
                path: archive,
                actual,
                expected: self.sha512,
            });
        }
        Ok(archive)
    }

    /// Unpacks the package for the tests that read the companion NodeSets in it: `.cache/NAME-VERSION/package/`.
    fn unpack(&self, cache: &Path, archive: &Path) -> Result<(), Error> {
        let folder = cache.join(format!("{}-{}", self.name, self.version));
        if folder.exists() {
            return Ok(());
        }
        // The folder is renamed when it is complete, so that it is never seen incomplete.
        let partial = cache.join(format!("unpack-{}", std::process::id()));
        let file = |source| Error::File {
            path: folder.clone(),
            source,
        };
        std::fs::create_dir_all(&partial).map_err(file)?;
        let status = Command::new("tar")
            .arg("-xzf")
            .arg(archive)
            .arg("-C")
            .arg(&partial)
            .status()
            .map_err(missing_tar)?;
        if !status.success() {
            let command = format!("tar -xzf {}", archive.display());
            return Err(Error::Command { command, status });
        }
        match std::fs::rename(&partial, &folder) {
            // Another run was faster; it has unpacked the same files.
            Err(_) if folder.exists() => std::fs::remove_dir_all(&partial).map_err(file),
            result => result.map_err(file),
        }
    }

    fn fetch(&self, cache: &Path, name: &str) -> Result<(), Error> {
        // The package is fetched into a separate folder and moved when it is complete, so that an interrupted fetch
        // leaves no partial file.
        let folder = cache.join(format!("fetch-{}", std::process::id()));
        let at = |path: &Path| {
            let path = path.to_owned();
            move |source| Error::File { path, source }
        };
        std::fs::create_dir_all(&folder).map_err(at(&folder))?;
        let package = format!("{}@{}", self.name, self.version);
        let output = Command::new("npm")
            .args(["pack", "--silent", &package])
            .current_dir(&folder)
            .output()
            .map_err(|source| Error::Program {
                program: "npm",
                hint: "Debian package npm",
                source,
            });
        let result = match output {
            Ok(output) if output.status.success() => {
                std::fs::rename(folder.join(name), cache.join(name)).map_err(at(&folder))
            }
            Ok(output) => Err(Error::Fetch {
                package,
                output: String::from_utf8_lossy(&output.stderr).trim().to_owned(),
            }),
            Err(error) => Err(error),
        };
        std::fs::remove_dir_all(&folder).map_err(at(&folder))?;
        result
    }
}

/// Returns the text of one file of an archive: read from the verified archive, not from an unpacked file.
fn extract(archive: &Path, file: &str) -> Result<String, Error> {
    let command = || format!("tar -xzOf {} {file}", archive.display());
    let output = Command::new("tar")
        .arg("-xzOf")
        .arg(archive)
        .arg(file)
        .output()
        .map_err(missing_tar)?;
    if !output.status.success() {
        return Err(Error::Command {
            command: command(),
            status: output.status,
        });
    }
    String::from_utf8(output.stdout).map_err(|_| Error::Text { command: command() })
}

fn missing_tar(source: std::io::Error) -> Error {
    Error::Program {
        program: "tar",
        hint: "Debian package tar",
        source,
    }
}
