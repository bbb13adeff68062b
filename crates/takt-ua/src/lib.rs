//! Built-in types, generated structures, identifiers and StatusCodes of OPC UA, and their binary and JSON encodings (OPC 10000-6).
