-- SPDX-License-Identifier: BSD-3-Clause
-- Finds the MAC frames of upstream bursts. Frames that span segments (continuous concatenation and
-- fragmentation, MULPI) are joined per service flow and SID cluster. It runs once per burst, in
-- capture order; the result is stored with the burst.
--
-- Segments of different channels may be captured out of order. Each segment stores the parts of
-- frames at its begin and end; the segment that completes a frame joins the parts.

local mac = ...
if type(mac) ~= "table" then
	-- Wireshark runs every script of a plugin folder. This one only works loaded by docsis-psp.lua.
	return
end

local M = {}

local HEADER = 8
local SEQUENCES = 8192
-- Segments stored per flow, by sequence number modulo HISTORY. Older ones are overwritten.
local HISTORY = 256
-- So many consecutive late segments with consecutive numbers mean that the modem restarted.
local RESTART_RUN = 8

local flows = {}

function M.reset()
	flows = {}
end

local function is_padding(bytes, at)
	return bytes:byte(at) == 0xff or bytes:sub(at, at + 5) == ("\0"):rep(6)
end

-- Returns the size of the frame with its header at `at`, or nil and a problem. Returns nil alone
-- when the header is incomplete.
local function checked_size(bytes, at)
	local header = mac.header_size(bytes, at)
	if not header or at + header - 1 > #bytes then
		return nil
	elseif not mac.header_valid(bytes, at) then
		return nil, "frame_hcs"
	end
	local size = mac.frame_size(bytes, at)
	return size, not size and "frame_length" or nil
end

-- Returns kind, length and problem of the item (see split_frames) at `at`.
local function classify(bytes, at)
	local left = #bytes - at + 1
	local size, problem = checked_size(bytes, at)
	if problem then
		return "bad", math.min(6 + 256 * bytes:byte(at + 2) + bytes:byte(at + 3), left), problem
	elseif not size or size > left then
		return "tail", left
	end
	return bytes:byte(at) == mac.CONCATENATION and "concatenation" or "frame", size
end

-- Splits `bytes` from offset `from` on into frames. Appends items { kind, from, length, problem },
-- and returns the last one if it is a tail. Kinds:
--   frame           a whole frame
--   concatenation   a concatenation header
--   tail            a frame that does not end here
--   bad             a header with a problem ("frame_hcs", "frame_length"), and the bytes that its
--                   LEN counts
--   padding, data   the rest of the burst: padding; not readable
local function split_frames(items, bytes, from)
	local at = from + 1
	while at <= #bytes do
		local kind, length, problem = "padding", #bytes - at + 1, nil
		if not is_padding(bytes, at) then
			kind, length, problem = classify(bytes, at)
		end
		local item = { kind = kind, from = at - 1, length = length, problem = problem }
		items[#items + 1] = item
		at = at + length
		if kind == "bad" and at <= #bytes then
			items[#items + 1] = { kind = "data", from = at - 1, length = #bytes - at + 1 }
			return nil
		elseif kind == "tail" then
			return item
		end
	end
	return nil
end

-- Parses a payload without segment header, which has whole frames only. A tail has the problem
-- "truncated". Returns { items }.
function M.frames(payload)
	local stream = { items = {} }
	local tail = split_frames(stream.items, payload, 0)
	if tail then
		tail.problem = "truncated"
	end
	return stream
end

-- Returns the stored segment with this sequence number, or nil.
local function find_segment(flow, sequence)
	local segment = flow.segments[sequence % HISTORY]
	local same = segment and segment.sequence == sequence
	return same and flow.arrivals - segment.arrival <= HISTORY and segment or nil
end

local function sequence_add(sequence, step)
	return (sequence + step) % SEQUENCES
end

-- Compares a sequence number with the expected one. Sets in `order`: gap (number of missing
-- segments), late, duplicate, restart.
local function track_sequence(flow, sequence, order)
	local ahead = (sequence - (flow.expected or sequence)) % SEQUENCES
	if ahead >= SEQUENCES / 2 then
		flow.late_run = flow.late_next == sequence and flow.late_run + 1 or 1
		flow.late_next = sequence_add(sequence, 1)
		if flow.late_run < RESTART_RUN then
			order.duplicate = find_segment(flow, sequence) ~= nil
			order.late = not order.duplicate
			return
		end
		order.restart, flow.segments = true, {}
	elseif ahead > 0 then
		order.gap = ahead
	end
	flow.expected = sequence_add(sequence, 1)
	flow.late_run, flow.late_next = nil, nil
end

-- Returns the segment that began the frame which is open at the begin of segment `sequence`. Or nil
-- and whether it is certain that no frame is open.
local function find_begin(flow, sequence)
	for _ = 1, HISTORY do
		sequence = sequence_add(sequence, -1)
		local segment = find_segment(flow, sequence)
		if not segment then
			return nil, false
		elseif segment.tail then
			return segment
		elseif not segment.middle then
			return nil, true
		end
	end
	return nil, false
end

-- Limits the head of a segment without pointer to the `used` bytes of the open frame. The rest,
-- which can only be padding, becomes the item `after`.
local function trim_head(item, text, used)
	if used < #text then
		local kind = is_padding(text, used + 1) and "padding" or "data"
		item.length = used
		item.after = { kind = kind, from = item.from + used, length = #text - used }
		item.after.problem = kind == "data" and "orphan" or nil
	end
end

-- Marks that no frame continues through this segment into the next one.
local function end_middle(segment)
	segment.head, segment.middle = segment.middle or segment.head, nil
end

local function build_joined(parts, frame)
	local texts, joined = {}, { parts = {} }
	for i, part in ipairs(parts) do
		texts[i] = part.text
		joined.parts[i] = { frame = part.frame, length = #part.text }
		part.item.joined_in = frame
	end
	joined.bytes = table.concat(texts)
	return joined
end

-- Compares the size of a frame with the `length` bytes received so far, the last of them in
-- `segment`. `start` has at least the MAC header. Returns how many bytes follow the frame in the
-- segment, or nil when the frame is incomplete; and a problem or nil.
local function check_length(start, length, segment)
	local size, problem = checked_size(start, 1)
	if problem or (size and length == size) then
		return size and 0, problem
	elseif segment.middle then
		return size and length > size and length - size or nil
	end
	return nil, "contradiction"
end

-- More than the longest MAC header.
local HEADER_MAX = 264

-- Joins the frame that begins at the end of segment `first`, if all segments up to its end were
-- received. Returns { bytes, parts } or nil. `frame` is the number of the packet that completes it.
local function join_frame(flow, first, frame)
	local parts = { { frame = first.frame, item = first.item, text = first.tail } }
	local start, length, sequence = first.tail, #first.tail, first.sequence
	for _ = 1, HISTORY do
		sequence = sequence_add(sequence, 1)
		local segment = find_segment(flow, sequence)
		if not segment then
			return nil
		end
		local text = segment.middle or segment.head
		length = length + #text
		start = #start < HEADER_MAX and start .. text or start
		local excess, problem = check_length(start, length, segment)
		local used = #text - (excess or 0)
		local part = { frame = segment.frame, item = segment.head_item, text = text:sub(1, used) }
		parts[#parts + 1] = part
		if excess or problem then
			first.tail = nil
			end_middle(segment)
		end
		if problem then
			first.item.lost = true
			segment.head_item.problem = problem
			return nil
		elseif excess then
			trim_head(segment.head_item, text, used)
			return build_joined(parts, frame)
		end
	end
	return nil
end

-- Stores a segment in its flow and joins the frames that it completes.
local function add_segment(flow, segment, stream)
	flow.arrivals = flow.arrivals + 1
	segment.arrival = flow.arrivals
	flow.segments[segment.sequence % HISTORY] = segment
	local first, no_open_frame = find_begin(flow, segment.sequence)
	if first then
		stream.joined_head = join_frame(flow, first, segment.frame)
	elseif no_open_frame and segment.middle then
		trim_head(segment.head_item, segment.middle, 0)
		end_middle(segment)
	elseif no_open_frame and #segment.head > 0 then
		segment.head_item.problem = "orphan"
	end
	if segment.tail then
		stream.joined_tail = join_frame(flow, segment, segment.frame)
	end
end

-- Parses a segment header whose HCS is correct.
local function read_header(payload)
	local a, b, c, d = payload:byte(1, 4)
	return {
		pointer = a >= 128 and (a % 64) * 256 + b or nil,
		sequence = c * 32 + math.floor(d / 8),
		cluster = d % 8,
	}
end

-- Parses a payload that is a segment of flow `key`; packet number `frame` completes it. Returns
--   segment      true: it begins with a segment header
--   problem      why the segment is not used: "segment_truncated", "segment_hcs", "pointer_beyond"
--   order        gap (segments missing so far), late, duplicate (not used), restart
--   head         { from, length }: the end of a frame of an earlier segment, may be empty; problem:
--                "orphan", "contradiction", or one of a frame; after: an item of padding or data
--                (problem: "orphan") behind that end, in a segment without pointer
--   items        see split_frames. Head and tail have joined_in (set later): the packet that
--                completes their frame. A tail has lost: its frame was dropped
--   joined_head  the frame { bytes, parts = { frame, length } } that is complete now and has its
--                end or middle in this segment; or nil
--   joined_tail  likewise the frame that begins here, if its end was received before
function M.segment(payload, key, frame)
	local stream = { segment = true, items = {}, order = {} }
	if #payload < HEADER then
		stream.problem = "segment_truncated"
		return stream
	end
	local header = read_header(payload)
	local start = HEADER + (header.pointer or #payload - HEADER)
	if not mac.segment_valid(payload, 1) then
		stream.problem = "segment_hcs"
	elseif start > #payload then
		stream.problem = "pointer_beyond"
	end
	if stream.problem then
		stream.items[1] = { kind = "data", from = HEADER, length = #payload - HEADER }
		return stream
	end
	key = key .. "|" .. header.cluster
	local flow = flows[key] or { segments = {}, arrivals = 0 }
	flows[key] = flow
	track_sequence(flow, header.sequence, stream.order)
	local head = { kind = "head", from = HEADER, length = start - HEADER }
	stream.head = head
	local tail = split_frames(stream.items, payload, start)
	if stream.order.duplicate then
		return stream
	end
	local text = payload:sub(HEADER + 1, start)
	add_segment(flow, {
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
