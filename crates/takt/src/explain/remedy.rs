//! Commands that lines of the log and texts of Objects name.

use takt_crypto::Remedy;

/// Lets the texts of libraries name the commands of this program.
pub fn name_commands() {
    Remedy::set_words(command);
}

/// Returns the command, in backticks.
fn command(remedy: &Remedy<'_>) -> String {
    match remedy {
        Remedy::Trust { thumbprint } => format!("`takt trust add {thumbprint}`"),
        Remedy::TrustIssuer => "`takt trust add CA.der` and `takt trust add CA.crl`".to_owned(),
        Remedy::AddRevocationList => "`takt trust add FILE.crl`".to_owned(),
        Remedy::Renew { application } => format!("`takt trust renew '{application}'`"),
        Remedy::AddHost { application, host } => {
            format!("`takt trust renew '{application}' --host {host}`")
        }
        Remedy::SignAgain => "see `takt trust renew --help`".to_owned(),
        Remedy::AddUser => "`takt user add NAME --role ROLE`".to_owned(),
        Remedy::ListUsers => "`takt user list`".to_owned(),
        Remedy::ForgetProvider => "`takt registry forget NAME`".to_owned(),
        _ => "see `takt --help`".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_of_libraries_name_commands() {
        name_commands();
        assert_eq!(
            format!("trust it{}", Remedy::Trust { thumbprint: "0123" }),
            "trust it (`takt trust add 0123`)"
        );
    }
}
