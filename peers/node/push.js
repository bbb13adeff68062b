#!/usr/bin/env node
"use strict";
// A node-opcua client that manages the certificates of a server (OPC 10000-12, 7.10), and prints one JSON object.
// Usage: push.js ENDPOINT SECURITY FOLDER, with SECURITY as peers/README.md describes it. FOLDER has ca.der and ca.pem, certificate
// and key of the CA that signs the server's new certificate, and gets files of openssl.

require("./setup.js");
const { execFileSync } = require("node:child_process");
const { createHash } = require("node:crypto");
const fs = require("node:fs");
const path = require("node:path");
const {
    MessageSecurityMode, OPCUAClient, SecurityPolicy, UserTokenType, coerceNodeId,
} = require("node-opcua");
const { ClientPushCertificateManagement } = require("node-opcua-server-configuration");
const wire = require("./wire.js");

/** Runs openssl in a folder. */
function openssl(folder, ...words) {
    // node-opcua sets it for an openssl of its own.
    const { OPENSSL_CONF: _, ...env } = process.env;
    execFileSync("openssl", words, { cwd: folder, env, stdio: ["ignore", "ignore", "pipe"] });
}

/** The certificate that the CA makes of a signing request. */
function sign(folder, request) {
    fs.writeFileSync(path.join(folder, "request.der"), request);
    openssl(folder, "req", "-inform", "DER", "-in", "request.der", "-out", "request.pem", "-verify");
    openssl(folder, "x509", "-inform", "DER", "-in", "ca.der", "-out", "ca-certificate.pem");
    openssl(folder, "x509", "-req", "-in", "request.pem", "-CA", "ca-certificate.pem", "-CAkey", "ca.pem", "-set_serial",
        "4711", "-days", "30", "-sha256", "-copy_extensions", "copyall", "-outform", "DER", "-out", "signed.der");
    return fs.readFileSync(path.join(folder, "signed.der"));
}

/** A NodeId of this version of node-opcua. */
function ownNodeId(nodeId) {
    return coerceNodeId(nodeId.toString());
}

/** A BrowsePath of this version of node-opcua. */
function ownBrowsePath({ startingNode, relativePath }) {
    const elements = relativePath.elements.map((element) => ({
        referenceTypeId: ownNodeId(element.referenceTypeId),
        isInverse: element.isInverse,
        includeSubtypes: element.includeSubtypes,
        targetName: { namespaceIndex: element.targetName.namespaceIndex, name: element.targetName.name },
    }));
    return { startingNode: ownNodeId(startingNode), relativePath: { elements } };
}

/** The session for node-opcua-server-configuration, whose last version is older than this node-opcua: each has NodeIds of its own. */
function sessionFor(session) {
    const isNodeId = (value) => value && value.identifierType !== undefined;
    return {
        call: (request) => session.call({
            objectId: ownNodeId(request.objectId),
            methodId: ownNodeId(request.methodId),
            inputArguments: (request.inputArguments || []).map(
                (one) => (isNodeId(one.value) ? { ...one, value: ownNodeId(one.value) } : one)),
        }),
        read: (node) => session.read({ nodeId: ownNodeId(node.nodeId), attributeId: node.attributeId }),
        translateBrowsePath: (paths) => session.translateBrowsePath(
            Array.isArray(paths) ? paths.map(ownBrowsePath) : ownBrowsePath(paths)),
    };
}

async function connect(endpoint, security) {
    const client = OPCUAClient.create({
        applicationName: "node-opcua peer",
        applicationUri: security.application,
        clientCertificateManager: wire.certificateManager("client", path.dirname(security.certificate)),
        certificateFile: security.certificate,
        privateKeyFile: security.key,
        securityMode: MessageSecurityMode.SignAndEncrypt,
        securityPolicy: SecurityPolicy[security.policy],
        endpointMustExist: false,
        connectionStrategy: { maxRetry: 0, initialDelay: 100, maxDelay: 200 },
        transportTimeout: 10000,
    });
    await client.connect(endpoint);
    const user = { type: UserTokenType.UserName, userName: security.user, password: security.password };
    return { client, session: await client.createSession(user) };
}

/** A StatusCode that has to be good. */
function good(what, statusCode) {
    if (statusCode.value !== 0) throw new Error(`${what}: ${statusCode.name}`);
}

async function use(endpoint, security, folder) {
    const first = await connect(endpoint, security);
    const push = new ClientPushCertificateManagement(sessionFor(first.session));
    const formats = await push.getSupportedPrivateKeyFormats();
    const rejected = await push.getRejectedList();
    good("GetRejectedList", rejected.statusCode);
    const request = await push.createSigningRequest(
        "DefaultApplicationGroup", ClientPushCertificateManagement.rsaSha256ApplicationCertificateType, null, true,
        Buffer.alloc(32, 7));
    good("CreateSigningRequest", request.statusCode);
    const certificate = sign(folder, request.certificateSigningRequest);
    const issuer = fs.readFileSync(path.join(folder, "ca.der"));
    const updated = await push.updateCertificate(
        "DefaultApplicationGroup", ClientPushCertificateManagement.rsaSha256ApplicationCertificateType, certificate, [issuer]);
    good("UpdateCertificate", updated.statusCode);
    good("ApplyChanges", await push.applyChanges());

    const group = await push.getApplicationGroup();
    const list = await group.getTrustList();
    const trusted = async () => (await list.readTrustedCertificateList()).trustedCertificates.length;
    const counts = [await trusted()];
    // An application that is not known yet: the certificate of this client for other names would do as well.
    const other = fs.readFileSync(path.join(folder, "other.der"));
    good("AddCertificate", await list.addCertificate(other, true));
    counts.push(await trusted());
    good("RemoveCertificate", await list.removeCertificate(createHash("sha1").update(other).digest("hex"), true));
    counts.push(await trusted());
    await first.session.close();
    await first.client.disconnect();

    const second = await connect(endpoint, security);
    const seen = second.client.endpoint.serverCertificate;
    const namespaces = await second.session.readNamespaceArray();
    await second.session.close();
    await second.client.disconnect();
    return {
        formats,
        required: updated.applyChangesRequired,
        counts,
        isNew: seen.subarray(0, certificate.length).equals(certificate),
        namespaces,
    };
}

if (process.argv.length !== 5) {
    console.error("usage: push.js ENDPOINT SECURITY FOLDER");
    process.exit(2);
}
use(process.argv[2], JSON.parse(process.argv[3]), process.argv[4])
    .then((seen) => process.stdout.write(JSON.stringify(seen) + "\n"))
    .catch((error) => process.stdout.write(JSON.stringify({ error: wire.errorText(error) }) + "\n"))
    .finally(() => process.exit(0));
