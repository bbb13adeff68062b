//! Signals of commands that serve: Ctrl-C and SIGTERM end them, SIGHUP does not.

use miette::IntoDiagnostic;
use takt_rt::interrupt::Interrupt;

/// Installs the handlers of a command that serves.
pub fn install() -> miette::Result<Interrupt> {
    let on_hangup = || {
        tracing::warn!(
            "SIGHUP ends no server: files of certificates, users and keys are read again when they change, and the audit log when \
             it is moved"
        );
    };
    Interrupt::install_for_server(on_hangup).into_diagnostic()
}
