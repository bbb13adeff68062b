#!/usr/bin/env node
"use strict";
// A node-opcua server with many Variables, the same as those of ../asyncua/large_server.py.
// Usage: large_server.js PORT COUNT   (0 takes a free port; ends when standard input is closed)

require("./setup.js");
const net = require("node:net");
const {
    DataType, MessageSecurityMode, OPCUAServer, SecurityPolicy, StatusCodes, Variant, nodesets,
} = require("node-opcua");
const wire = require("./wire.js");

const PER_LINE = 100;

const double = (value) => new Variant({ dataType: DataType.Double, value });

function freePort() {
    return new Promise((resolve, reject) => {
        const probe = net.createServer().on("error", reject);
        probe.listen(0, "127.0.0.1", () => {
            const { port } = probe.address();
            probe.close(() => resolve(port));
        });
    });
}

/** Adds all nodes; returns the counter. */
function addNodes(addressSpace, namespace, count) {
    const lineType = namespace.addObjectType({ nodeId: "s=LineType", browseName: "LineType" });
    const peer = namespace.addObject({
        organizedBy: addressSpace.rootFolder.objects, nodeId: "s=Peer", browseName: "Peer",
    });
    const argument = (name) => ({ name, dataType: DataType.Double, valueRank: -1 });
    namespace.addMethod(peer, {
        nodeId: "s=Multiply",
        browseName: "Multiply",
        inputArguments: [argument("A"), argument("B")],
        outputArguments: [argument("Product")],
    }).bindMethod((inputs, _context, callback) => {
        const product = inputs[0].value * inputs[1].value;
        callback(null, { statusCode: StatusCodes.Good, outputArguments: [double(product)] });
    });
    for (let first = 0; first < count; first += PER_LINE) {
        const path = `Line${first / PER_LINE}`;
        const line = namespace.addObject({
            componentOf: peer, nodeId: `s=${path}`, browseName: path, typeDefinition: lineType.nodeId,
        });
        for (let number = 0; number < Math.min(PER_LINE, count - first); number += 1) {
            namespace.addVariable({
                componentOf: line,
                nodeId: `s=${path}/Value${number}`,
                browseName: `Value${number}`,
                dataType: "Double",
                accessLevel: "CurrentRead | CurrentWrite",
                userAccessLevel: "CurrentRead | CurrentWrite",
                value: double(first + number),
            });
        }
    }
    return namespace.addVariable({
        componentOf: peer, nodeId: "s=Counter", browseName: "Counter", dataType: "UInt32",
        value: new Variant({ dataType: DataType.UInt32, value: 0 }),
    });
}

async function main(requested, count) {
    const port = requested || (await freePort());
    const server = new OPCUAServer({
        port,
        host: "127.0.0.1",
        hostname: "127.0.0.1",
        allowAnonymous: true,
        securityModes: [MessageSecurityMode.None],
        securityPolicies: [SecurityPolicy.None],
        nodeset_filename: [nodesets.standard],
        serverInfo: { applicationUri: "urn:takt:peer:node-opcua", applicationName: { text: "node-opcua peer" } },
        serverCertificateManager: wire.certificateManager("server"),
        userCertificateManager: wire.certificateManager("user"),
        serverCapabilities: { maxMonitoredItemsPerSubscription: 100000, maxMonitoredItems: 100000 },
    });
    await server.initialize();
    const addressSpace = server.engine.addressSpace;
    const namespace = addressSpace.registerNamespace("urn:takt:peer");
    const counter = addNodes(addressSpace, namespace, count);
    let tenths = 0;
    setInterval(() => {
        tenths += 1;
        counter.setValueFromSource(new Variant({ dataType: DataType.UInt32, value: tenths }));
    }, 100);
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

if (process.argv.length !== 4) {
    console.error("usage: large_server.js PORT COUNT");
    process.exit(2);
}
main(Number(process.argv[2]), Number(process.argv[3])).catch((error) => {
    console.error(error);
    process.exit(1);
});
