-- SPDX-License-Identifier: BSD-3-Clause
-- Wireshark dissector of the DOCSIS Packet Streaming Protocol (PSP) over L2TPv3, as R-DEPI and
-- R-UEPI specify it. It passes whole DOCSIS frames to Wireshark's own dissectors. Usage:
-- docs/wireshark.md
--
-- This file has the preferences, the L2TPv3 dissectors and the first pass over a packet. In
-- docsis-psp/: sessions.lua (parameters of a session), reassembly.lua (sequence, fragments),
-- payload.lua (payload kinds), tree.lua (display), mac.lua (MAC headers); upstream uepi.lua
-- (bursts), flows.lua (frames in bursts), uepi_fields.lua and uepi_tree.lua (display).
--
--      0                   1                   2                   3
--      0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
--     +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
--     |V|S| H | flow|0|     count     |            sequence           |
--     +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
--     |B|E|      length of segment 1  |B|E|      length of segment 2  | ...
--     +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
--     | optional: 0 |counter| profile |  segment 1, segment 2, ...
--     +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
--
-- 40 03 0001 C068 C068 81F4: sequence 1, two frames of 104 bytes, the first 500 bytes of a third.

-- The script may be installed and also be named on the command line: load it once.
if package.loaded["openvcmts.docsis_psp"] then
	return
end
package.loaded["openvcmts.docsis_psp"] = true

local script_folder = debug.getinfo(1, "S").source:match("^@?(.*[/\\])") or ""

local function load_part(name, ...)
	return assert(loadfile(script_folder .. "docsis-psp/" .. name .. ".lua"))(...)
end

local mac = load_part("mac")
local payload = load_part("payload", mac)
local flows = load_part("flows", mac)
local uepi = load_part("uepi", mac, flows)
local sessions = load_part("sessions", payload, uepi)
local reassembly = load_part("reassembly")

local psp = Proto("psp", "DOCSIS Packet Streaming Protocol")
local over_udp = Proto("psp_udp", "DOCSIS PSP over L2TPv3 over UDP")
local docsis_uepi = Proto("docsis_uepi", "DOCSIS Upstream External PHY Interface")

local uepi_fields = load_part("uepi_fields", docsis_uepi)
local uepi_tree = load_part("uepi_tree", docsis_uepi, uepi_fields, uepi, mac, payload)
local packet_tree = load_part("tree", psp, payload, uepi_tree)

local AUTOMATIC = 3
psp.prefs.extra = Pref.enum("Bytes after the segment table", AUTOMATIC,
	"How many bytes are between the segment table and the segments", {
		{ 1, "none", 0 },
		{ 2, "2 bytes", 2 },
		{ 3, "automatic", AUTOMATIC },
	}, false)
psp.prefs.sessions = Pref.string("Sessions", "",
	"Settings of single sessions: ID=SETTING,... where ID is a session ID or * for all others, and "
		.. "SETTING is off (not PSP), or 0, 2 or auto (bytes after the table) with the content: "
		.. ":docsis, :mgmt, :uepi-sc-qam, :uepi-ofdma, :req-sc-qam, :req-ofdma, :data or the "
		.. "number of a pseudowire subtype")
psp.prefs.cookie = Pref.enum("L2TPv3 cookie", 0,
	"Cookie size of sessions without control messages", {
		{ 1, "none", 0 },
		{ 2, "4 bytes", 4 },
		{ 3, "8 bytes", 8 },
	}, false)
psp.prefs.flow_sequence = Pref.bool("Sequence numbers per flow", true,
	"Each flow of a session has its own sequence numbers")

local BY_HCS, ALWAYS, NEVER = 1, 2, 3
docsis_uepi.prefs.segment_header = Pref.enum("Segment headers in SC-QAM bursts", BY_HCS,
	"Whether the payload of an SC-QAM burst begins with a segment header", {
		{ 1, "automatic", BY_HCS },
		{ 2, "always", ALWAYS },
		{ 3, "never", NEVER },
	}, false)
docsis_uepi.prefs.sid_per_session = Pref.bool("SIDs per session", false,
	"The same SID in two sessions means two service flows, not one on both channels")

function psp.prefs_changed()
	local invalid = sessions.configure(psp.prefs.sessions)
	if #invalid > 0 then
		report_failure("psp.sessions: not understood: " .. table.concat(invalid, ", "))
	end
end

-- Results of the first pass: a record per PSP payload, by packet number, stream and offset in the
-- packet (see packet_record); false where the payload is not PSP.
local records = {}

function psp.init()
	records = {}
	sessions.reset()
	reassembly.reset()
	flows.reset()
	uepi.reset()
end

-- Reads header and segment table; `bytes` has at least the four bytes of the header. `count` and
-- `table_end` stay nil when the capture truncated the table. `length` is the length on the wire.
local function read_head(bytes, length)
	local flags, count, high, low = bytes:byte(1, 4)
	local head = {
		seq_valid = flags % 128 >= 64,
		flow = math.floor(flags / 2) % 8,
		seq = 256 * high + low,
		table_fits = 4 + 2 * count <= length,
	}
	if 4 + 2 * count > #bytes then
		return head
	end
	head.count, head.table_end = count, 4 + 2 * count
	for i = 1, count do
		local b, l = bytes:byte(3 + 2 * i, 4 + 2 * i)
		head[i] = { first = b >= 128, last = b % 128 >= 64, length = (b % 64) * 256 + l }
	end
	return head
end

-- Adds the segments of a packet to the record, and to the reassembly of the stream if not nil. A
-- segment is { first, last, from, length, beyond (the packet), truncated (by the capture) }, and
-- what reassembly.add sets.
local function track(record, stream, bytes, head, length, frame)
	local from = head.table_end + record.extra
	for i = 1, head.count do
		local segment = head[i]
		record[i] = segment
		segment.from = from
		from = from + segment.length
		segment.beyond = from > length
		segment.truncated = not segment.beyond and from > #bytes
		if stream and (segment.beyond or segment.truncated) then
			reassembly.discard(stream)
		elseif stream and segment.length > 0 then
			reassembly.add(stream, segment, bytes:sub(segment.from + 1, from), frame)
		end
	end
	record.trailing = from < length and from or nil
end

local SEGMENT_HEADER = { [ALWAYS] = true, [NEVER] = false }

-- Parses the bursts that end in a packet, in order of their segments. Drops the copied bytes of a
-- burst that lies in one packet: the display reads them from the packet.
local function parse_bursts(record, format, session, devices, frame)
	local by_session = devices .. "|" .. session.key
	local context = {
		format = format,
		frame = frame,
		session = by_session,
		group = docsis_uepi.prefs.sid_per_session and by_session or devices,
		segment_header = SEGMENT_HEADER[docsis_uepi.prefs.segment_header],
	}
	for _, segment in ipairs(record) do
		local parts = segment.parts
		if parts then
			local header, trailer = parts[1].length, parts[#parts].length
			local sizes = { header = header, trailer = trailer }
			sizes.payload = #segment.bytes - header - trailer
			segment.unit = uepi.parse_burst(segment.bytes, sizes, context)
			if parts[1].frame == frame then
				segment.unit.from = parts[1].segment.from
				segment.bytes = nil
			end
		end
	end
end

-- The first pass, called once per packet in capture order. Returns its record (see tree.lua),
-- or nil when it is not PSP. `stream_key` is nil or false for a packet outside of a stream.
local function first_pass(bytes, length, session, devices, stream_key, frame)
	local head = read_head(bytes, length)
	local is_psp = session.psp
	if head.count then
		is_psp = sessions.detect(session, bytes, head, length)
	end
	if not is_psp then
		return nil
	end
	local record = {
		head = head,
		extra = session.extra or session.default_extra or 0,
		kind = session.kind,
		subtype = session.subtype,
	}
	local stream = stream_key
		and reassembly.stream(stream_key .. "|" .. (psp.prefs.flow_sequence and head.flow or ""))
	if stream and head.seq_valid then
		local missing, order = reassembly.sequence(stream, head.seq)
		record.gap = missing > 0 and missing or nil
		record.late, record.restart = order == "late", order == "restart"
	end
	-- The frames of a late packet were dropped at the gap, or received before: no reassembly.
	stream = not record.late and stream or nil
	if head.count then
		track(record, stream, bytes, head, length, frame)
		local kind = payload.kinds[record.kind]
		if kind.format and not kind.records then
			parse_bursts(record, kind.format, session, devices, frame)
		end
	elseif stream then
		reassembly.discard(stream)
	end
	return record
end

-- The built-in dissector handles everything but the data messages of PSP sessions.
local by_protocol, by_port = DissectorTable.get("ip.proto"), DissectorTable.get("udp.port")
local L2TP_PROTOCOL, L2TP_PORT = 115, 1701
local l2tp_ip = Dissector.get("l2tp_ip") or by_protocol:get_dissector(L2TP_PROTOCOL)
	or Dissector.get("data")
local l2tp_udp = by_port:get_dissector(L2TP_PORT) or Dissector.get("data")

-- Calls a dissector of Wireshark, which marks a malformed packet before it raises an error. Returns
-- the number of bytes that it used; after an error, all.
local function call_builtin(dissector, tvb, pinfo, tree)
	local done, length = pcall(Dissector.call, dissector, tvb, pinfo, tree)
	return done and length or tvb:len()
end

-- Reads session parameters from the control message at offset `at`. Returns false when it opens a
-- control connection without DEPI.
local function learn_session(tvb, at, pinfo)
	return sessions.learn(tvb:raw(at, tvb:len() - at), pinfo.src, pinfo.dst, pinfo.number)
end

-- Returns the record of a packet, or nil when it is not PSP. The first call runs the first pass.
local function packet_record(tvb, body, length, session, pinfo)
	local source = sessions.address(pinfo.src)
	local agreed_frame = session.agreed and session.agreed.frame or 0
	local stream = ("%d|%s|%d"):format(source, session.key, agreed_frame)
	local key = ("%d|%s|%d"):format(pinfo.number, stream, tvb:offset())
	if records[key] == nil then
		-- A packet quoted in an ICMP error does not belong to the stream.
		local in_stream = not pinfo.in_error_pkt and not pinfo.visited
		local devices = source .. "|" .. session.destination
		records[key] = first_pass(body:raw(), length, session, devices, in_stream and stream,
			pinfo.number) or false
	end
	return records[key] or nil
end

-- Dissects a data message with its session ID at offset `at`. Returns whether it is PSP.
local function dissect_data(tvb, at, pinfo, tree)
	local extra = psp.prefs.extra
	local session = sessions.lookup(pinfo.dst, tvb(at, 4):uint(), pinfo.number,
		extra ~= AUTOMATIC and extra or nil, psp.prefs.cookie)
	if session.psp == false then
		return false
	end
	local start = at + 4 + session.cookie
	local body = start + 4 <= tvb:len() and tvb(start):tvb() or nil
	local record = body and packet_record(tvb, body, tvb:reported_len() - start, session, pinfo)
	if not record and not (session.psp and not body) then
		return false
	end
	-- Given the session ID alone, the built-in dissector adds the L2TPv3 tree and stops.
	call_builtin(l2tp_ip, tvb(at, 4):tvb(), pinfo, tree)
	if not record then
		packet_tree.show_short(tvb(at), pinfo, tree)
		return true
	end
	if session.cookie > 0 then
		packet_tree.show_cookie(tvb(at + 4, session.cookie), tree)
	end
	packet_tree.show(body, pinfo, tree, record)
	return true
end

function psp.dissector(tvb, pinfo, tree)
	if tvb:len() >= 4 then
		if tvb(0, 4):uint() ~= 0 then
			if dissect_data(tvb, 0, pinfo, tree) then
				return tvb:len()
			end
		elseif tvb:len() > 4 then
			learn_session(tvb, 4, pinfo)
		end
	end
	return call_builtin(l2tp_ip, tvb, pinfo, tree)
end

-- Over UDP a data message begins with four bytes: flags with the version, and two reserved bytes.
function over_udp.dissector(tvb, pinfo, tree)
	local flags = tvb:len() >= 8 and tvb(0, 2):uint() or 0
	if flags == 0x0003 and dissect_data(tvb, 4, pinfo, tree) then
		return tvb:len()
	end
	local length = call_builtin(l2tp_udp, tvb, pinfo, tree)
	-- The built-in dissector has set itself as dissector of the conversation. Undo it for DEPI.
	if flags >= 0x8000 and flags % 16 == 3 and learn_session(tvb, 0, pinfo) then
		pinfo.conversation = over_udp
	end
	return length
end

by_protocol:add(L2TP_PROTOCOL, psp)
by_port:add(L2TP_PORT, over_udp)
