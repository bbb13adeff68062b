#!/usr/bin/env node
"use strict";
// A node-opcua server with the nodes that peers/README.md lists.
// Usage: server.js PORT [secure | SECURITY] [--recorded COUNT] [--reverse-connect URL]
// Port 0 takes a free port. The server ends when standard input is closed.
// `secure` offers Basic256Sha256 only. With SECURITY, as peers/README.md describes it, it accepts every client, the user
// `anna` with the password `hammer`, and one certificate of users. `Recorded` has a history of COUNT values; URL is a client
// that waits for the server.

require("./setup.js");
const net = require("node:net");
const path = require("node:path");
const { parseArgs } = require("node:util");
const {
    DataType, DataValue, LocalizedText, MessageSecurityMode, OPCUACertificateManager, OPCUAServer, SecurityPolicy, StatusCodes, Variant, VariantArrayType,
    nodesets,
} = require("node-opcua");
const wire = require("./wire.js");

const NAMESPACE_URI = "urn:takt:peer";

const scalar = (dataType, value) => new Variant({ dataType, arrayType: VariantArrayType.Scalar, value });

const VARIABLES = [
    ["UInt32", scalar(DataType.UInt32, 42)],
    ["Double", scalar(DataType.Double, 2.5)],
    ["String", scalar(DataType.String, "Grüße")],
    ["Boolean", scalar(DataType.Boolean, true)],
    ["LocalizedText", scalar(DataType.LocalizedText, new LocalizedText({ locale: "en", text: "Spindle" }))],
    ["DateTime", scalar(DataType.DateTime, new Date("2024-02-29T12:34:56.789Z"))],
    ["UInt32Array", new Variant({
        dataType: DataType.UInt32, arrayType: VariantArrayType.Array, value: Uint32Array.from({ length: 1024 }, (_, i) => i),
    })],
    ["Matrix", new Variant({
        dataType: DataType.Double, arrayType: VariantArrayType.Matrix, dimensions: [2, 3],
        value: Float64Array.from([1, 2, 3, 4, 5, 6]),
    })],
    // The two words of -9007199254740993, high first.
    ["ReadOnly", scalar(DataType.Int64, [0xffdfffff, 0xffffffff])],
];

const ARRAY_DIMENSIONS = { UInt32Array: [1024], Matrix: [2, 3] };

function addVariable(namespace, peer, name, value, browseName = name) {
    const dimensions = ARRAY_DIMENSIONS[name];
    const access = name === "ReadOnly" ? "CurrentRead" : "CurrentRead | CurrentWrite";
    namespace.addVariable({
        componentOf: peer,
        nodeId: `s=${name}`,
        browseName,
        dataType: DataType[value.dataType],
        valueRank: dimensions ? dimensions.length : -1,
        arrayDimensions: dimensions,
        accessLevel: access,
        userAccessLevel: access,
        value,
    });
}

function addMultiply(namespace, peer) {
    const argument = (name) => ({ name, dataType: DataType.Double, valueRank: -1 });
    namespace.addMethod(peer, {
        nodeId: "s=Multiply",
        browseName: "Multiply",
        inputArguments: [argument("A"), argument("B")],
        outputArguments: [argument("Product")],
    }).bindMethod((inputs, _context, callback) => {
        const product = inputs[0].value * inputs[1].value;
        callback(null, { statusCode: StatusCodes.Good, outputArguments: [scalar(DataType.Double, product)] });
    });
}

/** A Variable with a history: 0 to count - 1, one each second until now. */
async function addRecorded(addressSpace, namespace, peer, count) {
    const recorded = namespace.addVariable({
        componentOf: peer, nodeId: "s=Recorded", browseName: "Recorded", dataType: DataType.Double,
    });
    addressSpace.installHistoricalDataNode(recorded, { maxOnlineValues: 2 * count });
    const start = Date.now() - count * 1000;
    for (let number = 0; number < count; number += 1) {
        const time = new Date(start + number * 1000);
        await recorded.varHistorian.push(new DataValue({
            value: scalar(DataType.Double, number), sourceTimestamp: time, serverTimestamp: time,
        }));
    }
}

/** A port that nobody listens on now: node-opcua cannot say which one it got for 0. */
function freePort() {
    return new Promise((resolve, reject) => {
        const probe = net.createServer().on("error", reject);
        probe.listen(0, "127.0.0.1", () => {
            const { port } = probe.address();
            probe.close(() => resolve(port));
        });
    });
}

/** Options of the security: none, Basic256Sha256 only, or as described. */
function options(security) {
    if (!security) {
        return { securityModes: [MessageSecurityMode.None], securityPolicies: [SecurityPolicy.None] };
    }
    if (security === "secure") {
        return {
            securityModes: [MessageSecurityMode.SignAndEncrypt], securityPolicies: [SecurityPolicy.Basic256Sha256],
        };
    }
    return {
        certificateFile: security.certificate,
        privateKeyFile: security.key,
        securityModes: [MessageSecurityMode.Sign, MessageSecurityMode.SignAndEncrypt],
        securityPolicies: security.policies.map((name) => SecurityPolicy[name]),
        userManager: { isValidUser: (name, password) => name === "anna" && password === "hammer" },
    };
}

/** The store of certificates of users: with the one that is accepted, or one that accepts all. */
async function userCertificates(security) {
    const certificate = security?.userCertificate;
    if (!certificate) return wire.certificateManager("user");
    const rootFolder = path.join(path.dirname(certificate), "node-opcua-users");
    const manager = new OPCUACertificateManager({ rootFolder, automaticallyAcceptUnknownCertificate: false });
    await manager.initialize();
    await manager.trustCertificate(wire.readCertificate(certificate));
    return manager;
}

async function main(requested, security, named) {
    const port = requested || (await freePort());
    const folder = security?.certificate && path.dirname(security.certificate);
    const server = new OPCUAServer({
        port,
        host: "127.0.0.1",
        hostname: "127.0.0.1",
        allowAnonymous: true,
        ...options(security),
        disableDiscovery: false,
        reverseConnect: named["reverse-connect"] && {
            connections: [{ endpointUrl: named["reverse-connect"] }], reconnectDelay: 100, maxReconnectDelay: 200,
        },
        // Sessions whose connection was cut stay for a while.
        serverCapabilities: { maxSessions: 100 },
        nodeset_filename: [nodesets.standard],
        serverInfo: {
            applicationUri: security?.application ?? "urn:takt:peer:node-opcua",
            applicationName: { text: "node-opcua peer" },
        },
        serverCertificateManager: wire.certificateManager("server", folder),
        userCertificateManager: await userCertificates(security),
    });
    await server.initialize();
    const addressSpace = server.engine.addressSpace;
    const namespace = addressSpace.registerNamespace(NAMESPACE_URI);
    const peer = namespace.addObject({
        organizedBy: addressSpace.rootFolder.objects, nodeId: "s=Peer", browseName: "Peer",
    });
    for (const [name, value] of VARIABLES) addVariable(namespace, peer, name, value);
    addMultiply(namespace, peer);
    if (named.recorded) await addRecorded(addressSpace, namespace, peer, Number(named.recorded));
    const line = namespace.addObject({ componentOf: peer, nodeId: "s=Line/1", browseName: "Line/1" });
    addVariable(namespace, line, "Line/1/Count", scalar(DataType.UInt32, 7), "Count");
    await server.start();
    const ready = { ready: true, endpoint: `opc.tcp://127.0.0.1:${port}`, namespace: namespace.index };
    process.stdout.write(JSON.stringify(ready) + "\n");
    const end = async () => {
        await server.shutdown(0);
        process.exit(0);
    };
    process.on("SIGTERM", end);
    process.stdin.on("end", end).resume();
}

const { values, positionals: [port, security] } = parseArgs({
    allowPositionals: true, options: { recorded: { type: "string" }, "reverse-connect": { type: "string" } },
});
if (!port) {
    console.error("usage: server.js PORT [secure | SECURITY] [--recorded COUNT] [--reverse-connect URL]");
    process.exit(2);
}
main(Number(port), security?.startsWith("{") ? JSON.parse(security) : security, values).catch((error) => {
    console.error(error);
    process.exit(1);
});
