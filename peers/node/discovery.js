#!/usr/bin/env node
"use strict";
// A discovery server of node-opcua, at which servers register themselves with and without security.
// Usage: discovery.js PORT SECURITY, with SECURITY as of a server (peers/README.md); ends when standard input is closed

require("./setup.js");
const path = require("node:path");
const { MessageSecurityMode, OPCUADiscoveryServer, SecurityPolicy } = require("node-opcua");
const wire = require("./wire.js");

async function main(port, security) {
    const server = new OPCUADiscoveryServer({
        port,
        hostname: "127.0.0.1",
        certificateFile: security.certificate,
        privateKeyFile: security.key,
        securityModes: [MessageSecurityMode.None, MessageSecurityMode.SignAndEncrypt],
        securityPolicies: [SecurityPolicy.None, ...security.policies.map((name) => SecurityPolicy[name])],
        serverInfo: { applicationUri: security.application, applicationName: { text: "node-opcua discovery" } },
        serverCertificateManager: wire.certificateManager("discovery", path.dirname(security.certificate)),
    });
    await server.start();
    const ready = { ready: true, endpoint: `opc.tcp://127.0.0.1:${port}`, namespace: 0 };
    process.stdout.write(JSON.stringify(ready) + "\n");
    // Its own end would take seconds, in which it takes back its announcements.
    const end = () => process.exit(0);
    process.on("SIGTERM", end);
    process.stdin.on("end", end).resume();
}

if (process.argv.length !== 4) {
    console.error("usage: discovery.js PORT SECURITY");
    process.exit(2);
}
main(Number(process.argv[2]), JSON.parse(process.argv[3])).catch((error) => {
    console.error(error);
    process.exit(1);
});
