//! Finds the Cargo profile: Cargo tells build scripts only from which standard profile it inherits.

use std::path::Path;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let out = std::env::var_os("OUT_DIR").unwrap_or_default();
    // target/[TRIPLE/]PROFILE/build/PACKAGE/out
    let folder = Path::new(&out).ancestors().nth(3);
    let name = folder.and_then(Path::file_name).unwrap_or_default();
    println!("cargo::rustc-env=TAKT_PROFILE={}", name.to_string_lossy());
}
