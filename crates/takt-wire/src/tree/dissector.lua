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

-- Values as text ----------------------------------------------------------------------------------------------------

-- The bits of a mask, shifted to the right. Their bits are next to each other.
local function masked(value, mask)
    local low = 1
    while mask % (low * 2) == 0 do
        low = low * 2
    end
    return math.floor(value / low) % math.floor(mask / low + 1)
end

local function integer(number)
    return string.format("%d", number)
end

-- The shortest text that is the number again.
local function float(value, digits, same)
    if value ~= value then
        return "NaN"
    elseif value == math.huge then
        return "Infinity"
    elseif value == -math.huge then
        return "-Infinity"
    end
    for precision = 1, digits do
        local text = string.format("%." .. precision .. "g", value)
        if same(tonumber(text)) == value then
            return text
        end
    end
    return string.format("%." .. digits .. "g", value)
end

local function single(number)
    return Struct.unpack("<f", Struct.pack("<f", number))
end

local ESCAPES = { ['"'] = '\\"', ["\\"] = "\\\\", ["\b"] = "\\b", ["\f"] = "\\f", ["\n"] = "\\n", ["\r"] = "\\r",
    ["\t"] = "\\t" }

local function quoted(text)
    return '"' .. text:gsub('[%c"\\]', function(c)
        return ESCAPES[c] or (c:byte() < 32 and string.format("\\u%04x", c:byte()) or c)
    end) .. '"'
end

local function hex(bytes)
    return (bytes:gsub(".", function(c) return string.format("%02x", c:byte()) end))
end

local function base64(bytes)
    local digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
    local text = {}
    for i = 1, #bytes, 3 do
        local a, b, c = bytes:byte(i, i + 2)
        local number = a * 65536 + (b or 0) * 256 + (c or 0)
        for k = 3, 0, -1 do
            local digit = math.floor(number / 64 ^ k) % 64
            text[#text + 1] = digits:sub(digit + 1, digit + 1)
        end
        if not b then
            text[#text - 1] = "="
        end
        if not c then
            text[#text] = "="
        end
    end
    return table.concat(text)
end

-- Year, month and day of a count of days since 1970-01-01. The year is taken to begin in March.
local function civil(days)
    local shifted = days + 719468
    local era = math.floor(shifted / 146097)
    local day_of_era = shifted - era * 146097
    local year = math.floor((day_of_era - math.floor(day_of_era / 1460) + math.floor(day_of_era / 36524)
        - math.floor(day_of_era / 146096)) / 365)
    local day_of_year = day_of_era - (365 * year + math.floor(year / 4) - math.floor(year / 100))
    local month = math.floor((5 * day_of_year + 2) / 153)
    local day = day_of_year - math.floor((153 * month + 2) / 5) + 1
    month = month < 10 and month + 3 or month - 9
    return year + era * 400 + (month <= 2 and 1 or 0), month, day
end

-- Seconds since 1970 and 100 ns, from Int64 ticks since 1601.
local function seconds(ticks)
    local second = 10000000
    local whole = (ticks / Int64.new(second)):tonumber()
    local fraction = (ticks % Int64.new(second)):tonumber()
    if fraction < 0 then
        whole, fraction = whole - 1, fraction + second
    end
    return whole - 11644473600, fraction
end

local function date_time(ticks)
    local whole, fraction = seconds(ticks)
    local days = math.floor(whole / 86400)
    local time = whole - days * 86400
    local year, month, day = civil(days)
    local text = string.format("%s-%02d-%02dT%02d:%02d:%02d",
        year < 0 and string.format("-%03d", -year) or string.format("%04d", year), month, day,
        math.floor(time / 3600), math.floor(time / 60) % 60, time % 60)
    if fraction ~= 0 then
        text = text .. "." .. (string.format("%07d", fraction):gsub("0+$", ""))
    end
    return text .. "Z"
end

local function status_code(code)
    local name = STATUS_CODES[code - code % 65536]
    local number = string.format("0x%08X", code)
    return name and name .. " (" .. number .. ")" or number
end

-- Reading -----------------------------------------------------------------------------------------------------------

-- Fails with a message and the offset that it belongs to.
local function fail(offset, message)
    error({ offset = offset, message = message }, 0)
end

local MAX_DEPTH = 100

-- Reads the bytes of a Tvb into nodes: name, index, start, stop; and of leaves type, value, text, bits; else children.
local Reader = {}
Reader.__index = Reader

local function new_reader(tvb)
    return setmetatable({ tvb = tvb, position = 0, stop = tvb:len(), values = {}, depth = 0, errors = {} }, Reader)
end

function Reader:note(name, value)
    self.values[#self.values + 1] = { name, value }
end

-- The value of a field that was read before, if it was there.
function Reader:known(name)
    for i = #self.values, 1, -1 do
        if self.values[i][1] == name then
            return self.values[i][2]
        end
    end
end

function Reader:value(name)
    return self:known(name) or 0
end

-- Takes the next bytes.
function Reader:take(length)
    if length > self.stop - self.position then
        fail(self.position, "the data ends too early")
    end
    local start = self.position
    self.position = start + length
    return self.tvb:range(start, length)
end

function Reader:uint(length)
    return self:take(length):le_uint()
end

-- Length and bytes, as a string; nil for null.
function Reader:string()
    local start = self.position
    local length = self:take(4):le_int()
    if length == -1 then
        return nil
    elseif length < 0 then
        fail(start, "a length is negative")
    elseif length == 0 then
        return ""
    end
    return self:take(length):raw()
end

function Reader:leaf(nodes, name, type, start, value, text)
    local node = { name = name, type = type, start = start, stop = self.position, value = value, text = text }
    nodes[#nodes + 1] = node
    return node
end

function Reader:bytes(nodes, name, length)
    if length > 0 then
        local start = self.position
        local bytes = self:take(length):raw()
        self:leaf(nodes, name, "bytes", start, nil, hex(bytes))
    end
end

-- Reads what ends at `stop`. Errors stay within it.
function Reader:window(stop, nodes, read)
    local outer, depth, values = self.stop, self.depth, #self.values
    self.stop = stop
    local ok, problem = pcall(read)
    if not ok then
        if type(problem) ~= "table" then
            error(problem, 0)
        end
        self.errors[#self.errors + 1] = problem
        self.depth = depth
        for i = #self.values, values + 1, -1 do
            self.values[i] = nil
        end
    end
    if self.position < stop then
        local first = self.tvb:range(self.position, stop - self.position):raw():find("[\1-\255]")
        if ok and first then
            self.errors[#self.errors + 1] = { offset = self.position + first - 1, message = "bytes follow the end of the message" }
        end
        self:bytes(nodes, (ok and not first) and "Padding" or "Undecoded", stop - self.position)
    end
    self.stop = outer
end

-- Puts what is read into a node of its own, if that has a name; also what was read before an error.
function Reader:group(nodes, name, read)
    if name == "" then
        return read(nodes)
    end
    local node = { name = name, start = self.position, children = {} }
    nodes[#nodes + 1] = node
    local ok, problem = pcall(read, node.children)
    node.stop = self.position
    if not ok then
        error(problem, 0)
    end
end

-- A group whose values nobody outside asks for.
function Reader:nested(nodes, name, read)
    if self.depth >= MAX_DEPTH then
        fail(self.position, "values are nested too deeply")
    end
    self.depth = self.depth + 1
    local outside = #self.values
    local ok, problem = pcall(self.group, self, nodes, name, read)
    for i = #self.values, outside + 1, -1 do
        self.values[i] = nil
    end
    self.depth = self.depth - 1
    if not ok then
        error(problem, 0)
    end
end

function Reader:fields(list, nodes)
    for _, field in ipairs(list) do
        self:field(field, nodes)
    end
end

function Reader:element(nodes, index, read)
    local first = #nodes + 1
    local ok, problem = pcall(read, nodes)
    if nodes[first] then
        nodes[first].index = index
    end
    if not ok then
        error(problem, 0)
    end
end

function Reader:elements(nodes, count, read)
    -- Each takes a byte at least.
    if count > self.stop - self.position then
        fail(self.position, "the data ends too early")
    end
    for index = 0, count - 1 do
        self:element(nodes, index, read)
    end
end

function Reader:array(nodes, name, read)
    self:group(nodes, name, function(children)
        local start = self.position
        local length = self:built_in(children, "ArrayLength", "Int32").value
        if length < -1 then
            fail(start, "a length is negative")
        end
        self:elements(children, math.max(length, 0), read)
    end)
end

function Reader:guid()
    local range = self:take(16)
    local rest = hex(range(8, 8):raw())
    return string.format("%08x-%04x-%04x-%s-%s", range(0, 4):le_uint(), range(4, 2):le_uint(), range(6, 2):le_uint(),
        rest:sub(1, 4), rest:sub(5))
end

-- Namespace and identifier.
function Reader:node_id(encoding)
    if encoding == 0 then
        return 0, "i=" .. integer(self:uint(1))
    elseif encoding == 1 then
        local namespace = self:uint(1)
        return namespace, "i=" .. integer(self:uint(2))
    end
    if encoding > 5 then
        fail(self.position - 1, "the encoding byte is not defined here")
    end
    local namespace = self:uint(2)
    if encoding == 2 then
        return namespace, "i=" .. integer(self:uint(4))
    elseif encoding == 3 then
        return namespace, "s=" .. (self:string() or "")
    elseif encoding == 4 then
        return namespace, "g=" .. self:guid()
    end
    return namespace, "b=" .. base64(self:string() or "")
end

local function with_namespace(namespace, identifier)
    return namespace == 0 and identifier or "ns=" .. integer(namespace) .. ";" .. identifier
end

local function number(read)
    return function(reader)
        local value = read(reader)
        return value, integer(value)
    end
end

local function signed(length)
    return number(function(reader) return reader:take(length):le_int() end)
end

local function unsigned(length)
    return number(function(reader) return reader:uint(length) end)
end

-- Of each type without parts: reads it, and gives value and text.
local READ = {
    Boolean = function(reader)
        local value = reader:uint(1) ~= 0
        return value, tostring(value)
    end,
    SByte = signed(1), Int16 = signed(2), Int32 = signed(4),
    Byte = unsigned(1), UInt16 = unsigned(2), UInt32 = unsigned(4),
    Int64 = function(reader)
        local value = reader:take(8):le_int64()
        return value, tostring(value)
    end,
    UInt64 = function(reader)
        local value = reader:take(8):le_uint64()
        return value, tostring(value)
    end,
    Float = function(reader)
        local value = reader:take(4):le_float()
        return value, float(value, 9, single)
    end,
    Double = function(reader)
        local value = reader:take(8):le_float()
        return value, float(value, 17, function(same) return same end)
    end,
    String = function(reader)
        local value = reader:string()
        return value or "", value and quoted(value) or "null"
    end,
    DateTime = function(reader)
        local ticks = reader:take(8):le_int64()
        local whole, fraction = seconds(ticks)
        return NSTime.new(whole, fraction * 100), date_time(ticks)
    end,
    Guid = function(reader)
        local text = reader:guid()
        return text, text
    end,
    ByteString = function(reader)
        local value = reader:string()
        local text = value and hex(value) or "null"
        return text, text
    end,
    NodeId = function(reader)
        local text = with_namespace(reader:node_id(reader:uint(1)))
        return text, text
    end,
    ExpandedNodeId = function(reader)
        local encoding = reader:uint(1)
        local namespace, identifier = reader:node_id(encoding % 64)
        local uri = masked(encoding, 0x80) == 1 and reader:string()
        local server = masked(encoding, 0x40) == 1 and reader:uint(4) or 0
        local text
        if uri then
            text = "nsu=" .. uri:gsub("%%", "%%25"):gsub(";", "%%3B") .. ";" .. identifier
        else
            text = with_namespace(namespace, identifier)
        end
        if server ~= 0 then
            text = "svr=" .. integer(server) .. ";" .. text
        end
        return text, text
    end,
    StatusCode = function(reader)
        local code = reader:uint(4)
        return code, status_code(code)
    end,
}
READ.XmlElement = READ.String

function Reader:built_in(nodes, name, type)
    local parts = COMPOSED[type]
    if parts then
        return self:nested(nodes, name, function(children) self:fields(parts, children) end)
    end
    local start = self.position
    local ok, value, text = pcall(READ[type], self)
    if not ok then
        self.position = start
        error(value, 0)
    end
    if type == "Boolean" then
        self:note(name, value and 1 or 0)
    elseif type == "Byte" or type == "UInt16" or type == "Int32" then
        self:note(name, value)
    end
    return self:leaf(nodes, name, type, start, value, text)
end

local function with_name(node, name)
    if name then
        node.text = name .. " (" .. node.text .. ")"
    end
end

-- A structure of namespace 0.
function Reader:data_type(nodes, name, id)
    local structure = STRUCTURES[id]
    self:nested(nodes, name, function(children)
        local present = 0
        if structure.optional then
            present = self:built_in(children, "EncodingMask", "UInt32").value
        end
        for _, field in ipairs(structure.fields) do
            local there = true
            if field.optional then
                there = present % 2 == 1
                present = math.floor(present / 2)
            end
            if there and field.array then
                self:array(children, field.name, function(elements) self:kind(field, elements) end)
            elseif there then
                self:kind(field, children)
            end
        end
    end)
end

-- The body of an ExtensionObject: the structure, if it is exactly one of a known type; else bytes.
function Reader:body(nodes, name)
    local length = self:value("Length")
    if length > self.stop - self.position then
        fail(self.position, "the data ends too early")
    end
    local start, outer, depth, errors = self.position, self.stop, self.depth, #self.errors
    local type_id = nodes[1] and nodes[1].value
    local encoding = type_id and tonumber(type_id:match("^i=(%d+)$"))
    local id = self:value("Encoding") == 1 and encoding and ENCODINGS[encoding]
    if id then
        local values, read = #self.values, {}
        self.stop = start + length
        local ok, problem = pcall(self.data_type, self, read, STRUCTURES[id].name, id)
        self.stop, self.depth = outer, depth
        for i = #self.values, values + 1, -1 do
            self.values[i] = nil
        end
        if not ok and type(problem) ~= "table" then
            error(problem, 0)
        end
        if ok and self.position == start + length then
            nodes[#nodes + 1] = read[1]
            return
        end
        self.position = start
        for i = #self.errors, errors + 1, -1 do
            self.errors[i] = nil
        end
    end
    self:bytes(nodes, name, math.max(length, 0))
end

-- What is before SecurityFooter and signature.
function Reader:payload(nodes, field)
    local signature = masked(self:value("SecurityFlags"), 1) * self:value("SignatureLength")
    local stop = self.stop - signature - self:value("SecurityFooterSize")
    if stop < self.position then
        fail(self.stop, "the message is shorter than its signature and SecurityFooter")
    end
    self:window(stop, nodes, function() self:field(field, nodes) end)
end

-- Each in a window of its own, so that one that is in error leaves the others.
function Reader:data_set_messages(nodes, name, parts)
    local sizes = {}
    if self:value("Count") > 1 then
        for _, size in ipairs(nodes[#nodes].children) do
            sizes[#sizes + 1] = size.value
        end
    else
        sizes[1] = self.stop - self.position
    end
    self:group(nodes, name, function(children)
        for index, size in ipairs(sizes) do
            local node = { name = "DataSetMessage", index = index - 1, start = self.position, children = {} }
            node.stop = node.start + size
            if node.stop > self.stop then
                fail(self.position, "the data ends too early")
            end
            self:window(node.stop, node.children, function()
                self:nested(node.children, "", function() self:fields(parts, node.children) end)
            end)
            children[#children + 1] = node
        end
    end)
end

local KIND = {
    BuiltIn = function(reader, field, nodes) reader:built_in(nodes, field.name, field.type) end,
    Flags = function(reader, field, nodes)
        local node = reader:built_in(nodes, field.name, "Byte")
        node.bits = field.bits
        node.text = string.format("0x%02X", node.value)
    end,
    Named = function(reader, field, nodes)
        local node = reader:built_in(nodes, field.name, field.length == 1 and "Byte" or "UInt16")
        with_name(node, field.names[node.value])
    end,
    Enumeration = function(reader, field, nodes)
        local node = reader:built_in(nodes, field.name, "Int32")
        with_name(node, ENUMERATIONS[field.id] and ENUMERATIONS[field.id][node.value])
    end,
    Status = function(reader, field, nodes)
        local start = reader.position
        local code = reader:uint(2) * 65536
        reader:leaf(nodes, field.name, "StatusCode", start, code, status_code(code))
    end,
    Bytes = function(reader, field, nodes) reader:bytes(nodes, field.name, reader:value(field.length)) end,
    Rest = function(reader, field, nodes) reader:bytes(nodes, field.name, reader.stop - reader.position) end,
    Group = function(reader, field, nodes)
        reader:group(nodes, field.name, function(children) reader:fields(field.fields, children) end)
    end,
    DataType = function(reader, field, nodes) reader:data_type(nodes, field.name, field.id) end,
    List = function(reader, field, nodes)
        local count = reader:value(field.count)
        reader:group(nodes, field.name, function(children)
            reader:elements(children, count, function(elements) reader:field(field.element, elements) end)
        end)
    end,
    Array = function(reader, field, nodes)
        reader:array(nodes, field.name, function(elements) reader:field(field.element, elements) end)
    end,
    Fill = function(reader, field, nodes)
        local stop = reader.position + reader:value(field.size)
        if stop > reader.stop then
            fail(reader.position, "the data ends too early")
        end
        reader:group(nodes, field.name, function(children)
            reader:window(stop, children, function()
                local index = 0
                while reader.position < reader.stop do
                    reader:element(children, index, function(elements) reader:field(field.element, elements) end)
                    index = index + 1
                end
            end)
        end)
    end,
    Switch = function(reader, field, nodes)
        local case = field.cases[masked(reader:value(field.on), field.mask)]
        if not case then
            fail(reader.position, field.on .. " has a reserved value")
        end
        reader:field(case, nodes)
    end,
    TypedBy = function(reader, field, nodes)
        local type = TYPES[masked(reader:value(field.on), field.mask)]
        if not type then
            fail(reader.position, "the encoding byte is not defined here")
        end
        reader:built_in(nodes, field.name, type)
    end,
    Payload = function(reader, field, nodes) reader:payload(nodes, field.payload) end,
    DataSetMessages = function(reader, field, nodes) reader:data_set_messages(nodes, field.name, field.fields) end,
    Body = function(reader, field, nodes) reader:body(nodes, field.name) end,
}

function Reader:kind(field, nodes)
    KIND[field.kind](self, field, nodes)
end

function Reader:field(field, nodes)
    local there = true
    if field.when and field.set then
        there = masked(self:value(field.when), field.set) == masked(field.set, field.set)
    elseif field.when then
        there = self:value(field.when) >= field.at_least
    end
    if there then
        self:kind(field, nodes)
    end
end

-- Showing -----------------------------------------------------------------------------------------------------------

-- Long texts are cut short, between characters: values have all of them.
local function cut(text)
    if #text <= 96 then
        return text
    end
    return text:sub(1, 96):gsub("[\192-\255]?[\128-\191]*$", "") .. "…"
end

local function show(tvb, nodes, tree)
    for _, node in ipairs(nodes) do
        local range = tvb:range(node.start, node.stop - node.start)
        local name = node.index and node.name .. "[" .. integer(node.index) .. "]" or node.name
        local item
        if node.children then
            item = tree:add(fields[node.name].none, range):set_text(name)
            show(tvb, node.children, item)
        elseif node.value == nil then
            item = tree:add(fields[node.name][node.type], range):set_text(name .. ": " .. cut(node.text))
        else
            item = tree:add(fields[node.name][node.type], range, node.value, name .. ": " .. cut(node.text))
        end
        for _, bits in ipairs(node.bits or {}) do
            item:add(bits.field, range)
        end
    end
end

function uadp.dissector(tvb, pinfo, tree)
    local reader = new_reader(tvb)
    reader:note("SignatureLength", uadp.prefs.signature_length)
    local nodes = {}
    reader:window(reader.stop, nodes, function() reader:field(NETWORK_MESSAGE, nodes) end)
    pinfo.cols.protocol = "UADP"
    local root = tree:add(uadp, tvb:range())
    show(tvb, nodes, root)
    for _, problem in ipairs(reader.errors) do
        root:add_proto_expert_info(malformed, problem.message .. " (at byte " .. integer(problem.offset) .. ")")
    end
    return tvb:len()
end

-- Where messages are found ------------------------------------------------------------------------------------------

DissectorTable.get("ethertype"):add(0xB62C, uadp)
local ports = DissectorTable.get("udp.port")
local port = uadp.prefs.port
ports:add(port, uadp)

function uadp.prefs_changed()
    if port ~= uadp.prefs.port then
        ports:remove(port, uadp)
        port = uadp.prefs.port
        ports:add(port, uadp)
    end
end
