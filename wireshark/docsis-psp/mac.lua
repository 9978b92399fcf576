-- SPDX-License-Identifier: BSD-3-Clause
-- Sizes and check sequences of MAC headers and segment headers (MULPI), to find frames in a payload.
-- Positions `at` count from 1, as in Lua strings.

local M = {}

local bits = bit32 or bit
local bxor, band, rshift = bits.bxor, bits.band, bits.rshift

-- CRC-16/X-25, the HCS of MULPI: reflected 0x1021, preset and final inversion 0xFFFF.
local crc_table = {}
for i = 0, 255 do
	local crc = i
	for _ = 1, 8 do
		crc = crc % 2 == 1 and bxor(rshift(crc, 1), 0x8408) or rshift(crc, 1)
	end
	crc_table[i] = crc
end

local function hcs(bytes, from, to)
	local crc = 0xffff
	for i = from, to do
		crc = bxor(rshift(crc, 8), crc_table[band(bxor(crc, bytes:byte(i)), 0xff)])
	end
	return bxor(crc, 0xffff)
end

-- Whether a correct HCS follows the `length` bytes at `at`. It is sent low byte first.
local function hcs_valid(bytes, at, length)
	local low, high = bytes:byte(at + length, at + length + 1)
	return high ~= nil and hcs(bytes, at, at + length - 1) == low + 256 * high
end

M.CONCATENATION = 0xf8
local REQUEST, QUEUE_REQUEST = 0xc4, 0xc8

-- Returns the size of the MAC header at `at` with its HCS; nil when `bytes` ends before MAC_PARM.
function M.header_size(bytes, at)
	local fc, mac_parm = bytes:byte(at, at + 1)
	if not mac_parm then
		return nil
	elseif fc - fc % 2 == QUEUE_REQUEST then
		return 7
	elseif fc - fc % 2 == REQUEST then
		return 6
	end
	return 6 + (fc % 2 == 1 and mac_parm or 0)
end

-- Returns the size of the frame with a complete header at `at`, or nil when LEN is smaller than the
-- extended header. A concatenation header counts as a frame without the frames that follow it.
function M.frame_size(bytes, at)
	local fc, _, high, low = bytes:byte(at, at + 3)
	local header, size = M.header_size(bytes, at), 6 + 256 * high + low
	if fc == M.CONCATENATION or fc - fc % 2 == REQUEST or fc - fc % 2 == QUEUE_REQUEST then
		return header
	end
	return size >= header and size or nil
end

-- Whether a complete MAC header with a correct HCS is at `at`.
function M.header_valid(bytes, at)
	local size = M.header_size(bytes, at)
	return size ~= nil and hcs_valid(bytes, at, size - 2)
end

-- Whether an upstream segment header with a correct HCS is at `at`.
function M.segment_valid(bytes, at)
	return hcs_valid(bytes, at, 6)
end

return M
