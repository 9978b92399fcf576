-- SPDX-License-Identifier: BSD-3-Clause
-- The MAC frames of upstream bursts: those that lie in one burst, and those that span segments of
-- continuous concatenation and fragmentation (MULPI), put together by service flow and SID cluster.
-- It runs once a burst, in capture order; what it finds is kept with the burst.
--
-- A segment may come before its predecessors, on another channel. So nothing waits here: each
-- segment leaves the parts of frames at its edges, and whichever completes a frame joins it.

local mac = ...
if type(mac) ~= "table" then
	-- Wireshark runs every script of a plugin folder by itself. This one is a part of docsis-psp.lua.
	return
end

local M = {}

local HEADER = 8
local SEQUENCES = 8192
-- Segments that a flow remembers, by the low bits of their numbers. Older ones are forgotten.
local HISTORY = 256
-- So many late segments in a row, each one number after the other, are a modem that began anew.
local RESTART_RUN = 8

local flows = {}

function M.reset()
	flows = {}
end

local function is_padding(bytes, at)
	return bytes:byte(at) == 0xff or bytes:sub(at, at + 5) == ("\0"):rep(6)
end

-- The frame whose header stands at `at`: its size, or nil and a problem; nil alone when the header
-- is not all there.
local function size_of(bytes, at)
	local header = mac.header_size(bytes, at)
	if not header or at + header - 1 > #bytes then
		return nil
	elseif not mac.header_good(bytes, at) then
		return nil, "frame_hcs"
	end
	local size = mac.frame_size(bytes, at)
	return size, not size and "frame_length" or nil
end

local function what_stands(bytes, at)
	local rest = #bytes - at + 1
	local size, problem = size_of(bytes, at)
	if problem then
		return "bad", math.min(6 + 256 * bytes:byte(at + 2) + bytes:byte(at + 3), rest), problem
	elseif not size or size > rest then
		return "tail", rest
	end
	return bytes:byte(at) == mac.CONCATENATION and "concatenation" or "frame", size
end

-- Takes the frames apart that stand in `bytes` from offset `from` on. Adds to the items { what,
-- from, length, problem }, and returns the last one if it is a tail:
--   frame           a whole frame
--   concatenation   a concatenation header
--   tail            a frame that does not end here
--   bad             a header with a problem ("frame_hcs", "frame_length"), and as many bytes as it
--                   tells
--   padding, data   the rest of the burst: padding; not readable
local function take_apart(items, bytes, from)
	local at = from + 1
	while at <= #bytes do
		local what, length, problem = "padding", #bytes - at + 1, nil
		if not is_padding(bytes, at) then
			what, length, problem = what_stands(bytes, at)
		end
		local item = { what = what, from = at - 1, length = length, problem = problem }
		items[#items + 1] = item
		at = at + length
		if what == "bad" and at <= #bytes then
			items[#items + 1] = { what = "data", from = at - 1, length = #bytes - at + 1 }
			return nil
		elseif what == "tail" then
			return item
		end
	end
	return nil
end

-- A payload without segment header: it begins with a frame and ends its last one (or the tail's
-- problem is "truncated"). Returns { items }.
function M.frames(payload)
	local stream = { items = {} }
	local tail = take_apart(stream.items, payload, 0)
	if tail then
		tail.problem = "truncated"
	end
	return stream
end

-- The segment of this number, if the flow remembers it.
local function piece_of(flow, sequence)
	local piece = flow.pieces[sequence % HISTORY]
	local fresh = piece and piece.sequence == sequence and flow.arrivals - piece.arrival <= HISTORY
	return fresh and piece or nil
end

local function next_to(sequence, step)
	return (sequence + step) % SEQUENCES
end

-- Compares a sequence number with the expected one. Sets what is special in `order`: gap,
-- late, duplicate, restart.
local function follow(flow, sequence, order)
	local ahead = (sequence - (flow.expected or sequence)) % SEQUENCES
	if ahead >= SEQUENCES / 2 then
		flow.late_run = flow.late_next == sequence and flow.late_run + 1 or 1
		flow.late_next = next_to(sequence, 1)
		if flow.late_run < RESTART_RUN then
			order.duplicate = piece_of(flow, sequence) ~= nil
			order.late = not order.duplicate
			return
		end
		order.restart, flow.pieces = true, {}
	elseif ahead > 0 then
		order.gap = ahead
	end
	flow.expected = next_to(sequence, 1)
	flow.late_run, flow.late_next = nil, nil
end

-- The segment in which the frame began that is open when the segment `sequence` begins; or nil and
-- whether it is sure that there is none.
local function beginning(flow, sequence)
	for _ = 1, HISTORY do
		sequence = next_to(sequence, -1)
		local piece = piece_of(flow, sequence)
		if not piece then
			return nil, false
		elseif piece.tail then
			return piece
		elseif not piece.middle then
			return nil, true
		end
	end
	return nil, false
end

-- Cuts what follows the end of a frame, or where none is in progress, off the head of a segment
-- without pointer: only padding can stand there.
local function cut_head(item, text, used)
	if used < #text then
		local what = is_padding(text, used + 1) and "padding" or "data"
		item.length = used
		item.rest = { what = what, from = item.from + used, length = #text - used }
		item.rest.problem = what == "data" and "orphan" or nil
	end
end

-- No frame goes through this segment, or not any more.
local function close(piece)
	piece.head, piece.middle = piece.middle or piece.head, nil
end

local function complete(parts, frame)
	local texts, joined = {}, { parts = {} }
	for i, part in ipairs(parts) do
		texts[i] = part.text
		joined.parts[i] = { frame = part.frame, length = #part.text }
		part.item.joined_in = frame
	end
	joined.bytes = table.concat(texts)
	return joined
end

-- What the bytes of a frame so far, `length` of them, and the segment that brought the last ones
-- say: how many of its bytes the segment has too many, or nil; and a problem, or nil.
local function judge(start, length, piece)
	local size, problem = size_of(start, 1)
	if problem or (size and length == size) then
		return size and 0, problem
	elseif piece.middle then
		return size and length > size and length - size or nil
	end
	return nil, "contradiction"
end

-- More than the longest MAC header.
local HEADER_ROOM = 264

-- Joins the frame that begins at the end of the segment `first`, if the segments up to its end are
-- there. Returns { bytes, parts } or nil. `frame` is the packet that brought the last of them.
local function join(flow, first, frame)
	local parts = { { frame = first.frame, item = first.item, text = first.tail } }
	local start, length, sequence = first.tail, #first.tail, first.sequence
	for _ = 1, HISTORY do
		sequence = next_to(sequence, 1)
		local piece = piece_of(flow, sequence)
		if not piece then
			return nil
		end
		local text = piece.middle or piece.head
		length = length + #text
		start = #start < HEADER_ROOM and start .. text or start
		local excess, problem = judge(start, length, piece)
		local used = #text - (excess or 0)
		parts[#parts + 1] = { frame = piece.frame, item = piece.head_item, text = text:sub(1, used) }
		if excess or problem then
			first.tail = nil
			close(piece)
		end
		if problem then
			first.item.lost = true
			piece.head_item.problem = problem
			return nil
		elseif excess then
			cut_head(piece.head_item, text, used)
			return complete(parts, frame)
		end
	end
	return nil
end

-- Leaves the edges of a segment with its flow and joins the frames that it completes.
local function connect(flow, piece, stream)
	flow.arrivals = flow.arrivals + 1
	piece.arrival = flow.arrivals
	flow.pieces[piece.sequence % HISTORY] = piece
	local first, none = beginning(flow, piece.sequence)
	if first then
		stream.ended = join(flow, first, piece.frame)
	elseif none and piece.middle then
		cut_head(piece.head_item, piece.middle, 0)
		close(piece)
	elseif none and #piece.head > 0 then
		piece.head_item.problem = "orphan"
	end
	if piece.tail then
		stream.begun = join(flow, piece, piece.frame)
	end
end

-- The header at the beginning of a segment, whose HCS is right.
local function read_header(payload)
	local a, b, c, d = payload:byte(1, 4)
	return {
		pointer = a >= 128 and (a % 64) * 256 + b or nil,
		sequence = c * 32 + math.floor(d / 8),
		cluster = d % 8,
	}
end

-- A payload that is a segment of a flow; `frame` is the packet that completes it. Returns
--   segment    true: there is a segment header
--   problem    "segment_truncated", "segment_hcs", "pointer_beyond": not used; or nil
--   order      gap (segments missing so far), late, duplicate (not used), restart
--   head       { from, length }, the end of a frame that began in an earlier segment, may be empty;
--              problem: "orphan", "contradiction", or those of frames; rest: what follows that
--              end where no frame begins, an item of padding or data (problem: "orphan")
--   items      as above. Head and tail have joined_in (set when it is known): the packet that
--              completes their frame; a tail has lost: its frame was given up
--   ended      the frame { bytes, parts = { frame, length } } that is complete now and goes into or
--              through this segment, or nil
--   begun      likewise the one that begins here: its end came before
function M.segment(payload, key, frame)
	local stream = { segment = true, items = {}, order = {} }
	if #payload < HEADER then
		stream.problem = "segment_truncated"
		return stream
	end
	local header = read_header(payload)
	local start = HEADER + (header.pointer or #payload - HEADER)
	if not mac.segment_good(payload, 1) then
		stream.problem = "segment_hcs"
	elseif start > #payload then
		stream.problem = "pointer_beyond"
	end
	if stream.problem then
		stream.items[1] = { what = "data", from = HEADER, length = #payload - HEADER }
		return stream
	end
	key = key .. "|" .. header.cluster
	local flow = flows[key] or { pieces = {}, arrivals = 0 }
	flows[key] = flow
	follow(flow, header.sequence, stream.order)
	local head = { what = "head", from = HEADER, length = start - HEADER }
	stream.head = head
	local tail = take_apart(stream.items, payload, start)
	if stream.order.duplicate then
		return stream
	end
	local text = payload:sub(HEADER + 1, start)
	connect(flow, {
		sequence = header.sequence,
		frame = frame,
		head = header.pointer and text,
		middle = not header.pointer and text or nil,
		head_item = head,
		tail = tail and payload:sub(tail.from + 1) or nil,
		item = tail,
	}, stream)
	return stream
end

return M
