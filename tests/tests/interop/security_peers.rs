//! Secured channels with foreign software, each SecurityPolicy, mode and token of users: foreign clients at a registry, and the
//! command line at foreign servers. Passwords of foreign clients without security, too.

use takt_tests::Peer;
use takt_tests::interop::{
    CURVE_POLICIES, Checker, POLICIES, Token, client_logs_in_without_security,
    client_on_secured_channels, client_passes_secured_checks, command_line_on_secured_channels,
};

/// The Provider of the checks.
const PROVIDER: &str = env!("CARGO_BIN_EXE_takt-interop-provider");

/// Tokens of clients: what each library can send.
const ALL: [Token; 4] = [
    Token::Anonymous,
    Token::UserName,
    Token::Certificate,
    Token::Jwt,
];
// async-opcua signs nothing if the UserTokenPolicy leaves the SecurityPolicy to the endpoint.
const WITHOUT_CERTIFICATE: [Token; 3] = [Token::Anonymous, Token::UserName, Token::Jwt];
const WITHOUT_JWT: [Token; 3] = [Token::Anonymous, Token::UserName, Token::Certificate];

#[test]
fn asyncua_is_a_client_on_secured_channels() {
    client_on_secured_channels(Peer::Asyncua, &POLICIES, &WITHOUT_JWT);
}

#[test]
fn asyncua_encrypts_passwords_without_security() {
    client_logs_in_without_security(Peer::Asyncua);
}

#[test]
fn asyncua_is_a_server_on_secured_channels() {
    command_line_on_secured_channels(Peer::Asyncua, &POLICIES, &WITHOUT_JWT);
}

#[test]
fn async_opcua_is_a_client_on_secured_channels() {
    client_passes_secured_checks(Checker::AsyncOpcua, PROVIDER, &WITHOUT_CERTIFICATE);
}

#[test]
fn async_opcua_is_a_server_on_secured_channels() {
    command_line_on_secured_channels(Peer::AsyncOpcua, &POLICIES, &WITHOUT_JWT);
}

#[test]
fn gopcua_is_a_client_on_secured_channels() {
    client_passes_secured_checks(Checker::Gopcua, PROVIDER, &ALL);
}

#[test]
fn milo_is_a_client_on_secured_channels() {
    client_passes_secured_checks(Checker::Milo, PROVIDER, &ALL);
}

#[test]
fn milo_is_a_server_on_secured_channels() {
    command_line_on_secured_channels(Peer::Milo, &POLICIES, &WITHOUT_JWT);
}

#[test]
fn node_opcua_is_a_client_on_secured_channels() {
    client_on_secured_channels(Peer::NodeOpcua, &POLICIES, &WITHOUT_JWT);
}

#[test]
fn node_opcua_encrypts_passwords_without_security() {
    client_logs_in_without_security(Peer::NodeOpcua);
}

#[test]
fn node_opcua_is_a_server_on_secured_channels() {
    command_line_on_secured_channels(Peer::NodeOpcua, &POLICIES, &WITHOUT_JWT);
}

#[test]
fn open62541_is_a_client_on_secured_channels() {
    client_on_secured_channels(Peer::Open62541, &POLICIES, &ALL);
}

#[test]
fn open62541_is_a_server_on_secured_channels() {
    command_line_on_secured_channels(Peer::Open62541, &POLICIES, &WITHOUT_JWT);
}

#[test]
fn open62541_is_a_client_on_channels_with_elliptic_curves() {
    for policy in &CURVE_POLICIES {
        client_on_secured_channels(Peer::Open62541, policy, &ALL);
    }
}

#[test]
fn open62541_is_a_server_on_channels_with_elliptic_curves() {
    for policy in &CURVE_POLICIES {
        command_line_on_secured_channels(Peer::Open62541, policy, &WITHOUT_JWT);
    }
}
