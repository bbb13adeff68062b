//! `takt discover`: servers on this host and on the local network.

use std::time::Duration;

use miette::IntoDiagnostic;
use serde_json::{Value, json};
use takt_app::client::{ClientOptions, DiscoveryClient};
use takt_app::{Client, ClientError, Endpoint, Identity, SecurityChoice};
use takt_registry::{FoundServer, Multicast};
use takt_rt::interrupt::Interrupt;
use takt_ua::enumerations::MessageSecurityMode;
use takt_ua::structures::{ApplicationDescription, EndpointDescription, FindServersRequest};

use super::connect::options;
use crate::arguments::DiscoverArguments;
use crate::{explain, output};

pub fn run(arguments: &DiscoverArguments) -> miette::Result<()> {
    match arguments.network {
        true => {
            let connection = &arguments.connection;
            if connection.security.connection.is_given()
                || connection.reverse.listen.is_some()
                || connection.share.group.is_some()
            {
                return Err(explain::with_help(
                    "--network connects to no server: it needs no user, security, group or address to listen at",
                    "`takt discover URL` asks a server that was found.",
                ));
            }
            on_network(arguments)
        }
        false => at_server(arguments),
    }
}

/// Shows the servers that a server knows.
fn at_server(arguments: &DiscoverArguments) -> miette::Result<()> {
    let options = options(&arguments.endpoint, &arguments.connection)?;
    let (reverse, server_uri) = (options.reverse.clone(), options.server_uri.clone());
    let servers = known_servers(&arguments.endpoint, options);
    let servers = servers.map_err(|error| explain::client(&error))?;
    // The other servers are asked as everybody may ask them.
    let plain = ClientOptions {
        timeout: arguments.connection.timeout,
        group: arguments.connection.share.group.clone(),
        ..ClientOptions::named("takt")
    };
    // The server that was asked may be reachable in one direction only.
    let asked = ClientOptions {
        reverse,
        server_uri,
        ..plain.clone()
    };
    // The URL of the command has just worked. The DiscoveryUrls of the server may name a host that is not known here.
    let mut here = arguments
        .endpoints
        .then(|| endpoints_of(&arguments.endpoint, &asked))
        // Without an answer, all DiscoveryUrls are asked below.
        .and_then(Result::ok);
    for server in &servers {
        let mut offers = Vec::new();
        if arguments.endpoints {
            let is_asked = here.as_ref().and_then(|found| found.first());
            if is_asked.is_some_and(|offer| offer.server.application_uri == server.application_uri)
                && let Some(found) = here.take()
            {
                offers.push((arguments.endpoint.to_string(), Ok(found)));
            }
            let others = server.discovery_urls.iter().map(|url| url.as_str());
            let others = others.filter(|url| offers.iter().all(|(known, _)| known != url));
            let others: Vec<Offers> = others.filter_map(|url| offers_at(url, &plain)).collect();
            offers.extend(others);
        }
        show(server, &offers, arguments.json);
    }
    Ok(())
}

/// Asks a server for the servers that it knows: without security and session, unless the user has chosen them.
fn known_servers(
    endpoint: &Endpoint,
    options: ClientOptions,
) -> Result<Vec<ApplicationDescription>, ClientError> {
    // FindServers needs no session (OPC 10000-4, 5.5.2), but a user is known to the server in a session only.
    if options.identity != Identity::Anonymous {
        let mut client = Client::connect(endpoint, options)?;
        let found = client.call(FindServersRequest {
            endpoint_url: endpoint.to_string().as_str().into(),
            ..FindServersRequest::default()
        });
        return found.map(|found| found.servers);
    }
    let mut client = match options.security.choice {
        SecurityChoice::Secured { .. } => DiscoveryClient::connect_secured(endpoint, &options)?,
        _ => DiscoveryClient::connect(endpoint, &options)?,
    };
    client.servers()
}

/// Endpoints of a server, or the reason why it does not answer.
type Offers = (String, Result<Vec<EndpointDescription>, ClientError>);

/// Asks a DiscoveryUrl of a server for its endpoints; `None` if it is none that this program understands.
fn offers_at(url: &str, options: &ClientOptions) -> Option<Offers> {
    let endpoint: Endpoint = url.parse().ok()?;
    Some((url.to_owned(), endpoints_of(&endpoint, options)))
}

/// Returns the endpoints of the same transport.
fn endpoints_of(
    endpoint: &Endpoint,
    options: &ClientOptions,
) -> Result<Vec<EndpointDescription>, ClientError> {
    let mut found = DiscoveryClient::connect(endpoint, options)?.endpoints()?;
    // A server names the endpoints of all its transports, and has a DiscoveryUrl for each.
    found.retain(|offer| offer.endpoint_url.as_str().starts_with(endpoint.scheme()));
    Ok(found)
}

fn show(server: &ApplicationDescription, offers: &[Offers], json: bool) {
    let name = output::printable(server.application_name.text.as_str());
    let uri = output::printable(server.application_uri.as_str());
    let urls = server
        .discovery_urls
        .iter()
        .map(|url| output::printable(url.as_str()));
    if json {
        let mut row = json!({
            "name": server.application_name.text.as_str(),
            "applicationUri": server.application_uri.as_str(),
            "discoveryUrls": server.discovery_urls.iter().map(|url| url.as_str()).collect::<Vec<_>>(),
        });
        if !offers.is_empty() {
            row["endpoints"] = offers.iter().flat_map(offered_json).collect();
        }
        return output::line(row);
    }
    output::line(format_args!("{name}  {uri}"));
    if offers.is_empty() {
        for url in urls {
            output::line(format_args!("  {url}"));
        }
    }
    for (url, found) in offers {
        output::line(format_args!("  {}", output::printable(url)));
        match found {
            Ok(found) => {
                for offer in found {
                    output::line(format_args!("    {}", security(offer)));
                }
            }
            Err(error) => output::line(format_args!("    {error}")),
        }
    }
}

fn offered_json((url, found): &Offers) -> Vec<Value> {
    match found {
        Ok(found) => found
            .iter()
            .map(|offer| {
                json!({
                    "url": offer.endpoint_url.as_str(),
                    "securityPolicy": policy(offer),
                    "securityMode": mode(offer),
                    "securityLevel": offer.security_level,
                })
            })
            .collect(),
        Err(error) => vec![json!({ "url": url, "error": error.to_string() })],
    }
}

fn policy(offer: &EndpointDescription) -> String {
    let uri = offer.security_policy_uri.as_str();
    output::printable(uri.rsplit_once('#').map_or(uri, |(_, name)| name))
}

fn mode(offer: &EndpointDescription) -> &'static str {
    match offer.security_mode {
        MessageSecurityMode::Sign => "Sign",
        MessageSecurityMode::SignAndEncrypt => "SignAndEncrypt",
        _ => "None",
    }
}

fn security(offer: &EndpointDescription) -> String {
    match mode(offer) {
        "None" => "without security".to_owned(),
        mode => format!("{}, {mode}", policy(offer)),
    }
}

/// Listens to the network for a while, and shows the servers that answer.
fn on_network(arguments: &DiscoverArguments) -> miette::Result<()> {
    let interrupt = Interrupt::install().into_diagnostic()?;
    let network = Multicast::start().map_err(|error| {
        explain::with_help(
            error,
            "mDNS needs an interface with multicast, and UDP port 5353 that other programs share.",
        )
    })?;
    interrupt.wait(Some(arguments.wait));
    let servers = network.servers();
    for server in &servers {
        show_found(server, arguments.json);
    }
    if servers.is_empty() && !arguments.json {
        output::complain(format_args!(
            "no server has answered within {}: a registry announces itself with --mdns, and a firewall has to let UDP port 5353 pass",
            seconds(arguments.wait)
        ));
    }
    Ok(())
}

fn seconds(time: Duration) -> String {
    format!("{} s", time.as_secs_f64())
}

fn show_found(server: &FoundServer, json: bool) {
    if json {
        return output::line(json!({
            "name": server.name,
            "discoveryUrl": server.discovery_url,
            "host": server.host,
            "capabilities": server.capabilities,
        }));
    }
    output::line(format_args!("{}  {}", server.name, server.host));
    output::line(format_args!(
        "  {}  {}",
        server.discovery_url,
        server.capabilities.join(",")
    ));
}
