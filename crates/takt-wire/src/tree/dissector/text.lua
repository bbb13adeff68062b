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

-- Seconds since 1970 of 1601-01-01T00:00:00Z and 9999-12-31T23:59:59Z. Instants up to the first are written as the least date of the
-- standard, and those after the last one as the last one (OPC 10000-6, 5.2.2.5 and 5.4.2.6).
local FIRST, LAST = -11644473600, 253402300799

local function date_time(ticks)
    local whole, fraction = seconds(ticks)
    if whole < FIRST or whole == FIRST and fraction == 0 then
        return "0001-01-01T00:00:00Z"
    elseif whole >= LAST then
        whole, fraction = LAST, 0
    end
    local days = math.floor(whole / 86400)
    local time = whole - days * 86400
    local year, month, day = civil(days)
    local text = string.format("%04d-%02d-%02dT%02d:%02d:%02d", year, month, day,
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
