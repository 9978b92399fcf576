-- SPDX-License-Identifier: BSD-3-Clause
-- Sequence check and reassembly of a stream: the packets of one session (and flow) in one direction.
-- It runs once per packet, in capture order. The result is stored with the packet, so that later
-- passes show the same. As in an R-DEPI receiver, a gap drops the open frame. An upstream burst is
-- treated as a frame.

local M = {}

-- Longer frames and bursts are dropped. LEN has 16 bits, so a MAC frame has at most 65535 + 6
-- bytes. A burst has at most 65535 bytes of payload, 16 of header and 371 of trailer.
local MAX_LENGTH = 65535 + 16 + 371

local streams = {}

function M.reset()
	streams = {}
end

-- Returns the stream of a key. `at_start`: no frame has begun since the begin of the capture.
function M.stream(key)
	local stream = streams[key]
	if not stream then
		stream = { at_start = true }
		streams[key] = stream
	end
	return stream
end

-- Drops the open frame. `reason` is shown at each of its fragments.
local function abandon(stream, reason)
	for _, part in ipairs(stream.open and stream.open.parts or {}) do
		part.segment.lost = reason
	end
	stream.open = nil
end

-- Drops the open frame, if any. The fragments up to the next begin of a frame are then skipped.
local function interrupt(stream, reason)
	stream.skipping = "no_begin"
	if stream.open then
		stream.interrupted = stream.open.parts[1].frame
		stream.skipping = "lost_middle"
		abandon(stream, reason)
	end
end

-- So many consecutive late packets with consecutive numbers mean that the sender restarted.
local RESTART_RUN = 8

local function is_restart(stream, seq)
	stream.late_run = stream.late_next == seq and stream.late_run + 1 or 1
	stream.late_next = (seq + 1) % 65536
	return stream.late_run >= RESTART_RUN
end

-- Compares a sequence number with the expected one. Returns the number of missing packets and nil;
-- or 0 and "late" for a duplicate or overtaken packet; or 0 and "restart".
function M.sequence(stream, seq)
	local missing = (seq - (stream.expected or seq)) % 65536
	local order
	if missing >= 32768 then
		if not is_restart(stream, seq) then
			return 0, "late"
		end
		missing, order = 0, "restart"
	end
	if missing > 0 or order then
		interrupt(stream, "lost")
	end
	stream.expected = (seq + 1) % 65536
	stream.late_run, stream.late_next = nil, nil
	return missing, order
end

-- Drops the open frame because of a truncated packet or a segment beyond the packet.
function M.discard(stream)
	interrupt(stream, "broken")
	stream.at_start = nil
end

local function complete(stream, segment, frame)
	local open = stream.open
	local bytes = {}
	for i, part in ipairs(open.parts) do
		bytes[i] = part.bytes
		part.bytes = nil
		if part.segment ~= segment then
			part.segment.reassembled_in = frame
		end
	end
	segment.bytes = table.concat(bytes)
	segment.parts = open.parts
	stream.open = nil
end

local function append(stream, segment, bytes, frame)
	local open = stream.open
	open.length = open.length + #bytes
	if open.length > MAX_LENGTH then
		segment.problem = "too_long"
		abandon(stream, "too long")
		stream.skipping = "too_long"
		return
	end
	open.parts[#open.parts + 1] = { segment = segment, bytes = bytes, length = #bytes, frame = frame }
	if segment.last then
		complete(stream, segment, frame)
	end
end

local function begin(stream, segment, bytes, frame)
	local unfinished = stream.open and stream.open.parts[1].frame or stream.interrupted
	if unfinished then
		segment.problem, segment.begun_in = "no_end", unfinished
		abandon(stream, "no end")
	end
	stream.skipping, stream.interrupted = nil, nil
	if not segment.last then
		stream.open = { parts = {}, length = 0 }
		append(stream, segment, bytes, frame)
	end
end

-- Adds the next segment { first, last } of a stream with its bytes. Sets in the segment:
--   problem         nil, or "no_begin", "before_capture", "lost_middle", "no_end", "too_long"
--   begun_in        with lost_middle and no_end: the packet in which the unfinished frame began
--   bytes, parts    the whole frame and its fragments, when this segment completes it
--   reassembled_in  (set later) the packet that completes the frame
--   lost            (set later) why the frame of this fragment was dropped
function M.add(stream, segment, bytes, frame)
	if segment.first then
		begin(stream, segment, bytes, frame)
		stream.at_start = nil
	elseif stream.open then
		append(stream, segment, bytes, frame)
	else
		segment.problem = stream.skipping or (stream.at_start and "before_capture") or "no_begin"
		segment.begun_in, stream.interrupted = stream.interrupted, nil
		if segment.last then
			stream.skipping, stream.at_start = nil, nil
		end
	end
end

return M
