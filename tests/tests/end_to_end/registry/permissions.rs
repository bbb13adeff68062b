//! Permissions of a Provider's nodes, for clients of the registry: forwarding raises no rights.

use takt_app::serve::{EndpointSecurity, ServeOptions};
use takt_app::{Attribute, Client, ClientError, Method, Provider, UserRole, Variable};
use takt_tests::{Registry, Sandbox};
use takt_ua::enumerations::{BrowseDirection, PermissionType as P};
use takt_ua::structures::*;
use takt_ua::{NodeId, QualifiedName, StatusCode, Variant, ids};

use crate::registry::ownership::{add_named, delete};
use crate::registry::roles::{add_user, client_at, client_of};
use crate::registry::{
    PATIENCE, client, consumer, eventually, provider_builder, wait_until_available,
};

/// Starts a Provider with `Recipe` and `Calibrate`, which only engineers use, `Hidden`, which only they see, and `Pin`, which needs
/// encryption.
fn press(sandbox: &Sandbox, name: &str, registry: &str) -> Provider {
    let all = P::Browse | P::Read | P::Write | P::Call | P::ReadRolePermissions;
    provider_builder(sandbox, name, registry)
        .serve(ServeOptions {
            runtime_directory: Some(sandbox.runtime_directory()),
            security: EndpointSecurity {
                users: Some(sandbox.data_directory().join("users")),
                certificates: Some(sandbox.data_directory().join("pki")),
                secured_loopback: true,
                ..EndpointSecurity::default()
            },
            ..ServeOptions::default()
        })
        .variable(
            Variable::stored("Recipe", 1_u32)
                .writable()
                .permissions(UserRole::Engineer, all)
                .permissions(UserRole::Anonymous, P::Browse),
        )
        .variable(
            Variable::callback("Computed", takt_ua::BuiltInType::UInt32, || 5_u32)
                .permissions(UserRole::Engineer, all)
                .permissions(UserRole::Anonymous, P::Browse),
        )
        .variable(
            Variable::stored("Hidden", 1.5)
                .range(0.0..10.0)
                .permissions(UserRole::Engineer, all),
        )
        .variable(
            Variable::stored("Pin", 1234_u32)
                .writable()
                .encrypted_only(),
        )
        .method(
            Method::new("Calibrate", |_| Ok(Vec::new()))
                .permissions(UserRole::Engineer, all)
                .permissions(UserRole::Anonymous, P::Browse),
        )
        .start()
        .unwrap()
}

fn status<T>(result: Result<T, ClientError>) -> StatusCode {
    match result {
        Ok(_) => StatusCode::Good,
        Err(error) => error.status_code(),
    }
}

/// The nodes of the Provider at one server.
struct Nodes {
    object: NodeId,
    namespace: u16,
}

impl Nodes {
    fn node(&self, path: &str) -> NodeId {
        NodeId::string(self.namespace, path)
    }

    fn call(&self, client: &mut Client) -> StatusCode {
        status(client.call_method(&self.object, &self.node("Calibrate"), Vec::new()))
    }

    fn monitor(&self, client: &mut Client, path: &str) -> StatusCode {
        crate::registry::monitor(client, &self.node(path))
    }

    fn browse(&self, client: &mut Client, of: NodeId) -> BrowseResult {
        let browsed = client.call(BrowseRequest {
            nodes_to_browse: vec![BrowseDescription {
                node_id: of,
                browse_direction: BrowseDirection::Forward,
                result_mask: 63,
                ..BrowseDescription::default()
            }],
            ..BrowseRequest::default()
        });
        browsed.unwrap().results.remove(0)
    }

    fn sees(&self, client: &mut Client, path: &str) -> bool {
        let references = self.browse(client, self.object.clone()).references;
        let mut names = references
            .iter()
            .map(|reference| &reference.browse_name.name);
        names.any(|name| name.as_str() == path)
    }

    fn translate(&self, client: &mut Client, path: &str) -> StatusCode {
        let translated = client.call(TranslateBrowsePathsToNodeIdsRequest {
            browse_paths: vec![BrowsePath {
                starting_node: self.object.clone(),
                relative_path: RelativePath {
                    elements: vec![RelativePathElement {
                        target_name: QualifiedName::new(self.namespace, path),
                        ..RelativePathElement::default()
                    }],
                },
            }],
            ..TranslateBrowsePathsToNodeIdsRequest::default()
        });
        translated.unwrap().results[0].status_code
    }

    /// Writes and reads the whole Value in one request each, and part of it.
    fn read_part(&self, client: &mut Client, path: &str) -> StatusCode {
        let read = client.call(ReadRequest {
            nodes_to_read: vec![ReadValueId {
                node_id: self.node(path),
                attribute_id: Attribute::Value as u32,
                index_range: "0:1".into(),
                ..ReadValueId::default()
            }],
            ..ReadRequest::default()
        });
        read.unwrap().results[0].status_code()
    }

    /// Tries each Service as a client without the right; all of them are refused.
    fn refuse_all(&self, client: &mut Client) {
        let denied = StatusCode::BadUserAccessDenied;
        for path in ["Recipe", "Computed", "Hidden", "Hidden#EURange"] {
            let node = self.node(path);
            assert_eq!(status(client.read_good(&node)), denied, "{path}");
            assert_eq!(self.read_part(client, path), denied, "{path}");
            assert_eq!(self.monitor(client, path), denied, "{path}");
        }
        let recipe = self.node("Recipe");
        assert_eq!(status(client.write(&recipe, 7_u32.into())), denied);
        assert_eq!(self.call(client), denied);
        // Hidden nodes are not browsed, found, nor described.
        assert!(self.sees(client, "Recipe") && !self.sees(client, "Hidden"));
        let hidden = self.node("Hidden");
        let browsed = self.browse(client, hidden.clone());
        assert_eq!(browsed.status_code, denied);
        assert!(browsed.references.is_empty());
        assert_eq!(self.translate(client, "Hidden"), StatusCode::BadNoMatch);
        assert_eq!(self.translate(client, "Recipe"), StatusCode::Good);
        for attribute in [Attribute::BrowseName, Attribute::UserRolePermissions] {
            let read = client.read_attribute(&hidden, attribute).unwrap();
            assert_eq!(read.status_code(), denied);
        }
        let read = client.read_attribute(&recipe, Attribute::RolePermissions);
        assert_eq!(read.unwrap().status_code(), denied);
        let level = client.read_attribute(&recipe, Attribute::UserAccessLevel);
        assert_eq!(level.unwrap().value, Some(0_u8.into()));
        let executable = client.read_attribute(&self.node("Calibrate"), Attribute::UserExecutable);
        assert_eq!(executable.unwrap().value, Some(false.into()));
        self.refuse_management(client);
    }

    /// Tries each Service of NodeManagement.
    fn refuse_management(&self, client: &mut Client) {
        let denied = StatusCode::BadUserAccessDenied;
        let new = self.node("Intruder");
        let name = QualifiedName::new(self.namespace, "Intruder");
        assert_eq!(
            add_named(client, self.object.clone(), new.into(), name),
            denied
        );
        assert_eq!(delete(client, &self.node("Recipe")), denied);
        let reference = (self.object.clone(), NodeId::from(ids::SERVER));
        let added = client.call(AddReferencesRequest {
            references_to_add: vec![AddReferencesItem {
                source_node_id: reference.0.clone(),
                reference_type_id: NodeId::from(ids::ORGANIZES),
                is_forward: true,
                target_node_id: reference.1.clone().into(),
                target_node_class: takt_ua::enumerations::NodeClass::Object,
                ..AddReferencesItem::default()
            }],
            ..AddReferencesRequest::default()
        });
        assert_eq!(added.unwrap().results, [denied]);
        let deleted = client.call(DeleteReferencesRequest {
            references_to_delete: vec![DeleteReferencesItem {
                source_node_id: reference.0,
                reference_type_id: NodeId::from(ids::HAS_COMPONENT),
                is_forward: true,
                target_node_id: self.node("Recipe").into(),
                delete_bidirectional: true,
            }],
            ..DeleteReferencesRequest::default()
        });
        assert_eq!(deleted.unwrap().results, [denied]);
    }

    /// Uses each Service as a client with the right.
    fn serve(&self, client: &mut Client) {
        for path in ["Recipe", "Computed", "Hidden", "Hidden#EURange"] {
            let node = self.node(path);
            assert!(client.read_good(&node).is_ok(), "{path}");
            assert_eq!(self.monitor(client, path), StatusCode::Good, "{path}");
        }
        client.write(&self.node("Recipe"), 7_u32.into()).unwrap();
        assert_eq!(self.call(client), StatusCode::Good);
        assert!(self.sees(client, "Recipe") && self.sees(client, "Hidden"));
        assert_eq!(self.translate(client, "Hidden"), StatusCode::Good);
        let list = client.read_attribute(&self.node("Recipe"), Attribute::RolePermissions);
        assert!(list.unwrap().status_code().is_good());
    }
}

#[test]
fn the_registry_gives_nobody_a_right_that_the_provider_does_not() {
    let sandbox = Sandbox::new();
    let mut registry = Registry::start(&sandbox, &[]);
    for (user, roles) in [
        ("anna", "engineer"),
        ("bert", "operator,supervisor,configure-admin"),
        ("carl", "observer"),
    ] {
        let _ = add_user(&sandbox, user, roles);
    }
    let name = sandbox.application("Press");
    let provider = press(&sandbox, &name, &registry.shared_memory());
    let restart = |registry: &mut Registry| {
        registry.process.kill();
        *registry = Registry::start_at(&sandbox, &registry.endpoint, &[]);
    };
    // Also after a restart, when the registry has the permissions from its database.
    for round in 0..2 {
        if round > 0 {
            restart(&mut registry);
        }
        wait_until_available(&mut consumer(&sandbox, &registry), &name);
        let uri = "urn:plant:panel";
        let mut engineer = client_of(&sandbox, &registry, "anna", uri, "encrypt");
        let object = engineer.find(&name).unwrap().node_id.node_id;
        let namespace = object.namespace;
        let nodes = Nodes { object, namespace };
        nodes.serve(&mut engineer);
        let mut operator = client_of(&sandbox, &registry, "bert", uri, "encrypt");
        nodes.refuse_all(&mut operator);
        let mut observer = client_of(&sandbox, &registry, "carl", uri, "sign");
        nodes.refuse_all(&mut observer);
        let mut readable = client_of(&sandbox, &registry, "carl", uri, "none");
        nodes.refuse_all(&mut readable);

        let pin = nodes.node("Pin");
        let insufficient = StatusCode::BadSecurityModeInsufficient;
        for client in [&mut observer, &mut readable] {
            assert_eq!(status(client.read_good(&pin)), insufficient);
            assert_eq!(nodes.monitor(client, "Pin"), insufficient);
        }
        let denied = StatusCode::BadUserAccessDenied;
        // The same Unix user as the registry, which has all roles.
        let mut anonymous = client(&sandbox, &registry.endpoint);
        assert_eq!(status(anonymous.write(&pin, 1_u32.into())), insufficient);
        assert_eq!(status(observer.write(&pin, 1_u32.into())), denied);
        assert!(operator.read_good(&pin).is_ok());
        assert!(operator.write(&pin, 4321_u32.into()).is_ok());
        // The user that runs registry and Provider has all roles over shared memory.
        let mut local = client(&sandbox, &registry.shared_memory());
        assert!(local.read_good(&nodes.node("Recipe")).is_ok());
        assert!(local.read_good(&pin).is_ok());
    }
    // The last value, which an engineer has read, is not given to others when the Provider is gone.
    drop(provider);
    let mut operator = client_of(&sandbox, &registry, "bert", "urn:plant:panel", "encrypt");
    let recipe = operator.find(&format!("{name}/Recipe")).unwrap().node_id;
    eventually("the Provider is gone", PATIENCE, || {
        let mut local = client(&sandbox, &registry.shared_memory());
        let read = local.read(&recipe.node_id).unwrap();
        read.status_code() == StatusCode::UncertainLastUsableValue
    });
    let denied = StatusCode::BadUserAccessDenied;
    assert_eq!(status(operator.read_good(&recipe.node_id)), denied);
}

/// A Provider serves its own clients by the same permissions.
#[test]
fn a_provider_refuses_what_its_registry_refuses() {
    let sandbox = Sandbox::new();
    let registry = Registry::start(&sandbox, &[]);
    let _ = add_user(&sandbox, "carl", "observer");
    let name = sandbox.application("Press");
    let provider = press(&sandbox, &name, &registry.shared_memory());
    let endpoint = provider
        .endpoints()
        .iter()
        .find(|it| !it.is_shared_memory());
    let endpoint = endpoint.unwrap().to_string();
    let mut observer = client_at(&sandbox, &endpoint, "carl", "urn:plant:panel", "none");
    let object = observer.find(&name).unwrap().node_id.node_id;
    let namespace = object.namespace;
    let nodes = Nodes { object, namespace };
    let denied = StatusCode::BadUserAccessDenied;
    for path in ["Recipe", "Computed", "Hidden"] {
        assert_eq!(status(observer.read_good(&nodes.node(path))), denied);
        assert_eq!(nodes.monitor(&mut observer, path), denied);
    }
    let recipe = nodes.node("Recipe");
    assert_eq!(status(observer.write(&recipe, 7_u32.into())), denied);
    assert_eq!(nodes.call(&mut observer), denied);
    assert!(!nodes.sees(&mut observer, "Hidden"));
    let pin = nodes.node("Pin");
    let insufficient = StatusCode::BadSecurityModeInsufficient;
    assert_eq!(status(observer.read_good(&pin)), insufficient);
    // Over both transports, the kernel names the Unix user.
    for endpoint in [&endpoint, &format!("opc.iox2://{name}")] {
        let mut local = client(&sandbox, endpoint);
        nodes.serve(&mut local);
        assert_eq!(local.read_good(&recipe).unwrap(), Variant::from(7_u32));
    }
}
