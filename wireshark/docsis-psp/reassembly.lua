-- SPDX-License-Identifier: BSD-3-Clause
-- Sequence check and reassembly of a stream: the packets of one session (and flow) in one
-- direction. It runs once a packet, in capture order; what it finds is kept with the packet, so
-- that later passes and random access show the same. The receiver's rule of R-DEPI holds: a gap
-- drops the open frame. The bursts of the upstream are frames here.

local M = {}

-- LEN is 16 bits, so no MAC frame is longer than 65535 + 6; nor is the payload of an upstream burst
-- longer than 65535, between header (16) and trailer (371). Beyond this the frame or burst is given
-- up, whatever the bytes say.
local LONGEST = 65535 + 16 + 371

local streams = {}

function M.reset()
	streams = {}
end

function M.stream(key)
	local stream = streams[key]
	if not stream then
		stream = { fresh = true }
		streams[key] = stream
	end
	return stream
end

-- Gives the open frame up: `why` is shown at each of its fragments.
local function abandon(stream, why)
	for _, part in ipairs(stream.open and stream.open.parts or {}) do
		part.segment.lost = why
	end
	stream.open = nil
end

-- Ends the frame that is open, if any. Continuations that follow belong to it, or to no known
-- frame.
local function interrupt(stream, why)
	stream.skipping = "no_begin"
	if stream.open then
		stream.interrupted = stream.open.parts[1].frame
		stream.skipping = "lost_middle"
		abandon(stream, why)
	end
end

-- So many late packets in a row, each one number after the other, are a sender that began anew.
local RESTART_RUN = 8

local function restarted(stream, seq)
	stream.late_run = stream.late_next == seq and stream.late_run + 1 or 1
	stream.late_next = (seq + 1) % 65536
	return stream.late_run >= RESTART_RUN
end

-- Compares a sequence number with the expected one. Returns how many packets are missing (0: none)
-- and nil; or 0 and "late" for a duplicate or a packet that others overtook; or 0 and "restart".
function M.sequence(stream, seq)
	local missing = (seq - (stream.expected or seq)) % 65536
	local order
	if missing >= 32768 then
		if not restarted(stream, seq) then
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

-- A packet whose segments cannot be trusted ends the frame that is open.
function M.broken(stream)
	interrupt(stream, "broken")
	stream.fresh = nil
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
	if open.length > LONGEST then
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

-- Takes the next segment {first, last} of a stream and its bytes. Sets in the segment:
--   problem         nil, or "no_begin", "before_capture", "lost_middle", "no_end", "too_long"
--   begun_in        with lost_middle and no_end: the packet in which the unfinished frame began
--   bytes, parts    the whole frame, and where it came from, when this segment completes one
--   reassembled_in  (set later, when it is known) the packet that completes the frame
--   lost            (set later) why the frame of this fragment was never completed
function M.add(stream, segment, bytes, frame)
	if segment.first then
		begin(stream, segment, bytes, frame)
		stream.fresh = nil
	elseif stream.open then
		append(stream, segment, bytes, frame)
	else
		segment.problem = stream.skipping or (stream.fresh and "before_capture") or "no_begin"
		segment.begun_in, stream.interrupted = stream.interrupted, nil
		if segment.last then
			stream.skipping, stream.fresh = nil, nil
		end
	end
end

return M
