//! Errors of control loops for people, with the fix.

use std::io::ErrorKind;
use std::path::Path;

use miette::Report;
use takt_control::ControlError;
use takt_lab::LoopError;
use takt_link::LinkError;

use crate::explain;

pub(super) fn refused(error: &LoopError) -> Report {
    let help = match error {
        LoopError::UnknownApplication { .. } => "Name one of them with --application.",
        LoopError::SeveralApplications { .. } => "Name one with --application.",
        LoopError::NoLoopback { .. } => {
            "Give the application a `loopback` instead of a `subscriber` (docs/scenario.md)."
        }
        LoopError::Address(_) => {
            "Write for example --there opc.udp://192.0.2.2:4841 --back opc.udp://192.0.2.1:4841."
        }
        LoopError::Control(error) => return control(error),
        _ => "docs/control-loops.md describes the applications.",
    };
    explain::with_help(error, help)
}

pub(super) fn control(error: &ControlError) -> Report {
    let help = match error {
        ControlError::Link(error) => link(error),
        ControlError::Offset { .. } => {
            "Use --sending immediate or --sending launch-time, or change the scenario, for example \
             --field applications.control.offset=100us."
        }
        ControlError::Phases { .. } => "`phases` of the application has them (docs/scenario.md).",
        _ => "docs/control-loops.md describes the applications.",
    };
    explain::with_help(error, help)
}

fn link(error: &LinkError) -> &'static str {
    match error {
        LinkError::InterfaceRequired => {
            "Name it with --interface; `ip link` lists the interfaces. Or use UDP: --there \
             opc.udp://HOST:PORT --back opc.udp://HOST:PORT."
        }
        LinkError::NoSuchInterface { .. } => {
            "Name another one with --interface; `ip link` lists the interfaces."
        }
        LinkError::Open { cause, .. } => match cause.kind() {
            ErrorKind::PermissionDenied => {
                "Run the command as root. Or do without: UDP (--there, --back) needs no CAP_NET_RAW, and \
                 --sending immediate no CAP_NET_ADMIN."
            }
            ErrorKind::AddrNotAvailable => {
                "--there is an address of the loopback's host, --back one of the Publisher's host."
            }
            ErrorKind::AddrInUse => {
                "Other ports: --there opc.udp://HOST:PORT --back opc.udp://HOST:PORT."
            }
            _ => "docs/control-loops.md describes the addresses.",
        },
        _ => "docs/control-loops.md describes the addresses.",
    }
}

pub(super) fn trace(path: &Path, error: &std::io::Error) -> Report {
    explain::with_help(
        format!("cannot write {}: {error}", path.display()),
        "Choose another file with --trace, or check for free space on the disk.",
    )
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn each_mistake_has_its_fix() {
        let known = vec!["control".to_owned()];
        let name = "x".to_owned();
        let errors = [
            (
                LoopError::UnknownApplication {
                    name: name.clone(),
                    known: known.clone(),
                },
                "--application",
            ),
            (LoopError::SeveralApplications { known }, "--application"),
            (LoopError::NoLoopback { name }, "`loopback`"),
            (
                LoopError::Control(LinkError::InterfaceRequired.into()),
                "--interface",
            ),
            (
                LoopError::Control(ControlError::Offset {
                    offset: Duration::from_micros(150),
                    limit: Duration::from_micros(150),
                }),
                "--sending immediate",
            ),
        ];
        for (error, fix) in errors {
            let report = refused(&error);
            let help = report.help().map(|help| help.to_string());
            assert!(help.is_some_and(|help| help.contains(fix)), "{error}");
        }
    }
}
