//! Session and nodes of the commands that use a server.

use takt_app::client::{Client, ClientOptions, ReverseClient};
use takt_app::{ClientError, Endpoint, ReverseListener, model};
use takt_ua::{NodeId, StatusCode};

use crate::arguments::{ConnectArguments, ConnectionArguments, ReverseArguments};
use crate::commands::user::password;
use crate::explain;

/// Opens a session.
pub fn connect(arguments: &ConnectArguments) -> miette::Result<Client> {
    let options = options(&arguments.endpoint, &arguments.connection)?;
    Client::connect(&arguments.endpoint, options).map_err(|error| explain::client(&error))
}

/// Returns the options of a client of `endpoint`.
pub fn options(
    endpoint: &Endpoint,
    arguments: &ConnectionArguments,
) -> miette::Result<ClientOptions> {
    Ok(ClientOptions {
        reverse: reverse(endpoint, &arguments.reverse)?,
        server_uri: arguments.reverse.server_uri.clone(),
        timeout: arguments.timeout,
        group: arguments.share.group.clone(),
        security: arguments.security.options(),
        identity: arguments.security.identity(password)?,
        ..ClientOptions::named("takt")
    })
}

/// Opens the socket at which the server connects, if it shall do so.
pub fn reverse(
    endpoint: &Endpoint,
    arguments: &ReverseArguments,
) -> miette::Result<Option<ReverseClient>> {
    let Some(url) = &arguments.listen else {
        return Ok(None);
    };
    if endpoint.is_shared_memory() {
        return Err(explain::with_help(
            "--listen is for a server over opc.tcp",
            "Name the EndpointUrl of the server: opc.tcp://HOST:PORT.",
        ));
    }
    let listener = ReverseListener::bind(url)
        .map_err(|error| explain::with_help(error, "See --listen in `takt browse --help`."))?;
    let wait = arguments.listen_for;
    Ok(Some(ReverseClient { listener, wait }))
}

/// Returns the node that the user names: a NodeId, or a path below the Objects folder.
///
/// At a Provider the path may also be the identifier of a node: it begins below the Object of the Provider, and works at a
/// reduced Provider too.
pub fn node(client: &mut Client, text: &str) -> Result<NodeId, ClientError> {
    if let Ok(node) = text.parse() {
        return Ok(node);
    }
    match client.find(text) {
        Ok(reference) => Ok(reference.node_id.node_id),
        Err(error) if error.status_code() == StatusCode::BadNoMatch => {
            node_of_provider(client, text)?.ok_or(error)
        }
        Err(error) => Err(error),
    }
}

/// Returns the node of a Provider with a path as its identifier; `None` at other servers.
pub fn node_of_provider(client: &mut Client, path: &str) -> Result<Option<NodeId>, ClientError> {
    let own = client.namespace_uri(1)?;
    let is_provider = own.starts_with(&model::provider_uri(""));
    Ok(is_provider.then(|| NodeId::string(1, path.trim_matches('/'))))
}
