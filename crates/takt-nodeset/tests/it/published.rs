//! All NodeSets of the npm package `node-opcua-nodesets`, as `cargo xtask generate` unpacks it. Without that folder
//! the tests do nothing and print that.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use takt_nodeset::NodeSet;
use takt_ua::{Elements, ExtensionObject, ExtensionObjectBody, Variant};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../.cache/node-opcua-nodesets-2.182.0/package/nodesets")
}

fn documents() -> Vec<(String, String)> {
    let mut documents = Vec::new();
    for folder in [folder(), folder().join("1.02")] {
        let Ok(entries) = std::fs::read_dir(&folder) else {
            println!(
                "skipped: no {}; run `cargo xtask generate --check`",
                folder.display()
            );
            return Vec::new();
        };
        let paths = entries.map(|entry| entry.unwrap().path());
        for path in paths.filter(|path| path.is_file()) {
            let text = std::fs::read(&path).unwrap();
            let text = String::from_utf8_lossy(&text);
            if path.extension().is_some_and(|extension| extension == "xml")
                && text.contains("<UANodeSet")
            {
                documents.push((
                    path.file_name().unwrap().to_str().unwrap().to_owned(),
                    text.into_owned(),
                ));
            }
        }
    }
    documents.sort();
    documents
}

#[test]
fn every_published_nodeset_parses() {
    let documents = documents();
    let started = Instant::now();
    let (mut nodes, mut values, mut binary, mut xml) = (0, 0, 0, 0);
    for (name, text) in &documents {
        let nodeset = NodeSet::parse(name, text).unwrap_or_else(|error| panic!("{error}"));
        assert!(!nodeset.nodes.is_empty(), "{name}");
        nodes += nodeset.nodes.len();
        for value in nodeset.nodes.iter().filter_map(|node| node.value()) {
            values += 1;
            let mut count = |object: &ExtensionObject| match object.body {
                ExtensionObjectBody::Binary(_) => binary += 1,
                ExtensionObjectBody::Xml(_) => xml += 1,
                ExtensionObjectBody::None => {}
            };
            match value {
                Variant::ExtensionObject(object) => count(object),
                Variant::Array(array) => {
                    if let Elements::ExtensionObject(objects) = &array.elements {
                        objects.iter().for_each(count);
                    }
                }
                _ => {}
            }
        }
    }
    println!(
        "{} documents, {nodes} nodes, {values} values, structures: {binary} binary, {xml} XML, {:?}",
        documents.len(),
        started.elapsed()
    );
    if !documents.is_empty() {
        assert_eq!(documents.len(), 38);
        assert!(
            started.elapsed() < Duration::from_secs(60),
            "{:?}",
            started.elapsed()
        );
    }
}
