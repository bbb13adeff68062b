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
