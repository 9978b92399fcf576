-- SPDX-License-Identifier: BSD-3-Clause
-- Parses and recognises UEPI units (docs/uepi-formats.md). A burst is a header, a payload and a
-- trailer; a request record is a unit by itself. Bytes are Lua strings; offsets count from 0.

local mac, flows = ...
if type(mac) ~= "table" then
	-- Wireshark runs every script of a plugin folder. This one only works loaded by docsis-psp.lua.
	return
end

local M = {}

local OFDMA_VERSION = 1
local HEADER_SIZES = { sc_qam = 8, ofdma = 16 }
local OFDMA_TRAILER, SC_QAM_TRAILER, EQUALISER = 20, 8, 104
local RECORD = 16

local function read_u16(bytes, offset)
	local high, low = bytes:byte(offset + 1, offset + 2)
	return 256 * high + low
end

local function bit_set(flags, mask)
	return math.floor(flags / mask) % 2 == 1
end

local function version_valid(bytes, format)
	return format ~= "ofdma" or math.floor(bytes:byte(1) / 64) == OFDMA_VERSION
end

-- All problems returned below are names of expert infos (uepi_fields.lua).

-- Returns { sid, no_burst; OFDMA: segment_header, burst_id, grant_size }, or nil and a problem.
function M.parse_header(bytes, format)
	if #bytes ~= HEADER_SIZES[format] then
		return nil, "header"
	elseif not version_valid(bytes, format) then
		return nil, "version"
	end
	local header = { sid = read_u16(bytes, 2) % 0x4000, no_burst = bit_set(bytes:byte(1), 0x20) }
	if format == "ofdma" then
		header.segment_header = bit_set(bytes:byte(1), 0x10)
		header.burst_id = bytes:sub(9, 12)
		header.grant_size = read_u16(bytes, 12) * 65536 + read_u16(bytes, 14)
	end
	return header
end

-- Returns the offsets { equaliser, vendor } of the optional parts of an SC-QAM trailer, nil for an
-- absent part. The length decides; the flags only where it allows several combinations. Returns nil
-- when the length fits no combination.
local function sc_qam_trailer(bytes)
	local flags, size = read_u16(bytes, 0), #bytes
	local with_block = SC_QAM_TRAILER + EQUALISER
	if not bit_set(flags, 0x0001) then
		local fits = size == SC_QAM_TRAILER or size == with_block
		return fits and { equaliser = size == with_block and SC_QAM_TRAILER or nil } or nil
	end
	local function has_vendor_at(offset)
		return size >= offset + 4 and bytes:byte(offset + 4) == size - offset - 4
	end
	local short, long = has_vendor_at(SC_QAM_TRAILER), has_vendor_at(with_block)
	if long and (not short or bit_set(flags, 0x0002)) then
		return { equaliser = SC_QAM_TRAILER, vendor = with_block }
	end
	return short and { vendor = SC_QAM_TRAILER } or nil
end

-- Returns a trailer { burst_id (OFDMA), equaliser, vendor (SC-QAM) }, or nil and a problem. Returns
-- both for an SC-QAM trailer with an unknown length, whose first eight bytes are readable.
function M.parse_trailer(bytes, format)
	if format == "ofdma" then
		if #bytes ~= OFDMA_TRAILER then
			return nil, "trailer"
		elseif not version_valid(bytes, format) then
			return nil, "version"
		end
		return { burst_id = bytes:sub(5, 8) }
	elseif #bytes < SC_QAM_TRAILER then
		return nil, "trailer"
	end
	local parts = sc_qam_trailer(bytes)
	return parts or {}, not parts and "odd_trailer" or nil
end

-- Returns the problem of a request record, or nil.
function M.check_record(bytes, format)
	if #bytes ~= RECORD then
		return "record"
	end
	return not version_valid(bytes, format) and "version" or nil
end

-- Set of "session|SID" of which a segment header was recognised.
local with_segment_header = {}

function M.reset()
	with_segment_header = {}
end

-- Whether an SC-QAM payload begins with a segment header. No field says so: the HCS of a segment
-- header or MAC header decides, and where neither is correct the previous format of the SID.
local function has_segment_header(payload, key)
	local is_frame, known = mac.header_valid(payload, 1), with_segment_header[key]
	if mac.segment_valid(payload, 1) and (known or not is_frame) then
		with_segment_header[key] = true
		return true
	end
	return known and not is_frame or false
end

-- Returns the problem when parts of a burst contradict each other, or nil. `size`: of the payload.
local function check_parts(header, trailer, size)
	if header.burst_id and trailer and trailer.burst_id ~= header.burst_id then
		return "burst_id"
	elseif header.grant_size and size > header.grant_size then
		return "grant"
	elseif header.no_burst and size > 0 then
		return "no_burst"
	end
	return not header.no_burst and size == 0 and "no_payload" or nil
end

-- Parses a whole burst; called in capture order. `sizes` = { header, payload, trailer } in bytes;
-- `context` = { format, frame (packet number), session, group (of sessions in which a SID means one
-- service flow), segment_header (whether SC-QAM payloads have one; nil: detect it) }.
-- Returns the unit:
--   format, sizes
--   sid             nil when the header is invalid
--   problem         contradiction between the parts of the burst, or nil
--   stream          parsed payload, see flows.lua; nil where the payload is empty or to be dropped
function M.parse_burst(bytes, sizes, context)
	local unit = { format = context.format, sizes = sizes }
	local header = M.parse_header(bytes:sub(1, sizes.header), context.format)
	if not header then
		return unit
	end
	local trailer = M.parse_trailer(bytes:sub(sizes.header + sizes.payload + 1), context.format)
	unit.sid, unit.problem = header.sid, check_parts(header, trailer, sizes.payload)
	local usable = context.format == "sc_qam" or (trailer and unit.problem ~= "burst_id")
	if not usable or sizes.payload == 0 then
		return unit
	end
	local payload = bytes:sub(sizes.header + 1, sizes.header + sizes.payload)
	local with_header = header.segment_header
	if with_header == nil then
		with_header = context.segment_header
	end
	if with_header == nil then
		with_header = has_segment_header(payload, context.session .. "|" .. header.sid)
	end
	if with_header then
		unit.stream = flows.segment(payload, context.group .. "|" .. header.sid, context.frame)
	else
		unit.stream = flows.frames(payload)
	end
	return unit
end

local function plausible_header(bytes, format)
	local header = M.parse_header(bytes, format)
	if not header then
		return nil
	end
	local reserved = bytes:byte(1) % (format == "sc_qam" and 32 or 16)
	return reserved == 0 and bytes:byte(3) < 64 and header or nil
end

-- Whether the segment `bytes` and the `following` one, which begins no burst, begin a burst.
local function begins_burst(format, bytes, following, is_last)
	local header = plausible_header(bytes, format)
	if not header then
		return false
	elseif is_last then
		local trailer = M.parse_trailer(following, format)
		return format == "ofdma" and trailer ~= nil and trailer.burst_id == header.burst_id
	elseif header.segment_header ~= true and mac.header_valid(following, 1) then
		return true
	end
	return header.segment_header ~= false and mac.segment_valid(following, 1)
end

-- Returns the format if all segments are request records of known data sessions, or nil.
-- `format_of(id)` returns the format of a data session or nil.
local function records_format(segments, format_of)
	local format
	for _, segment in ipairs(segments) do
		local bytes = segment.bytes
		if not (segment.first and segment.last and #bytes == RECORD) then
			return nil
		elseif bytes:byte(5) >= 64 or bytes:byte(7) >= 64 then
			return nil
		end
		local found = format_of(read_u16(bytes, 12) * 65536 + read_u16(bytes, 14))
		if not found or found ~= (format or found) or M.check_record(bytes, found) then
			return nil
		end
		format = found
	end
	return format
end

-- Returns the kind (payload.lua) of the segments { first, last, bytes } of a packet, or nil. It is
-- recognised by a header followed by payload, or by records that name a data session.
function M.recognise(segments, format_of)
	for i = 1, #segments - 1 do
		local segment, following = segments[i], segments[i + 1]
		if segment.first and not segment.last and not following.first then
			for kind, format in pairs({ ["uepi-sc-qam"] = "sc_qam", ["uepi-ofdma"] = "ofdma" }) do
				if begins_burst(format, segment.bytes, following.bytes, following.last) then
					return kind
				end
			end
		end
	end
	local format = records_format(segments, format_of)
	return format and (format == "ofdma" and "req-ofdma" or "req-sc-qam") or nil
end

return M
