-- SPDX-License-Identifier: BSD-3-Clause
-- Display of upstream bursts and request records in the tree.

local proto, registered, uepi, mac, payload = ...
if type(payload) ~= "table" then
	-- Wireshark runs every script of a plugin folder. This one only works loaded by docsis-psp.lua.
	return
end

local M = {}

local f, e = registered.fields, registered.experts

local function generated(item)
	item:set_generated(true)
	return item
end

-- Shows fields { name, offset, length } of a group, except those that end beyond the tvb.
local function show_fields(tree, tvb, group, list)
	for _, entry in ipairs(list) do
		local name, offset, length = entry[1], entry[2], entry[3]
		if offset + length <= tvb:len() then
			tree:add(f[group .. "_" .. name], tvb(offset, length))
		end
	end
end

local GRANT = { { "iuc", 1, 1 }, { "sid", 2, 2 }, { "start_minislot", 4, 4 } }

-- Shows a burst header, which is the whole tvb: its problem, if any, and its readable fields.
function M.show_header(tvb, tree, format)
	local item = tree:add(f.header, tvb())
	local header, problem = uepi.parse_header(tvb:raw(), format)
	if problem then
		item:add_proto_expert_info(e[problem])
	end
	show_fields(item, tvb, "header", { { "version", 0, 1 }, { "no_burst", 0, 1 } })
	if not header then
		return
	end
	if format == "ofdma" then
		show_fields(item, tvb, "header", { { "segment_header", 0, 1 } })
	end
	show_fields(item, tvb, "header", GRANT)
	if format == "ofdma" then
		show_fields(item, tvb, "header", { { "burst_id", 8, 4 }, { "grant_size", 12, 4 } })
	end
	item:append_text((": SID 0x%04x, IUC %d"):format(header.sid, tvb(1, 1):uint()))
end

local FLAGS = { { "version", 0, 2 }, { "ranging_required", 0, 2 }, { "snr_low", 0, 2 },
	{ "phy_error", 0, 2 }, { "high_energy", 0, 2 }, { "low_energy", 0, 2 } }
local SC_QAM_TRAILER = { { "fec_valid", 0, 2 }, { "snr_valid", 0, 2 }, { "equaliser_valid", 0, 2 },
	{ "vendor_present", 0, 2 }, { "good", 2, 2 }, { "corrected", 4, 1 }, { "uncorrectable", 5, 1 },
	{ "snr", 6, 2 } }
local OFDMA_TRAILER = { { "power_valid", 0, 2 }, { "timing_valid", 0, 2 }, { "fec_valid", 0, 2 },
	{ "snr_valid", 0, 2 }, { "mer", 2, 2 }, { "burst_id", 4, 4 }, { "good", 8, 2 },
	{ "corrected", 10, 2 }, { "uncorrectable", 12, 2 }, { "power", 14, 2 }, { "timing", 16, 4 } }

local COEFFICIENTS = 24

local function show_equaliser(tvb, tree, offset)
	local block = tvb(offset, 104)
	local item = tree:add(f["trailer.equaliser"], block)
	item:add(f.trailer_equaliser_power, tvb(offset, 2))
	item:add(f.trailer_equaliser_frequency_error, tvb(offset + 2, 2))
	item:add(f.trailer_equaliser_timing_error, tvb(offset + 4, 4))
	for i = 1, COEFFICIENTS do
		item:add(f.trailer_equaliser_coefficient, tvb(offset + 4 + 4 * i, 4))
	end
end

local function show_vendor(tvb, tree, offset)
	tree:add(f.trailer_vendor_id, tvb(offset, 3))
	tree:add(f.trailer_vendor_length, tvb(offset + 3, 1))
	if offset + 4 < tvb:len() then
		tree:add(f.trailer_vendor_data, tvb(offset + 4))
	end
end

-- Appends the measurements of an OFDMA trailer that its flags mark as valid.
local function show_measured(tvb, item)
	local function valid(bit)
		return tvb(0, 2):bitfield(bit, 1) == 1
	end
	local texts = {}
	if valid(13) then
		texts[#texts + 1] = ("MER %.2f dB"):format(tvb(2, 2):uint() / 4)
	end
	if valid(10) then
		texts[#texts + 1] = ("%.1f dB from the target"):format(tvb(14, 2):int() / 10)
	end
	if valid(11) then
		texts[#texts + 1] = ("%.1f ns late"):format(tvb(16, 4):int() / 0.2048)
	end
	item:append_text(#texts > 0 and ": " .. table.concat(texts, ", ") or "")
end

-- Shows a burst trailer, which is the whole tvb.
function M.show_trailer(tvb, tree, format)
	local item = tree:add(f.trailer, tvb())
	local trailer, problem = uepi.parse_trailer(tvb:raw(), format)
	if problem then
		item:add_proto_expert_info(e[problem])
	end
	if not trailer then
		return
	end
	show_fields(item, tvb, "trailer", FLAGS)
	local ofdma = format == "ofdma"
	show_fields(item, tvb, "trailer", ofdma and OFDMA_TRAILER or SC_QAM_TRAILER)
	local lost = ofdma and tvb(12, 2):uint() or tvb(5, 1):uint()
	if tvb(1, 1):bitfield(4, 1) == 1 and lost > 0 then
		item:add_proto_expert_info(e.fec, "Uncorrectable codewords: " .. lost)
	end
	if ofdma then
		show_measured(tvb, item)
	end
	if trailer.equaliser then
		show_equaliser(tvb, item, trailer.equaliser)
	end
	if trailer.vendor then
		show_vendor(tvb, item, trailer.vendor)
	end
end

local RECORD = { { "version", 0, 1 }, { "sid_cluster", 0, 1 }, { "sid_cluster_valid", 0, 1 },
	{ "n_bytes", 0, 1 }, { "piggyback", 0, 1 }, { "iuc", 1, 1 }, { "size", 2, 2 },
	{ "scheduled_sid", 4, 2 }, { "sid", 6, 2 }, { "start_minislot", 8, 4 }, { "session", 12, 4 } }

-- Shows a request record, which is the whole tvb.
local function show_record(tvb, pinfo, tree, format)
	local unit_item = tree:add(proto, tvb()):set_text("DOCSIS UEPI, request record")
	local item = unit_item:add(f.request, tvb())
	local problem = uepi.check_record(tvb:raw(), format)
	if problem then
		item:add_proto_expert_info(e[problem])
	end
	if problem == "record" then
		return
	end
	show_fields(item, tvb, "request", RECORD)
	local unit = tvb(0, 1):bitfield(6, 1) == 1 and "N-byte units" or "minislots"
	local text = ("SID 0x%04x: %d %s"):format(tvb(6, 2):bitfield(2, 14), tvb(2, 2):uint(), unit)
	item:append_text(", " .. text)
	pinfo.cols.info:append("Request, " .. text)
end

local ORDER = { "late", "duplicate", "restart" }

local function show_order(item, order, sequence)
	if order.gap then
		generated(item:add(f.segment_gap, order.gap))
		sequence:add_proto_expert_info(e.gap, "Segments missing so far: " .. order.gap)
	end
	for _, name in ipairs(ORDER) do
		if order[name] then
			sequence:add_proto_expert_info(e[name])
		end
	end
end

-- Shows the segment header at the begin of a payload, which may be truncated.
local function show_segment_header(tvb, tree, stream)
	local length = math.min(8, tvb:len())
	local item = tree:add(f.segment, tvb(0, length))
	if stream.problem then
		item:add_proto_expert_info(e[stream.problem])
	end
	if length < 8 then
		return
	end
	show_fields(item, tvb, "segment", { { "pointer_valid", 0, 2 }, { "pointer", 0, 2 } })
	local sequence = item:add(f.segment_sequence, tvb(2, 2))
	show_fields(item, tvb, "segment", { { "sid_cluster", 2, 2 }, { "request", 4, 2 } })
	item:add_le(f.segment_hcs, tvb(6, 2))
	local good = mac.segment_valid(tvb:raw(0, 8), 1)
	generated(item:add(f.segment_hcs_status, tvb(6, 2), good and 1 or 0))
	show_order(item, stream.order, sequence)
	item:append_text((": sequence %d, SID cluster %d"):format(
		tvb(2, 2):bitfield(0, 13), tvb(2, 2):bitfield(13, 3)))
end

local ITEMS = {
	frame = { "payload_frame", "Frame" },
	bad = { "payload_frame", "Frame" },
	tail = { "payload_begin", "Beginning of a frame" },
	padding = { "payload_padding", "Padding" },
	data = { "payload_data", "Not readable" },
}

local function show_concatenation(range, tree)
	local item = tree:add(f.concatenation, range)
	item:add(f.concatenation_count, range(1, 1))
	item:add(f.concatenation_length, range(2, 2))
	item:append_text((": %d frames, %d bytes"):format(range(1, 1):uint(), range(2, 2):uint()))
end

-- Shows where the frame of a part in packet `number` is complete, or why it was dropped.
local function show_part(item, part, number)
	if part.problem then
		item:add_proto_expert_info(e[part.problem])
	end
	if part.lost then
		item:add_proto_expert_info(e.lost)
	elseif part.joined_in and part.joined_in ~= number then
		generated(item:add(f.payload_joined_in, part.joined_in))
	end
end

local function show_item(tvb, tree, item, number)
	local range = tvb(item.from, item.length)
	if item.kind == "concatenation" then
		return show_concatenation(range, tree)
	end
	local entry = ITEMS[item.kind]
	local shown = tree:add(f[entry[1]], range)
	shown:set_text(("%s (%d bytes)"):format(entry[2], item.length))
	show_part(shown, item, number)
end

local function show_head(tvb, tree, head, number)
	if head.length > 0 then
		local item = tree:add(f.payload_continued, tvb(head.from, head.length))
		show_part(item:set_text(("Continues a frame (%d bytes)"):format(head.length)), head, number)
	elseif head.problem then
		tree:add_proto_expert_info(e[head.problem])
	end
	if head.after then
		show_item(tvb, tree, head.after, number)
	end
end

-- Shows a frame joined from several segments. Returns it as a tvb.
local function show_joined(tree, joined)
	local tvb = ByteArray.new(joined.bytes, true):tvb("Frame from segments")
	local item = generated(tree:add(f.payload_frame, tvb()))
	item:set_text(("Frame from %d segments (%d bytes)"):format(#joined.parts, #joined.bytes))
	for _, part in ipairs(joined.parts) do
		local shown = generated(item:add(f.joined_part, part.frame))
		shown:append_text((" (%d bytes)"):format(part.length))
	end
	generated(item:add(f.joined_length, #joined.bytes))
	return tvb
end

-- Shows a joined frame and appends it to `frames`, unless it is a concatenation header.
local function add_joined(frames, tree, joined)
	local whole = joined and show_joined(tree, joined)
	if whole and joined.bytes:byte(1) ~= mac.CONCATENATION then
		frames[#frames + 1] = whole
	elseif whole then
		show_concatenation(whole(), tree)
	end
end

-- Shows the payload of a burst. Returns its frames as tvbs, in order.
local function show_payload(tvb, tree, stream, number)
	local frames = {}
	if stream.segment then
		show_segment_header(tvb, tree, stream)
	end
	if stream.head then
		show_head(tvb, tree, stream.head, number)
	end
	add_joined(frames, tree, stream.joined_head)
	for _, item in ipairs(stream.items) do
		show_item(tvb, tree, item, number)
		if item.kind == "frame" or item.kind == "bad" then
			frames[#frames + 1] = tvb(item.from, item.length):tvb()
		end
	end
	add_joined(frames, tree, stream.joined_tail)
	return frames
end

local function dissect_frames(frames, pinfo, tree)
	for _, frame in ipairs(frames) do
		pinfo.cols.info:append(" | ")
		pinfo.cols.info:fence()
		payload.dissect("docsis", frame, pinfo, tree)
	end
end

local function show_burst(tvb, pinfo, tree, unit)
	local sizes, format = unit.sizes, unit.format
	local item = tree:add(proto, tvb())
	local name = format == "ofdma" and "OFDMA" or "SC-QAM"
	local text = ("%s burst%s"):format(name, unit.sid and (", SID 0x%04x"):format(unit.sid) or "")
	if sizes.payload == 0 then
		text = text .. ", no payload"
	end
	item:set_text("DOCSIS UEPI, " .. text)
	pinfo.cols.info:append(text)
	if unit.problem then
		item:add_proto_expert_info(e[unit.problem])
	end
	M.show_header(tvb(0, sizes.header):tvb(), item, format)
	local frames = {}
	if sizes.payload > 0 then
		local range = tvb(sizes.header, sizes.payload)
		local shown = item:add(f.payload, range)
		shown:append_text((" (%d bytes)"):format(sizes.payload))
		if unit.stream then
			frames = show_payload(range:tvb(), shown, unit.stream, pinfo.number)
		else
			shown:add(f.payload_data, range)
		end
	end
	M.show_trailer(tvb(sizes.header + sizes.payload, sizes.trailer):tvb(), item, format)
	dissect_frames(frames, pinfo, tree)
end

-- Shows a segment outside of a whole burst: a header, a trailer, or a wrong combination.
function M.show_partial(tvb, tree, kind, segment)
	local shown = tree:add(proto, tvb())
	if kind.records then
		shown:add_proto_expert_info(e.not_one_segment)
	elseif segment.first and segment.last then
		shown:add_proto_expert_info(e.one_segment)
	elseif segment.first then
		M.show_header(tvb, shown, kind.format)
	else
		M.show_trailer(tvb, shown, kind.format)
	end
end

-- Shows a whole burst (`unit`, see uepi.lua) and its frames, or a request record if `unit` is nil.
function M.show(tvb, pinfo, tree, kind, unit)
	if unit then
		show_burst(tvb, pinfo, tree, unit)
	else
		show_record(tvb, pinfo, tree, kind.format)
	end
end

return M
