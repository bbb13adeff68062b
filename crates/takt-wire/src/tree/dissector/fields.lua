-- What follows reads messages by the tables above. It runs in Lua 5.1 to 5.4.

local uadp = Proto("uadp", "OPC UA PubSub (UADP)")

uadp.prefs.port = Pref.uint("UDP port", 4840, "Port of UADP messages in UDP datagrams")
uadp.prefs.signature_length = Pref.uint("Length of signatures", 32, "In bytes: 32 with the SecurityPolicies of PubSub")

local TYPES = {
    "Boolean", "SByte", "Byte", "Int16", "UInt16", "Int32", "UInt32", "Int64", "UInt64", "Float", "Double", "String",
    "DateTime", "Guid", "ByteString", "XmlElement", "NodeId", "ExpandedNodeId", "StatusCode", "QualifiedName",
    "LocalizedText", "ExtensionObject", "DataValue", "Variant", "DiagnosticInfo",
}

-- The fields that Wireshark knows -----------------------------------------------------------------------------------

-- Of each name the types that a field of that name can have. "none" is a field with parts.
local known = {}

local function declare(name, type)
    if name ~= "" then
        known[name] = known[name] or {}
        known[name][type] = true
    end
end

local function declare_type(name, type)
    declare(name, COMPOSED[type] and "none" or type)
end

local all_bits = {}
local declare_fields

local function declare_field(field)
    local kind, name = field.kind, field.name
    if kind == "BuiltIn" then
        declare_type(name, field.type)
    elseif kind == "Flags" then
        declare(name, "Byte")
        for _, bits in ipairs(field.bits) do
            all_bits[#all_bits + 1] = { flags = name, bits = bits }
        end
    elseif kind == "Named" then
        declare(name, field.length == 1 and "Byte" or "UInt16")
    elseif kind == "Enumeration" then
        declare(name, "Int32")
    elseif kind == "Status" then
        declare(name, "StatusCode")
    elseif kind == "Bytes" or kind == "Rest" then
        declare(name, "bytes")
    elseif kind == "TypedBy" then
        for _, type in ipairs(TYPES) do
            declare_type(name, type)
        end
    elseif kind == "Body" then
        declare(name, "bytes")
    elseif kind == "Switch" then
        for _, case in pairs(field.cases) do
            declare_field(case)
        end
    else
        declare(name, "none")
    end
    if field.element then
        declare_field(field.element)
    end
    if field.payload then
        declare_field(field.payload)
    end
    if field.fields then
        declare_fields(field.fields)
    end
end

declare_fields = function(fields)
    for _, field in ipairs(fields) do
        declare_field(field)
        if field.array then
            declare(field.name, "none")
        end
    end
end

declare_field(NETWORK_MESSAGE)
declare_field(PAYLOAD)
for _, fields in pairs(COMPOSED) do
    declare_fields(fields)
end
for _, structure in pairs(STRUCTURES) do
    declare(structure.name, "none")
    declare_fields(structure.fields)
end
declare("ArrayLength", "Int32")
declare("EncodingMask", "UInt32")
declare("DataSetMessage", "none")
declare("Padding", "bytes")
declare("Undecoded", "bytes")

local MAKE = {
    none = ProtoField.none, bytes = ProtoField.bytes, Boolean = ProtoField.bool, SByte = ProtoField.int8,
    Byte = ProtoField.uint8, Int16 = ProtoField.int16, UInt16 = ProtoField.uint16, Int32 = ProtoField.int32,
    UInt32 = ProtoField.uint32, Int64 = ProtoField.int64, UInt64 = ProtoField.uint64, Float = ProtoField.float,
    Double = ProtoField.double, DateTime = ProtoField.absolute_time, StatusCode = ProtoField.uint32,
}

-- Fields by name and type.
local fields = {}
local registered = {}

local function register(field)
    registered[#registered + 1] = field
    return field
end

for name, types in pairs(known) do
    local several = next(types, next(types)) ~= nil
    fields[name] = {}
    for type in pairs(types) do
        local filter = "uadp." .. name
        if several and type ~= "none" then
            filter = filter .. "." .. type
        end
        fields[name][type] = register((MAKE[type] or ProtoField.string)(filter, name))
    end
end
for _, entry in ipairs(all_bits) do
    local bits = entry.bits
    local filter = "uadp." .. entry.flags .. "." .. bits.name
    bits.field = register(ProtoField.uint8(filter, bits.name, base.DEC, next(bits.names) and bits.names, bits.mask))
end
uadp.fields = registered

local malformed = ProtoExpert.new("uadp.error", "Error", expert.group.MALFORMED, expert.severity.ERROR)
uadp.experts = { malformed }
