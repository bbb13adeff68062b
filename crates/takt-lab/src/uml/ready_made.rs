//! Debian's ready-made kernel of User-Mode Linux (package `user-mode-linux`): its place, and its modules.
//!
//! It has all queueing disciplines as modules, but neither virtual time nor links with a rate: functional runs, without a build.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use rustix::io::Errno;
use rustix::system::finit_module;

use super::error::UmlError;

/// Package of Debian.
pub const READY_MADE_PACKAGE: &str = "user-mode-linux";

/// Kernel of that package.
const KERNEL: &str = "/usr/bin/linux.uml";

/// Folder with a folder of modules for each version.
const MODULES: &str = "/usr/lib/uml/modules";

/// Modules that the lab needs besides those of disciplines: devices, bridges, rates of links, and filters.
const NEEDED: [&str; 7] = [
    "veth",
    "8021q",
    "bridge",
    "sch_tbf",
    "sch_ingress",
    "cls_flower",
    "act_skbedit",
];

/// Flag of a processor whose extended registers (XSAVE) are more than the ready-made kernel keeps. Its first process would crash.
const TOO_MANY_REGISTERS: &str = "amx_tile";

/// Returns the installed ready-made kernel.
///
/// # Errors
/// [`UmlError::NoReadyMade`], [`UmlError::ReadyMadeRegisters`].
pub fn ready_made() -> Result<PathBuf, UmlError> {
    let kernel = PathBuf::from(KERNEL);
    if !kernel.is_file() {
        return Err(UmlError::NoReadyMade);
    }
    // Without the list, the machine is tried.
    let processors = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    match has_flag(&processors, TOO_MANY_REGISTERS) {
        true => Err(UmlError::ReadyMadeRegisters),
        false => Ok(kernel),
    }
}

/// Returns true if a processor in the list of proc_cpuinfo(5) has a flag.
fn has_flag(processors: &str, flag: &str) -> bool {
    let mut lines = processors
        .lines()
        .filter_map(|line| line.strip_prefix("flags"));
    lines.any(|flags| flags.split_whitespace().any(|one| one == flag))
}

/// Loads the modules that the lab needs into the running kernel. A module that the kernel lacks or has built in is left out: whatever
/// needs it reports that.
///
/// # Errors
/// [`UmlError::Io`]: a module cannot be read or loaded.
pub fn load_modules() -> Result<(), UmlError> {
    let version = rustix::system::uname();
    let folder = Path::new(MODULES).join(version.release().to_string_lossy().as_ref());
    let list = folder.join("modules.dep");
    let text = match fs::read_to_string(&list) {
        Ok(text) => text,
        Err(error) => return Err(UmlError::io(list)(error)),
    };
    let mut loaded = BTreeSet::new();
    let disciplines = takt_scenario::disciplines().map(|it| format!("sch_{}", it.name));
    for name in NEEDED.into_iter().map(str::to_owned).chain(disciplines) {
        for file in files_of(&text, &name) {
            if loaded.insert(file) {
                load(&folder.join(file))?;
            }
        }
    }
    Ok(())
}

/// Returns the files of a module in a list of depmod (modules.dep(5)), in the order in which they are loaded.
fn files_of<'a>(list: &'a str, name: &str) -> Vec<&'a str> {
    let line = list.lines().find_map(|line| {
        let (file, others) = line.split_once(':')?;
        let base = Path::new(file).file_name()?.to_str()?.split('.').next()?;
        (base == name).then_some((file, others))
    });
    let Some((file, others)) = line else {
        return Vec::new();
    };
    // A module stands before those that it needs.
    others.split_whitespace().rev().chain([file]).collect()
}

fn load(path: &Path) -> Result<(), UmlError> {
    let failed = UmlError::io(path);
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(failed(error)),
    };
    match finit_module(file, c"", 0) {
        Ok(()) | Err(Errno::EXIST) => Ok(()),
        Err(errno) => Err(failed(errno.into())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_of_a_processor_are_found() {
        let processors = "processor\t: 0\nflags\t\t: fpu amx_bf16 amx_tile\nbugs\t\t: amx_int8\n";
        assert!(has_flag(processors, "amx_tile") && has_flag(processors, "fpu"));
        assert!(!has_flag(processors, "amx") && !has_flag(processors, "amx_int8"));
    }

    #[test]
    fn modules_come_behind_those_that_they_need() {
        let list = "kernel/net/802/stp.ko: kernel/net/llc/llc.ko\n\
                    kernel/net/llc/llc.ko:\n\
                    kernel/net/bridge/bridge.ko: kernel/net/802/stp.ko kernel/net/llc/llc.ko\n";
        assert_eq!(
            files_of(list, "bridge"),
            [
                "kernel/net/llc/llc.ko",
                "kernel/net/802/stp.ko",
                "kernel/net/bridge/bridge.ko"
            ]
        );
        assert_eq!(files_of(list, "llc"), ["kernel/net/llc/llc.ko"]);
        assert!(files_of(list, "veth").is_empty());
    }
}
