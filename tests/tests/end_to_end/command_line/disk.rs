//! A full disk under the registry's database: registrations are refused, and work again when there is room.

use std::io::Write;
use std::path::Path;
use std::time::Instant;

use takt_app::{Client, ClientOptions, Identity, model};
use takt_tests::authority::Authority;
use takt_tests::{Registry, Sandbox};
use takt_ua::enumerations::NodeClass;
use takt_ua::structures::*;
use takt_ua::{ExpandedNodeId, ExtensionObject, NodeId, QualifiedName, StatusCode, ids};

use crate::command_line::PATIENCE;
use crate::command_line::small_disk::on_small_disk;

#[test]
fn a_full_disk_refuses_registrations_until_there_is_room() {
    let name = "command_line::disk::a_full_disk_refuses_registrations_until_there_is_room";
    on_small_disk(name, "8m", on_a_small_disk);
}

/// Registers nodes as a Provider.
struct Owner {
    client: Client,
    name: String,
}

impl Owner {
    fn new(sandbox: &Sandbox, registry: &Registry, name: &str) -> Self {
        let options = ClientOptions {
            application_uri: model::provider_uri(name),
            identity: Identity::Anonymous,
            runtime_directory: Some(sandbox.runtime_directory()),
            timeout: PATIENCE,
            ..ClientOptions::named(name)
        };
        let endpoint = registry.shared_memory().parse().unwrap();
        Self {
            client: Client::new(&endpoint, options),
            name: name.to_owned(),
        }
    }

    fn add(&mut self, items: Vec<AddNodesItem>) -> Vec<StatusCode> {
        let response = self.client.call(AddNodesRequest {
            nodes_to_add: items,
            ..AddNodesRequest::default()
        });
        let results = response.unwrap().results;
        results.iter().map(|result| result.status_code).collect()
    }

    fn register(&mut self) -> StatusCode {
        let index = self.client.namespace_index(model::NAMESPACE_URI);
        let index = index.unwrap().unwrap();
        let object = AddNodesItem {
            parent_node_id: NodeId::from(ids::OBJECTS_FOLDER).into(),
            reference_type_id: NodeId::from(ids::ORGANIZES),
            requested_new_node_id: ExpandedNodeId {
                node_id: NodeId::numeric(0, model::provider::OBJECT),
                namespace_uri: model::provider_uri(&self.name).as_str().into(),
                server_index: 0,
            },
            browse_name: QualifiedName::new(index, self.name.as_str()),
            node_class: NodeClass::Object,
            node_attributes: ExtensionObject::from_structure(&ObjectAttributes::default()),
            type_definition: NodeId::numeric(index, model::PROVIDER_TYPE).into(),
        };
        self.add(vec![object])[0]
    }

    fn namespace(&mut self) -> u16 {
        let uri = model::provider_uri(&self.name);
        self.client.namespace_index(&uri).unwrap().unwrap()
    }

    fn node(&mut self, name: &str) -> NodeId {
        NodeId::string(self.namespace(), name)
    }

    /// Objects with long texts, so that they need disk space.
    fn fill(&mut self, names: &[String]) -> Vec<StatusCode> {
        let namespace = self.namespace();
        let items = names.iter().map(|name| AddNodesItem {
            parent_node_id: NodeId::numeric(namespace, model::provider::OBJECT).into(),
            reference_type_id: NodeId::from(ids::HAS_COMPONENT),
            requested_new_node_id: NodeId::string(namespace, name).into(),
            browse_name: QualifiedName::new(namespace, name.as_str()),
            node_class: NodeClass::Object,
            node_attributes: ExtensionObject::from_structure(&ObjectAttributes {
                specified_attributes: 32,
                description: "long ".repeat(400).as_str().into(),
                ..ObjectAttributes::default()
            }),
            type_definition: NodeId::from(ids::BASE_OBJECT_TYPE).into(),
        });
        self.add(items.collect())
    }

    fn exists(&mut self, name: &str) -> bool {
        let node = self.node(name);
        let read = self
            .client
            .read_attribute(&node, takt_app::Attribute::NodeClass)
            .unwrap();
        read.status_code() == StatusCode::Good
    }
}

fn names(round: usize) -> Vec<String> {
    (0..20).map(|number| format!("R{round}N{number}")).collect()
}

fn on_a_small_disk(disk: &Path) {
    let sandbox = Sandbox::new();
    let data = disk.join("data");
    let endpoint = format!("opc.tcp://127.0.0.1:{}", takt_ports::reserve());
    let mut registry = start(&sandbox, &endpoint, &data);
    let mut owner = Owner::new(&sandbox, &registry, "Full");
    assert_eq!(owner.register(), StatusCode::Good);

    // Another file leaves little space on the disk, which registrations then use up.
    let ballast = disk.join("ballast");
    let mut size = 7 << 20;
    while std::fs::write(&ballast, vec![1_u8; size]).is_err() {
        size -= 64 << 10;
    }
    let mut kept = Vec::new();
    let mut refused = Vec::new();
    let deadline = Instant::now() + PATIENCE;
    for round in 0.. {
        assert!(Instant::now() < deadline, "the disk is never full");
        let names = names(round);
        let statuses = owner.fill(&names);
        for (name, status) in names.into_iter().zip(statuses) {
            match status {
                StatusCode::Good => kept.push(name),
                status => {
                    assert!(status.is_bad());
                    refused.push(name);
                }
            }
        }
        if !refused.is_empty() {
            break;
        }
    }
    println!("{} nodes kept, {} refused", kept.len(), refused.len());
    // Refused nodes do not exist, the registry still serves, and it refuses new Providers as well.
    for name in &refused {
        assert!(!owner.exists(name), "{name} was refused and is there");
    }
    for name in &kept {
        assert!(owner.exists(name), "{name} was kept and is gone");
    }
    let mut newcomer = Owner::new(&sandbox, &registry, "Newcomer");
    let status = newcomer.register();
    println!("a newcomer gets {status}");
    assert!(!registry.process.has_ended());
    nothing_is_replaced_without_space(&sandbox, &registry, disk, &data);

    // With free space everything works again, and acknowledged registrations exist after kill -9.
    std::fs::remove_file(&ballast).unwrap();
    let statuses = owner.fill(&refused);
    assert!(
        statuses.iter().all(|status| status.is_good()),
        "{statuses:?}"
    );
    if status.is_bad() {
        assert_eq!(newcomer.register(), StatusCode::Good);
    }
    registry.process.kill();
    let endpoint = registry.endpoint.clone();
    let registry = start(&sandbox, &endpoint, &data);
    let mut owner = Owner::new(&sandbox, &registry, "Full");
    for name in kept.iter().chain(&refused) {
        assert!(
            owner.exists(name),
            "{name} was kept and is gone after a restart"
        );
    }
}

/// Users, certificates and trust lists stay as they are when not a byte is left.
fn nothing_is_replaced_without_space(
    sandbox: &Sandbox,
    registry: &Registry,
    disk: &Path,
    data: &Path,
) {
    let rest = disk.join("rest");
    let mut file = std::fs::File::create(&rest).unwrap();
    while file.write_all(&[1; 4096]).is_ok() {}
    let users = data.join("users");
    let pki = data.join("pki");
    let certificate = pki.join(format!("own/certs/{}.der", registry.name));
    let before = std::fs::read(&certificate).unwrap();
    let add = ["user", "add", "--unix-user", "root", "--users"];
    let refused = sandbox.run(&[&add[..], &[users.to_str().unwrap()]].concat());
    println!("a new user: {}", refused.expect_failure());
    assert!(!users.exists());
    let renew = ["trust", "renew", &registry.name, "--certificates"];
    let refused = sandbox.run(&[&renew[..], &[pki.to_str().unwrap()]].concat());
    println!("a new certificate: {}", refused.expect_failure());
    assert_eq!(std::fs::read(&certificate).unwrap(), before);
    let trusted = || {
        let list = ["trust", "list", "--certificates", pki.to_str().unwrap()];
        let rows = sandbox.rows(&list).into_iter();
        rows.filter(|row| row["folder"] == "trusted").count()
    };
    let count = trusted();
    let authority = Authority::new(&sandbox.runtime_directory());
    let add = ["trust", "add", authority.certificate.to_str().unwrap()];
    let folder = ["--certificates", pki.to_str().unwrap()];
    let refused = sandbox.run(&[&add[..], &folder].concat());
    println!("a trusted certificate: {}", refused.expect_failure());
    let mut administrator = Owner::new(sandbox, registry, "Administrator").client;
    let list = TrustListDataType {
        specified_lists: 1,
        trusted_certificates: vec![std::fs::read(&authority.certificate).unwrap().into()],
        ..TrustListDataType::default()
    };
    let refused = administrator.write_trust_list(&list).unwrap_err();
    println!("a trust list: {refused}");
    assert_eq!(trusted(), count);
    std::fs::remove_file(&rest).unwrap();
}

fn start(sandbox: &Sandbox, endpoint: &str, data: &Path) -> Registry {
    // The command line accepts --data only once, so the data directory of the sandbox is a link to the disk.
    let own = sandbox.data_directory();
    if !own.is_symlink() {
        std::fs::remove_dir(&own).unwrap();
        std::fs::create_dir_all(data).unwrap();
        std::os::unix::fs::symlink(data, &own).unwrap();
    }
    Registry::start_at(sandbox, endpoint, &[])
}
