//! Errors of the lab for people, with the fix.

use miette::Report;
use takt_lab::LabError;

use crate::explain;

pub(super) fn explained(error: &LabError) -> Report {
    explain::with_help(error, help(error))
}

fn help(error: &LabError) -> String {
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
        LabError::Occupied(_) => "Choose another directory with --to.",
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
