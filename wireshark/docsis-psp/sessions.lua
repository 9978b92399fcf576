-- SPDX-License-Identifier: BSD-3-Clause
-- What is known of each L2TPv3 session: from the preference, from control messages (RFC 3931 and
-- the AVPs of R-DEPI), and from the packets themselves.

local payload, uepi = ...

local M = {}

local PW_PSP = 13
local CABLELABS = 4491

-- Preference: { [id or "*"] = { off = bool, extra = nil|0|2, kind = nil|name, subtype = nil|number
-- } }
local listed = {}
-- Control: learned["destination|id"] and by_id[id] are lists, in capture order, of what was agreed.
local learned, by_id = {}, {}
-- Packets: proven["destination|id"] = { extra, kind }
local proven = {}
local addresses, address_numbers = {}, {}

function M.reset()
	learned, by_id, proven = {}, {}, {}
	addresses, address_numbers = {}, {}
end

-- A number for an address, for use in keys. The text of an address may change while a capture is
-- open (name resolution), so an unknown text is compared with the addresses seen.
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

-- What a session holds: the name of a kind, or the number of a pseudowire subtype.
local function setting(text)
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

-- Reads "ID=SETTING,...". Returns the entries that are wrong; the others are in force.
function M.list(text)
	local wrong = {}
	listed = {}
	for entry in text:gmatch("[^,;%s]+") do
		local id, value = entry:match("^([^=]+)=(.+)$")
		local key = id == "*" and "*" or tonumber(id or "")
		local parsed = value and setting(value)
		if key and parsed then
			listed[key] = parsed
		else
			wrong[#wrong + 1] = entry
		end
	end
	return wrong
end

local function number(bytes, position, length)
	local value = 0
	for i = position, position + length - 1 do
		value = value * 256 + bytes:byte(i)
	end
	return value
end

-- The AVPs of a control message that matter here: { ["vendor/type"] = { position, length } of the
-- value }.
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

-- Later passes come by the same message again.
local function remember(table_of_lists, key, agreed)
	local list = table_of_lists[key] or {}
	table_of_lists[key] = list
	if #list == 0 or list[#list].frame < agreed.frame then
		list[#list + 1] = agreed
	end
end

local function speaks_depi(avps)
	for name in pairs(avps) do
		if name:find("^" .. CABLELABS .. "/") then
			return true
		end
	end
	return false
end

local CONNECTION_REQUEST, INCOMING_CALL_REQUEST, INCOMING_CALL_REPLY = 1, 10, 11

-- Learns from a control message (`bytes` begin at its flags). A session ID is chosen by the
-- receiver of the session's packets, hence the key: the sender of the message and its local session
-- ID. Returns false when the message opens a control connection without DEPI, else true.
function M.learn(bytes, source, destination, frame)
	if #bytes < 20 or number(bytes, 1, 2) ~= 0xc803 then
		return true
	end
	local avps = read_avps(bytes, 13, math.min(#bytes, number(bytes, 3, 2)))
	local message = value(bytes, avps, "0/0", 2)
	local id = value(bytes, avps, "0/63", 4)
	if not id or (message ~= INCOMING_CALL_REQUEST and message ~= INCOMING_CALL_REPLY) then
		return message ~= CONNECTION_REQUEST or speaks_depi(avps)
	end
	local peer = value(bytes, avps, "0/64", 4) or 0
	local request = message == INCOMING_CALL_REPLY
		and latest(learned[M.address(destination) .. "|" .. peer], frame) or {}
	local agreed = {
		frame = frame,
		pw = value(bytes, avps, "0/68", 2) or request.pw,
		subtype = value(bytes, avps, CABLELABS .. "/17", 2) or value(bytes, avps, CABLELABS .. "/16", 2)
			or request.subtype,
		cookie = avps["0/65"] and avps["0/65"].length or 0,
	}
	remember(learned, M.address(source) .. "|" .. id, agreed)
	remember(by_id, id, agreed)
	return true
end

-- A multicast session goes to no address of a control message: its ID is all there is.
local function agreed_for(destination, key, id, frame)
	local agreed = latest(learned[key], frame)
	if not agreed and is_multicast(destination) then
		agreed = latest(by_id[id], frame)
	end
	return agreed
end

-- The format of UEPI units of this kind; nil for the downstream's kinds.
function M.format(kind)
	return kind and payload.kinds[kind].format
end

-- Everything known of the session of a packet, preferences first:
--   psp      true: it carries PSP; false: it does not; nil: unknown
--   extra    bytes after the segment table; nil: the packet decides
--   kind     of payload; nil: likewise
--   subtype  of the pseudowire, where the preference or control messages name it
--   agreed   what control messages said; cookie: its bytes
function M.lookup(destination, id, frame, preferred_extra, preferred_cookie)
	local key = M.address(destination) .. "|" .. id
	local agreed = agreed_for(destination, key, id, frame)
	local chosen = listed[id] or listed["*"]
	local cookie = agreed and agreed.cookie or preferred_cookie
	local session = { key = key, destination = M.address(destination), agreed = agreed }
	session.cookie = cookie
	session.subtype = (chosen and chosen.subtype) or (agreed and agreed.subtype)
	local subtype = payload.subtypes[session.subtype] or {}
	session.default_extra = subtype.extra
	session.extra = preferred_extra
	session.kind = subtype.kind
	if chosen then
		session.psp = not chosen.off
		session.extra = chosen.extra
		session.kind = chosen.kind or session.kind
	elseif agreed and agreed.pw then
		session.psp = agreed.pw == PW_PSP and agreed.subtype ~= 1
	elseif proven[key] then
		session.psp = true
	end
	if M.format(session.kind or (proven[key] and proven[key].kind)) then
		-- upstream pseudowires have no bytes behind the table
		session.extra = chosen and chosen.extra or 0
	end
	return session
end

-- How many bytes may follow the table, the likeliest first: what the length of the packet says,
-- what earlier packets proved, what is usual for the subtype. Of an unknown session only the length
-- counts.
local function candidates(session, fits)
	if session.extra then
		return { session.extra }
	end
	local before = proven[session.key]
	local list = { fits }
	for _, extra in ipairs({ before and before.extra or session.default_extra or 0, 0, 2 }) do
		if session.psp and extra ~= list[#list] then
			list[#list + 1] = extra
		end
	end
	return list
end

-- The bursts of a data session: the format of session `id` towards a destination.
local function data_format(destination, id)
	local key = destination .. "|" .. id
	local agreed = latest(learned[key], math.huge)
	local subtype = agreed and payload.subtypes[agreed.subtype]
	local kind = listed[id] and listed[id].kind or (subtype and subtype.kind)
		or (proven[key] and proven[key].kind)
	return kind and not payload.kinds[kind].records and M.format(kind) or nil
end

local function upstream_proof(session, bytes, head)
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

local function downstream_proof(bytes, head, extra)
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

-- What a packet proves of its session: { extra, kind }, remembered, or nil. Once a session is known
-- for the upstream's, nothing in its packets is taken for a frame of the downstream.
local function proof(session, bytes, head, list)
	local before = proven[session.key]
	if M.format(session.kind or (before and before.kind)) then
		return nil
	end
	local upstream = not session.kind and not before and upstream_proof(session, bytes, head)
	if upstream then
		proven[session.key] = { extra = 0, kind = upstream }
		return proven[session.key]
	end
	for _, extra in ipairs(list) do
		local kind = downstream_proof(bytes, head, extra)
		if kind then
			proven[session.key] = { extra = extra, kind = kind }
			return proven[session.key]
		end
	end
	return nil
end

-- Decides what is still open in a session by a packet of it. A frame that begins in the packet
-- proves how many bytes follow the table; failing that the session's earlier packets, or the
-- packet's length, tell. `head` = { count, table_end, [i] = { length, first, last } } counts from
-- the flags byte, as `length` does, the packet's length on the wire. Fills in extra and kind;
-- returns whether it is sure to be PSP.
function M.examine(session, bytes, head, length)
	local rest = length - head.table_end
	for i = 1, head.count do
		rest = rest - head[i].length
	end
	local fits = (rest == 0 or rest == 2) and rest or nil
	local before = proven[session.key] or {}
	local found = proof(session, bytes, head, candidates(session, fits))
	local best = found or before
	if found and M.format(found.kind) then
		session.extra = found.extra
	end
	session.extra = session.extra or best.extra or fits or session.default_extra or 0
	session.kind = session.kind or best.kind or (session.psp and "docsis") or "data"
	return session.psp or found ~= nil
end

return M
