//! Discovery at a server (OPC 10000-4, 5.5): its endpoints, the servers that it knows, and registration. No session is needed.

use std::time::{Duration, Instant};

use takt_rt::clock::after;
use takt_ua::structures::*;
use takt_ua::{ExtensionObject, NodeId, UaString};

use super::link;
use super::message::{remaining, request_header, text};
use super::options::ClientOptions;
use super::request::ServiceRequest;
use super::requests::ready;
use super::transport::Transport;
use crate::endpoint::Endpoint;
use crate::error::ClientError;

/// Connection for Discovery. It has no session, so no user is needed.
pub struct DiscoveryClient {
    transport: Transport,
    endpoint: Endpoint,
    timeout: Duration,
    request_handle: u32,
}

impl DiscoveryClient {
    /// Connects without security: every server answers questions so.
    pub fn connect(endpoint: &Endpoint, options: &ClientOptions) -> Result<Self, ClientError> {
        let transport =
            Transport::connect_unsecured(endpoint, options, remaining(options.connect_deadline()))?;
        Ok(Self::with(transport, endpoint, options))
    }

    /// Connects with the security that `options` choose: servers beyond this host register so.
    pub fn connect_secured(
        endpoint: &Endpoint,
        options: &ClientOptions,
    ) -> Result<Self, ClientError> {
        let deadline = options.connect_deadline();
        let transport = ready(link::connect(endpoint, options, None, false, deadline))?;
        Ok(Self::with(transport, endpoint, options))
    }

    fn with(transport: Transport, endpoint: &Endpoint, options: &ClientOptions) -> Self {
        Self {
            transport,
            endpoint: endpoint.clone(),
            timeout: options.timeout,
            request_handle: 0,
        }
    }

    fn call<Q: ServiceRequest>(&mut self, mut request: Q) -> Result<Q::Response, ClientError> {
        let deadline = after(Instant::now(), self.timeout);
        self.request_handle = self.request_handle.wrapping_add(1);
        *request.header_mut() = request_header(&NodeId::NULL, self.request_handle, self.timeout);
        self.transport.call(&request, remaining(deadline))
    }

    fn url(&self) -> UaString {
        text(&self.endpoint.to_string())
    }

    /// Returns the servers that the server knows, itself included (FindServers).
    pub fn servers(&mut self) -> Result<Vec<ApplicationDescription>, ClientError> {
        let found = self.call(FindServersRequest {
            endpoint_url: self.url(),
            ..FindServersRequest::default()
        })?;
        Ok(found.servers)
    }

    /// Returns the endpoints of the server (GetEndpoints).
    pub fn endpoints(&mut self) -> Result<Vec<EndpointDescription>, ClientError> {
        let found = self.call(GetEndpointsRequest {
            endpoint_url: self.url(),
            ..GetEndpointsRequest::default()
        })?;
        Ok(found.endpoints)
    }

    /// Returns the servers on the network that the server has found (FindServersOnNetwork).
    pub fn servers_on_network(&mut self) -> Result<Vec<ServerOnNetwork>, ClientError> {
        let found = self.call(FindServersOnNetworkRequest::default())?;
        Ok(found.servers)
    }

    /// Registers a server, or ends its registration if it is not online. With `mdns` it is announced on the network; a server
    /// without RegisterServer2 gets RegisterServer.
    pub fn register(
        &mut self,
        server: &RegisteredServer,
        mdns: Option<&MdnsDiscoveryConfiguration>,
    ) -> Result<(), ClientError> {
        let configuration = mdns.map(ExtensionObject::from_structure);
        let registered = self.call(RegisterServer2Request {
            server: server.clone(),
            discovery_configuration: configuration.into_iter().collect(),
            ..RegisterServer2Request::default()
        });
        match registered {
            Err(ClientError::Service { status, .. })
                if status == takt_ua::StatusCode::BadServiceUnsupported =>
            {
                let request = RegisterServerRequest {
                    server: server.clone(),
                    ..RegisterServerRequest::default()
                };
                self.call(request).map(|_| ())
            }
            other => other.map(|_| ()),
        }
    }
}
