//! Advice on endpoints that could not be opened.

use miette::{MietteDiagnostic, Report};
use takt_app::serve::ServeError;
use takt_shm::ShmError;
use takt_terminal::with_help;

use super::shared_memory::shared_memory;

/// Explains why endpoints could not be opened.
pub(super) fn serve(error: &ServeError) -> Report {
    let help = match error {
        ServeError::SharedMemory(ShmError::NameInUse { .. }) => {
            "`takt ps` shows the application: end it. `takt registry` and `takt provider` take another name with --name; `takt demo` \
             always has the same one."
        }
        ServeError::SharedMemory(error) => return shared_memory(error),
        ServeError::Tcp(_) => "--endpoint names the address and the port.",
        ServeError::IssuedTokens(_) => {
            "--jwt-keys names a file with the public keys of the authorization service (JWK Set), which it publishes; RS256 and ES256 \
             are possible."
        }
        ServeError::Security(_) => {
            "--certificates DIRECTORY names another folder for the certificate. If the certificate or its key is damaged, remove both \
             from `own/certs` and `own/private`: the next start makes new ones, which the peers have to trust. Servers on the \
             loopback interface need none."
        }
        ServeError::Audit(_) => {
            "--audit FILE needs a folder that exists and that this user may write. --audit journald needs systemd's journal on \
             this host: in a container, mount /run/systemd/journal/socket."
        }
        // These messages name the remedy.
        ServeError::AdvertisedPort
        | ServeError::TooManyEndpoints
        | ServeError::Thread(_)
        | ServeError::Descriptors { .. }
        | ServeError::Core(_)
        | ServeError::Policy(_) => return Report::new(MietteDiagnostic::new(error.to_string())),
    };
    with_help(error, help)
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;

    fn help(error: ShmError) -> String {
        let report = serve(&ServeError::SharedMemory(error));
        report
            .help()
            .map(|help| help.to_string())
            .unwrap_or_default()
    }

    #[test]
    fn the_help_fits_the_error() {
        let in_use = ShmError::NameInUse {
            name: "Mixer".parse().unwrap(),
            process: None,
        };
        let shown = help(in_use);
        assert!(
            shown.contains("takt ps") && !shown.contains("port"),
            "{shown}"
        );
        let directory = ShmError::RuntimeDirectory {
            path: PathBuf::from("/run/x"),
            reason: "has mode 777".to_owned(),
        };
        let shown = help(directory);
        assert!(
            shown.contains("chmod 700") && !shown.contains("--name"),
            "{shown}"
        );
    }
}
