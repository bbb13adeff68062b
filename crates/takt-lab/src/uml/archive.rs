//! Copy of the kernel's tree: unpacked from an archive, or copied from a tree, without parts that the lab's kernel does not need.

use std::path::Path;
use std::process::Command;

use super::source::KernelSource;

/// Parts of the tree that are left out, as patterns of `tar`: code of hardware that User-Mode Linux does not have, tests and texts. The
/// build reads the Kconfig files in these folders.
const LEFT_OUT: [&str; 11] = [
    "*/drivers/gpu/*.[ch]",
    "*/drivers/media/*.[ch]",
    "*/drivers/infiniband/*.[ch]",
    "*/drivers/net/ethernet/*.[ch]",
    "*/drivers/net/wireless/*.[ch]",
    "*/drivers/scsi/*.[ch]",
    "*/sound/*.[ch]",
    "*/Documentation/*.rst",
    "*/Documentation/*.yaml",
    "*/tools/testing/*",
    "*.dts*",
];

/// Returns the command that fills an empty folder with the tree, without the folder of its name.
pub(crate) fn command(source: &KernelSource, tree: &Path) -> Command {
    let left_out = LEFT_OUT.map(|pattern| format!("--exclude={pattern}"));
    let mut command;
    match source {
        KernelSource::Archive(archive) => {
            command = Command::new("tar");
            command.arg("--extract").arg("--file").arg(archive);
            command.arg("--strip-components=1").args(left_out);
            command.arg("--directory").arg(tree);
        }
        KernelSource::Tree(from) => {
            // Objects of another build would be taken for those of this one.
            command = Command::new("sh");
            command
                .arg("-c")
                .arg(
                    "from=$1 to=$2; shift 2; tar --create --directory=\"$from\" \"$@\" --exclude=./.git --exclude='*.o' \
                     --exclude=./.config --exclude=./include/config --exclude=./include/generated \
                     --exclude='./arch/*/include/generated' . | tar --extract --directory=\"$to\"",
                )
                .arg("sh")
                .arg(from)
                .arg(tree)
                .args(left_out);
        }
    }
    command
}
