//! Folders in which the commands of a document run.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use crate::binary::{self, repository};
use crate::process;
use crate::sandbox::Sandbox;

/// A `./run` that starts the demonstration of a `takt` that is built already, at a port that is free.
const RUN: &str =
    "#!/bin/sh\nexec target/quick/takt demo --endpoint opc.tcp://127.0.0.1:0 \"$@\"\n";

/// Returns a folder that looks like a clone in which `./run` has built the program, with the `takt` of this test and the
/// examples.
pub(super) fn built(sandbox: &Sandbox) -> PathBuf {
    let folder = sandbox.data_directory().join("takt");
    fs::create_dir_all(folder.join("target/quick")).expect("a folder can be made");
    symlink(binary::takt(), folder.join("target/quick/takt")).expect("a link can be made");
    let examples = repository()
        .join("examples")
        .canonicalize()
        .expect("there are examples");
    symlink(examples, folder.join("examples")).expect("a link can be made");
    let run = folder.join("run");
    fs::write(&run, RUN).expect("a file can be written");
    fs::set_permissions(&run, fs::Permissions::from_mode(0o755)).expect("it is our file");
    folder
}

/// Returns a clone of the committed state. It shares the target folder, so that dependencies are not compiled twice.
pub(super) fn clean(sandbox: &Sandbox) -> PathBuf {
    let clone = sandbox.data_directory().join("takt");
    let mut git = Command::new("git");
    git.args(["clone", "--quiet", "--depth", "1"])
        .arg(format!(
            "file://{}",
            repository()
                .canonicalize()
                .expect("the repository exists")
                .display()
        ))
        .arg(&clone);
    let _ = process::run("git clone", &mut git, Duration::from_secs(60)).expect_success();
    let test = std::env::current_exe().expect("the test knows its own executable");
    let target = test
        .ancestors()
        .nth(3)
        .expect("target/<profile>/deps/<test>");
    fs::create_dir_all(clone.join("target")).expect("a folder can be made");
    for profile in ["debug", "quick"] {
        let compiled = target.join(profile);
        fs::create_dir_all(&compiled).expect("a folder can be made");
        symlink(compiled, clone.join("target").join(profile)).expect("a link can be made");
    }
    copy_times(&clone);
    copy_profile(&clone);
    clone
}

/// Gives the files of `clone` that are as in the repository the same times, so that nothing is compiled twice.
fn copy_times(clone: &Path) {
    let mut git = Command::new("git");
    git.arg("-C").arg(clone).arg("ls-files");
    let files = process::run("git ls-files", &mut git, Duration::from_secs(60)).expect_success();
    for file in files.lines() {
        let (original, copy) = (repository().join(file), clone.join(file));
        let (Ok(text), Ok(copied)) = (fs::read(&original), fs::read(&copy)) else {
            continue;
        };
        if text == copied {
            let time = fs::metadata(&original).and_then(|file| file.modified());
            let copy = fs::File::options().write(true).open(&copy);
            let time = time.expect("a file has a time");
            copy.and_then(|copy| copy.set_modified(time))
                .expect("the clone can be changed");
        }
    }
}

/// Gives packages beside `clone` the profile of Takt, so that they share its compiled dependencies.
fn copy_profile(clone: &Path) {
    let manifest = fs::read_to_string(clone.join("Cargo.toml")).expect("the clone has a manifest");
    let begin = manifest.find("[profile.dev]").expect("it has a profile");
    let end = manifest.find("[profile.release]").expect("it has two");
    let folder = clone.with_file_name(".cargo");
    fs::create_dir_all(&folder).expect("a folder can be made");
    fs::write(folder.join("config.toml"), &manifest[begin..end]).expect("a file can be written");
}
