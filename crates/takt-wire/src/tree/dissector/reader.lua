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
