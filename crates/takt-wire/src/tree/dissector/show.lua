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

-- Reads all that a reader has, and shows it below a name.
local function dissect(reader, table, name, tree)
    local nodes = {}
    reader:window(reader.stop, nodes, function() reader:field(table, nodes) end)
    local root = tree:add(uadp, reader.tvb:range()):set_text(name)
    show(reader.tvb, nodes, root)
    for _, problem in ipairs(reader.errors) do
        root:add_proto_expert_info(malformed, problem.message .. " (at byte " .. integer(problem.offset) .. ")")
    end
    return nodes
end

function uadp.dissector(tvb, pinfo, tree)
    pinfo.cols.protocol = "UADP"
    local reader = new_reader(tvb)
    reader:note("SignatureLength", uadp.prefs.signature_length)
    local nodes = dissect(reader, NETWORK_MESSAGE, uadp.description, tree)
    local payload = whole_payload(nodes, pinfo)
    if payload then
        dissect(payload, PAYLOAD, uadp.description .. ", payload of all chunks", tree)
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
