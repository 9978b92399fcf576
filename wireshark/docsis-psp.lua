-- SPDX-License-Identifier: BSD-3-Clause
-- Wireshark dissector of the DOCSIS Packet Streaming Protocol (PSP) over L2TPv3, as R-DEPI and
-- R-UEPI have it. Whole DOCSIS frames go to Wireshark's own dissectors. How to use it:
-- docs/wireshark.md
--
-- This file: preferences, the way in from L2TPv3, and the first look at a packet. Beside it, in
-- docsis-psp/: sessions.lua (what is known of a session), reassembly.lua (sequence and fragments),
-- payload.lua (what segments hold), tree.lua (what a packet looks like); of the upstream uepi.lua
-- (its bursts), flows.lua (the frames in them), uepi_fields.lua and uepi_tree.lua (what they look
-- like); and mac.lua (MAC headers).
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

-- Installed and named on the command line too: once is enough.
if package.loaded["openvcmts.docsis_psp"] then
	return
end
package.loaded["openvcmts.docsis_psp"] = true

local here = debug.getinfo(1, "S").source:match("^@?(.*[/\\])") or ""

local function load_part(name, ...)
	return assert(loadfile(here .. "docsis-psp/" .. name .. ".lua"))(...)
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
local tree_of = load_part("tree", psp, payload, uepi_tree)

local AUTOMATIC = 3
psp.prefs.extra = Pref.enum("Bytes after the segment table", AUTOMATIC,
	"How many bytes stand between the segment table and the segments", {
		{ 1, "none", 0 },
		{ 2, "2 bytes", 2 },
		{ 3, "automatic", AUTOMATIC },
	}, false)
psp.prefs.sessions = Pref.string("Sessions", "",
	"Settings of single sessions: ID=SETTING,... where ID is a session ID or * for all others, and "
		.. "SETTING is 0, 2 or auto (bytes after the table), also with :docsis, :mgmt, :uepi-sc-qam, "
		.. ":uepi-ofdma, :req-sc-qam, :req-ofdma, :data or the number of a pseudowire subtype "
		.. "(what it carries), or off")
psp.prefs.cookie = Pref.enum("L2TPv3 cookie", 0,
	"Cookie size of sessions without control messages", {
		{ 1, "none", 0 },
		{ 2, "4 bytes", 4 },
		{ 3, "8 bytes", 8 },
	}, false)
psp.prefs.flow_sequence = Pref.bool("Sequence numbers per flow", true,
	"Each flow of a session has sequence numbers of its own")

local BY_HCS, ALWAYS, NEVER = 1, 2, 3
docsis_uepi.prefs.segment_header = Pref.enum("Segment headers in SC-QAM bursts", BY_HCS,
	"Whether the payload of an SC-QAM burst begins with a segment header", {
		{ 1, "automatic", BY_HCS },
		{ 2, "always", ALWAYS },
		{ 3, "never", NEVER },
	}, false)
docsis_uepi.prefs.sid_per_session = Pref.bool("SIDs per session", false,
	"The same SID in two sessions is two service flows, not one that uses both channels")

function psp.prefs_changed()
	local wrong = sessions.list(psp.prefs.sessions)
	if #wrong > 0 then
		report_failure("psp.sessions: not understood: " .. table.concat(wrong, ", "))
	end
end

-- What was found out of each packet on the first pass, by packet number and place in the packet.
local records = {}

function psp.init()
	records = {}
	sessions.reset()
	reassembly.reset()
	flows.reset()
	uepi.reset()
end

-- Reads the segment table of a packet from its bytes. `count` and `table_end` are nil when they are
-- not all there; the first four bytes are. `length` is what was on the wire, of which the capture
-- may hold less.
local function read_head(bytes, length)
	local flags, count, high, low = bytes:byte(1, 4)
	local head = {
		seq_valid = flags % 128 >= 64,
		flow = math.floor(flags / 2) % 8,
		seq = 256 * high + low,
		fits = 4 + 2 * count <= length,
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

-- Feeds the segments of a packet to reassembly, if it has a stream. The record of a segment is {
-- first, last, from, length, beyond, cut } and what reassembly adds to it.
local function track(record, stream, bytes, head, length, frame)
	local from = head.table_end + record.extra
	for i = 1, head.count do
		local segment = head[i]
		record[i] = segment
		segment.from = from
		from = from + segment.length
		segment.beyond = from > length
		segment.cut = not segment.beyond and from > #bytes
		if stream and (segment.beyond or segment.cut) then
			reassembly.broken(stream)
		elseif stream and segment.length > 0 then
			reassembly.add(stream, segment, bytes:sub(segment.from + 1, from), frame)
		end
	end
	record.trailing = from < length and from or nil
end

local SEGMENT_HEADER = { [ALWAYS] = true, [NEVER] = false }

-- The first look at the bursts that end in a packet, in its order. Where a burst lies in one packet
-- its bytes need not be kept.
local function look_into_bursts(record, format, session, devices, frame)
	local by_session = devices .. "|" .. session.key
	local place = {
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
			segment.unit = uepi.burst(segment.bytes, sizes, place)
			if parts[1].frame == frame then
				segment.unit.from = parts[1].segment.from
				segment.bytes = nil
			end
		end
	end
end

-- The first look at a packet, in capture order. Returns nil when it is not PSP.
local function analyse(bytes, length, session, devices, stream_key, frame)
	local head = read_head(bytes, length)
	local sure = session.psp
	if head.count then
		sure = sessions.examine(session, bytes, head, length)
	end
	if not sure then
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
	-- What a late packet holds was given up when the gap was seen, or was there before.
	stream = not record.late and stream or nil
	if head.count then
		track(record, stream, bytes, head, length, frame)
		local kind = payload.kinds[record.kind]
		if kind.format and not kind.records then
			look_into_bursts(record, kind.format, session, devices, frame)
		end
	elseif stream then
		reassembly.broken(stream)
	end
	return record
end

-- The built-in dissector stays in charge of everything but the data of PSP sessions.
local by_protocol, by_port = DissectorTable.get("ip.proto"), DissectorTable.get("udp.port")
local L2TP_PROTOCOL, L2TP_PORT = 115, 1701
local l2tp_ip = Dissector.get("l2tp_ip") or by_protocol:get_dissector(L2TP_PROTOCOL)
	or Dissector.get("data")
local l2tp_udp = by_port:get_dissector(L2TP_PORT) or Dissector.get("data")

-- Calls a dissector of Wireshark, which marks what is malformed before it raises an error.
local function built_in(dissector, tvb, pinfo, tree)
	local done, length = pcall(Dissector.call, dissector, tvb, pinfo, tree)
	return done and length or tvb:len()
end

-- Learns from the control message whose flags stand at `at`. Returns whether it can be one of DEPI.
local function learn(tvb, at, pinfo)
	return sessions.learn(tvb:raw(at, tvb:len() - at), pinfo.src, pinfo.dst, pinfo.number)
end

-- The record of a packet, made at the first look. Nil when the packet is not PSP.
local function record_of(tvb, body, length, session, pinfo)
	local source = sessions.address(pinfo.src)
	local agreed_in = session.agreed and session.agreed.frame or 0
	local stream = ("%d|%s|%d"):format(source, session.key, agreed_in)
	local key = ("%d|%s|%d"):format(pinfo.number, stream, tvb:offset())
	if records[key] == nil then
		-- The packet that an ICMP error quotes is no packet of the stream.
		local passing = not pinfo.in_error_pkt and not pinfo.visited
		local devices = source .. "|" .. session.destination
		records[key] = analyse(body:raw(), length, session, devices, passing and stream, pinfo.number)
			or false
	end
	return records[key] or nil
end

-- A data message whose session ID stands at `at`. Returns whether it was PSP.
local function data_message(tvb, at, pinfo, tree)
	local extra = psp.prefs.extra
	local session = sessions.lookup(pinfo.dst, tvb(at, 4):uint(), pinfo.number,
		extra ~= AUTOMATIC and extra or nil, psp.prefs.cookie)
	if session.psp == false then
		return false
	end
	local start = at + 4 + session.cookie
	local body = start + 4 <= tvb:len() and tvb(start):tvb() or nil
	local record = body and record_of(tvb, body, tvb:reported_len() - start, session, pinfo)
	if not record and not (session.psp and not body) then
		return false
	end
	-- Of the session ID alone the built-in dissector makes the L2TPv3 tree, and stops there.
	built_in(l2tp_ip, tvb(at, 4):tvb(), pinfo, tree)
	if not record then
		tree_of.show_short(tvb(at), pinfo, tree)
		return true
	end
	if session.cookie > 0 then
		tree_of.show_cookie(tvb(at + 4, session.cookie), tree)
	end
	tree_of.show(body, pinfo, tree, record)
	return true
end

function psp.dissector(tvb, pinfo, tree)
	if tvb:len() >= 4 then
		if tvb(0, 4):uint() ~= 0 then
			if data_message(tvb, 0, pinfo, tree) then
				return tvb:len()
			end
		elseif tvb:len() > 4 then
			learn(tvb, 4, pinfo)
		end
	end
	return built_in(l2tp_ip, tvb, pinfo, tree)
end

-- Over UDP four bytes come first: flags with the version, and reserved ones in data messages.
function over_udp.dissector(tvb, pinfo, tree)
	local flags = tvb:len() >= 8 and tvb(0, 2):uint() or 0
	if flags == 0x0003 and data_message(tvb, 4, pinfo, tree) then
		return tvb:len()
	end
	local length = built_in(l2tp_udp, tvb, pinfo, tree)
	-- The built-in dissector takes the conversation for itself. Where it can be DEPI, take it back.
	if flags >= 0x8000 and flags % 16 == 3 and learn(tvb, 0, pinfo) then
		pinfo.conversation = over_udp
	end
	return length
end

by_protocol:add(L2TP_PROTOCOL, psp)
by_port:add(L2TP_PORT, over_udp)
