#!/usr/bin/env node
"use strict";
// node-opcua as a subscriber of UADP, as peers/README.md describes it: its decoder, behind a socket.
// Usage: pubsub.js subscribe DESCRIPTION

require("./setup.js");
const dgram = require("node:dgram");
const { UADPDataSetMessageType, udpNetworkMessage_decode } = require("node-opcua-pubsub-common");
const { BinaryStream } = require("node-opcua-binary-stream");
const wire = require("./wire.js");

const print = (line) => process.stdout.write(`${JSON.stringify(line)}\n`);

/** Whether the message is for the described reader. */
function isWanted(message, description) {
    return message.publisherId?.value === description.publisherId
        && message.groupHeader?.writerGroupId === description.writerGroupId
        && message.dataSetPayloadHeader.dataSetWriterIds[0] === description.dataSetWriterId;
}

function receive(bytes, description) {
    const message = udpNetworkMessage_decode(new BinaryStream(bytes));
    if (!isWanted(message, description)) {
        throw new Error(`for another reader: ${JSON.stringify(message)}`);
    }
    for (const { dataSetMessageHeader: header, dataValues } of message.dataSetPayload.dataSetMessages) {
        const fields = {};
        // A delta frame has nothing in the places of fields that did not change.
        dataValues.forEach((value, index) => {
            if (value) {
                fields[description.fields[index].name] = wire.dataValueToJson(value);
            }
        });
        print({ fields, delta: header.type === UADPDataSetMessageType.DataDeltaFrame });
    }
}

function main(description) {
    const { hostname, port } = new URL(description.url.replace("opc.udp:", "http:"));
    const socket = dgram.createSocket("udp4");
    socket.on("message", (bytes) => {
        try {
            receive(bytes, description);
        } catch (error) {
            // The rest of the test cannot go well.
            console.error(error);
            process.exit(1);
        }
    });
    socket.bind(Number(port), hostname, () => print({ ready: true }));
    process.stdin.on("end", () => process.exit(0)).resume();
}

const [role, description] = process.argv.slice(2);
if (role !== "subscribe" || !description) {
    console.error("usage: pubsub.js subscribe DESCRIPTION");
    process.exit(2);
}
main(JSON.parse(description));
