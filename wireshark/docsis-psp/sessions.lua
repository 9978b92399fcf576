-- SPDX-License-Identifier: BSD-3-Clause
-- Parameters of each L2TPv3 session: from the preference, from control messages (RFC 3931 and the
-- AVPs of R-DEPI), or detected from the data packets.

local payload, uepi = ...

local M = {}

local PW_PSP = 13
local CABLELABS = 4491

-- From the preference: { [id or "*"] = { off, extra (0, 2 or nil), kind, subtype } }.
local configured = {}
-- From control messages, lists in capture order: negotiated["destination|id"],
-- negotiated_by_id[id].
local negotiated, negotiated_by_id = {}, {}
-- From data packets: detected["destination|id"] = { extra, kind }.
local detected = {}
local addresses, address_numbers = {}, {}

function M.reset()
	negotiated, negotiated_by_id, detected = {}, {}, {}
	addresses, address_numbers = {}, {}
end

-- Returns a number for an address, for use in keys. The text of an address may change while a
-- capture is open (name resolution), so an unknown text is compared with the known addresses.
function M.address(address)
	local text = tostring(address)
	if not address_numbers[text] then
		local found
		for i, known in ipairs(addresses) do
			found = found or (known == address and i)
		end
		addresses[#addresses + (found and 0 or 1)] = address
		address_numbers[text] = found or #addresses
	end
	return address_numbers[text]
end

local function is_multicast(address)
	local text = tostring(address)
	local first = tonumber(text:match("^(%d+)%.%d+%.%d+%.%d+$"))
	return (first and first >= 224 and first < 240) or text:lower():match("^ff%x%x:") ~= nil
end

-- Parses a SETTING of the preference `psp.sessions`. Returns nil when it is invalid.
local function parse_setting(text)
	if text == "off" then
		return { off = true }
	end
	local extra, content = text:match("^(%w+):?([%w-]*)$")
	if extra ~= "auto" and extra ~= "0" and extra ~= "2" then
		return nil
	end
	local number = tonumber(content:match("^%d+$"))
	local subtype = payload.subtypes[number]
	local kind = subtype and subtype.kind or (payload.kinds[content] and content)
	if content ~= "" and not kind then
		return nil
	end
	return { extra = tonumber(extra), kind = kind or nil, subtype = subtype and number }
end

-- Applies the preference "ID=SETTING,...". Returns the invalid entries, which are ignored.
function M.configure(text)
	local invalid = {}
	configured = {}
	for entry in text:gmatch("[^,;%s]+") do
		local id, value = entry:match("^([^=]+)=(.+)$")
		local key = id == "*" and "*" or tonumber(id or "")
		local parsed = value and parse_setting(value)
		if key and parsed then
			configured[key] = parsed
		else
			invalid[#invalid + 1] = entry
		end
	end
	return invalid
end

local function number(bytes, position, length)
	local value = 0
	for i = position, position + length - 1 do
		value = value * 256 + bytes:byte(i)
	end
	return value
end

-- Returns the AVPs of a control message that are not hidden: { ["vendor/type"] = { position, length
-- } of the value }.
local function read_avps(bytes, from, to)
	local avps = {}
	while from + 5 <= to do
		local head = number(bytes, from, 2)
		local length, hidden = head % 1024, math.floor(head / 0x4000) % 2 == 1
		if length < 6 or from + length - 1 > to then
			break
		end
		if not hidden then
			local name = number(bytes, from + 2, 2) .. "/" .. number(bytes, from + 4, 2)
			avps[name] = { position = from + 6, length = length - 6 }
		end
		from = from + length
	end
	return avps
end

local function value(bytes, avps, name, length)
	local avp = avps[name]
	return avp and avp.length >= length and number(bytes, avp.position, length) or nil
end

local function latest(list, frame)
	for i = list and #list or 0, 1, -1 do
		if list[i].frame <= frame then
			return list[i]
		end
	end
	return nil
end

-- Ignores messages of later passes, which were added on the first one.
local function append_newer(table_of_lists, key, agreed)
	local list = table_of_lists[key] or {}
	table_of_lists[key] = list
	if #list == 0 or list[#list].frame < agreed.frame then
		list[#list + 1] = agreed
	end
end

local function has_depi_avp(avps)
	for name in pairs(avps) do
		if name:find("^" .. CABLELABS .. "/") then
			return true
		end
	end
	return false
end

local CONNECTION_REQUEST, INCOMING_CALL_REQUEST, INCOMING_CALL_REPLY = 1, 10, 11

-- Reads session parameters from a control message (`bytes` begin at its flags). The receiver of a
-- session's packets assigns the session ID, so the key is the sender of the message and its local
-- session ID. Returns false when the message opens a control connection without DEPI, else true.
function M.learn(bytes, source, destination, frame)
	if #bytes < 20 or number(bytes, 1, 2) ~= 0xc803 then
		return true
	end
	local avps = read_avps(bytes, 13, math.min(#bytes, number(bytes, 3, 2)))
	local message = value(bytes, avps, "0/0", 2)
	local id = value(bytes, avps, "0/63", 4)
	if not id or (message ~= INCOMING_CALL_REQUEST and message ~= INCOMING_CALL_REPLY) then
		return message ~= CONNECTION_REQUEST or has_depi_avp(avps)
	end
	local peer = value(bytes, avps, "0/64", 4) or 0
	local request = message == INCOMING_CALL_REPLY
		and latest(negotiated[M.address(destination) .. "|" .. peer], frame) or {}
	local agreed = {
		frame = frame,
		pw = value(bytes, avps, "0/68", 2) or request.pw,
		subtype = value(bytes, avps, CABLELABS .. "/17", 2) or value(bytes, avps, CABLELABS .. "/16", 2)
			or request.subtype,
		cookie = avps["0/65"] and avps["0/65"].length or 0,
	}
	append_newer(negotiated, M.address(source) .. "|" .. id, agreed)
	append_newer(negotiated_by_id, id, agreed)
	return true
end

-- The destination of a multicast session is in no control message: it is found by its ID alone.
local function find_agreed(destination, key, id, frame)
	local agreed = latest(negotiated[key], frame)
	if not agreed and is_multicast(destination) then
		agreed = latest(negotiated_by_id[id], frame)
	end
	return agreed
end

-- Returns the format of UEPI units of this kind, or nil for downstream kinds.
function M.format(kind)
	return kind and payload.kinds[kind].format
end

-- Returns the parameters of a session as known in packet `frame`. Preferences override control
-- messages, which override detection. `preferred_extra` nil: detect it.
--   key            identifies the session; destination: number of its address
--   psp            true: it carries PSP; false: it does not; nil: unknown
--   extra          bytes after the segment table; nil: detect them from the packet
--   default_extra  those of the subtype; nil: unknown
--   kind           payload kind; nil: detect it from the packet
--   subtype        of the pseudowire, from the preference or control messages
--   agreed         parameters from control messages; nil: none
--   cookie         its size in bytes
function M.lookup(destination, id, frame, preferred_extra, preferred_cookie)
	local key = M.address(destination) .. "|" .. id
	local agreed = find_agreed(destination, key, id, frame)
	local setting = configured[id] or configured["*"]
	local cookie = agreed and agreed.cookie or preferred_cookie
	local session = { key = key, destination = M.address(destination), agreed = agreed }
	session.cookie = cookie
	session.subtype = (setting and setting.subtype) or (agreed and agreed.subtype)
	local subtype = payload.subtypes[session.subtype] or {}
	session.default_extra = subtype.extra
	session.extra = preferred_extra
	session.kind = subtype.kind
	if setting then
		session.psp = not setting.off
		session.extra = setting.extra
		session.kind = setting.kind or session.kind
	elseif agreed and agreed.pw then
		session.psp = agreed.pw == PW_PSP and agreed.subtype ~= 1
	elseif detected[key] then
		session.psp = true
	end
	if M.format(session.kind or (detected[key] and detected[key].kind)) then
		-- upstream pseudowires have no bytes after the table
		session.extra = setting and setting.extra or 0
	end
	return session
end

-- Returns how many bytes may follow the table, the most likely first: by the packet length
-- (`fits`), by earlier packets, by the subtype. For an unknown session only the length is used.
local function extra_candidates(session, fits)
	if session.extra then
		return { session.extra }
	end
	local earlier = detected[session.key]
	local list = { fits }
	for _, extra in ipairs({ earlier and earlier.extra or session.default_extra or 0, 0, 2 }) do
		if session.psp and extra ~= list[#list] then
			list[#list + 1] = extra
		end
	end
	return list
end

-- Returns the burst format of the upstream data session `id` to a destination, or nil.
local function data_format(destination, id)
	local key = destination .. "|" .. id
	local agreed = latest(negotiated[key], math.huge)
	local subtype = agreed and payload.subtypes[agreed.subtype]
	local kind = configured[id] and configured[id].kind or (subtype and subtype.kind)
		or (detected[key] and detected[key].kind)
	return kind and not payload.kinds[kind].records and M.format(kind) or nil
end

local function detect_upstream(session, bytes, head)
	local segments, from = {}, head.table_end
	for i = 1, head.count do
		local one = head[i]
		local to = from + one.length
		segments[i] = { first = one.first, last = one.last, bytes = bytes:sub(from + 1, to) }
		from = to
	end
	return uepi.recognise(segments, function(id)
		return data_format(session.destination, id)
	end)
end

local function detect_downstream(bytes, head, extra)
	local from = head.table_end + extra
	for i = 1, head.count do
		local kind = head[i].first
			and payload.recognise(bytes:sub(from + 1, from + head[i].length), head[i].last)
		if kind then
			return kind
		end
		from = from + head[i].length
	end
	return nil
end

-- Detects { extra, kind } of a session from a packet and stores them; nil when nothing is
-- recognised. In a known upstream session no downstream frames are searched.
local function detect_kind(session, bytes, head, list)
	local earlier = detected[session.key]
	if M.format(session.kind or (earlier and earlier.kind)) then
		return nil
	end
	local upstream = not session.kind and not earlier and detect_upstream(session, bytes, head)
	if upstream then
		detected[session.key] = { extra = 0, kind = upstream }
		return detected[session.key]
	end
	for _, extra in ipairs(list) do
		local kind = detect_downstream(bytes, head, extra)
		if kind then
			detected[session.key] = { extra = extra, kind = kind }
			return detected[session.key]
		end
	end
	return nil
end

-- Sets the unknown parameters extra and kind of a session from a packet: by a frame that begins in
-- it, else by earlier packets, else by the packet length. `head` = { count, table_end, [i] = {
-- length, first, last } }. `length` is the length on the wire; both count from the flags byte.
-- Returns whether the packet is certainly PSP.
function M.detect(session, bytes, head, length)
	local rest = length - head.table_end
	for i = 1, head.count do
		rest = rest - head[i].length
	end
	local fits = (rest == 0 or rest == 2) and rest or nil
	local earlier = detected[session.key] or {}
	local found = detect_kind(session, bytes, head, extra_candidates(session, fits))
	local best = found or earlier
	if found and M.format(found.kind) then
		session.extra = found.extra
	end
	session.extra = session.extra or best.extra or fits or session.default_extra or 0
	session.kind = session.kind or best.kind or (session.psp and "docsis") or "data"
	return session.psp or found ~= nil
end

return M
