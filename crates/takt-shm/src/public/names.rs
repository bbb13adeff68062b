//! Public services and their names, `<ApplicationName>/<ServiceSet>/<Service>`.
//!
//! The ServiceSets are named as in the paper that this transport follows ("Views", "Attributes"), the services as in
//! OPC 10000-4.

use crate::address::ApplicationName;

/// Service that can be called through an iceoryx2 request-response service of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PublicService {
    /// Name of the ServiceSet.
    pub service_set: &'static str,
    /// Name of the service.
    pub service: &'static str,
    /// NodeId (namespace 0) of the binary encoding of its request, with which the body of a request begins.
    pub request_encoding_id: u32,
}

const fn service(service_set: &'static str, service: &'static str, id: u32) -> PublicService {
    PublicService {
        service_set,
        service,
        request_encoding_id: id,
    }
}

/// All public services. A Provider may refuse some of them with a ServiceFault.
pub const PUBLIC_SERVICES: [PublicService; 18] = [
    service("Discovery", "FindServers", 422),
    service("Discovery", "GetEndpoints", 428),
    service("Sessions", "CreateSession", 461),
    service("Sessions", "ActivateSession", 467),
    service("Sessions", "CloseSession", 473),
    service("Sessions", "Cancel", 479),
    service("NodeManagement", "AddNodes", 488),
    service("NodeManagement", "AddReferences", 494),
    service("NodeManagement", "DeleteNodes", 500),
    service("NodeManagement", "DeleteReferences", 506),
    service("Views", "Browse", 527),
    service("Views", "BrowseNext", 533),
    service("Views", "TranslateBrowsePathsToNodeIds", 554),
    service("Views", "RegisterNodes", 560),
    service("Views", "UnregisterNodes", 566),
    service("Attributes", "Read", 631),
    service("Attributes", "Write", 673),
    service("Methods", "Call", 712),
];

impl PublicService {
    /// Returns the public service of that name.
    #[must_use]
    pub fn find(service_set: &str, service: &str) -> Option<&'static Self> {
        PUBLIC_SERVICES
            .iter()
            .find(|entry| entry.service_set == service_set && entry.service == service)
    }

    /// Returns true if its responses carry Values, which may be of any size. Those of the others have room for 128 KiB.
    #[must_use]
    pub fn carries_values(&self) -> bool {
        matches!(self.service, "Read" | "Call")
    }

    /// Returns the name of its iceoryx2 service.
    #[must_use]
    pub fn name(&self, application: &ApplicationName) -> String {
        format!("{application}/{}/{}", self.service_set, self.service)
    }
}

/// Returns the name of the event service to notify after a request was sent to a public service.
#[must_use]
pub fn wake_name(application: &ApplicationName) -> String {
    format!("{application}/Wake")
}

#[cfg(test)]
mod tests {
    use takt_ua::Structure;
    use takt_ua::structures::{
        ActivateSessionRequest, AddNodesRequest, AddReferencesRequest, BrowseNextRequest,
        BrowseRequest, CallRequest, CancelRequest, CloseSessionRequest, CreateSessionRequest,
        DeleteNodesRequest, DeleteReferencesRequest, FindServersRequest, GetEndpointsRequest,
        ReadRequest, RegisterNodesRequest, TranslateBrowsePathsToNodeIdsRequest,
        UnregisterNodesRequest, WriteRequest,
    };

    use super::*;

    #[test]
    fn requests_are_those_of_the_standard() {
        let expected = [
            FindServersRequest::BINARY_ENCODING_ID,
            GetEndpointsRequest::BINARY_ENCODING_ID,
            CreateSessionRequest::BINARY_ENCODING_ID,
            ActivateSessionRequest::BINARY_ENCODING_ID,
            CloseSessionRequest::BINARY_ENCODING_ID,
            CancelRequest::BINARY_ENCODING_ID,
            AddNodesRequest::BINARY_ENCODING_ID,
            AddReferencesRequest::BINARY_ENCODING_ID,
            DeleteNodesRequest::BINARY_ENCODING_ID,
            DeleteReferencesRequest::BINARY_ENCODING_ID,
            BrowseRequest::BINARY_ENCODING_ID,
            BrowseNextRequest::BINARY_ENCODING_ID,
            TranslateBrowsePathsToNodeIdsRequest::BINARY_ENCODING_ID,
            RegisterNodesRequest::BINARY_ENCODING_ID,
            UnregisterNodesRequest::BINARY_ENCODING_ID,
            ReadRequest::BINARY_ENCODING_ID,
            WriteRequest::BINARY_ENCODING_ID,
            CallRequest::BINARY_ENCODING_ID,
        ];
        assert_eq!(
            PUBLIC_SERVICES.map(|service| service.request_encoding_id),
            expected
        );
    }

    #[test]
    fn names_are_those_of_the_paper() {
        let name = ApplicationName::new("SemanticRegistryServer").unwrap();
        let read = PublicService::find("Attributes", "Read").unwrap();
        assert_eq!(read.name(&name), "SemanticRegistryServer/Attributes/Read");
        assert_eq!(PublicService::find("Attributes", "Rite"), None);
    }
}
