#!/usr/bin/env node
"use strict";
// A node-opcua server with ten good Variables beside one whose value is a Variant in a Variant, which the standard forbids. It has
// room for ten Sessions, as small PLCs have.
// Usage: unreadable.js PORT   (0 takes a free port; ends when standard input is closed)
// Each line of the input is answered: the Sessions that exist, the greatest number of them at a time, and the number of all so far.

require("./setup.js");
const net = require("node:net");
const readline = require("node:readline");
const { DataType, MessageSecurityMode, OPCUAServer, SecurityPolicy, Variant, nodesets } = require("node-opcua");
const wire = require("./wire.js");

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

async function main(requested) {
    const port = requested || (await freePort());
    const server = new OPCUAServer({
        port,
        host: "127.0.0.1",
        hostname: "127.0.0.1",
        allowAnonymous: true,
        disableDiscovery: true,
        maxSessions: 10,
        securityModes: [MessageSecurityMode.None],
        securityPolicies: [SecurityPolicy.None],
        nodeset_filename: [nodesets.standard],
        serverInfo: { applicationUri: "urn:takt:peer:node-opcua", applicationName: { text: "node-opcua peer" } },
        serverCertificateManager: wire.certificateManager("server"),
        userCertificateManager: wire.certificateManager("user"),
    });
    await server.initialize();
    const addressSpace = server.engine.addressSpace;
    const namespace = addressSpace.registerNamespace("urn:takt:peer:unreadable");
    const organizedBy = addressSpace.rootFolder.objects;
    const good = [];
    for (let number = 0; number < 10; number += 1) {
        const browseName = `Good${number}`;
        const value = double(number);
        good.push(namespace.addVariable({ organizedBy, browseName, nodeId: `s=${browseName}`, dataType: "Double", value }));
    }
    const nested = () => new Variant({ dataType: DataType.Variant, value: double(1) });
    namespace.addVariable({
        organizedBy, browseName: "Bad", nodeId: "s=Bad", dataType: "BaseDataType", value: { get: nested },
    });
    let [most, all] = [0, 0];
    server.on("create_session", () => {
        all += 1;
        most = Math.max(most, server.engine.currentSessionCount);
    });
    await server.start();
    const ready = { ready: true, endpoint: `opc.tcp://127.0.0.1:${port}`, namespace: namespace.index };
    process.stdout.write(JSON.stringify(ready) + "\n");
    const end = async () => {
        await server.shutdown(0);
        process.exit(0);
    };
    process.on("SIGTERM", end);
    let counted = 0;
    const lines = readline.createInterface({ input: process.stdin });
    lines.on("line", () => {
        counted += 1;
        good[0].setValueFromSource(double(counted));
        process.stdout.write(JSON.stringify({ sessions: server.engine.currentSessionCount, most, all }) + "\n");
    });
    lines.on("close", end);
}

if (process.argv.length !== 3) {
    console.error("usage: unreadable.js PORT");
    process.exit(2);
}
main(Number(process.argv[2])).catch((error) => {
    console.error(error);
    process.exit(1);
});
