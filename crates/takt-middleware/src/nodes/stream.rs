//! Provider that takes messages, and client that passes them on.

use std::path::Path;
use std::sync::mpsc::Sender;
use std::time::Duration;

use takt_app::serve::{EndpointSecurity, ServeOptions};
use takt_app::{
    Client, ClientError, ClientOptions, ClientSecurity, EndpointError, Method, Provider,
};
use takt_space::{MethodCall, OutputArguments};
use takt_ua::{BuiltInType, NodeId, StatusCode, VariantRef};

/// Name of the Method that takes a message.
const METHOD: &str = "take";
/// Namespace of the Provider.
const NAMESPACE: u16 = 1;

/// Starts a Provider whose Method sends each message to `messages`.
pub(super) fn serve(
    name: &str,
    port: u16,
    folder: &Path,
    messages: Sender<Option<Vec<u8>>>,
) -> Result<Provider, String> {
    let take = move |call: &MethodCall<'_>, _: &mut OutputArguments<'_, '_>| {
        let Some(VariantRef::ByteString(Some(bytes))) = call.input(0) else {
            return Err(StatusCode::BadInvalidArgument.into());
        };
        // A receiver that is gone needs no message.
        let _ = messages.send(Some(bytes.to_vec()));
        Ok(())
    };
    Provider::builder(name)
        .without_registry()
        .endpoint(format!("opc.tcp://127.0.0.1:{port}"))
        .method(
            Method::in_place(METHOD, take)
                .input("Message", BuiltInType::ByteString)
                .inline(),
        )
        .serve(ServeOptions {
            runtime_directory: Some(folder.join("runtime")),
            security: EndpointSecurity {
                certificates: Some(folder.join("pki")),
                users: Some(folder.join("users")),
                ..EndpointSecurity::default()
            },
            ..ServeOptions::default()
        })
        .start()
        .map_err(|error| error.to_string())
}

/// Client of the next server.
pub(super) struct Next {
    client: Client,
    object: NodeId,
    method: NodeId,
}

impl Next {
    /// Connects to the next server.
    pub(super) fn connect(endpoint: &str, folder: &Path) -> Result<Self, String> {
        let options = ClientOptions {
            timeout: Duration::from_secs(10),
            runtime_directory: Some(folder.join("runtime")),
            security: ClientSecurity {
                choice: "none".parse()?,
                certificates: Some(folder.join("pki")),
                ..ClientSecurity::default()
            },
            ..ClientOptions::named("TaktHopClient")
        };
        let endpoint = endpoint
            .parse()
            .map_err(|error: EndpointError| error.to_string())?;
        let client = Client::connect(&endpoint, options).map_err(|error| error.to_string())?;
        Ok(Self {
            client,
            object: NodeId::numeric(NAMESPACE, takt_app::model::provider::OBJECT),
            method: NodeId::string(NAMESPACE, METHOD),
        })
    }

    /// Passes a message on. It returns when the next server has it.
    pub(super) fn send(&mut self, message: &[u8]) -> Result<(), ClientError> {
        let input = [VariantRef::ByteString(Some(message))];
        self.client
            .call_in_place(&self.object, &self.method, &input, |_| ())
    }
}
