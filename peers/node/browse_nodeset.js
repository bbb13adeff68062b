#!/usr/bin/env node
"use strict";
// Loads NodeSet2 files into node-opcua's address space and prints every node as one JSON line, to be compared with
// what a server of ours answers to Browse and Read.
//
// Usage: browse_nodeset.js [--search FOLDER]... [--all] FILE...
//
//   --search FOLDER  models that a file requires (RequiredModel) are looked for among the .xml files of FOLDER and
//                    loaded before it
//   --all            print namespace 0, too
//
// First line: {"files":[…]}: everything loaded, in that order, namespace 0 left out. Then per node:
//   {"node","class","browseName","displayName","references":[[ReferenceType, forward, target],…],
//    "dataType"?,"valueRank"?,"arrayDimensions"?,"isAbstract"?,"symmetric"?,"inverseName"?,"value"?}
// NodeIds and BrowseNames have namespace URIs (`nsu=URI;i=1`, `URI:Name`) outside namespace 0, so that another
// order of namespaces makes no difference. References are sorted.

require("./setup.js");
const fs = require("node:fs");
const path = require("node:path");
const { AddressSpace, NodeClass, generateAddressSpace, nodesets } = require("node-opcua");
const wire = require("./wire.js");

const UA_URI = "http://opcfoundation.org/UA/";

/** The ModelUri that a NodeSet2 file defines and those that it requires, from its Models element. */
function modelOf(file) {
    const models = /<Models>(.*?)<\/Models>/s.exec(fs.readFileSync(file, "utf8"));
    const uris = (pattern) => [...(models ? models[1] : "").matchAll(pattern)].map((found) => found[1]);
    return {
        file,
        defines: uris(/<Model\s[^>]*?ModelUri="([^"]*)"/gs),
        requires: uris(/<RequiredModel\s[^>]*?ModelUri="([^"]*)"/gs).filter((uri) => uri !== UA_URI),
    };
}

/** `files` with everything that they require, each after what it requires. */
function inOrder(files, folders) {
    const known = new Map();
    for (const folder of folders) {
        for (const name of fs.readdirSync(folder).filter((name) => name.toLowerCase().endsWith(".xml")).sort()) {
            const model = modelOf(path.join(folder, name));
            for (const uri of model.defines) if (!known.has(uri)) known.set(uri, model);
        }
    }
    const given = files.map(modelOf);
    for (const model of given) for (const uri of model.defines) known.set(uri, model);
    const order = [];
    const visit = (model) => {
        if (order.includes(model.file)) return;
        for (const uri of model.requires) {
            const required = known.get(uri);
            if (!required) throw new Error(`${model.file} requires ${uri}, which no --search folder has`);
            if (required !== model) visit(required);
        }
        order.push(model.file);
    };
    given.forEach(visit);
    return order;
}

/** Writers of ids and names by namespace URI. */
function byUri(addressSpace) {
    const uris = addressSpace.getNamespaceArray().map((namespace) => namespace.namespaceUri);
    return {
        id(nodeId) {
            const text = wire.nodeIdToJson(nodeId);
            return nodeId && nodeId.namespace ? text.replace(/^ns=\d+/, () => `nsu=${uris[nodeId.namespace]}`) : text;
        },
        name(name) {
            return name.namespaceIndex ? `${uris[name.namespaceIndex]}:${name.name}` : name.name;
        },
    };
}

function referencesOf(node, write) {
    return node
        .allReferences()
        .map((reference) => [write.id(reference.referenceType), reference.isForward, write.id(reference.nodeId)])
        .sort((a, b) => (a.join(" ") < b.join(" ") ? -1 : 1));
}

function nodeToJson(node, write) {
    const answer = {
        node: write.id(node.nodeId),
        class: NodeClass[node.nodeClass],
        browseName: write.name(node.browseName),
        displayName: node.displayName.length ? node.displayName[0].text : null,
        references: referencesOf(node, write),
    };
    if (node.nodeClass === NodeClass.Variable || node.nodeClass === NodeClass.VariableType) {
        answer.dataType = write.id(node.dataType);
        answer.valueRank = node.valueRank;
        answer.arrayDimensions = node.arrayDimensions ? Array.from(node.arrayDimensions) : [];
    }
    if (node.isAbstract !== undefined) answer.isAbstract = node.isAbstract;
    if (node.nodeClass === NodeClass.ReferenceType) {
        answer.symmetric = Boolean(node.symmetric);
        answer.inverseName = node.inverseName ? node.inverseName.text : null;
    }
    if (node.nodeClass === NodeClass.Variable) {
        const value = node.readValue().value;
        if (value && value.dataType) answer.value = wire.variantToJson(value);
    }
    return answer;
}

function parse(args) {
    const wanted = { folders: [], files: [], all: false };
    for (let at = 0; at < args.length; at += 1) {
        if (args[at] === "--search") wanted.folders.push(args[(at += 1)]);
        else if (args[at] === "--all") wanted.all = true;
        else wanted.files.push(args[at]);
    }
    return wanted;
}

async function main(args) {
    const wanted = parse(args);
    const files = inOrder(wanted.files, wanted.folders);
    const out = [JSON.stringify({ files })];
    const addressSpace = AddressSpace.create();
    await generateAddressSpace(addressSpace, [nodesets.standard, ...files]);
    const write = byUri(addressSpace);
    for (const namespace of addressSpace.getNamespaceArray()) {
        if (namespace.index === 0 && !wanted.all) continue;
        for (const node of namespace.nodeIterator()) out.push(JSON.stringify(nodeToJson(node, write)));
    }
    process.stdout.write(out.join("\n") + "\n", () => process.exit(0));
}

main(process.argv.slice(2)).catch((error) => {
    console.error(error.message);
    process.exit(1);
});
