//! Linker options of the programs.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    // Hundreds of nodes run on one host. At a fixed address, the linker writes all pointers of the program into its file,
    // and the processes share those pages. Otherwise each process has 0.35 MiB of them for itself.
    if std::env::var("CARGO_CFG_TARGET_OS").is_ok_and(|system| system == "linux") {
        println!("cargo:rustc-link-arg-bin=takt-node=-no-pie");
    }
}
