-- SPDX-License-Identifier: BSD-3-Clause
-- What the segments of a pseudowire hold, one entry a kind: how to recognise it, and who dissects
-- it. A new kind (the UEPI bursts of the upstream) is one more entry in `kinds` and its subtypes
-- below.

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

local function hcs(bytes, length)
	local crc = 0xffff
	for i = 1, length do
		crc = bxor(rshift(crc, 8), crc_table[band(bxor(crc, bytes:byte(i)), 0xff)])
	end
	return bxor(crc, 0xffff)
end

-- Bytes before the HCS: FC, MAC_PARM, LEN and the extended header; a queue-depth request has 5.
local function header_length(bytes)
	local fc, mac_parm = bytes:byte(1, 2)
	if fc == 0xc8 then
		return 5
	end
	return 4 + (fc % 2 == 1 and mac_parm or 0)
end

local function is_docsis(bytes)
	if #bytes < 6 then
		return false
	end
	local length = header_length(bytes)
	if #bytes < length + 2 then
		return false
	end
	local low, high = bytes:byte(length + 1, length + 2)
	return hcs(bytes, length) == low + 256 * high
end

-- DA, SA, length, DSAP 0, SSAP 0, control 3: a MAC management message without MAC header and CRC.
local function is_management(bytes, whole)
	if #bytes < 20 then
		return false
	end
	local high, low, dsap, ssap, control = bytes:byte(13, 17)
	local length = 14 + 256 * high + low
	local fits = length == #bytes or (not whole and length > #bytes)
	return dsap == 0 and ssap == 0 and control == 3 and fits
end

M.kinds = {
	docsis = { matches = is_docsis, dissector = "docsis", text = "DOCSIS frame" },
	mgmt = { matches = is_management, dissector = "docsis_mgmt", text = "MAC management message" },
	data = { matches = function() return false end, dissector = "data", text = "Data" },
}

-- Pseudowire subtypes of R-DEPI and R-UEPI; `extra` is what follows the segment table by default.
M.subtypes = {
	[1] = { name = "MPT legacy" },
	[2] = { name = "PSP legacy", kind = "docsis", extra = 0 },
	[3] = { name = "MCM", kind = "data", extra = 0 },
	[4] = { name = "PSP DEPI", kind = "docsis", extra = 2 },
	[6] = { name = "UEPI SC-QAM data", kind = "data", extra = 0 },
	[7] = { name = "UEPI OFDMA data", kind = "data", extra = 0 },
	[8] = { name = "BW-REQ SC-QAM", kind = "data", extra = 0 },
	[9] = { name = "BW-REQ OFDMA", kind = "data", extra = 0 },
	[10] = { name = "Probe", kind = "data", extra = 0 },
	[11] = { name = "RNG-REQ SC-QAM", kind = "data", extra = 0 },
	[12] = { name = "RNG-REQ OFDMA", kind = "data", extra = 0 },
	[13] = { name = "MAP SC-QAM", kind = "mgmt", extra = 0 },
	[14] = { name = "MAP OFDMA", kind = "mgmt", extra = 0 },
	[15] = { name = "SpecMan", kind = "data", extra = 0 },
	[16] = { name = "PNM", kind = "data", extra = 0 },
}

-- The kind whose beginning these bytes are, or nil. `whole`: the bytes are a whole frame.
function M.recognise(bytes, whole)
	for _, name in ipairs({ "docsis", "mgmt" }) do
		if M.kinds[name].matches(bytes, whole) then
			return name
		end
	end
	return nil
end

-- Hands a whole frame to its dissector. A malformed one is marked in the tree by Wireshark itself
-- before the call raises an error, so nothing is left to do with that error here.
function M.dissect(kind, tvb, pinfo, tree)
	pcall(Dissector.call, Dissector.get(M.kinds[kind].dissector), tvb, pinfo, tree)
end

return M
