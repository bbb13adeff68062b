//! Programs beside this one: the product, and others that are measured.

use std::path::PathBuf;

use crate::error::BenchError;

/// Name of the product's program.
pub(crate) const PRODUCT: &str = "takt";

/// Returns this program.
pub(crate) fn own() -> Result<PathBuf, BenchError> {
    std::env::current_exe().map_err(BenchError::system("find this program"))
}

/// Returns the program `name` in the folder of this one, if it is there.
pub(crate) fn beside(name: &str) -> Option<PathBuf> {
    let path = own().ok()?.with_file_name(name);
    path.is_file().then_some(path)
}

/// Returns the program `name` in the folder of this one, or in a folder of PATH.
pub(crate) fn required(name: &str, otherwise: &str) -> Result<PathBuf, BenchError> {
    let folders = std::env::var_os("PATH").unwrap_or_default();
    let mut places = std::env::split_paths(&folders).map(|folder| folder.join(name));
    let found = beside(name).or_else(|| places.find(|path| path.is_file()));
    found.ok_or_else(|| {
        BenchError::Option(format!(
            "there is no program `{name}`, neither beside this one nor in PATH: `cargo build --release -p {name}` builds it, {otherwise}"
        ))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_is_in_a_folder_of_path() {
        let shell = required("sh", "").unwrap();
        assert!(shell.is_absolute(), "{}", shell.display());
        let error = required("no-such-program", "--server names it").unwrap_err();
        assert!(error.to_string().contains("-p no-such-program"), "{error}");
    }
}
