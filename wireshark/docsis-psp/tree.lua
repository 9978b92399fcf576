-- SPDX-License-Identifier: BSD-3-Clause
-- Display of a PSP packet: fields for filters, expert information, and the tree.

local psp, payload, uepi_tree = ...
if type(payload) ~= "table" then
	-- Wireshark runs every script of a plugin folder. This one only works loaded by docsis-psp.lua.
	return
end

local M = {}

local f = {
	subtype = ProtoField.string("psp.subtype", "Pseudowire subtype"),
	cookie = ProtoField.bytes("psp.cookie", "L2TPv3 cookie"),
	vccv = ProtoField.bool("psp.vccv", "VCCV", 8, nil, 0x80),
	seq_valid = ProtoField.bool("psp.seq_valid", "Sequence number valid", 8, nil, 0x40),
	h = ProtoField.uint8("psp.h", "Extended header", base.DEC, nil, 0x30),
	flow = ProtoField.uint8("psp.flow", "Flow", base.DEC, nil, 0x0e),
	reserved = ProtoField.uint8("psp.reserved", "Reserved", base.DEC, nil, 0x01),
	count = ProtoField.uint8("psp.count", "Segments"),
	seq = ProtoField.uint16("psp.seq", "Sequence number"),
	gap = ProtoField.uint16("psp.gap", "Packets missing before this one"),
	late = ProtoField.bool("psp.late", "Late or duplicate"),
	segment = ProtoField.none("psp.segment", "Segment"),
	begin = ProtoField.bool("psp.segment.begin", "Begins a frame", 16, nil, 0x8000),
	ends = ProtoField.bool("psp.segment.end", "Ends a frame", 16, nil, 0x4000),
	len = ProtoField.uint16("psp.segment.len", "Length", base.DEC, nil, 0x3fff),
	extra = ProtoField.uint16("psp.extra", "After the table", base.HEX),
	counter = ProtoField.uint16("psp.extra.counter", "Counter", base.DEC, nil, 0x00f0),
	profile = ProtoField.uint16("psp.extra.profile", "Profile", base.DEC, nil, 0x000f),
	data = ProtoField.bytes("psp.segment.data", "Data"),
	reassembled_in = ProtoField.framenum("psp.reassembled_in", "Reassembled in"),
	fragment = ProtoField.framenum("psp.fragment", "Fragment in"),
	fragment_count = ProtoField.uint32("psp.fragment.count", "Fragments"),
	reassembled_length = ProtoField.uint32("psp.reassembled.length", "Reassembled length"),
}
local fields = {}
for _, field in pairs(f) do
	fields[#fields + 1] = field
end
psp.fields = fields

local e = {}
local experts = {}

local function add_expert(name, text, group, severity)
	local filter = "psp.expert." .. name
	e[name] = ProtoExpert.new(filter, text, expert.group[group], expert.severity[severity])
	experts[#experts + 1] = e[name]
end

add_expert("gap", "Sequence gap", "SEQUENCE", "WARN")
add_expert("late", "Late or duplicate packet", "SEQUENCE", "NOTE")
add_expert("restart", "Sequence numbers restarted", "SEQUENCE", "NOTE")
add_expert("short", "Header incomplete", "MALFORMED", "ERROR")
add_expert("table_beyond", "Segment table beyond the packet", "MALFORMED", "ERROR")
add_expert("beyond", "Segment beyond the packet", "MALFORMED", "ERROR")
add_expert("trailing", "Bytes after the last segment", "PROTOCOL", "WARN")
add_expert("empty", "Empty segment", "PROTOCOL", "WARN")
add_expert("cut", "Truncated by the capture", "UNDECODED", "NOTE")
add_expert("no_begin", "Fragment without beginning", "REASSEMBLE", "WARN")
add_expert("before_capture", "Frame begins before the capture", "REASSEMBLE", "NOTE")
add_expert("lost_middle", "The middle of this frame was lost", "REASSEMBLE", "WARN")
add_expert("no_end", "The frame before this one has no end", "REASSEMBLE", "WARN")
add_expert("too_long", "Longer than any DOCSIS frame", "REASSEMBLE", "WARN")
psp.experts = experts

local function generated(item)
	item:set_generated(true)
	return item
end

local function show_order(tree, item, record)
	if record.gap then
		generated(tree:add(f.gap, record.gap))
		item:add_proto_expert_info(e.gap, "Packets missing before this one: " .. record.gap)
	end
	if record.late then
		generated(tree:add(f.late, true))
		item:add_proto_expert_info(e.late)
	elseif record.restart then
		item:add_proto_expert_info(e.restart)
	end
end

local SHAPES = { [true] = { [true] = "frame", [false] = "first fragment" },
	[false] = { [true] = "last fragment", [false] = "fragment" } }
local BURST_SHAPES = { [true] = { [true] = "header and trailer", [false] = "header" },
	[false] = { [true] = "trailer", [false] = "payload" } }
local RECORD_SHAPES = { [true] = { [true] = "request", [false] = "first fragment" },
	[false] = SHAPES[false] }

local function segment_shape(segment, kind)
	local shapes = SHAPES
	if kind.format then
		shapes = kind.records and RECORD_SHAPES or BURST_SHAPES
	end
	return shapes[segment.first][segment.last]
end

local function show_table(tree, tvb, record)
	for i, segment in ipairs(record) do
		local range = tvb(2 + 2 * i, 2)
		local item = tree:add(f.segment, range)
		local shape = segment_shape(segment, payload.kinds[record.kind])
		item:set_text(("Segment %d: %s, %d bytes"):format(i, shape, segment.length))
		item:add(f.begin, range)
		item:add(f.ends, range)
		item:add(f.len, range)
		segment.item = item
	end
	if record.extra > 0 and tvb:len() >= record.head.table_end + record.extra then
		local range = tvb(record.head.table_end, record.extra)
		local item = tree:add(f.extra, range)
		item:add(f.counter, range)
		item:add(f.profile, range)
	end
end

-- Shows the header, and the segment table unless it is truncated.
local function show_head(tree, tvb, record)
	local flags = tvb(0, 1)
	for _, field in ipairs({ f.vccv, f.seq_valid, f.h, f.flow, f.reserved }) do
		tree:add(field, flags)
	end
	local count = tree:add(f.count, tvb(1, 1))
	local seq = tree:add(f.seq, tvb(2, 2))
	show_order(tree, seq, record)
	if record.head.count then
		show_table(tree, tvb, record)
	elseif record.head.table_fits then
		count:add_proto_expert_info(e.cut)
	else
		count:add_proto_expert_info(e.table_beyond)
	end
end

local UNFINISHED = {
	lost_middle = "The middle of this frame, begun in packet %d, was lost",
	no_end = "The frame begun in packet %d has no end",
}

local function show_problem(item, segment)
	local text = UNFINISHED[segment.problem]
	if text and segment.begun_in then
		item:add_proto_expert_info(e[segment.problem], text:format(segment.begun_in))
	elseif segment.problem then
		item:add_proto_expert_info(e[segment.problem])
	end
end

local function show_bytes(tree, range)
	return tree:add(f.data, range):set_text(("Data (%d bytes)"):format(range:len()))
end

local function show_outcome(tree, segment)
	if segment.reassembled_in then
		generated(tree:add(f.reassembled_in, segment.reassembled_in))
	elseif segment.lost then
		tree:append_text(" [never completed: " .. segment.lost .. "]")
	end
end

-- Shows the fragments of the frame that a segment completes. Returns the frame as a tvb.
local function show_reassembled(tree, segment, name)
	for _, part in ipairs(segment.parts) do
		generated(tree:add(f.fragment, part.frame)):append_text((" (%d bytes)"):format(part.length))
	end
	generated(tree:add(f.fragment_count, #segment.parts))
	generated(tree:add(f.reassembled_length, #segment.bytes))
	return ByteArray.new(segment.bytes, true):tvb(name)
end

-- Shows a fragment. Returns the frame when this segment completes it, or nil.
local function show_fragment(tree, tvb, segment)
	show_bytes(tree, tvb(segment.from, segment.length))
	show_outcome(tree, segment)
	return segment.bytes and show_reassembled(tree, segment, "Reassembled DOCSIS frame") or nil
end

-- Shows an upstream segment. Returns the request record, or the burst that the segment completes.
-- Header and trailer are shown with their burst; here when the burst ends in another packet.
local function show_upstream(tree, tvb, segment, kind, frame)
	local range = tvb(segment.from, segment.length)
	if kind.records and segment.first and segment.last then
		return range:tvb()
	end
	show_bytes(tree, range)
	local unit = segment.unit
	if unit and unit.from then
		local sizes = unit.sizes
		return tvb(unit.from, sizes.header + sizes.payload + sizes.trailer):tvb()
	elseif unit then
		return show_reassembled(tree, segment, "Reassembled UEPI burst")
	elseif segment.reassembled_in ~= frame then
		show_outcome(tree, segment)
		if segment.first or segment.last or kind.records then
			uepi_tree.show_partial(range:tvb(), tree, kind, segment)
		end
	end
	return nil
end

-- Shows a segment. Returns the frame, burst or record that it is or completes, or nil.
local function show_segment(tree, tvb, segment, kind, frame)
	local item = segment.item
	show_problem(item, segment)
	if segment.length == 0 then
		item:add_proto_expert_info(e.empty)
	elseif segment.beyond or segment.truncated then
		item:add_proto_expert_info(segment.beyond and e.beyond or e.cut)
		if segment.from < tvb:len() then
			show_bytes(tree, tvb(segment.from))
		end
	elseif kind.format then
		return show_upstream(tree, tvb, segment, kind, frame)
	elseif segment.first and segment.last then
		return tvb(segment.from, segment.length):tvb()
	else
		return show_fragment(tree, tvb, segment)
	end
	return nil
end

-- Dissects the frames in order. The text of each is appended to the Info column.
local function show_frames(frames, pinfo, tree, record)
	local kind = payload.kinds[record.kind]
	for i, frame in ipairs(frames) do
		if frame then
			pinfo.cols.info:append(" | ")
			pinfo.cols.info:fence()
			if kind.format then
				uepi_tree.show(frame, pinfo, tree, kind, record[i].unit)
			else
				payload.dissect(record.kind, frame, pinfo, tree)
			end
		end
	end
end

-- Shows a packet that ends before the four bytes of the PSP header.
function M.show_short(range, pinfo, tree)
	pinfo.cols.protocol = "PSP"
	tree:add(psp, range):add_proto_expert_info(e.short)
end

-- Shows a packet; `tvb` begins at the flags byte. The record has:
--   head                the header: seq, count, table_end, table_fits (in the packet)
--   extra, kind         bytes after the table, payload kind of the segments
--   subtype             of the pseudowire, or nil
--   gap, late, restart  result of the sequence check
--   trailing            offset of bytes after the last segment, or nil
--   [i]                 the segments, see reassembly.add
function M.show(tvb, pinfo, tree, record)
	local head = record.head
	local count = head.count or tvb(1, 1):uint()
	pinfo.cols.protocol = "PSP"
	local plural = count == 1 and "" or "s"
	pinfo.cols.info:append((" PSP seq %d, %d segment%s"):format(head.seq, count, plural))
	local item = tree:add(psp, tvb(0, math.min(tvb:len(), (head.table_end or 4) + record.extra)))
	item:append_text((", Seq: %d, Segments: %d"):format(head.seq, count))
	local subtype = payload.subtypes[record.subtype]
	if subtype then
		generated(item:add(f.subtype, subtype.name))
	end
	show_head(item, tvb, record)
	local frames, kind = {}, payload.kinds[record.kind]
	for i, segment in ipairs(record) do
		frames[i] = show_segment(segment.item, tvb, segment, kind, pinfo.number) or false
		segment.item = nil
	end
	if record.trailing and record.trailing < tvb:len() then
		show_bytes(item, tvb(record.trailing)):add_proto_expert_info(e.trailing)
	end
	show_frames(frames, pinfo, tree, record)
end

function M.show_cookie(range, tree)
	tree:add(f.cookie, range)
end

return M
