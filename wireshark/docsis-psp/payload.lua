-- SPDX-License-Identifier: BSD-3-Clause
-- Payload kinds of a pseudowire: how to recognise each and which Wireshark dissector it goes to.
-- Upstream kinds have a `format` instead (uepi.lua): this plugin dissects their bursts and records.

local mac = ...
if type(mac) ~= "table" then
	-- Wireshark runs every script of a plugin folder. This one only works loaded by docsis-psp.lua.
	return
end

local M = {}

local function is_docsis(bytes)
	return mac.header_valid(bytes, 1)
end

-- DA, SA, length, DSAP 0, SSAP 0, control 3: a MAC management message without MAC header and CRC.
local function is_management(bytes, is_whole)
	if #bytes < 20 then
		return false
	end
	local high, low, dsap, ssap, control = bytes:byte(13, 17)
	local length = 14 + 256 * high + low
	local fits = length == #bytes or (not is_whole and length > #bytes)
	return dsap == 0 and ssap == 0 and control == 3 and fits
end

M.kinds = {
	docsis = { matches = is_docsis, dissector = "docsis" },
	mgmt = { matches = is_management, dissector = "docsis_mgmt" },
	data = { matches = function() return false end, dissector = "data" },
	["uepi-sc-qam"] = { format = "sc_qam" },
	["uepi-ofdma"] = { format = "ofdma" },
	["req-sc-qam"] = { format = "sc_qam", records = true },
	["req-ofdma"] = { format = "ofdma", records = true },
}

-- Pseudowire subtypes of R-DEPI and R-UEPI. `extra`: bytes after the segment table by default.
M.subtypes = {
	[1] = { name = "MPT legacy" },
	[2] = { name = "PSP legacy", kind = "docsis", extra = 0 },
	[3] = { name = "MCM", kind = "data", extra = 0 },
	[4] = { name = "PSP DEPI", kind = "docsis", extra = 2 },
	[6] = { name = "UEPI SC-QAM data", kind = "uepi-sc-qam", extra = 0 },
	[7] = { name = "UEPI OFDMA data", kind = "uepi-ofdma", extra = 0 },
	[8] = { name = "BW-REQ SC-QAM", kind = "req-sc-qam", extra = 0 },
	[9] = { name = "BW-REQ OFDMA", kind = "req-ofdma", extra = 0 },
	[10] = { name = "Probe", kind = "data", extra = 0 },
	[11] = { name = "RNG-REQ SC-QAM", kind = "uepi-sc-qam", extra = 0 },
	[12] = { name = "RNG-REQ OFDMA", kind = "uepi-ofdma", extra = 0 },
	[13] = { name = "MAP SC-QAM", kind = "mgmt", extra = 0 },
	[14] = { name = "MAP OFDMA", kind = "mgmt", extra = 0 },
	[15] = { name = "SpecMan", kind = "data", extra = 0 },
	[16] = { name = "PNM", kind = "data", extra = 0 },
}

-- Returns the kind of the frame that begins with `bytes`, or nil. `is_whole`: it ends there too.
function M.recognise(bytes, is_whole)
	for _, name in ipairs({ "docsis", "mgmt" }) do
		if M.kinds[name].matches(bytes, is_whole) then
			return name
		end
	end
	return nil
end

-- Passes a whole frame to its dissector. Wireshark marks a malformed frame before the call raises
-- an error, so the error is ignored.
function M.dissect(kind, tvb, pinfo, tree)
	pcall(Dissector.call, Dissector.get(M.kinds[kind].dissector), tvb, pinfo, tree)
end

return M
