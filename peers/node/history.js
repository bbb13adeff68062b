#!/usr/bin/env node
"use strict";
// Reads the history of a Variable with node-opcua: raw values, and aggregates of one hour in one interval.
// Usage: history.js ENDPOINT NODE

require("./setup.js");
const {
    AggregateFunction, HistoryReadRequest, OPCUAClient, ReadRawModifiedDetails, TimestampsToReturn, coerceNodeId,
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

main(process.argv[2], process.argv[3]).catch((error) => {
    console.error(error);
    process.exit(1);
});
