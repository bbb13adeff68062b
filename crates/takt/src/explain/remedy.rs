//! Commands that lines of the log and texts of Objects name.

use std::path::Path;

use takt_app::certificates::certificates_directory;
use takt_crypto::Remedy;

use super::shell::{shell_path, shell_word};

/// Lets the texts of libraries name the commands of this program.
pub fn name_commands() {
    Remedy::set_words(command);
}

/// Returns the command, in backticks.
fn command(remedy: &Remedy<'_>) -> String {
    let usual = certificates_directory().ok();
    command_with(remedy, usual.as_deref())
}

/// Returns the command. `usual` is the folder of certificates that it has without an option.
fn command_with(remedy: &Remedy<'_>, usual: Option<&Path>) -> String {
    let trust = |words: &str, folder: Option<&Path>| {
        let other = folder.filter(|folder| Some(*folder) != usual);
        format!("`{}`", trust_command(words, other))
    };
    match remedy {
        Remedy::Trust { thumbprint, folder } => {
            trust(&format!("add {}", shell_word(thumbprint)), *folder)
        }
        Remedy::TrustIssuer { folder } => {
            let [certificate, list] = ["add CA.der", "add CA.crl"].map(|it| trust(it, *folder));
            format!("{certificate} and {list}")
        }
        Remedy::AddRevocationList { folder } => trust("add FILE.crl", *folder),
        Remedy::Renew {
            application,
            folder,
        } => trust(&format!("renew {}", shell_word(application)), *folder),
        Remedy::AddHost {
            application,
            host,
            folder,
        } => {
            let (name, host) = (shell_word(application), shell_word(host));
            trust(&format!("renew {name} --host {host}"), *folder)
        }
        Remedy::SignAgain => "see `takt trust renew --help`".to_owned(),
        Remedy::AddUser => "`takt user add NAME --role ROLE`".to_owned(),
        Remedy::ListUsers => "`takt user list`".to_owned(),
        Remedy::ForgetProvider => "`takt registry forget NAME`".to_owned(),
        _ => "see `takt --help`".to_owned(),
    }
}

/// Returns the command line of `takt trust` with these words, for the folder of certificates, by default that of this user.
pub(super) fn trust_command(words: &str, folder: Option<&Path>) -> String {
    match folder {
        Some(folder) => {
            format!("takt trust {words} --certificates {}", shell_path(folder))
        }
        None => format!("takt trust {words}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_of_libraries_name_commands() {
        name_commands();
        let remedy = Remedy::Trust {
            thumbprint: "0123",
            folder: None,
        };
        assert_eq!(
            format!("trust it{remedy}"),
            "trust it (`takt trust add 0123`)"
        );
    }

    #[test]
    fn commands_have_the_folder_and_their_words_are_quoted() {
        let usual = Path::new("/home/me/pki");
        let shown = |remedy| command_with(&remedy, Some(usual));
        for (folder, option) in [
            (None, ""),
            (Some(usual), ""),
            (Some(Path::new("/plant/pki")), " --certificates /plant/pki"),
            (
                Some(Path::new("/it's here")),
                r" --certificates '/it'\''s here'",
            ),
        ] {
            assert_eq!(
                shown(Remedy::Trust {
                    thumbprint: "0123",
                    folder
                }),
                format!("`takt trust add 0123{option}`")
            );
            assert_eq!(
                shown(Remedy::TrustIssuer { folder }),
                format!("`takt trust add CA.der{option}` and `takt trust add CA.crl{option}`")
            );
            assert_eq!(
                shown(Remedy::AddRevocationList { folder }),
                format!("`takt trust add FILE.crl{option}`")
            );
            let application = "Bob's; machine";
            let name = r"'Bob'\''s; machine'";
            assert_eq!(
                shown(Remedy::Renew {
                    application,
                    folder
                }),
                format!("`takt trust renew {name}{option}`")
            );
            assert_eq!(
                shown(Remedy::AddHost {
                    application,
                    host: "a b",
                    folder
                }),
                format!("`takt trust renew {name} --host 'a b'{option}`")
            );
        }
    }
}
