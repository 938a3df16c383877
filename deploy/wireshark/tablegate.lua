-- Shows captures of `tablegate capture` in Wireshark and tshark: the frames of TLP/1 (docs/link-protocol.md) with their check, and the
-- messages in them by name.
--
--   wireshark -X lua_script:tablegate.lua terminal.pcapng
--   tshark    -X lua_script:tablegate.lua -r terminal.pcapng
--
-- or copy it into the folder of personal Lua plugins (Help, About Wireshark, Folders). Captures have link type USER0 (147), and this
-- script takes that link type; another use of USER0 on the same PC needs a profile of its own.
--
-- Filters: tlp.kind == 2, tlp.check.bad, tlp.noise, tlp.entry_pressed, tlp.tumbler_status.cover == 2, tlp.withheld ...
--
-- Works with Lua 5.2 (Wireshark to 4.2) and 5.4 (since 4.4).

local tlp = Proto("tlp", "Table Link Protocol")

-- Bits: a library in Lua 5.2, operators since 5.3.
local band, bxor, rshift
if load("return 1 & 1") then
  band = load("return function(a, b) return a & b end")()
  bxor = load("return function(a, b) return a ~ b end")()
  rshift = load("return function(a, n) return a >> n end")()
else
  local library = bit32 or require("bit32")
  band, bxor, rshift = library.band, library.bxor, library.rshift
end

-- CRC-32C (Castagnoli), reflected.
local crc_table = {}
for byte = 0, 255 do
  local crc = byte
  for _ = 1, 8 do
    if band(crc, 1) == 1 then
      crc = bxor(rshift(crc, 1), 0x82F63B78)
    else
      crc = rshift(crc, 1)
    end
  end
  crc_table[byte] = crc
end

local function crc32c(bytes, length)
  local crc = 0xFFFFFFFF
  for at = 0, length - 1 do
    crc = bxor(rshift(crc, 8), crc_table[band(bxor(crc, bytes:get_index(at)), 0xFF)])
  end
  return bxor(crc, 0xFFFFFFFF)
end

-- What stands between the zero bytes, without COBS; nil: no encoding makes that.
local function unstuff(bytes, first, last)
  local out, at = {}, first
  while at <= last do
    local code = bytes:get_index(at)
    if code == 0 or at + code - 1 > last then
      return nil
    end
    for offset = 1, code - 1 do
      local byte = bytes:get_index(at + offset)
      if byte == 0 then
        return nil
      end
      out[#out + 1] = string.char(byte)
    end
    at = at + code
    if code < 255 and at <= last then
      out[#out + 1] = "\0"
    end
  end
  return table.concat(out)
end

local KINDS = {
  [0] = "HELLO", [1] = "WELCOME", [2] = "DATA", [3] = "ACK", [4] = "PING", [5] = "PONG", [6] = "RESET",
}
local MAX_ENCODED = 207

-- The messages, as in proto/tablegate/device/v1/link.proto; a test compares them.
local ENUMS = {
  DeviceKind = { [0] = "UNSPECIFIED", [1] = "TUMBLER", [2] = "TERMINAL", [3] = "LAYOUT_LAMPS", [4] = "RESULT_LIGHTS" },
  Motion = { [0] = "UNSPECIFIED", [1] = "AT_REST", [2] = "SPINNING", [3] = "FAULT" },
  Cover = { [0] = "UNSPECIFIED", [1] = "ON", [2] = "OFF" },
  Seal = { [0] = "UNSPECIFIED", [1] = "INTACT", [2] = "BROKEN" },
  Kept = { [0] = "UNSPECIFIED", [1] = "KEPT", [2] = "LOST" },
  Flatness = { [0] = "UNSPECIFIED", [1] = "FLAT", [2] = "NOT_FLAT" },
  Key = {
    [0] = "UNSPECIFIED", [1] = "1", [2] = "2", [3] = "3", [4] = "4", [5] = "5", [6] = "6", [16] = "HEADS", [17] = "TAILS",
    [18] = "ODDS", [19] = "TRIPLE_HEADS", [20] = "TRIPLE_TAILS", [21] = "NO_SPIN", [22] = "NEW_SPINNER",
    [23] = "SPINNER_STOPS", [24] = "RELIEVE", [25] = "OFF_TABLE", [26] = "NEW_SET", [27] = "OVERRULE",
  },
  Contact = {
    [0] = "UNSPECIFIED", [1] = "BELL", [2] = "SUPERVISOR_KEY", [3] = "NO_SPIN_BUTTON", [4] = "CABINET_DOOR",
  },
  Level = { [0] = "UNSPECIFIED", [1] = "OPEN", [2] = "CLOSED" },
  Sensing = { [0] = "UNSPECIFIED", [1] = "MEASURED", [2] = "AS_COMMANDED" },
  FaultState = { [0] = "UNSPECIFIED", [1] = "RAISED", [2] = "CLEARED" },
}
local MESSAGES = {
  HostHello = { [1] = { "session", "fixed32" }, [2] = { "hold_ms", "uint32" }, [3] = { "table", "string" } },
  DeviceHello = {
    [1] = { "session", "fixed32" }, [2] = { "kind", "DeviceKind" }, [3] = { "serial_number", "string" },
    [4] = { "firmware", "string" }, [5] = { "boot_id", "fixed32" }, [6] = { "uptime_ms", "fixed32" },
    [7] = { "lamp_count", "uint32" }, [8] = { "firmware_digest", "bytes" },
  },
  FromDevice = {
    [1] = { "uptime_ms", "fixed32" }, [2] = { "tumbler", "TumblerStatus" }, [3] = { "key", "KeyPressed" },
    [4] = { "entry", "EntryPressed" }, [5] = { "contact", "ContactState" }, [6] = { "lamps", "LampStatus" },
    [7] = { "fault", "DeviceFault" }, [8] = { "terminal", "TerminalStatus" }, [9] = { "digest", "DigestReply" },
  },
  TumblerStatus = {
    [1] = { "motion", "Motion" }, [2] = { "activations", "uint32" }, [3] = { "spins", "uint32" }, [4] = { "cover", "Cover" },
    [5] = { "seal", "Seal" }, [6] = { "dice", "DiceReading" }, [7] = { "fault_code", "uint32" }, [8] = { "counters", "Kept" },
  },
  DiceReading = { [1] = { "flatness", "Flatness" }, [2] = { "faces", "uint32" } },
  KeyPressed = { [1] = { "key", "Key" }, [2] = { "entry", "uint32" } },
  EntryPressed = { [1] = { "shown", "Key" }, [2] = { "entry", "uint32" } },
  ContactState = {
    [1] = { "contact", "Contact" }, [2] = { "level", "Level" }, [3] = { "closings", "uint32" },
    [4] = { "last_closed_ms", "fixed32" },
  },
  LampStatus = { [1] = { "lit", "bytes" }, [2] = { "failed", "bytes" }, [3] = { "sensing", "Sensing" } },
  TerminalStatus = { [1] = { "shown", "Key" }, [2] = { "entry", "uint32" }, [3] = { "contacts", "ContactState" } },
  DeviceFault = { [1] = { "code", "uint32" }, [2] = { "text", "string" }, [3] = { "state", "FaultState" } },
  DigestReply = { [1] = { "seed", "bytes" }, [2] = { "sha256", "bytes" } },
  ToDevice = {
    [1] = { "status", "StatusRequest" }, [2] = { "readout", "Readout" }, [3] = { "lamps", "SetLamps" },
    [4] = { "inhibit", "Inhibit" }, [5] = { "spin", "Spin" }, [6] = { "digest", "DigestRequest" },
  },
  StatusRequest = {},
  Readout = {
    [1] = { "text", "string" }, [2] = { "blink", "bool" }, [3] = { "entry", "uint32" }, [4] = { "for_ms", "uint32" },
  },
  SetLamps = { [1] = { "lit", "bytes" }, [2] = { "blink", "bool" } },
  Inhibit = { [1] = { "on", "bool" }, [2] = { "dice_allowed", "bool" } },
  Spin = { [1] = { "times", "uint32" } },
  DigestRequest = { [1] = { "seed", "bytes" } },
}

local function snake(name)
  return (name:gsub("(%l)(%u)", "%1_%2"):lower())
end

local f = {
  version = ProtoField.uint8("tlp.version", "Version", base.DEC),
  kind = ProtoField.uint8("tlp.kind", "Kind", base.DEC, KINDS),
  sequence = ProtoField.uint8("tlp.seq", "Sequence number", base.DEC),
  payload = ProtoField.bytes("tlp.payload", "Payload"),
  clock = ProtoField.uint32("tlp.pong.uptime_ms", "Device's clock (ms)", base.DEC),
  check = ProtoField.uint32("tlp.check", "Check (CRC-32C)", base.HEX),
  check_bad = ProtoField.bool("tlp.check.bad", "Check fails"),
  noise = ProtoField.string("tlp.noise", "No frame"),
  withheld = ProtoField.string("tlp.withheld", "Withheld"),
  note = ProtoField.string("tlp.note", "Note"),
}
local all, fields = {}, {}
for _, field in pairs(f) do
  all[#all + 1] = field
end
local message_fields = {}
for message, known in pairs(MESSAGES) do
  local path = "tlp." .. snake(message)
  message_fields[message] = ProtoField.none(path, message)
  all[#all + 1] = message_fields[message]
  fields[message] = {}
  for number, field in pairs(known) do
    local name, kind = field[1], field[2]
    local abbreviation = path .. "." .. name
    local made
    if ENUMS[kind] then
      made = ProtoField.uint32(abbreviation, name, base.DEC, ENUMS[kind])
    elseif kind == "uint32" then
      made = ProtoField.uint32(abbreviation, name, base.DEC)
    elseif kind == "fixed32" then
      made = ProtoField.uint32(abbreviation, name, base.DEC_HEX)
    elseif kind == "bool" then
      made = ProtoField.bool(abbreviation, name)
    elseif kind == "string" then
      made = ProtoField.string(abbreviation, name)
    elseif kind == "bytes" then
      made = ProtoField.bytes(abbreviation, name)
    end
    if made then
      fields[message][number] = made
      all[#all + 1] = made
    end
  end
end
tlp.fields = all

local e_check = ProtoExpert.new("tlp.check.expert", "The check fails: the frame was damaged on the line", expert.group.CHECKSUM, expert.severity.ERROR)
local e_noise = ProtoExpert.new("tlp.noise.expert", "No frame", expert.group.PROTOCOL, expert.severity.WARN)
local e_unknown = ProtoExpert.new("tlp.unknown.expert", "Not understood", expert.group.UNDECODED, expert.severity.NOTE)
tlp.experts = { e_check, e_noise, e_unknown }

local function extractor(name)
  local found, field = pcall(Field.new, name)
  return found and field or nil
end
local interface_name = extractor("frame.interface_name")
local comment_field = extractor("frame.comment")

local function text_of(field)
  local value = field and field()
  return value and tostring(value.value) or ""
end

-- A varint at `at`: its value and where it ends; nil: there is none.
local function varint(range, at)
  local value, factor = 0, 1
  for length = 1, 10 do
    if at >= range:len() then
      return nil
    end
    local byte = range(at, 1):uint()
    at = at + 1
    -- Numbers of this protocol have 32 bits; what is above is of no matter.
    if length <= 5 then
      value = value + (byte % 128) * factor
      factor = factor * 128
    end
    if byte < 128 then
      return value % 4294967296, at
    end
  end
  return nil
end

local function named(kind, value)
  local names = ENUMS[kind]
  return names and (names[value] or tostring(value)) or tostring(value)
end

-- Adds a message to the tree; what it says goes into `said`, for the line in the list. False: it is no message.
local function dissect_message(message, range, tree, said)
  local known, at = MESSAGES[message], 0
  while at < range:len() do
    local begin = at
    local tag
    tag, at = varint(range, at)
    if not tag then
      return false
    end
    local number, wire = math.floor(tag / 8), tag % 8
    local value, span
    if wire == 0 then
      value, at = varint(range, at)
      if not value then
        return false
      end
    elseif wire == 1 or wire == 5 then
      local width = wire == 1 and 8 or 4
      if at + width > range:len() then
        return false
      end
      span = range(at, width)
      value = wire == 5 and span:le_uint() or nil
      at = at + width
    elseif wire == 2 then
      local length
      length, at = varint(range, at)
      if not length or at + length > range:len() then
        return false
      end
      span = length > 0 and range(at, length) or nil
      at = at + length
    else
      return false
    end
    local field = known[number]
    local whole = range(begin, at - begin)
    if not field then
      tree:add_proto_expert_info(e_unknown, "field " .. number .. " of " .. message .. " isn't known here")
    else
      local name, kind = field[1], field[2]
      local made = fields[message][number]
      if MESSAGES[kind] then
        local inner = tree:add(message_fields[kind], whole)
        inner:set_text(name .. ": " .. kind)
        said[#said + 1] = kind
        if span and not dissect_message(kind, span, inner, said) then
          return false
        end
      elseif kind == "string" then
        local text = span and span:string() or ""
        tree:add(made, whole, text)
        said[#said + 1] = name .. " " .. text
      elseif kind == "bytes" then
        if span then
          tree:add(made, span)
          said[#said + 1] = name .. " " .. tostring(span:bytes())
        end
      elseif wire == 2 then
        -- Repeated numbers, packed.
        local inside, values = 0, {}
        while span and inside < span:len() do
          local first = inside
          value, inside = varint(span, inside)
          if not value then
            return false
          end
          tree:add(made, span(first, inside - first), value)
          values[#values + 1] = named(kind, value)
        end
        said[#said + 1] = name .. " " .. table.concat(values, " ")
      elseif value then
        tree:add(made, whole, value)
        if name ~= "uptime_ms" then
          said[#said + 1] = name .. " " .. named(kind, value)
        end
      end
    end
  end
  return true
end

-- The message of a frame, by its kind and who sent it.
local function payload_message(kind, from_device)
  if kind == 0 then
    return "HostHello"
  elseif kind == 1 then
    return "DeviceHello"
  elseif kind == 2 then
    return from_device and "FromDevice" or "ToDevice"
  end
  return nil
end

local function no_frame(pinfo, tree, buffer, why)
  tree:add(f.noise, buffer(), why)
  tree:add_proto_expert_info(e_noise, why)
  pinfo.cols.info = "no frame: " .. why .. " (" .. buffer:len() .. " bytes)"
  return buffer:len()
end

function tlp.dissector(buffer, pinfo, root)
  pinfo.cols.protocol = "TLP"
  local line = text_of(interface_name)
  if line == "" then
    line = "device"
  end
  local from_device = pinfo.p2p_dir ~= P2P_DIR_SENT
  pinfo.cols.src = from_device and line or "gateway"
  pinfo.cols.dst = from_device and "gateway" or line
  local captured = buffer:captured_len()
  local tree = root:add(tlp, buffer(0, captured))
  if captured == 0 then
    local comment = text_of(comment_field)
    local is_note = buffer:reported_len() == 0
    local shown = tree:add(is_note and f.note or f.withheld, buffer(0, 0), comment)
    shown:set_generated()
    pinfo.cols.info = comment ~= "" and comment or (is_note and "note" or "withheld")
    return 0
  end

  local bytes = buffer:bytes()
  local first, last = 0, captured - 1
  while first <= last and bytes:get_index(first) == 0 do
    first = first + 1
  end
  while last >= first and bytes:get_index(last) == 0 do
    last = last - 1
  end
  if last - first + 1 > MAX_ENCODED or buffer:reported_len() > captured then
    return no_frame(pinfo, tree, buffer, "more bytes than a frame has")
  end
  local body = unstuff(bytes, first, last)
  if not body then
    return no_frame(pinfo, tree, buffer, "no encoding makes these bytes")
  end
  if #body < 6 then
    return no_frame(pinfo, tree, buffer, "too short")
  end

  local unpacked = ByteArray.new(body, true)
  local frame = unpacked:tvb("Frame without COBS")
  local length = frame:len()
  local stands, made = frame(length - 4, 4):le_uint(), crc32c(unpacked, length - 4)
  local is_bad = stands ~= made
  local version, kind = math.floor(unpacked:get_index(0) / 16), unpacked:get_index(0) % 16
  local sequence = unpacked:get_index(1)
  tree:add(f.version, frame(0, 1), version)
  tree:add(f.kind, frame(0, 1), kind)
  tree:add(f.sequence, frame(1, 1))
  local name = KINDS[kind] or ("kind " .. kind)
  local info = name
  if kind == 2 or kind == 3 then
    info = name .. " " .. sequence
  end
  if length > 6 then
    local range = frame(2, length - 6)
    local shown = tree:add(f.payload, range)
    local message = payload_message(kind, from_device)
    if is_bad or version ~= 1 then
      shown:append_text(" (not read)")
    elseif kind == 5 and range:len() == 4 then
      shown:add_le(f.clock, range)
      info = info .. ": clock " .. range:le_uint() .. " ms"
    elseif message then
      local said = {}
      local inner = tree:add(message_fields[message], range)
      if dissect_message(message, range, inner, said) then
        info = info .. ": " .. table.concat(said, ", ")
      else
        inner:add_proto_expert_info(e_unknown, "the payload is no " .. message)
        info = info .. ": no " .. message
      end
    end
  end
  local check = tree:add_le(f.check, frame(length - 4, 4))
  tree:add(f.check_bad, frame(length - 4, 4), is_bad):set_generated()
  if is_bad then
    check:append_text(string.format(" WRONG: it would be 0x%08x", made))
    check:add_proto_expert_info(e_check)
    info = "[check fails] " .. info
  elseif version ~= 1 then
    info = "speaks TLP/" .. version .. ": " .. info
  end
  pinfo.cols.info = info
  return captured
end

DissectorTable.get("wtap_encap"):add((wtap or wtap_encaps).USER0, tlp)
