-- SPDX-License-Identifier: BSD-3-Clause
-- The units of UEPI (docs/uepi-formats.md): what they are recognised by, what is wrong with them,
-- and what their payload is. A burst is a header, its payload and a trailer; a request record stands
-- alone. Bytes are Lua strings; offsets count from 0, like those of a packet.

local mac, flows = ...
if type(mac) ~= "table" then
	-- Wireshark runs every script of a plugin folder by itself. This one is a part of docsis-psp.lua.
	return
end

local M = {}

local OFDMA_VERSION = 1
local HEADER_SIZES = { sc_qam = 8, ofdma = 16 }
local OFDMA_TRAILER, SC_QAM_TRAILER, EQUALISER = 20, 8, 104
local RECORD = 16

local function word(bytes, offset)
	local high, low = bytes:byte(offset + 1, offset + 2)
	return 256 * high + low
end

local function set(flags, mask)
	return math.floor(flags / mask) % 2 == 1
end

local function right_version(bytes, format)
	return format ~= "ofdma" or math.floor(bytes:byte(1) / 64) == OFDMA_VERSION
end

-- Problems are names of expert infos (uepi_tree.lua).

-- A header: { sid, no_burst, segment_header (OFDMA), burst_id, grant_size }, or nil and a problem.
function M.header(bytes, format)
	if #bytes ~= HEADER_SIZES[format] then
		return nil, "header"
	elseif not right_version(bytes, format) then
		return nil, "version"
	end
	local header = { sid = word(bytes, 2) % 0x4000, no_burst = set(bytes:byte(1), 0x20) }
	if format == "ofdma" then
		header.segment_header = set(bytes:byte(1), 0x10)
		header.burst_id = bytes:sub(9, 12)
		header.grant_size = word(bytes, 12) * 65536 + word(bytes, 14)
	end
	return header
end

-- Where the parts of an SC-QAM trailer stand: { equaliser, vendor }, offsets or nil. The length
-- decides, the flags only where it leaves a choice. Nil when the length fits nothing.
local function sc_qam_trailer(bytes)
	local flags, size = word(bytes, 0), #bytes
	local with_block = SC_QAM_TRAILER + EQUALISER
	if not set(flags, 0x0001) then
		local fits = size == SC_QAM_TRAILER or size == with_block
		return fits and { equaliser = size == with_block and SC_QAM_TRAILER or nil } or nil
	end
	local function vendor_at(offset)
		return size >= offset + 4 and bytes:byte(offset + 4) == size - offset - 4
	end
	local short, long = vendor_at(SC_QAM_TRAILER), vendor_at(with_block)
	if long and (not short or set(flags, 0x0002)) then
		return { equaliser = SC_QAM_TRAILER, vendor = with_block }
	end
	return short and { vendor = SC_QAM_TRAILER } or nil
end

-- A trailer: { burst_id (OFDMA), equaliser, vendor (SC-QAM) }, or nil and a problem. Of an SC-QAM
-- trailer of odd length the first eight bytes can be read: then there are both.
function M.trailer(bytes, format)
	if format == "ofdma" then
		if #bytes ~= OFDMA_TRAILER then
			return nil, "trailer"
		elseif not right_version(bytes, format) then
			return nil, "version"
		end
		return { burst_id = bytes:sub(5, 8) }
	elseif #bytes < SC_QAM_TRAILER then
		return nil, "trailer"
	end
	local parts = sc_qam_trailer(bytes)
	return parts or {}, not parts and "odd_trailer" or nil
end

-- The problem of a request record, or nil.
function M.record(bytes, format)
	if #bytes ~= RECORD then
		return "record"
	end
	return not right_version(bytes, format) and "version" or nil
end

-- SIDs, by session, of which a segment header was seen.
local segmented = {}

function M.reset()
	segmented = {}
end

-- Whether an SC-QAM payload begins with a segment header. Nothing in the burst says it: the check
-- sequences do, and where neither is right what the SID did before.
local function has_segment_header(payload, key)
	if mac.segment_good(payload, 1) and (segmented[key] or not mac.header_good(payload, 1)) then
		segmented[key] = true
		return true
	end
	return segmented[key] and not mac.header_good(payload, 1) or false
end

-- What one part of the burst tells of another.
local function disagreement(header, trailer, size)
	if header.burst_id and trailer and trailer.burst_id ~= header.burst_id then
		return "burst_id"
	elseif header.grant_size and size > header.grant_size then
		return "grant"
	elseif header.no_burst and size > 0 then
		return "no_burst"
	end
	return not header.no_burst and size == 0 and "no_payload" or nil
end

-- The first look at a whole burst, in capture order. `sizes` = { header, payload, trailer } in
-- bytes; `place` = { format, frame (packet number), session, group (in which a SID means one service
-- flow), segment_header (true or false: SC-QAM payloads have one or not; nil: to be found out) }.
-- Returns the unit:
--   format, sizes
--   sid             nil without a good header
--   problem         between the parts of the burst, or nil
--   stream          what the payload is, see flows.lua; nil where it is to be dropped, or empty
function M.burst(bytes, sizes, place)
	local unit = { format = place.format, sizes = sizes }
	local header = M.header(bytes:sub(1, sizes.header), place.format)
	if not header then
		return unit
	end
	local trailer = M.trailer(bytes:sub(sizes.header + sizes.payload + 1), place.format)
	unit.sid, unit.problem = header.sid, disagreement(header, trailer, sizes.payload)
	local usable = place.format == "sc_qam" or (trailer and unit.problem ~= "burst_id")
	if not usable or sizes.payload == 0 then
		return unit
	end
	local payload = bytes:sub(sizes.header + 1, sizes.header + sizes.payload)
	local with_header = header.segment_header
	if with_header == nil then
		with_header = place.segment_header
	end
	if with_header == nil then
		with_header = has_segment_header(payload, place.session .. "|" .. header.sid)
	end
	if with_header then
		unit.stream = flows.segment(payload, place.group .. "|" .. header.sid, place.frame)
	else
		unit.stream = flows.frames(payload)
	end
	return unit
end

local function plausible_header(bytes, format)
	local header = M.header(bytes, format)
	if not header then
		return nil
	end
	local reserved = bytes:byte(1) % (format == "sc_qam" and 32 or 16)
	return reserved == 0 and bytes:byte(3) < 64 and header or nil
end

-- Whether a header and the segment behind it, which is no header, are of a burst.
local function begins_burst(format, bytes, behind, is_last)
	local header = plausible_header(bytes, format)
	if not header then
		return false
	elseif is_last then
		local trailer = M.trailer(behind, format)
		return format == "ofdma" and trailer ~= nil and trailer.burst_id == header.burst_id
	elseif header.segment_header ~= true and mac.header_good(behind, 1) then
		return true
	end
	return header.segment_header ~= false and mac.segment_good(behind, 1)
end

-- Whether all segments are request records of data sessions that `format_of(id)` knows.
local function are_records(segments, format_of)
	local format
	for _, segment in ipairs(segments) do
		local bytes = segment.bytes
		if not (segment.first and segment.last and #bytes == RECORD) then
			return nil
		elseif bytes:byte(5) >= 64 or bytes:byte(7) >= 64 then
			return nil
		end
		local found = format_of(word(bytes, 12) * 65536 + word(bytes, 14))
		if not found or found ~= (format or found) or M.record(bytes, found) then
			return nil
		end
		format = found
	end
	return format
end

-- The kind (payload.lua) that the segments { first, last, bytes } of a packet prove, or nil: by a
-- header with the payload behind it, or by records that name a data session. `format_of` tells the
-- format of the data session with an ID.
function M.recognise(segments, format_of)
	for i = 1, #segments - 1 do
		local segment, behind = segments[i], segments[i + 1]
		if segment.first and not segment.last and not behind.first then
			for kind, format in pairs({ ["uepi-sc-qam"] = "sc_qam", ["uepi-ofdma"] = "ofdma" }) do
				if begins_burst(format, segment.bytes, behind.bytes, behind.last) then
					return kind
				end
			end
		end
	end
	local format = are_records(segments, format_of)
	return format and (format == "ofdma" and "req-ofdma" or "req-sc-qam") or nil
end

return M
