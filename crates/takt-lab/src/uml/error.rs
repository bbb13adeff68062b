//! Errors of the backend `uml`.

use std::io;
use std::path::PathBuf;

/// Reason why the kernel cannot be built or run.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum UmlError {
    /// The processor has another architecture.
    #[error("the backend uml needs an x86-64 processor")]
    Architecture,
    /// There is no folder for the kernel.
    #[error("neither TAKT_LAB_CACHE, XDG_CACHE_HOME nor HOME is an absolute path")]
    NoCache,
    /// The kernel has not been built yet.
    #[error("the kernel of the backend uml is not built yet")]
    NotBuilt,
    /// The ready-made kernel is not installed.
    #[error("the ready-made kernel of User-Mode Linux is not installed")]
    NoReadyMade,
    /// The processor has more registers than the ready-made kernel keeps.
    #[error(
        "the ready-made kernel of User-Mode Linux cannot run on this processor: it keeps too few registers for AMX"
    )]
    ReadyMadeRegisters,
    /// No source package of the kernel is installed.
    #[error("the source package of the kernel is not installed")]
    NoSource,
    /// A folder is not a kernel tree.
    #[error("{} is not the tree of a Linux kernel", .0.display())]
    NoTree(PathBuf),
    /// Programs are missing.
    #[error("these programs are missing: {}", .0.join(", "))]
    NoPrograms(Vec<&'static str>),
    /// Another process builds the kernel.
    #[error("another process builds the kernel")]
    Busy,
    /// The disk is too full.
    #[error("{free} MB are free in {}, the build takes {wanted} MB", folder.display())]
    NoSpace {
        /// Folder.
        folder: PathBuf,
        /// Free megabytes.
        free: u64,
        /// Megabytes of the build.
        wanted: u64,
    },
    /// An option of the configuration is not in the kernel.
    #[error("this kernel has no {}", .0.join(", "))]
    NoOptions(Vec<String>),
    /// A step of the build failed.
    #[error("`{command}` failed:\n{output}")]
    Build {
        /// Command.
        command: String,
        /// Its last lines.
        output: String,
    },
    /// The command line of the kernel has no way to write a path.
    #[error("{} has a space, a comma or a quotation mark, which the command line of a kernel divides", .0.display())]
    Characters(PathBuf),
    /// The machine ended before the run was over.
    #[error("the machine ended before the run was over:\n{console}")]
    Machine {
        /// Last lines of its console.
        console: String,
    },
    /// The run failed in the machine.
    #[error("{0}")]
    Run(String),
    /// A file or a process.
    #[error("{}: {error}", path.display())]
    Io {
        /// File, folder or program.
        path: PathBuf,
        /// Error of the operating system.
        #[source]
        error: io::Error,
    },
    /// The user interrupted.
    #[error("interrupted")]
    Interrupted,
}

impl UmlError {
    /// Returns a function that adds a path to an error of the operating system.
    pub(crate) fn io(path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |error| Self::Io { path, error }
    }
}
