-- SPDX-License-Identifier: BSD-3-Clause
-- Fields for filters and expert information of the upstream.

local proto = ...
if type(proto) ~= "userdata" then
	-- Wireshark runs every script of a plugin folder. This one only works loaded by docsis-psp.lua.
	return
end

local f, fields = {}, {}

-- Registers the field docsis_uepi.GROUP.NAME as f[GROUP .. "_" .. NAME].
local function field(kind, group, name, text, ...)
	local new = ProtoField[kind]("docsis_uepi." .. group .. "." .. name, text, ...)
	f[group .. "_" .. name:gsub("%.", "_")] = new
	fields[#fields + 1] = new
end

local function group_field(group, text)
	f[group] = ProtoField.none("docsis_uepi." .. group, text)
	fields[#fields + 1] = f[group]
end

local IUCS = {
	[1] = "Request", [2] = "Request/Data", [3] = "Initial ranging", [4] = "Station ranging",
	[5] = "Data grant", [6] = "Data grant", [9] = "Data grant", [10] = "Data grant",
	[11] = "Data grant", [12] = "Data grant", [13] = "Data grant",
}
local HCS = { [0] = "Bad", [1] = "Good" }

group_field("header", "Header")
field("uint8", "header", "version", "Version", base.DEC, nil, 0xc0)
field("bool", "header", "no_burst", "No burst", 8, nil, 0x20)
field("bool", "header", "segment_header", "Segment header", 8, nil, 0x10)
field("uint8", "header", "iuc", "IUC", base.DEC, IUCS)
field("uint16", "header", "sid", "SID", base.HEX, nil, 0x3fff)
field("uint32", "header", "start_minislot", "Start minislot")
field("uint32", "header", "burst_id", "Burst ID")
field("uint32", "header", "grant_size", "Grant size in bytes")

group_field("trailer", "Trailer")
field("uint16", "trailer", "version", "Version", base.DEC, nil, 0xc000)
field("bool", "trailer", "ranging_required", "Ranging required", 16, nil, 0x1000)
field("bool", "trailer", "snr_low", "Long-term SNR low", 16, nil, 0x0800)
field("bool", "trailer", "phy_error", "Internal PHY error", 16, nil, 0x0400)
field("bool", "trailer", "high_energy", "High energy", 16, nil, 0x0200)
field("bool", "trailer", "low_energy", "Low energy", 16, nil, 0x0100)
field("bool", "trailer", "power_valid", "Power valid", 16, nil, 0x0020)
field("bool", "trailer", "timing_valid", "Timing offset valid", 16, nil, 0x0010)
field("bool", "trailer", "fec_valid", "Codeword counts valid", 16, nil, 0x0008)
field("bool", "trailer", "snr_valid", "SNR or MER valid", 16, nil, 0x0004)
field("bool", "trailer", "equaliser_valid", "Equaliser data valid", 16, nil, 0x0002)
field("bool", "trailer", "vendor_present", "Vendor field present", 16, nil, 0x0001)
field("uint16", "trailer", "good", "Good codewords")
field("uint16", "trailer", "corrected", "Corrected codewords")
field("uint16", "trailer", "uncorrectable", "Uncorrectable codewords")
field("uint16", "trailer", "snr", "Burst SNR (raw)")
field("uint16", "trailer", "mer", "MER in 0.25 dB")
field("uint32", "trailer", "burst_id", "Burst ID")
field("int16", "trailer", "power", "Power in 0.1 dB")
field("int32", "trailer", "timing", "Timing offset in 1/204.8 MHz")
group_field("trailer.equaliser", "Equaliser")
field("uint16", "trailer", "equaliser.power", "Power (raw)")
field("uint16", "trailer", "equaliser.frequency_error", "Frequency error (raw)")
field("uint32", "trailer", "equaliser.timing_error", "Timing error (raw)")
field("uint32", "trailer", "equaliser.coefficient", "Coefficient", base.HEX)
field("uint24", "trailer", "vendor.id", "Vendor ID", base.HEX)
field("uint8", "trailer", "vendor.length", "Vendor field length")
field("bytes", "trailer", "vendor.data", "Vendor data")

group_field("request", "Bandwidth request record")
field("uint8", "request", "version", "Version", base.DEC, nil, 0xc0)
field("uint8", "request", "sid_cluster", "SID cluster", base.DEC, nil, 0x38)
field("bool", "request", "sid_cluster_valid", "SID cluster valid", 8, nil, 0x04)
field("bool", "request", "n_bytes", "Size in N-byte units", 8, nil, 0x02)
field("bool", "request", "piggyback", "Piggyback", 8, nil, 0x01)
field("uint8", "request", "iuc", "IUC", base.DEC, IUCS)
field("uint16", "request", "size", "Request size")
field("uint16", "request", "scheduled_sid", "Scheduled SID", base.HEX, nil, 0x3fff)
field("uint16", "request", "sid", "Embedded SID", base.HEX, nil, 0x3fff)
field("uint32", "request", "start_minislot", "Start minislot")
field("uint32", "request", "session", "Session of the data pseudowire", base.HEX)

group_field("segment", "Segment header")
field("bool", "segment", "pointer_valid", "A MAC header starts in this segment", 16, nil, 0x8000)
field("uint16", "segment", "pointer", "Pointer", base.DEC, nil, 0x3fff)
field("uint16", "segment", "sequence", "Sequence number", base.DEC, nil, 0xfff8)
field("uint16", "segment", "sid_cluster", "SID cluster", base.DEC, nil, 0x0007)
field("uint16", "segment", "request", "Request in N-byte units")
field("uint16", "segment", "hcs", "Header check sequence", base.HEX)
field("uint8", "segment", "hcs.status", "HCS status", base.DEC, HCS)
field("uint16", "segment", "gap", "Segments missing before this one")

group_field("payload", "Payload")
field("bytes", "payload", "frame", "Frame")
field("bytes", "payload", "begin", "Beginning of a frame")
field("bytes", "payload", "continued", "Continues a frame")
field("bytes", "payload", "padding", "Padding")
field("bytes", "payload", "data", "Not readable")
field("framenum", "payload", "joined_in", "Frame complete in")
group_field("concatenation", "Concatenation header")
field("uint8", "concatenation", "count", "Frames")
field("uint16", "concatenation", "length", "Length of the frames")
field("framenum", "joined", "part", "Part in")
field("uint32", "joined", "length", "Length of the frame")
proto.fields = fields

local e, experts = {}, {}

local function add_expert(name, text, group, severity)
	e[name] = ProtoExpert.new("docsis_uepi.expert." .. name, text, expert.group[group],
		expert.severity[severity])
	experts[#experts + 1] = e[name]
end

add_expert("header", "Header of a wrong length", "MALFORMED", "ERROR")
add_expert("trailer", "Trailer of a wrong length", "MALFORMED", "ERROR")
add_expert("odd_trailer", "Trailer of odd length: eight bytes are read", "MALFORMED", "WARN")
add_expert("record", "Request record of a wrong length", "MALFORMED", "ERROR")
add_expert("version", "Unknown version", "PROTOCOL", "ERROR")
add_expert("one_segment", "Header and trailer in one segment", "MALFORMED", "ERROR")
add_expert("not_one_segment", "Request record in more than one segment", "MALFORMED", "ERROR")
add_expert("burst_id", "Header and trailer have different burst IDs", "PROTOCOL", "ERROR")
add_expert("grant", "More bytes than the grant can carry", "PROTOCOL", "WARN")
add_expert("no_burst", "Payload in a unit without burst", "PROTOCOL", "WARN")
add_expert("no_payload", "No payload, and the header does not say why", "PROTOCOL", "NOTE")
add_expert("fec", "Uncorrectable codewords", "PROTOCOL", "NOTE")
add_expert("segment_truncated", "Shorter than a segment header", "MALFORMED", "ERROR")
add_expert("segment_hcs", "Segment header with a wrong HCS", "CHECKSUM", "ERROR")
add_expert("pointer_beyond", "The pointer points beyond the segment", "MALFORMED", "ERROR")
add_expert("gap", "Segments missing so far", "SEQUENCE", "NOTE")
add_expert("late", "Overtaken segment", "SEQUENCE", "NOTE")
add_expert("duplicate", "Duplicate segment", "SEQUENCE", "WARN")
add_expert("restart", "Sequence numbers of segments restarted", "SEQUENCE", "NOTE")
add_expert("contradiction", "The frame in progress does not end here", "REASSEMBLE", "WARN")
add_expert("orphan", "No frame is in progress here", "REASSEMBLE", "WARN")
add_expert("lost", "The next segment ends this frame elsewhere", "REASSEMBLE", "WARN")
add_expert("truncated", "The burst ends before its frame", "REASSEMBLE", "WARN")
add_expert("frame_hcs", "MAC header with a wrong HCS", "CHECKSUM", "ERROR")
add_expert("frame_length", "MAC header longer than its frame", "MALFORMED", "ERROR")
proto.experts = experts

return { fields = f, experts = e }
