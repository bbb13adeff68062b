#!/usr/bin/env node
"use strict";
// Reads the history of a Variable with node-opcua: raw values, and aggregates of one hour in one interval.
// Or reads Events of the Server Object: all of one hour, the newest two, and alarms.
// Usage: history.js ENDPOINT NODE
//        history.js events ENDPOINT

require("./setup.js");
const {
    AggregateFunction, HistoryReadRequest, OPCUAClient, ReadEventDetails, ReadRawModifiedDetails, TimestampsToReturn,
    coerceNodeId, constructEventFilter, ofType,
} = require("node-opcua");

const row = (value) => ({
    time: value.sourceTimestamp ? value.sourceTimestamp.toISOString() : null,
    value: value.value ? value.value.value : null,
    status: value.statusCode.value,
});

async function main(endpoint, node) {
    const client = OPCUAClient.create({ endpointMustExist: false });
    await client.connect(endpoint);
    const session = await client.createSession();
    const end = new Date();
    const start = new Date(end.getTime() - 3600 * 1000);
    const raw = await session.readHistoryValue({ nodeId: node }, start, end);
    const processed = {};
    for (const name of ["Count", "Average", "Minimum", "Maximum", "TimeAverage", "PercentGood"]) {
        const result = await session.readAggregateValue(
            { nodeId: node }, start, end, AggregateFunction[name], 3600 * 1000,
        );
        processed[name] = result.historyData.dataValues.map(row)[0];
    }
    // Pages of two values.
    const pages = [];
    let continuationPoint = null;
    do {
        const response = await session.historyRead(new HistoryReadRequest({
            historyReadDetails: new ReadRawModifiedDetails({ startTime: start, endTime: end, numValuesPerNode: 2 }),
            nodesToRead: [{ nodeId: coerceNodeId(node), continuationPoint }],
            timestampsToReturn: TimestampsToReturn.Both,
        }));
        const result = response.results[0];
        pages.push(result.historyData.dataValues.map(row));
        continuationPoint = result.continuationPoint;
    } while (continuationPoint && continuationPoint.length > 0 && pages.length < 100);
    process.stdout.write(`${JSON.stringify({ raw: raw.historyData.dataValues.map(row), processed, pages })}\n`);
    await session.close();
    await client.disconnect();
}

const FIELDS = ["Time", "Severity", "Message"];

async function readEvents(session, details) {
    const response = await session.historyRead(new HistoryReadRequest({
        historyReadDetails: new ReadEventDetails(details),
        nodesToRead: [{ nodeId: coerceNodeId("i=2253") }],
        timestampsToReturn: TimestampsToReturn.Both,
    }));
    return (response.results[0].historyData.events || []).map(({ eventFields: [time, severity, message] }) => ({
        time: time.value.toISOString(), severity: severity.value, message: message.value.text,
    }));
}

async function events(endpoint) {
    const client = OPCUAClient.create({ endpointMustExist: false });
    await client.connect(endpoint);
    const session = await client.createSession();
    const endTime = new Date();
    const startTime = new Date(endTime.getTime() - 3600 * 1000);
    const filter = constructEventFilter(FIELDS);
    const read = {
        forward: await readEvents(session, { startTime, endTime, filter }),
        newest: await readEvents(session, { endTime, numValuesPerNode: 2, filter }),
        alarms: await readEvents(session, {
            startTime, endTime, filter: constructEventFilter(FIELDS, ofType("ExclusiveLimitAlarmType")),
        }),
    };
    process.stdout.write(`${JSON.stringify(read)}\n`);
    await session.close();
    await client.disconnect();
}

const run = process.argv[2] === "events" ? events(process.argv[3]) : main(process.argv[2], process.argv[3]);
run.catch((error) => {
    console.error(error);
    process.exit(1);
});
