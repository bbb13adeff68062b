//! A server of async-opcua with secured endpoints, as `peers/README.md` describes it.

use std::net::TcpListener;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use opcua::crypto::{SecurityPolicy, Thumbprint, X509};
use opcua::nodes::{BaseEventType, Event, MethodBuilder, VariableBuilder};
use opcua::server::authenticator::{
    AuthManager, Password, UserToken, user_pass_security_policy_id,
};
use opcua::server::diagnostics::NamespaceMetadata;
use opcua::server::node_manager::memory::{SimpleNodeManager, simple_node_manager};
use opcua::server::{ReverseConnectTargetConfig, ServerBuilder, ServerEndpoint, SubscriptionCache};
use opcua::types::{
    Argument, DataTypeId, Error, MessageSecurityMode, NodeId, ObjectId, ObjectTypeId, StatusCode,
    UAString, UserTokenPolicy, UserTokenType, Variant,
};
use serde_json::{Value, json};

use crate::Failed;

const NAMESPACE: &str = "urn:takt:peer";

/// The anonymous user, anna, and a user with a certificate.
struct Users {
    certificate: Option<Thumbprint>,
}

fn refused() -> Error {
    Error::new(StatusCode::BadUserAccessDenied, "unknown user")
}

#[async_trait]
impl AuthManager for Users {
    async fn authenticate_anonymous_token(&self, _endpoint: &ServerEndpoint) -> Result<(), Error> {
        Ok(())
    }

    async fn authenticate_username_identity_token(
        &self,
        _endpoint: &ServerEndpoint,
        username: &str,
        password: &Password,
    ) -> Result<UserToken, Error> {
        let is_known = (username, password.get()) == ("anna", "hammer");
        is_known
            .then(|| UserToken("anna".to_owned()))
            .ok_or_else(refused)
    }

    async fn authenticate_x509_identity_token(
        &self,
        _endpoint: &ServerEndpoint,
        signing_thumbprint: &Thumbprint,
    ) -> Result<UserToken, Error> {
        let is_known = Some(signing_thumbprint) == self.certificate.as_ref();
        is_known
            .then(|| UserToken("certificate".to_owned()))
            .ok_or_else(refused)
    }

    fn user_token_policies(&self, endpoint: &ServerEndpoint) -> Vec<UserTokenPolicy> {
        let policy = |id: UAString, token_type, uri: &str| UserTokenPolicy {
            policy_id: id,
            token_type,
            issued_token_type: UAString::null(),
            issuer_endpoint_url: UAString::null(),
            security_policy_uri: uri.into(),
        };
        let uri = endpoint.security_policy().to_uri();
        vec![
            policy("anonymous".into(), UserTokenType::Anonymous, ""),
            policy(
                user_pass_security_policy_id(endpoint),
                UserTokenType::UserName,
                uri,
            ),
            // The library verifies the signature with the policy that is named here.
            policy("x509".into(), UserTokenType::Certificate, uri),
        ]
    }
}

/// Serves until the input ends. Without a description of security, there is none, and the server reports Events. With the URL of a
/// client, the server connects to it.
pub(crate) async fn run(
    port: &str,
    security: Option<&str>,
    client: Option<&str>,
) -> Result<(), Failed> {
    let mut port: u16 = port.parse()?;
    if port == 0 {
        // The library cannot say which port it got for 0.
        port = TcpListener::bind(("127.0.0.1", 0))?.local_addr()?.port();
    }
    let is_secured = security.is_some();
    let security: Value = security.map_or(Ok(Value::Null), serde_json::from_str)?;
    let field = |name: &str| security[name].as_str().unwrap_or_default().to_owned();
    let application = match is_secured {
        true => field("application"),
        false => "urn:takt:peers:async-opcua".to_owned(),
    };
    let mut builder = ServerBuilder::new()
        .application_name("async-opcua peer")
        .application_uri(application.clone())
        .product_uri(application)
        .host("127.0.0.1")
        .port(port);
    let mut users = Users { certificate: None };
    if is_secured {
        let user = X509::from_pem(&std::fs::read(field("userCertificate"))?)?;
        users.certificate = Some(user.thumbprint());
        builder = builder
            .certificate_path(field("certificate"))
            .private_key_path(field("key"))
            // Beside its certificate, not in the folder where this process was started.
            .pki_dir(Path::new(&field("certificate")).with_file_name("pki-server"))
            .trust_client_certs(true);
    } else {
        builder = builder
            .pki_dir(std::env::temp_dir().join("takt-async-opcua-server"))
            .add_endpoint("none", ServerEndpoint::new_none("/", &[]));
    }
    let mut builder = builder
        .with_authenticator(Arc::new(users))
        .with_node_manager(simple_node_manager(
            NamespaceMetadata {
                namespace_uri: NAMESPACE.to_owned(),
                ..Default::default()
            },
            "peer",
        ))
        .discovery_urls(vec!["/".to_owned()])
        .max_sessions(100);
    builder.config_mut().reverse_connect_failure_delay_ms = 100;
    let policies = security["policies"].as_array().into_iter().flatten();
    for policy in policies.filter_map(Value::as_str) {
        let uri = format!("http://opcfoundation.org/UA/SecurityPolicy#{policy}");
        for mode in [
            MessageSecurityMode::Sign,
            MessageSecurityMode::SignAndEncrypt,
        ] {
            let endpoint = ServerEndpoint::new("/", SecurityPolicy::from_uri(&uri), mode, &[]);
            builder = builder.add_endpoint(format!("{policy} {mode:?}"), endpoint);
        }
    }
    let (server, handle) = builder.build()?;
    let nodes = handle.node_managers().get_of_type::<SimpleNodeManager>();
    let namespace = handle.get_namespace_index(NAMESPACE);
    let (nodes, namespace) = nodes.zip(namespace).ok_or("no namespace of the nodes")?;
    add_nodes(&nodes, namespace);
    let listener = tokio::net::TcpListener::bind(("127.0.0.1", port)).await?;
    let endpoint = format!("opc.tcp://127.0.0.1:{port}");
    if let Some(client) = client {
        handle.add_reverse_connect_target(ReverseConnectTargetConfig {
            address: client.trim_start_matches("opc.tcp://").parse()?,
            endpoint_url: endpoint.clone(),
            id: client.to_owned(),
        });
    }
    println!(
        "{}",
        json!({"ready": true, "endpoint": endpoint, "namespace": namespace})
    );
    if !is_secured {
        let subscriptions = Arc::clone(handle.subscriptions());
        tokio::spawn(async move {
            for number in 0_u32.. {
                tokio::time::sleep(Duration::from_millis(100)).await;
                report(&subscriptions, number);
            }
        });
    }
    tokio::task::spawn_blocking(move || {
        // Nothing is ever sent to us: the end of the input is the end.
        while crate::next_line().is_some() {}
        handle.cancel();
    });
    Ok(server.run_with(listener).await?)
}

/// Reports an Event of the server, whose Severity goes from 100 to 1000.
fn report(subscriptions: &SubscriptionCache, number: u32) {
    let severity = u16::try_from(number % 10).unwrap_or(0) * 100 + 100;
    let server = NodeId::from(ObjectId::Server);
    let event = BaseEventType::new_now(
        ObjectTypeId::BaseEventType,
        number.to_le_bytes().to_vec().into(),
        format!("Severity {severity}"),
    )
    .set_source_node(server.clone())
    .set_source_name("Server".into())
    .set_severity(severity);
    subscriptions.notify_events(std::iter::once((&event as &dyn Event, &server)));
}

/// Adds a part of the nodes of `peers/README.md`.
fn add_nodes(nodes: &SimpleNodeManager, namespace: u16) {
    let space = nodes.address_space();
    let mut space = space.write();
    let id = |name: &str| NodeId::new(namespace, name);
    let name = |name: &str| opcua::types::QualifiedName::new(namespace, name);
    let peer = id("Peer");
    space.add_folder(&peer, name("Peer"), "Peer", &ObjectId::ObjectsFolder.into());
    for (text, data_type, value) in [
        ("UInt32", DataTypeId::UInt32, Variant::from(42_u32)),
        ("Double", DataTypeId::Double, Variant::from(2.5)),
        ("String", DataTypeId::String, Variant::from("Grüße")),
    ] {
        VariableBuilder::new(&id(text), name(text), text)
            .data_type(data_type)
            .value(value)
            .writable()
            .component_of(peer.clone())
            .insert(&mut *space);
    }
    let argument = |name: &str| Argument {
        name: name.into(),
        data_type: DataTypeId::Double.into(),
        value_rank: -1,
        ..Default::default()
    };
    let multiply = id("Multiply");
    MethodBuilder::new(&multiply, name("Multiply"), "Multiply")
        .component_of(peer)
        .executable(true)
        .user_executable(true)
        .input_args(&mut *space, &id("Inputs"), &[argument("A"), argument("B")])
        .output_args(&mut *space, &id("Outputs"), &[argument("Product")])
        .insert(&mut *space);
    nodes
        .inner()
        .add_method_callback(multiply, |inputs| match inputs {
            [Variant::Double(a), Variant::Double(b)] => Ok(vec![Variant::Double(a * b)]),
            _ => Err(StatusCode::BadInvalidArgument),
        });
}
