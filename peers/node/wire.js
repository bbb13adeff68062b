"use strict";
// Values of node-opcua as the JSON that peers/README.md describes, and back.

const { X509Certificate } = require("node:crypto");
const fs = require("node:fs");
const path = require("node:path");
const {
    DataType, LocalizedText, OPCUACertificateManager, QualifiedName, StatusCode, StatusCodes,
    Variant, VariantArrayType, coerceExpandedNodeId, coerceNodeId,
} = require("node-opcua");

const WORDS_64_BIT = new Set([DataType.Int64, DataType.UInt64]);

/**
 * Certificates are made even for policy None: once, beside the packages, not in the user's configuration folder. In a
 * `folder` of a test, every certificate is accepted.
 */
function certificateManager(whose, folder) {
    if (folder) {
        return new OPCUACertificateManager({
            rootFolder: path.join(folder, `node-opcua-${whose}`), automaticallyAcceptUnknownCertificate: true,
        });
    }
    return new OPCUACertificateManager({ rootFolder: path.join(__dirname, "node_modules", ".cache", "pki", whose) });
}

/** A certificate in DER, from a file in PEM. */
function readCertificate(file) {
    return new X509Certificate(fs.readFileSync(file)).raw;
}

/** The StatusCode's standard name. */
function statusToJson(status) {
    if (!status) return "Good";
    return status.value === 0 ? "Good" : status.name;
}

/** An error whose first word is the StatusCode's name, if a service failed with one. */
function errorText(error) {
    const response = error.response;
    const status = response && response.responseHeader && response.responseHeader.serviceResult;
    if (status && status.value !== 0) return `${status.name}: ${error.message}`;
    return error.message || String(error);
}

/** A NodeId or ExpandedNodeId in the standard's notation, index 0 left out. */
function nodeIdToJson(nodeId) {
    if (!nodeId) return "i=0";
    let text = "";
    if (nodeId.serverIndex) text += `svr=${nodeId.serverIndex};`;
    if (nodeId.namespaceUri) text += `nsu=${nodeId.namespaceUri};`;
    else if (nodeId.namespace) text += `ns=${nodeId.namespace};`;
    const value = Buffer.isBuffer(nodeId.value) ? nodeId.value.toString("base64") : nodeId.value;
    return `${text}${["?", "i", "s", "g", "b"][nodeId.identifierType]}=${value === null ? "" : value}`;
}

/** A QualifiedName as `2:Name`. */
function nameToJson(name) {
    if (!name) return "";
    return name.namespaceIndex ? `${name.namespaceIndex}:${name.name}` : name.name || "";
}

/** The reverse of nameToJson. */
function nameFromJson(text) {
    const parts = /^(\d+):(.*)$/s.exec(text);
    return new QualifiedName(parts ? { namespaceIndex: Number(parts[1]), name: parts[2] } : { namespaceIndex: 0, name: text });
}

/** node-opcua keeps a 64-bit number as two 32-bit words, high first. */
function wordsToJson(words, signed) {
    if (!Array.isArray(words)) return String(words);
    const value = (BigInt(words[0] >>> 0) << 32n) | BigInt(words[1] >>> 0);
    return String(signed ? BigInt.asIntN(64, value) : value);
}

/** The reverse of wordsToJson. */
function wordsFromJson(text) {
    const value = BigInt.asUintN(64, BigInt(text));
    return [Number(value >> 32n), Number(value & 0xffffffffn)];
}

/** JSON has no word for what is not finite. */
function numberToJson(value) {
    return Number.isFinite(value) ? value : String(value);
}

function textToJson(text) {
    return text ? { locale: text.locale ?? null, text: text.text ?? null } : { locale: null, text: null };
}

/** A structure: its fields by their standard names, which begin with a capital. */
function structureToJson(object) {
    const answer = { structure: object.schema ? object.schema.name : object.constructor.name };
    for (let schema = object.schema; schema; schema = schema.getBaseSchema ? schema.getBaseSchema() : null) {
        for (const field of schema.fields || []) {
            answer[field.originalName || field.name[0].toUpperCase() + field.name.slice(1)] = plainToJson(object[field.name]);
        }
    }
    return answer;
}

/** A value whose JavaScript type says enough: the fields of structures. */
function plainToJson(value) {
    if (value === undefined || value === null) return null;
    if (typeof value === "number") return numberToJson(value);
    if (typeof value !== "object") return value;
    if (Array.isArray(value) || (ArrayBuffer.isView(value) && !Buffer.isBuffer(value))) return Array.from(value, plainToJson);
    if (Buffer.isBuffer(value)) return value.toString("base64");
    if (value instanceof Date) return value.toISOString();
    if (value instanceof LocalizedText) return textToJson(value);
    if (value instanceof QualifiedName) return nameToJson(value);
    if (value instanceof StatusCode) return statusToJson(value);
    if (value instanceof Variant) return variantToJson(value);
    if (value.identifierType !== undefined) return nodeIdToJson(value);
    return structureToJson(value);
}

/** One scalar of the built-in type `dataType`. */
function elementToJson(value, dataType) {
    if (WORDS_64_BIT.has(dataType)) return wordsToJson(value, dataType === DataType.Int64);
    return plainToJson(value);
}

/** A Variant as {type, value, dimensions?}. */
function variantToJson(variant) {
    if (!variant || variant.dataType === DataType.Null) return { type: "Null", value: null };
    const type = DataType[variant.dataType];
    if (variant.arrayType === VariantArrayType.Scalar) return { type, value: elementToJson(variant.value, variant.dataType) };
    if (!variant.value) return { type, value: null };
    const answer = { type, value: Array.from(variant.value, (item) => elementToJson(item, variant.dataType)) };
    if (variant.arrayType === VariantArrayType.Matrix) answer.dimensions = Array.from(variant.dimensions);
    return answer;
}

/** The reverse of elementToJson. */
function elementFromJson(value, type) {
    if (value === null || value === undefined) return null;
    switch (type) {
        case "Int64": case "UInt64": return wordsFromJson(value);
        case "Float": case "Double": return Number(value);
        case "DateTime": return new Date(value);
        case "ByteString": return Buffer.from(value, "base64");
        case "NodeId": return coerceNodeId(value);
        case "ExpandedNodeId": return coerceExpandedNodeId(value);
        case "QualifiedName": return nameFromJson(value);
        case "LocalizedText": return new LocalizedText(value);
        case "StatusCode": return StatusCodes[value];
        default: return value;
    }
}

/** The reverse of variantToJson. */
function variantFromJson(data) {
    const dataType = DataType[data.type];
    if (!Array.isArray(data.value)) {
        return new Variant({ dataType, arrayType: VariantArrayType.Scalar, value: elementFromJson(data.value, data.type) });
    }
    const value = data.value.map((item) => elementFromJson(item, data.type));
    if (data.dimensions) return new Variant({ dataType, arrayType: VariantArrayType.Matrix, dimensions: data.dimensions, value });
    return new Variant({ dataType, arrayType: VariantArrayType.Array, value });
}

/** A DataValue as {status, type, value, …}. */
function dataValueToJson(dataValue) {
    const answer = { status: statusToJson(dataValue.statusCode), ...variantToJson(dataValue.value) };
    if (dataValue.sourceTimestamp) answer.sourceTimestamp = dataValue.sourceTimestamp.toISOString();
    if (dataValue.serverTimestamp) answer.serverTimestamp = dataValue.serverTimestamp.toISOString();
    return answer;
}

module.exports = {
    certificateManager, dataValueToJson, errorText, nameFromJson, nameToJson, nodeIdToJson, plainToJson, readCertificate,
    statusToJson, textToJson, variantFromJson, variantToJson,
};
