//! The command `cargo xtask generate` with its steps.

use std::path::{Path, PathBuf};

use crate::error::Error;
use crate::model::Model;
use crate::output;
use crate::sources::Sources;
use crate::write;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Step {
    Types,
    Identifiers,
    StatusCodes,
    Namespace0,
}

/// Runs the steps named in `arguments`, or all of them.
pub(crate) fn run(arguments: &[String]) -> Result<(), Error> {
    let mut check = false;
    let mut steps = Vec::new();
    for argument in arguments {
        match argument.as_str() {
            "--check" => check = true,
            "types" => steps.push(Step::Types),
            "identifiers" => steps.push(Step::Identifiers),
            "status_codes" => steps.push(Step::StatusCodes),
            "namespace0" => steps.push(Step::Namespace0),
            other => return Err(Error::Argument(other.to_owned())),
        }
    }
    if steps.is_empty() {
        steps = vec![
            Step::Types,
            Step::Identifiers,
            Step::StatusCodes,
            Step::Namespace0,
        ];
    }

    let root = root();
    let sources = Sources::load(&root)?;
    let of_takt_ua = [Step::Types, Step::Identifiers, Step::StatusCodes];
    if of_takt_ua.iter().any(|step| steps.contains(step)) {
        let model = Model::read(&sources)?;
        let mut files = Vec::new();
        for step in &steps {
            match step {
                Step::Types => files.extend(write::types(&model)?),
                Step::Identifiers => files.push(write::identifiers(&model)),
                Step::StatusCodes => files.push(write::status_codes(&model)),
                Step::Namespace0 => {}
            }
        }
        let owned: &[&str] = if steps.contains(&Step::Types) {
            &[write::STRUCTURES]
        } else {
            &[]
        };
        output::apply(&root, files, owned, check)?;
    }
    if steps.contains(&Step::Namespace0) {
        namespace0(&root, &sources, check)?;
    }
    Ok(())
}

#[cfg(feature = "namespace0")]
fn namespace0(root: &Path, sources: &Sources, check: bool) -> Result<(), Error> {
    let files = crate::namespace0::generate(sources)?;
    output::apply(root, files, &[], check)
}

/// Runs the step in an xtask that is built with `takt-nodeset`, for which the types are written now; this one was
/// built without it.
#[cfg(not(feature = "namespace0"))]
fn namespace0(root: &Path, _sources: &Sources, check: bool) -> Result<(), Error> {
    let mut command =
        std::process::Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(root);
    command.args([
        "run",
        "--quiet",
        "--package",
        "xtask",
        "--features",
        "namespace0",
        "--",
        "generate",
        "namespace0",
    ]);
    if check {
        command.arg("--check");
    }
    let status = command.status().map_err(|source| Error::Program {
        program: "cargo",
        hint: "rustup.rs",
        source,
    })?;
    if status.success() {
        return Ok(());
    }
    Err(Error::Command {
        command: "cargo xtask generate namespace0".to_owned(),
        status,
    })
}

/// Returns the root of the repository.
fn root() -> PathBuf {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR"));
    manifest.parent().unwrap_or(manifest).to_owned()
}
