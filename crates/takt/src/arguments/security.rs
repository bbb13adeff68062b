//! Arguments about security: certificates, trust, and the choice of endpoints.

use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use takt_app::audit::AuditTarget;
use takt_app::serve::{EndpointSecurity, OfferedCurves};
use takt_app::users::UserKind;
use takt_app::{ClientSecurity, Identity, JwtOptions, SecurityChoice};
use takt_space::RoleSet;
use takt_ua::enumerations::MessageSecurityMode;

use crate::{explain, secret_file};

/// Security of the endpoints of a server.
#[derive(Debug, Clone, Args)]
pub struct ServeSecurityArguments {
    /// Serve without security beyond the loopback interface, too: every client that reaches the port can use the server.
    #[arg(long)]
    pub allow_none: bool,
    /// Create no certificate for the loopback interface, where no secured endpoints are offered then.
    #[arg(long)]
    pub no_certificate: bool,
    /// Elliptic curves whose SecurityPolicies are offered besides those with RSA, with commas: nistP256, nistP384, curve25519; all or
    /// none. Each has a certificate of its own, which clients have to trust.
    #[arg(long, value_name = "CURVE,...", default_value_t)]
    pub curves: OfferedCurves,
    /// Folder of certificates; default is `pki` in the directory of `takt registry --data`, or in the state directory of the user.
    #[arg(long, value_name = "DIRECTORY")]
    pub certificates: Option<PathBuf>,
    /// File of users, which `takt user` changes; default is `users` in the directory of `takt registry --data`, or in the state
    /// directory of the user.
    #[arg(long, value_name = "FILE")]
    pub users: Option<PathBuf>,
    /// Let all anonymous users over opc.tcp write and call. Otherwise they may only read, except for the Unix user of the server and
    /// root on this host, and for Unix users to whom `takt user add --unix-user` gives a role.
    #[arg(long)]
    pub allow_anonymous_operators: bool,
    /// Let all anonymous users from the loopback interface write and call: other Unix users of this host, too, and containers that
    /// reach it.
    #[arg(long)]
    pub trust_loopback: bool,
    /// Write an audit log: one JSON object for each channel, session, write, call and change of nodes, to a file, or to systemd's
    /// journal with `journald`. Can be given several times.
    #[arg(long, value_name = "FILE|journald")]
    pub audit: Vec<AuditTarget>,
    /// Accept users with JSON Web Tokens of this authorization service: the value of their claim `iss`.
    #[arg(long, value_name = "URL", requires = "jwt_keys")]
    pub jwt_issuer: Option<String>,
    /// Name of this server in the tokens, the value of their claim `aud`; default is the ApplicationUri.
    #[arg(long, value_name = "NAME", requires = "jwt_issuer")]
    pub jwt_audience: Option<String>,
    /// File with the public keys of the authorization service (JWK Set).
    #[arg(long, value_name = "FILE", requires = "jwt_issuer")]
    pub jwt_keys: Option<PathBuf>,
    /// Roles of users with this entry in the claim `roles`; can be given several times. Other entries name a role themselves.
    #[arg(long, value_name = "ENTRY=ROLE", requires = "jwt_issuer", value_parser = jwt_role)]
    pub jwt_role: Vec<(String, RoleSet)>,
}

/// Reads `ENTRY=ROLE`.
fn jwt_role(text: &str) -> Result<(String, RoleSet), String> {
    let (entry, role) = text
        // An entry may contain `=`, the name of a role does not.
        .rsplit_once('=')
        .ok_or("write ENTRY=ROLE, for example fitter=operator")?;
    Ok((entry.to_owned(), role.parse()?))
}

impl ServeSecurityArguments {
    /// Returns the options of the endpoints. Certificates and users are in `folder` unless the user names other places.
    pub fn options(self, folder: Option<&PathBuf>) -> EndpointSecurity {
        let issuer = self.jwt_issuer.zip(self.jwt_keys);
        let jwt = issuer.map(|(issuer, keys)| JwtOptions {
            issuer,
            keys,
            audience: self.jwt_audience,
            roles: self.jwt_role.into_iter().collect(),
        });
        EndpointSecurity {
            jwt,
            curves: self.curves,
            certificates: self.certificates.or_else(|| Some(folder?.join("pki"))),
            users: self.users.or_else(|| Some(folder?.join("users"))),
            anonymous_operators: self.allow_anonymous_operators,
            trust_loopback: self.trust_loopback,
            secured_loopback: !self.no_certificate,
            allow_none: self.allow_none,
        }
    }
}

/// Security and user of connections over opc.tcp, with a folder of certificates.
#[derive(Debug, Clone, Args)]
pub struct ClientSecurityArguments {
    #[command(flatten)]
    pub connection: ConnectionSecurityArguments,
    /// Folder of certificates; default is `pki` in the state directory of the user.
    #[arg(long, value_name = "DIRECTORY")]
    pub certificates: Option<PathBuf>,
}

/// Security and user of connections over opc.tcp, for commands that have a folder of certificates for another reason.
#[derive(Debug, Clone, Args)]
pub struct ConnectionSecurityArguments {
    /// Security over opc.tcp: auto, none, sign, encrypt, a SecurityPolicy such as Basic256Sha256 or ECC_nistP256, or both:
    /// Basic256Sha256,sign. `auto` is no security on the loopback interface, and the most secure endpoint elsewhere.
    #[arg(long, value_name = "CHOICE", default_value_t)]
    pub security: SecurityChoice,
    /// Certificate of this application (DER or PEM), instead of the one in the folder of certificates.
    #[arg(long, value_name = "FILE", requires = "private_key")]
    pub certificate: Option<PathBuf>,
    /// Private key of the certificate (PEM).
    #[arg(long, value_name = "FILE", requires = "certificate")]
    pub private_key: Option<PathBuf>,
    /// Accept a server whose certificate names other hosts than its URL.
    #[arg(long)]
    pub any_host: bool,
    #[command(flatten)]
    pub user: IdentityArguments,
}

/// User of a session.
#[derive(Debug, Clone, Args)]
pub struct IdentityArguments {
    /// User of the session. The password is read from --password-file or from the variable TAKT_PASSWORD.
    #[arg(long, value_name = "NAME", conflicts_with = "user_certificate")]
    pub user: Option<String>,
    /// File with the password of --user in its first line.
    #[arg(long, value_name = "FILE", requires = "user")]
    pub password_file: Option<PathBuf>,
    /// Certificate of the user (DER or PEM).
    #[arg(long, value_name = "FILE", requires = "user_private_key")]
    pub user_certificate: Option<PathBuf>,
    /// Private key of the user's certificate (PEM).
    #[arg(long, value_name = "FILE", requires = "user_certificate")]
    pub user_private_key: Option<PathBuf>,
    /// File with a JSON Web Token of the user. It is sent encrypted only: on the loopback interface, use --security encrypt.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["user", "user_certificate"])]
    pub token: Option<PathBuf>,
}

/// Reads the token of a user.
fn token(file: &Path) -> miette::Result<Identity> {
    const HELP: &str = "--token names a file with a JSON Web Token, which the authorization service of the server issues.";
    let text = secret_file::read(file);
    let text =
        text.map_err(|error| explain::with_help(format!("{}: {error}", file.display()), HELP))?;
    // Editors end the file with a line break.
    match text.trim() {
        "" => Err(explain::with_help(
            format!("{} is empty", file.display()),
            HELP,
        )),
        token => Ok(Identity::Issued {
            token: token.to_owned(),
        }),
    }
}

impl ClientSecurityArguments {
    /// Returns the security of connections.
    pub fn options(&self) -> ClientSecurity {
        self.connection.options(self.certificates.as_ref())
    }

    /// Returns the security of connections that have to be encrypted: see [`ConnectionSecurityArguments::encrypted`].
    pub fn encrypted(&self) -> ClientSecurity {
        self.connection.encrypted(self.certificates.as_ref())
    }

    /// Returns the user of sessions, with the password that `read` gets.
    pub fn identity(
        &self,
        read: impl FnOnce(Option<&PathBuf>) -> miette::Result<String>,
    ) -> miette::Result<Identity> {
        self.connection.user.identity(read)
    }
}

impl ConnectionSecurityArguments {
    /// Returns the security of connections, with this folder of certificates.
    pub fn options(&self, certificates: Option<&PathBuf>) -> ClientSecurity {
        ClientSecurity {
            choice: self.security.clone(),
            certificates: certificates.cloned(),
            certificate: self.certificate.clone().zip(self.private_key.clone()),
            any_host: self.any_host,
            token_lifetime: None,
        }
    }

    /// Returns the security of connections that have to be encrypted, on the loopback interface too, unless the user chooses another
    /// one.
    pub fn encrypted(&self, certificates: Option<&PathBuf>) -> ClientSecurity {
        let mut security = self.options(certificates);
        if security.choice == SecurityChoice::Automatic {
            security.choice = SecurityChoice::Secured {
                policy: None,
                mode: Some(MessageSecurityMode::SignAndEncrypt),
            };
        }
        security
    }

    /// Returns true if an argument was given.
    pub fn is_given(&self) -> bool {
        let user = &self.user;
        self.security != SecurityChoice::Automatic
            || self.certificate.is_some()
            || self.any_host
            || user.user.is_some()
            || user.user_certificate.is_some()
            || user.token.is_some()
    }
}

impl IdentityArguments {
    /// Returns the user of sessions, with the password that `read` gets.
    pub fn identity(
        &self,
        read: impl FnOnce(Option<&PathBuf>) -> miette::Result<String>,
    ) -> miette::Result<Identity> {
        if let Some(file) = &self.token {
            return token(file);
        }
        if let Some(name) = &self.user {
            return Ok(Identity::UserName {
                name: name.clone(),
                password: read(self.password_file.as_ref())?,
            });
        }
        let files = self
            .user_certificate
            .clone()
            .zip(self.user_private_key.clone());
        Ok(match files {
            Some((certificate, key)) => Identity::Certificate { certificate, key },
            None => Identity::Anonymous,
        })
    }
}

#[derive(Debug, Args)]
pub struct UserArguments {
    #[command(subcommand)]
    pub command: UserCommand,
    /// File of users; default is `users` in the state directory of the user.
    #[arg(long, value_name = "FILE", global = true)]
    pub users: Option<PathBuf>,
}

#[derive(Debug, Subcommand)]
pub enum UserCommand {
    /// List the users with their roles.
    List {
        /// Print JSON, one object for each user.
        #[arg(long)]
        json: bool,
    },
    /// Add a user, or change the password, certificate or roles of one.
    Add {
        #[command(flatten)]
        name: UserName,
        /// Role; several with commas, or with several options. All read and subscribe. An observer does nothing else; a supervisor
        /// also calls Methods; an operator writes and calls; an engineer manages nodes and calls; a security-admin changes
        /// SecurityGroups and certificates of the server. A configure-admin may do what applications allow. [default: the roles
        /// that the user has; operator for a new one]
        #[arg(long, value_name = "ROLE")]
        role: Vec<RoleSet>,
        /// File with the password in its first line; by default the password is in the variable TAKT_PASSWORD.
        #[arg(long, value_name = "FILE", conflicts_with_all = ["certificate", "unix_user", "unix_group"])]
        password_file: Option<PathBuf>,
        /// Certificate of the user (DER or PEM), instead of a password.
        #[arg(long, value_name = "FILE", conflicts_with_all = ["unix_user", "unix_group"])]
        certificate: Option<PathBuf>,
        /// Print one JSON object, as of `takt user list`.
        #[arg(long)]
        json: bool,
    },
    /// Remove a user. Open sessions continue until they end.
    Remove {
        #[command(flatten)]
        name: UserName,
        /// Print one JSON object.
        #[arg(long)]
        json: bool,
    },
}

/// Name of a user, or of a Unix user or group.
#[derive(Debug, Clone, Args)]
#[group(required = true, multiple = false)]
pub struct UserName {
    /// Name of a user with a password or a certificate.
    name: Option<String>,
    /// Unix user, by name or number: its roles over shared memory.
    #[arg(long, value_name = "NAME")]
    unix_user: Option<String>,
    /// Unix group, by name or number: the roles of its members over shared memory.
    #[arg(long, value_name = "NAME")]
    unix_group: Option<String>,
}

impl UserName {
    /// Returns the name, and what it is the name of.
    pub fn get(&self) -> (&str, UserKind) {
        if let Some(name) = &self.unix_user {
            return (name, UserKind::UnixUser);
        }
        if let Some(name) = &self.unix_group {
            return (name, UserKind::UnixGroup);
        }
        (self.name.as_deref().unwrap_or_default(), UserKind::Login)
    }
}
