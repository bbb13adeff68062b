"use strict";
// What node-opcua needs before it is loaded.

// The library reports with console.log; the standard output of our peers is for JSON lines only.
console.log = console.info = console.error;

// Node.js 18 has the Web Crypto API, but not as a global.
globalThis.crypto ??= require("node:crypto").webcrypto;
