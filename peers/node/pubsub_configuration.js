#!/usr/bin/env node
"use strict";
// Loads the standard's binary PubSub configuration file into node-opcua, prints what is in it, and writes another one from that.
// Usage: pubsub_configuration.js INPUT OUTPUT

require("./setup.js");
const {
    readPubSubConfigurationFromFile, writePubSubConfigurationToFile,
} = require("node-opcua-pubsub-common");

async function main(input, output) {
    const configuration = await readPubSubConfigurationFromFile(input);
    if (!configuration) {
        throw new Error("node-opcua finds no configuration in the file");
    }
    const groups = configuration.connections.flatMap((connection) => connection.writerGroups);
    const writers = groups.flatMap((group) => group.dataSetWriters.map((writer) => writer.name));
    const dataSets = configuration.publishedDataSets.map((dataSet) => dataSet.name);
    process.stdout.write(`${JSON.stringify({ dataSets, writers })}\n`);
    await writePubSubConfigurationToFile(configuration, output);
}

const files = process.argv.slice(2);
if (files.length !== 2) {
    console.error("usage: pubsub_configuration.js INPUT OUTPUT");
    process.exit(2);
}
main(...files).catch((error) => {
    console.error(error);
    process.exit(1);
});
