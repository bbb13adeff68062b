//! Errors of the lab for people, with the fix.

use miette::Report;
use takt_lab::LabError;
use takt_lab::uml::{READY_MADE_PACKAGE, SOURCE_PACKAGE, UmlError};

use crate::explain;

pub(super) fn explained(error: &LabError) -> Report {
    explain::with_help(error, help(error))
}

/// Explains an error of a run that is made from files.
pub(super) fn explained_collected(error: &LabError) -> Report {
    match error {
        LabError::Occupied(_) | LabError::NotEmpty(_) => {
            explain::with_help(error, "Name another directory: a new or an empty one.")
        }
        error => explained(error),
    }
}

pub(super) fn explained_uml(error: &UmlError) -> Report {
    explain::with_help(error, help_uml(error))
}

/// Returns the fix of an error of a machine.
pub(in crate::commands) fn help_uml(error: &UmlError) -> String {
    let text = match error {
        UmlError::NotBuilt => {
            return format!(
                "`takt lab setup` builds it once, in about five minutes (Debian: `apt-get install {SOURCE_PACKAGE} \
                 {PACKAGES}` before). For functional runs, `takt lab run --backend uml-ready` needs no build."
            );
        }
        UmlError::NoReadyMade => {
            return format!(
                "Install it (Debian: `apt-get install {READY_MADE_PACKAGE}`), or build the lab's own kernel: \
                 `takt lab setup`."
            );
        }
        UmlError::ReadyMadeRegisters => {
            "Build the lab's own kernel, which keeps all of them: `takt lab setup`."
        }
        UmlError::NoSource => {
            return format!(
                "Install it: `apt-get install {SOURCE_PACKAGE}`. On distributions without this package, `--source \
                 FOLDER` takes an unpacked tree of Linux {}.",
                SOURCE_PACKAGE.trim_start_matches("linux-source-")
            );
        }
        UmlError::NoPrograms(_) => return format!("Install them: `apt-get install {PACKAGES}`."),
        UmlError::NoTree(_) => "Name the folder that has the kernel's `arch` and `drivers`.",
        UmlError::NoCache => "Set HOME, or TAKT_LAB_CACHE to a folder with an absolute path.",
        UmlError::Busy => "Wait until it has ended.",
        UmlError::NoSpace { .. } => "Make room, or set TAKT_LAB_CACHE to a folder on another disk.",
        UmlError::NoOptions(_) => "Takt is tested with Linux 6.12.",
        UmlError::Characters(_) => "Choose another directory with --to.",
        UmlError::Architecture => "`--backend netns` works on all processors.",
        UmlError::Interrupted => "Nothing remains of it but results of cases that were complete.",
        UmlError::Build { .. } => "docs/lab.md names what the build needs.",
        UmlError::Machine { .. } => {
            "The lines above are the end of its console. The machine takes up to 2 GB from /dev/shm or TMPDIR."
        }
        _ => "docs/lab.md describes the backend.",
    };
    text.to_owned()
}

/// Debian packages of the programs that the build needs.
const PACKAGES: &str = "make gcc flex bison bc perl xz-utils";

/// Returns the fix of an error of the lab.
pub(in crate::commands) fn help(error: &LabError) -> String {
    let text = match error {
        LabError::NotPermitted => {
            "Run the command as root (`sudo`), or as root of a user namespace: `unshare --user \
             --map-root-user takt lab run ...`."
        }
        LabError::NoProgram(program) => {
            return format!(
                "Install it: `apt-get install {}`.",
                match *program {
                    "mount" => "util-linux mount",
                    _ => "iproute2",
                }
            );
        }
        LabError::MissingDisciplines(_) => {
            "`--backend uml` has all of them. With --without-disciplines, the ports keep the kernel's \
             default; times are then not comparable with bounds and simulations. `modprobe sch_NAME` \
             loads a discipline if the kernel has it."
        }
        LabError::Network(_) | LabError::Loop(_) => {
            "docs/lab.md names the limits of the lab, docs/scenario.md describes the file."
        }
        LabError::Command { .. } | LabError::Step { .. } | LabError::NoGroups { .. } => {
            "docs/lab.md names what the kernel and the user need."
        }
        LabError::NoCarrier { .. } => "Is the machine very busy? Run the command again.",
        LabError::Discipline { .. } => {
            "`takt tsn plan SCENARIO` prints the commands; docs/tsn.md lists known faults of kernels."
        }
        LabError::Occupied(_) | LabError::NotEmpty(_) => {
            "Choose another directory with --to: a new or an empty one."
        }
        LabError::Io { .. } => {
            "Choose another directory with --to, or check for free space on the disk."
        }
        LabError::HistogramPlace(_) => {
            "Put the histogram into the folder of the scenario, and name it without directories."
        }
        LabError::Interrupted => "The cases before are in the directory of the run.",
        LabError::Scenario(_) => "docs/scenario.md is the reference of this file.",
        _ => "docs/lab.md describes the lab.",
    };
    text.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_mistake_has_its_fix() {
        let missing = LabError::MissingDisciplines(vec!["etf".to_owned()]);
        for (error, fix) in [
            (LabError::NotPermitted, "as root"),
            (LabError::NoProgram("bridge"), "iproute2"),
            (LabError::NoProgram("mount"), "util-linux"),
            (missing, "--backend uml"),
            (LabError::Occupied("x".into()), "--to"),
        ] {
            let help = explained(&error).help().map(|help| help.to_string());
            assert!(help.is_some_and(|help| help.contains(fix)), "{error}");
        }
    }
}
