#!/usr/bin/env node
"use strict";
// Events with node-opcua, as a client or as a server: see peers/README.md.
// Usage: events.js client ENDPOINT CONDITION     CONDITION: ConditionId of a limit alarm that becomes active
//        events.js server PORT                   reports an Event every 200 ms; ends when standard input is closed
// The client prints one JSON object for each Event and each step.

require("./setup.js");
const {
    AttributeIds, ClientMonitoredItem, DataType, ElementOperand, EventFilter, FilterOperator, LiteralOperand, NodeId,
    OPCUAClient, OPCUAServer, SimpleAttributeOperand, TimestampsToReturn, Variant, coerceNodeId, coerceQualifiedName,
    makeBrowsePath,
} = require("node-opcua");

const FIELDS = [["EventId"], ["EventType"], ["SourceName"], ["Message"], ["Severity"], ["Retain"], ["SuppressedOrShelved"],
    ["ActiveState", "Id"], ["AckedState", "Id"], ["ConfirmedState", "Id"]];
/** Time limit of each step, for a loaded machine. */
const PATIENCE = 60_000;
/** NodeIds of the standard. */
const ids = {
    acknowledge: "i=9111", confirm: "i=9113", conditionType: "i=2782", refresh: "i=3875", limitAlarm: "i=2955",
    refreshStart: "ns=0;i=2787", refreshEnd: "ns=0;i=2788", timedShelve: "i=2949", unshelve: "i=2947", baseEvent: "i=2041", server: "i=2253",
};

function say(fields) {
    process.stdout.write(`${JSON.stringify(fields)}\n`);
}

function field(path) {
    return new SimpleAttributeOperand({
        typeDefinitionId: coerceNodeId(ids.baseEvent),
        browsePath: path.map((name) => coerceQualifiedName(name)),
        attributeId: AttributeIds.Value,
    });
}

function literal(dataType, value) {
    return new LiteralOperand({ value: new Variant({ dataType, value }) });
}

function element(filterOperator, ...filterOperands) {
    return { filterOperator, filterOperands };
}

const index = (number) => new ElementOperand({ index: number });

/** Limit alarms with a Severity of at least 500, or their end. */
function eventFilter() {
    const conditionId = new SimpleAttributeOperand({
        typeDefinitionId: coerceNodeId(ids.conditionType), browsePath: [], attributeId: AttributeIds.NodeId,
    });
    return new EventFilter({
        selectClauses: [...FIELDS.map(field), conditionId],
        whereClause: {
            elements: [
                element(FilterOperator.And, index(1), index(2)),
                element(FilterOperator.OfType, literal(DataType.NodeId, coerceNodeId(ids.limitAlarm))),
                element(FilterOperator.Or, index(3), index(4)),
                element(FilterOperator.GreaterThanOrEqual, field(["Severity"]), literal(DataType.UInt16, 500)),
                element(FilterOperator.Equals, field(["Retain"]), literal(DataType.Boolean, false)),
            ],
        },
    });
}

function plain(variant) {
    const value = variant.value;
    if (value instanceof Buffer) return value.toString("hex");
    if (value instanceof NodeId) return value.toString();
    return value && value.text !== undefined ? value.text : value;
}

/** The Events of an item, in their order. */
class Events {
    constructor(item) {
        this.received = [];
        this.wake = () => {};
        item.on("changed", (fields) => {
            this.received.push(fields);
            this.wake();
        });
        item.on("err", (message) => say({ error: message }));
    }

    /** The next Event for which a condition holds. */
    async next(condition) {
        const end = Date.now() + PATIENCE;
        for (;;) {
            while (this.received.length) {
                const fields = this.received.shift();
                const shown = Object.fromEntries(FIELDS.map((path, at) => [path.join("/"), plain(fields[at])]));
                shown.ConditionId = plain(fields[FIELDS.length]);
                say({ event: shown });
                if (condition(shown)) return { shown, eventId: fields[0].value };
            }
            if (Date.now() > end) throw new Error("no such Event");
            await new Promise((resolve) => {
                const timer = setTimeout(resolve, 1000);
                this.wake = () => { clearTimeout(timer); resolve(); };
            });
        }
    }
}

async function call(session, objectId, methodId, ...inputArguments) {
    const result = await session.call({ objectId: coerceNodeId(objectId), methodId: coerceNodeId(methodId), inputArguments });
    return result.statusCode.name;
}

function respond(session, condition, methodId, eventId) {
    return call(session, condition, methodId,
        new Variant({ dataType: DataType.ByteString, value: eventId }),
        new Variant({ dataType: DataType.LocalizedText, value: { text: "seen" } }));
}

async function runClient(endpoint, condition) {
    const client = OPCUAClient.create({ endpointMustExist: false });
    await client.connect(endpoint);
    const session = await client.createSession();
    const subscription = await session.createSubscription2({
        requestedPublishingInterval: 50, requestedLifetimeCount: 1000, requestedMaxKeepAliveCount: 10,
        maxNotificationsPerPublish: 100, publishingEnabled: true, priority: 1,
    });
    const item = ClientMonitoredItem.create(subscription,
        { nodeId: coerceNodeId(ids.server), attributeId: AttributeIds.EventNotifier },
        { samplingInterval: 0, queueSize: 100, discardOldest: true, filter: eventFilter() }, TimestampsToReturn.Both);
    const events = new Events(item);
    await new Promise((resolve) => item.once("initialized", resolve));
    say({ step: "subscribed" });
    const active = await events.next((event) => event["ActiveState/Id"] === true);
    say({ step: "active" });
    say({ step: "call", status: await respond(session, condition, ids.acknowledge, active.eventId) });
    const acknowledged = await events.next((event) => event["AckedState/Id"] === true);
    say({ step: "acknowledged" });
    say({ step: "again", status: await respond(session, condition, ids.acknowledge, active.eventId) });
    const id = new Variant({ dataType: DataType.UInt32, value: subscription.subscriptionId });
    say({ step: "call", status: await call(session, ids.conditionType, ids.refresh, id) });
    await events.next((event) => event.EventType === ids.refreshStart);
    await events.next((event) => event["AckedState/Id"] === true);
    await events.next((event) => event.EventType === ids.refreshEnd);
    say({ step: "refreshed" });
    say({ step: "call", status: await respond(session, condition, ids.confirm, acknowledged.eventId) });
    await events.next((event) => event["ConfirmedState/Id"] === true);
    say({ step: "confirmed" });
    const target = async (path) => {
        const found = await session.translateBrowsePath(makeBrowsePath(condition, path));
        return found.targets[0].targetId;
    };
    const time = new Variant({ dataType: DataType.Double, value: 600_000 });
    say({ step: "call", status: await call(session, await target("/ShelvingState"), ids.timedShelve, time) });
    await events.next((event) => event.SuppressedOrShelved === true);
    const left = await session.read({ nodeId: await target("/ShelvingState/UnshelveTime"), attributeId: AttributeIds.Value });
    say({ step: "shelved", left: left.value.value });
    // The ConditionId stands for its ShelvingState.
    say({ step: "call", status: await call(session, condition, ids.unshelve) });
    await events.next((event) => event.SuppressedOrShelved === false);
    say({ step: "unshelved" });
    await subscription.terminate();
    await session.close();
    await client.disconnect();
}

async function runServer(port) {
    const server = new OPCUAServer({ port, hostname: "127.0.0.1", nodeset_filename: undefined });
    await server.initialize();
    const space = server.engine.addressSpace;
    const source = space.rootFolder.objects.server;
    await server.start();
    say({ endpoint: `opc.tcp://127.0.0.1:${port}` });
    let severity = 0;
    const timer = setInterval(() => {
        severity = (severity % 1000) + 100;
        source.raiseEvent("SystemEventType", {
            message: { dataType: DataType.LocalizedText, value: { text: `Severity ${severity}` } },
            severity: { dataType: DataType.UInt16, value: severity },
        });
    }, 200);
    process.stdin.resume();
    process.stdin.on("end", async () => {
        clearInterval(timer);
        await server.shutdown(0);
        process.exit(0);
    });
}

const [role, ...rest] = process.argv.slice(2);
const run = role === "client" ? runClient(...rest) : runServer(Number(rest[0]));
run.catch((error) => {
    say({ error: String(error.message || error) });
    process.exit(1);
});
