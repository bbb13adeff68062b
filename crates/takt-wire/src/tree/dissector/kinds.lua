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
