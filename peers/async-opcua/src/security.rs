//! The security of a channel and the user of its Session, as a check asks for them.

use opcua::client::{Client, ClientBuilder, IdentityToken};
use opcua::types::{ByteString, EndpointDescription, MessageSecurityMode, UserTokenPolicy};
use serde_json::Value;

use crate::Failed;

/// Security; without a policy, there is neither security nor a user.
pub(crate) struct Security {
    policy: Option<String>,
    mode: String,
    application: String,
    certificate: String,
    key: String,
    user: String,
    password: String,
    user_certificate: String,
    user_key: String,
    token: String,
}

impl Security {
    pub(crate) fn of(request: &Value) -> Self {
        let field = |name: &str| request[name].as_str().unwrap_or_default().to_owned();
        Self {
            policy: request["policy"].as_str().map(str::to_owned),
            mode: field("mode"),
            application: field("application"),
            certificate: field("certificate"),
            key: field("key"),
            user: field("user"),
            password: field("password"),
            user_certificate: field("userCertificate"),
            user_key: field("userKey"),
            token: field("token"),
        }
    }

    /// Sets the certificate of the client, which accepts all certificates of servers.
    pub(crate) fn configure(&self, builder: ClientBuilder) -> ClientBuilder {
        if self.policy.is_none() {
            return builder;
        }
        builder
            .application_uri(&self.application)
            // A server that refuses the certificate is not asked for ever.
            .session_retry_limit(3)
            .certificate_path(&self.certificate)
            .private_key_path(&self.key)
            .trust_server_certs(true)
            .verify_server_certs(false)
    }

    /// Returns the endpoint of the server with this security. A relay has another URL than its server.
    pub(crate) async fn endpoint(
        &self,
        client: &Client,
        url: &str,
    ) -> Result<EndpointDescription, Failed> {
        let Some(policy) = &self.policy else {
            let anonymous = UserTokenPolicy::anonymous();
            return Ok((url, "None", MessageSecurityMode::None, anonymous).into());
        };
        let policy = format!("http://opcfoundation.org/UA/SecurityPolicy#{policy}");
        let mode = match self.mode.as_str() {
            "Sign" => MessageSecurityMode::Sign,
            _ => MessageSecurityMode::SignAndEncrypt,
        };
        let offered = client.get_server_endpoints_from_url(url).await?;
        let mut endpoint = offered
            .into_iter()
            .find(|one| one.security_policy_uri.as_ref() == policy && one.security_mode == mode)
            .ok_or_else(|| Failed(format!("the server does not offer {policy}, {mode}")))?;
        endpoint.endpoint_url = url.into();
        Ok(endpoint)
    }

    pub(crate) fn identity(&self) -> Result<IdentityToken, Failed> {
        if !self.user_certificate.is_empty() {
            return Ok(IdentityToken::new_x509_path(
                &self.user_certificate,
                &self.user_key,
            )?);
        }
        if !self.token.is_empty() {
            let token = ByteString::from(self.token.as_bytes());
            return Ok(IdentityToken::new_issued_token(token));
        }
        Ok(match self.user.is_empty() {
            true => IdentityToken::Anonymous,
            false => IdentityToken::new_user_name(self.user.clone(), self.password.clone()),
        })
    }
}
