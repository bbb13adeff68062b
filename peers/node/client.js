#!/usr/bin/env node
"use strict";
// A node-opcua client that answers JSON lines: see peers/README.md for the requests.
// Usage: client.js ENDPOINT | listen:PORT [SECURITY], with SECURITY as peers/README.md describes it

require("./setup.js");
const fs = require("node:fs");
const path = require("node:path");
const readline = require("node:readline");
const {
    AttributeIds, BrowseDirection, ClientMonitoredItem, ClientReverseConnect, DataValue, MessageSecurityMode, NodeClass, NumericRange,
    OPCUAClient, SecurityPolicy, TimestampsToReturn, UserTokenType, coerceNodeId,
} = require("node-opcua");
const wire = require("./wire.js");

const DIRECTIONS = { forward: BrowseDirection.Forward, inverse: BrowseDirection.Inverse, both: BrowseDirection.Both };

function referenceToJson(reference) {
    return {
        node: wire.nodeIdToJson(reference.nodeId),
        browseName: wire.nameToJson(reference.browseName),
        displayName: wire.textToJson(reference.displayName).text,
        class: NodeClass[reference.nodeClass],
        reference: wire.nodeIdToJson(reference.referenceTypeId),
        forward: reference.isForward,
        typeDefinition: wire.nodeIdToJson(reference.typeDefinition),
    };
}

/** A result whose StatusCode is bad, as an error that begins with its name. */
function check(status) {
    if (status.value !== 0 && !status.isGood()) throw new Error(`${status.name}: ${status.description}`);
}

const operations = {
    /** Browse, and BrowseNext until no continuation point is left. */
    async browse({ session }, request) {
        session.requestedMaxReferencesPerNode = request.max || 0;
        let result = await session.browse({
            nodeId: coerceNodeId(request.node),
            browseDirection: DIRECTIONS[request.direction || "forward"],
            referenceTypeId: coerceNodeId(request.reference || "i=31"),
            includeSubtypes: true,
            nodeClassMask: 0,
            resultMask: 63,
        });
        check(result.statusCode);
        const references = [...(result.references || [])];
        while (result.continuationPoint && result.continuationPoint.length) {
            result = await session.browseNext(result.continuationPoint, false);
            check(result.statusCode);
            references.push(...(result.references || []));
        }
        return references.map(referenceToJson);
    },

    /** One Read of all nodes; node-opcua asks for both timestamps. */
    async read({ session }, request) {
        const values = await session.read(
            request.nodes.map((node) => ({
                nodeId: coerceNodeId(node),
                attributeId: AttributeIds[request.attribute || "Value"],
                indexRange: request.range ? new NumericRange(request.range) : undefined,
            })),
        );
        return values.map(wire.dataValueToJson);
    },

    /** One Write of one node; no timestamps, which many servers refuse. */
    async write({ session }, request) {
        const status = await session.write({
            nodeId: coerceNodeId(request.node),
            attributeId: AttributeIds[request.attribute || "Value"],
            indexRange: request.range ? new NumericRange(request.range) : undefined,
            value: new DataValue({ value: wire.variantFromJson(request) }),
        });
        return { status: wire.statusToJson(status) };
    },

    /** One Call of one Method. */
    async call({ session }, request) {
        const result = await session.call({
            objectId: coerceNodeId(request.object),
            methodId: coerceNodeId(request.method),
            inputArguments: (request.arguments || []).map(wire.variantFromJson),
        });
        return {
            status: wire.statusToJson(result.statusCode),
            arguments: (result.inputArgumentResults || []).map(wire.statusToJson),
            outputs: (result.outputArguments || []).map(wire.variantToJson),
        };
    },

    /** TranslateBrowsePathsToNodeIds of one path over hierarchical references. */
    async translate({ session }, request) {
        const result = await session.translateBrowsePath({
            startingNode: coerceNodeId(request.node),
            relativePath: {
                elements: request.path.map((name) => ({
                    referenceTypeId: coerceNodeId("i=33"),
                    isInverse: false,
                    includeSubtypes: true,
                    targetName: wire.nameFromJson(name),
                })),
            },
        });
        return {
            status: wire.statusToJson(result.statusCode),
            targets: (result.targets || []).map((target) => wire.nodeIdToJson(target.targetId)),
        };
    },

    /** The server's NamespaceArray. */
    async namespaces({ session }) {
        return session.readNamespaceArray();
    },

    /** GetEndpoints. */
    async endpoints({ client }) {
        return (await client.getEndpoints()).map((endpoint) => ({
            url: endpoint.endpointUrl,
            securityPolicy: endpoint.securityPolicyUri,
            securityMode: MessageSecurityMode[endpoint.securityMode],
            transportProfile: endpoint.transportProfileUri,
            applicationUri: endpoint.server.applicationUri,
            applicationName: wire.textToJson(endpoint.server.applicationName).text,
        }));
    },

    /** FindServers. */
    async servers({ client }) {
        return (await client.findServers()).map((server) => ({
            applicationUri: server.applicationUri,
            applicationName: wire.textToJson(server.applicationName).text,
            discoveryUrls: server.discoveryUrls || [],
        }));
    },

    /** One Subscription with all nodes. */
    async subscribe({ session, changes }, request) {
        const subscription = await session.createSubscription2({
            requestedPublishingInterval: request.interval,
            requestedLifetimeCount: 1000,
            requestedMaxKeepAliveCount: 10,
            maxNotificationsPerPublish: 0,
            publishingEnabled: true,
            priority: 0,
        });
        subscription.on("terminated", () => changes.push({ ended: "terminated" }));
        return Promise.all(request.nodes.map((node) => monitor(subscription, node, request, changes)));
    },

    /** Another Session instead of the present one. */
    async connect(peer, request) {
        await close(peer);
        Object.assign(peer, await open(request.endpoint, request.security));
        return null;
    },

    /** What has changed: waits for a change if there is none yet. */
    async changes({ changes }, request) {
        const end = Date.now() + (request.timeout || 10) * 1000;
        while (changes.length === 0 && Date.now() < end) {
            await new Promise((resolve) => setTimeout(resolve, 10));
        }
        return changes.splice(0);
    },
};

/** One MonitoredItem; the name of its StatusCode. */
function monitor(subscription, node, request, changes) {
    const item = ClientMonitoredItem.create(
        subscription,
        { nodeId: coerceNodeId(node), attributeId: AttributeIds.Value },
        { samplingInterval: request.sampling || 0, queueSize: request.queue || 1, discardOldest: true },
        TimestampsToReturn.Both,
    );
    item.on("changed", (value) => changes.push({ node, ...wire.dataValueToJson(value) }));
    return new Promise((resolve) => {
        item.on("initialized", () => resolve(wire.statusToJson(item.statusCode)));
        item.on("err", (error) => resolve(String(error)));
    });
}

function say(answer) {
    process.stdout.write(JSON.stringify(answer) + "\n");
}

/** One request, whatever becomes of it. */
async function answer(peer, line) {
    let request = {};
    try {
        request = JSON.parse(line);
        if (!Object.hasOwn(operations, request.op)) throw new Error(`no operation ${request.op}`);
        return { id: request.id, ok: true, result: await operations[request.op](peer, request) };
    } catch (error) {
        return { id: request.id ?? null, ok: false, error: wire.errorText(error) };
    }
}

/** The options of a client with this security. */
function securityOptions(security) {
    if (!security.policy) {
        return {
            clientCertificateManager: wire.certificateManager("client"),
            securityMode: MessageSecurityMode.None,
            securityPolicy: SecurityPolicy.None,
        };
    }
    return {
        applicationUri: security.application,
        clientCertificateManager: wire.certificateManager("client", path.dirname(security.certificate)),
        certificateFile: security.certificate,
        privateKeyFile: security.key,
        securityMode: MessageSecurityMode[security.mode],
        securityPolicy: SecurityPolicy[security.policy],
        defaultSecureTokenLifetime: security.lifetime,
        // A client that waits for its server cannot ask it for this.
        serverCertificate: security.serverCertificate && wire.readCertificate(security.serverCertificate),
    };
}

/** The user of the Session. */
function user(security) {
    if (security.userCertificate) {
        return {
            type: UserTokenType.Certificate,
            certificateData: wire.readCertificate(security.userCertificate),
            privateKey: fs.readFileSync(security.userKey, "ascii"),
        };
    }
    if (!security.user) return { type: UserTokenType.Anonymous };
    return { type: UserTokenType.UserName, userName: security.user, password: security.password };
}

/** A client, its Session, and the changes that nobody has asked for yet. */
async function open(endpoint, security) {
    const client = OPCUAClient.create({
        applicationName: "node-opcua peer",
        endpointMustExist: false,
        keepSessionAlive: false,
        ...securityOptions(security),
        // With security, the client connects again by itself.
        connectionStrategy: { maxRetry: security.policy ? 5 : 0, initialDelay: 100, maxDelay: 200 },
        transportTimeout: 10000,
        requestedSessionTimeout: 60000,
    });
    const port = /^listen:(\d+)$/.exec(endpoint)?.[1];
    const listener = port && new ClientReverseConnect(`opc.tcp://127.0.0.1:${port}`);
    try {
        if (listener) {
            await listener.start();
            await client.connectReverse(listener);
        } else {
            await client.connect(endpoint);
        }
        return { client, session: await client.createSession(user(security)), changes: [] };
    } catch (error) {
        await client.disconnect();
        throw error;
    }
}

/** Closes the Session; it may be lost. */
async function close({ client, session }) {
    try {
        await session.close();
    } catch (_error) {
        // There is nothing left to close.
    }
    await client.disconnect();
}

async function main(endpoint, security) {
    let peer;
    try {
        peer = await open(endpoint, security);
    } catch (error) {
        say({ ready: false, error: wire.errorText(error) });
        process.exit(1);
    }
    say({ ready: true });
    for await (const line of readline.createInterface({ input: process.stdin })) {
        if (line.trim()) say(await answer(peer, line));
    }
    await close(peer);
    process.exit(0);
}

if (process.argv.length < 3 || process.argv.length > 4) {
    console.error("usage: client.js ENDPOINT | listen:PORT [SECURITY]");
    process.exit(2);
}
main(process.argv[2], JSON.parse(process.argv[3] || "{}"));
