-- Chunks ------------------------------------------------------------------------------------------------------------

local MAX_PAYLOAD = 4 * 1024 * 1024

-- By source and number of the payload: the chunks that have come, in hex, by their offsets.
local partial = {}
-- Payloads by the number of the packet that made them complete.
local complete = {}

function uadp.init()
    partial, complete = {}, {}
end

local function find(nodes, name)
    for _, node in ipairs(nodes) do
        local found = node.name == name and node or node.children and find(node.children, name)
        if found then
            return found
        end
    end
end

local function text(nodes, name)
    local node = find(nodes, name)
    return node and node.text or ""
end

-- Notes a chunk when its packet is seen for the first time.
local function note_chunk(nodes, chunk, packet)
    local total, offset = find(chunk, "TotalSize"), find(chunk, "ChunkOffset")
    local data = find(chunk, "ChunkData")
    if not data or total.value > MAX_PAYLOAD then
        return
    end
    local key = table.concat({ text(nodes, "PublisherId"), text(nodes, "WriterGroupId"), text(nodes, "DataSetWriterId"),
        text(nodes, "ExtendedFlags2"), text(chunk, "MessageSequenceNumber"), total.text }, " ")
    partial[key] = partial[key] or {}
    partial[key][offset.value] = data.value
    local pieces, position = {}, 0
    while position < total.value do
        local piece = partial[key][position]
        if not piece or piece == "" or piece == "null" then
            return
        end
        pieces[#pieces + 1] = piece
        position = position + #piece / 2
    end
    partial[key] = nil
    complete[packet] = table.concat(pieces)
end

-- The payload that a message makes complete: a Tvb, and a reader that knows the type of the message.
local function whole_payload(nodes, pinfo)
    local chunk = find(nodes, "Chunk")
    if not chunk then
        return
    end
    if not pinfo.visited then
        note_chunk(nodes, chunk.children, pinfo.number)
    end
    local payload = complete[pinfo.number]
    if payload then
        local reader = new_reader(ByteArray.new(payload):tvb("Payload of all chunks"))
        local flags = find(nodes, "ExtendedFlags2").value
        reader:note("ExtendedFlags2", flags - flags % 2)
        return reader
    end
end
