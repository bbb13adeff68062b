//! Session and nodes of the commands that use a server.

use takt_app::client::{Client, ClientOptions, ReverseClient};
use takt_app::{ClientError, Endpoint, ReverseListener, model};
use takt_ua::{NodeId, ParseNodeIdError, StatusCode};

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
    if let Some(node) = node_id(client, text)? {
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

/// Returns the node with this NodeId: `ns=INDEX;…`, `nsu=URI;…`, or in namespace 0, also in quotes; `None` if the text is no
/// NodeId.
pub fn node_id(client: &mut Client, text: &str) -> Result<Option<NodeId>, ClientError> {
    let text = without_quotes(text);
    let Some(with_uri) = text.strip_prefix("nsu=") else {
        return Ok(text.parse().ok());
    };
    let uris = client.namespace_array()?;
    of_uri(with_uri, &uris).map(Some).map_err(|reason| {
        ClientError::Invalid(format!("'{text}' is not a node of this server: {reason}"))
    })
}

/// Removes the quotes around a NodeId, which were copied with it from a program's source. Other texts stay: a path may have quotes.
fn without_quotes(text: &str) -> &str {
    let inner = text.strip_prefix('"').and_then(|it| it.strip_suffix('"'));
    let is_node_id = |it: &&str| it.starts_with("nsu=") || it.parse::<NodeId>().is_ok();
    inner.filter(is_node_id).unwrap_or(text)
}

/// Finds a node by the URI of its namespace. `;` and `%` in a URI are written `%3B` and `%25` (OPC 10000-6, 5.1.12); a URI with a
/// plain `;` is recognised if the server has it.
fn of_uri(text: &str, uris: &[String]) -> Result<NodeId, String> {
    let mut unknown = None;
    let mut wrong = None;
    for (at, _) in text.match_indices(';') {
        let (uri, identifier) = (&text[..at], &text[at + 1..]);
        // The URI is in the place of an index.
        if identifier.starts_with("ns=") {
            continue;
        }
        let identifier: NodeId = match identifier.parse() {
            Ok(identifier) => identifier,
            Err(error) => {
                wrong.get_or_insert_with(|| ParseNodeIdError::to_string(&error));
                continue;
            }
        };
        let escaped = uri.replace("%3B", ";").replace("%3b", ";");
        // The last step, so that `%253B` becomes `%3B` and no semicolon.
        let escaped = escaped.replace("%25", "%");
        let is_named = |known: &String| *known == escaped || known == uri;
        match uris.iter().position(is_named) {
            Some(index) => {
                return Ok(NodeId {
                    namespace: u16::try_from(index).unwrap_or(u16::MAX),
                    ..identifier
                });
            }
            None => {
                unknown.get_or_insert(escaped);
            }
        }
    }
    Err(match (unknown, wrong) {
        (Some(uri), _) => format!(
            "it has no namespace {uri}; its namespaces are {}",
            uris.join(", ")
        ),
        (None, Some(wrong)) => wrong,
        (None, None) => "';' is missing after nsu=".to_owned(),
    })
}

/// Returns the node of a Provider with a path as its identifier; `None` at other servers.
pub fn node_of_provider(client: &mut Client, path: &str) -> Result<Option<NodeId>, ClientError> {
    // Index 1 is the server's own namespace, with its ApplicationUri as the URI.
    let own = client.namespace_uri(1)?;
    let is_provider = own.starts_with(&model::provider_uri(""));
    Ok(is_provider.then(|| NodeId::string(1, path.trim_matches('/'))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_around_a_node_id_are_no_part_of_it() {
        for (text, meant) in [
            (r#""ns=3;s=Spindle/Speed""#, "ns=3;s=Spindle/Speed"),
            (r#""i=2258""#, "i=2258"),
            (
                r#""nsu=http://plant/;s="DB".Speed""#,
                r#"nsu=http://plant/;s="DB".Speed"#,
            ),
            (r#"ns=3;s="DB"."Speed""#, r#"ns=3;s="DB"."Speed""#),
            (r#""DB"."Speed""#, r#""DB"."Speed""#),
            ("\"", "\""),
        ] {
            assert_eq!(without_quotes(text), meant);
        }
    }

    #[test]
    fn nodes_are_named_by_the_uri_of_their_namespace() {
        let uris = ["ua", "urn:server", "http://plant/Ü;a%b/", "http://plant/Ü"].map(str::to_owned);
        let of = |text| of_uri(text, &uris);
        let level = |namespace| Ok(NodeId::string(namespace, "Level"));
        assert_eq!(of("urn:server;s=Level"), level(1));
        assert_eq!(of("http://plant/Ü%3Ba%25b/;s=Level"), level(2));
        assert_eq!(of("http://plant/Ü;a%b/;s=Level"), level(2));
        assert_eq!(of("http://plant/Ü;s=Level"), level(3));
        assert_eq!(of("http://plant/Ü;i=7"), Ok(NodeId::numeric(3, 7)));
        let odd = NodeId::string(3, "V40;0;3;s=\"gtyp\".x");
        assert_eq!(of("http://plant/Ü;s=V40;0;3;s=\"gtyp\".x"), Ok(odd));
        let unknown = of("http://other/;s=Level").unwrap_err();
        assert!(unknown.contains("no namespace http://other/"), "{unknown}");
        assert!(unknown.contains("urn:server"), "{unknown}");
        for wrong in ["", "urn:server", "urn:server;i=x", "urn:server;ns=1;i=7"] {
            assert!(of(wrong).is_err(), "{wrong}");
        }
    }
}
