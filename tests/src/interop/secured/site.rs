//! Registry with users of each kind, and the foreign client that is to use it.

use serde_json::Value;

use super::application::{Foreign, text};
use super::{Case, Token};
use crate::authorization::AuthorizationService;
use crate::sandbox::Sandbox;

/// Name and password of a user.
const USER: (&str, &str) = ("anna", "hammer and tongs");

/// Adds the user with a password, with these roles, to the users of a registry. Returns name and password.
///
/// # Panics
/// If that fails.
pub fn add_user_with(sandbox: &Sandbox, roles: &str) -> (&'static str, &'static str) {
    let data = sandbox.data_directory();
    let (file, users) = (data.join("password"), data.join("users"));
    std::fs::write(&file, format!("{}\n", USER.1)).expect("a file can be written");
    let add = ["user", "add", USER.0, "--role", roles];
    let files = ["--password-file", text(&file), "--users", text(&users)];
    let _ = sandbox.run(&[&add[..], &files].concat()).expect_success();
    USER
}

/// A foreign client, and the users of a registry.
pub(super) struct Site {
    pub(super) client: Foreign,
    user: Foreign,
    service: AuthorizationService,
    registry_arguments: Vec<String>,
}

impl Site {
    /// Makes certificates for a SecurityPolicy, and adds users to the file of a registry that is not started yet. All of them are
    /// operators.
    pub(super) fn new(sandbox: &Sandbox, name: &str, policy: &str) -> Self {
        let data = sandbox.data_directory();
        let user = Foreign::new(sandbox, "user", policy);
        add_user_with(sandbox, "operator");
        let certificate = user.certificate();
        let add = ["user", "add", "berta", "--role", "operator"];
        let users = data.join("users");
        let files = ["--certificate", text(&certificate), "--users", text(&users)];
        let _ = sandbox.run(&[&add[..], &files].concat()).expect_success();
        let service = AuthorizationService::new(data);
        let mut registry_arguments = service.registry_arguments();
        registry_arguments.extend(["--curves", "all"].map(str::to_owned));
        Self {
            client: Foreign::new(sandbox, name, policy),
            user,
            registry_arguments,
            service,
        }
    }

    /// Returns the arguments of the registry.
    pub(super) fn registry_arguments(&self) -> Vec<&str> {
        self.registry_arguments.iter().map(String::as_str).collect()
    }

    /// Returns the description of security for a client, as in `peers/README.md`.
    pub(super) fn security(&self, case: &Case) -> Value {
        let mut security = self.client.described();
        security["policy"] = case.policy.into();
        security["mode"] = case.mode.into();
        match case.token {
            Token::Anonymous => {}
            Token::UserName => {
                security["user"] = USER.0.into();
                security["password"] = USER.1.into();
            }
            Token::Certificate => add_user(&mut security, &self.user),
            Token::Jwt => {
                let claims = AuthorizationService::claims(&["operator"]);
                security["token"] = self.service.issue(&claims).into();
            }
        }
        security
    }

    /// Returns the description of a user that the registry refuses: a wrong password, an unknown certificate, or a token that
    /// another service has issued.
    pub(super) fn refused(&self, sandbox: &Sandbox, case: &Case) -> Value {
        let mut security = self.security(case);
        match case.token {
            Token::Anonymous => panic!("everybody is anonymous"),
            Token::UserName => security["password"] = "nail".into(),
            Token::Certificate => add_user(&mut security, &self.client),
            Token::Jwt => {
                let stranger = AuthorizationService::new(sandbox.data_directory());
                let claims = AuthorizationService::claims(&["operator"]);
                security["token"] = stranger.issue(&claims).into();
            }
        }
        security
    }
}

fn add_user(security: &mut Value, user: &Foreign) {
    security["userCertificate"] = text(&user.certificate()).into();
    security["userKey"] = text(&user.key()).into();
}
