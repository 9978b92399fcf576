/* SPDX-License-Identifier: BSD-3-Clause */
#include "wire/docsis_mac.h"

#define PRIVACY_ENABLE 0x8000
#define PRIVACY_TOGGLE 0x4000
#define DS_SEQUENCE_CHANGE 0x10

static size_t ds_length(enum docsis_ds_ehdr ds) {
	switch (ds) {
	case DS_EHDR_PRIORITY: return 1;
	case DS_EHDR_DSID: return 3;
	case DS_EHDR_SEQUENCE: return 5;
	case DS_EHDR_NONE: break;
	}
	return 0;
}

size_t docsis_down_header_size(const struct docsis_down_header *h) {
	size_t size = DOCSIS_MAC_HEADER;

	if (h->privacy)
		size += DOCSIS_BP_DOWN_SIZE;
	if (h->ds != DS_EHDR_NONE)
		size += 1 + ds_length(h->ds);
	return size;
}

static uint8_t *write_bp_down(const struct docsis_down_header *h, uint8_t *out) {
	unsigned bits = h->said & DOCSIS_SAID_MASK;

	if (h->encrypted)
		bits |= PRIVACY_ENABLE;
	if (h->key_sequence & 1)
		bits |= PRIVACY_TOGGLE;
	out[0] = DOCSIS_EH_BP_DOWN << 4 | (DOCSIS_BP_DOWN_SIZE - 1);
	out[1] = (uint8_t)(h->key_sequence << 4 | DOCSIS_PRIVACY_VERSION);
	store_be16(out + 2, (uint16_t)bits);
	out[4] = 0;
	return out + DOCSIS_BP_DOWN_SIZE;
}

static uint8_t *write_ds(const struct docsis_down_header *h, uint8_t *out) {
	size_t length = ds_length(h->ds);

	if (length == 0)
		return out;
	out[0] = (uint8_t)(DOCSIS_EH_DS << 4 | length);
	out[1] = (uint8_t)(h->priority << 5);
	if (length >= 3) {
		out[1] |= (uint8_t)(h->dsid >> 16 & 0xf);
		store_be16(out + 2, (uint16_t)h->dsid);
	}
	if (length == 5) {
		out[1] |= h->sequence_change ? DS_SEQUENCE_CHANGE : 0;
		store_be16(out + 4, h->sequence);
	}
	return out + 1 + length;
}

size_t docsis_down_header_write(const struct docsis_down_header *h, size_t pdu_length,
				uint8_t *out) {
	size_t size = docsis_down_header_size(h);
	size_t ehdr = size - DOCSIS_MAC_HEADER;
	uint8_t *at = out + DOCSIS_EHDR_OFFSET;

	if (pdu_length > DOCSIS_LEN_MAX - ehdr)
		return 0;
	out[0] = ehdr > 0 ? DOCSIS_FC_PACKET | DOCSIS_FC_EHDR_ON : DOCSIS_FC_PACKET;
	out[1] = (uint8_t)ehdr;
	docsis_len_patch(out, size, pdu_length);
	if (h->privacy)
		at = write_bp_down(h, at);
	write_ds(h, at);
	docsis_hcs_write(out, size - DOCSIS_HCS_SIZE);
	return size;
}

/* FC_PARM 1 of packet and isolation PDUs has had other meanings; the frame format is the same. */
static enum docsis_kind kind_of(uint8_t fc) {
	switch (fc & (DOCSIS_FC_TYPE | DOCSIS_FC_PARM)) {
	case DOCSIS_FC_PACKET:
	case DOCSIS_FC_PACKET | 0x02: return DOCSIS_KIND_PACKET;
	case DOCSIS_FC_ISOLATION:
	case DOCSIS_FC_ISOLATION | 0x02: return DOCSIS_KIND_ISOLATION;
	case DOCSIS_FC_TIMING: return DOCSIS_KIND_TIMING;
	case DOCSIS_FC_MANAGEMENT: return DOCSIS_KIND_MANAGEMENT;
	case DOCSIS_FC_REQUEST: return DOCSIS_KIND_REQUEST;
	case DOCSIS_FC_FRAGMENT: return DOCSIS_KIND_FRAGMENT;
	case DOCSIS_FC_QUEUE_REQUEST: return DOCSIS_KIND_QUEUE_REQUEST;
	case DOCSIS_FC_CONCATENATION: return DOCSIS_KIND_CONCATENATION;
	}
	return DOCSIS_KIND_RESERVED;
}

static bool is_request(enum docsis_kind kind) {
	return kind == DOCSIS_KIND_REQUEST || kind == DOCSIS_KIND_QUEUE_REQUEST;
}

/* MULPI: a fragment always has an extended header; request, timing and concatenation have none. */
static bool ehdr_allowed(const struct docsis_mac *mac) {
	bool ehdr_on = (mac->fc & DOCSIS_FC_EHDR_ON) != 0;

	switch (mac->kind) {
	case DOCSIS_KIND_FRAGMENT: return ehdr_on;
	case DOCSIS_KIND_TIMING:
	case DOCSIS_KIND_REQUEST:
	case DOCSIS_KIND_QUEUE_REQUEST:
	case DOCSIS_KIND_CONCATENATION: return !ehdr_on;
	case DOCSIS_KIND_RESERVED:
	case DOCSIS_KIND_PACKET:
	case DOCSIS_KIND_ISOLATION:
	case DOCSIS_KIND_MANAGEMENT: break;
	}
	return true;
}

static enum docsis_privacy privacy_of(unsigned type) {
	if (type == DOCSIS_EH_BP_UP)
		return PRIVACY_BP_UP;
	return type == DOCSIS_EH_BP_UP2 ? PRIVACY_BP_UP2 : PRIVACY_BP_DOWN;
}

/* BP_UP, BP_UP2 or BP_DOWN (SEC). BP_UP has a fifth byte inside a fragment. */
static bool read_privacy(unsigned type, const uint8_t *value, size_t length,
			 struct docsis_mac *out) {
	size_t wanted = type == DOCSIS_EH_BP_UP2 ? 3 : 4;

	if (type == DOCSIS_EH_BP_UP && out->kind == DOCSIS_KIND_FRAGMENT)
		wanted = 5;
	if (length != wanted || out->privacy != PRIVACY_NONE)
		return false;

	uint16_t bits = load_be16(value + 1);

	out->privacy = privacy_of(type);
	out->key_sequence = value[0] >> 4;
	out->privacy_version = value[0] & 0x0f;
	out->encrypted = (bits & PRIVACY_ENABLE) != 0;
	out->toggle = (bits & PRIVACY_TOGGLE) != 0;
	out->said_or_sid = bits & DOCSIS_SAID_MASK;
	if (type == DOCSIS_EH_BP_UP)
		out->piggyback = value[3];
	if (length == 5) {
		out->fragment_first = (value[4] & 0x20) != 0;
		out->fragment_last = (value[4] & 0x10) != 0;
		out->fragment_sequence = value[4] & 0x0f;
	}
	return true;
}

static bool read_ds(const uint8_t *value, size_t length, struct docsis_mac *out) {
	if (out->ds != DS_EHDR_NONE || (length != 1 && length != 3 && length != 5))
		return false;
	out->ds = DS_EHDR_PRIORITY;
	out->priority = value[0] >> 5;
	if (length >= 3) {
		out->ds = DS_EHDR_DSID;
		out->dsid = (value[0] & 0x0fu) << 16 | load_be16(value + 1);
	}
	if (length == 5) {
		out->ds = DS_EHDR_SEQUENCE;
		out->sequence_change = (value[0] & DS_SEQUENCE_CHANGE) != 0;
		out->sequence = load_be16(value + 3);
	}
	return true;
}

static bool read_request(const uint8_t *value, size_t length, struct docsis_mac *out) {
	if (length != 3 || out->request)
		return false;
	out->request = true;
	out->request_size = value[0];
	out->request_sid = load_be16(value + 1) & DOCSIS_SAID_MASK;
	return true;
}

static bool read_element(unsigned type, const uint8_t *value, size_t length,
			 struct docsis_mac *out) {
	switch (type) {
	case DOCSIS_EH_NULL: return length == 0;
	case DOCSIS_EH_REQUEST: return read_request(value, length, out);
	case DOCSIS_EH_BP_UP:
	case DOCSIS_EH_BP_DOWN:
	case DOCSIS_EH_BP_UP2: return read_privacy(type, value, length, out);
	case DOCSIS_EH_SERVICE_FLOW_UP: /* flows with unsolicited grants have a second byte */
		out->phsi |= length > 0 ? value[0] : 0;
		return true;
	case DOCSIS_EH_DS: return read_ds(value, length, out);
	}
	/* MULPI: deprecated, reserved and extended elements are skipped by their length. */
	return true;
}

static bool read_ehdr(const uint8_t *ehdr, size_t size, struct docsis_mac *out) {
	for (size_t at = 0; at < size;) {
		unsigned type = ehdr[at] >> 4;
		size_t length = ehdr[at] & 0x0f;

		at++;
		if (length > size - at || !read_element(type, ehdr + at, length, out))
			return false;
		at += length;
	}
	return out->kind != DOCSIS_KIND_FRAGMENT || out->privacy == PRIVACY_BP_UP;
}

/* Request frames have a SID instead of LEN, as their size is fixed. */
static enum docsis_verdict parse_request(const uint8_t *frame, size_t length,
					 struct docsis_mac *out) {
	bool queue = out->kind == DOCSIS_KIND_QUEUE_REQUEST;
	size_t size = queue ? DOCSIS_QUEUE_REQUEST_SIZE : DOCSIS_MAC_HEADER;

	if (length < size)
		return DOCSIS_TRUNCATED;
	if (!docsis_hcs_good(frame, size - DOCSIS_HCS_SIZE))
		return DOCSIS_BAD_HCS;
	out->header_size = (uint16_t)size;
	out->frame_size = (uint32_t)size;
	if (!ehdr_allowed(out))
		return DOCSIS_BAD_EHDR;
	out->request = true;
	out->request_size = queue ? load_be16(frame + 1) : frame[1];
	out->request_sid = load_be16(frame + size - 4) & DOCSIS_SAID_MASK;
	out->pdu = frame + size;
	return DOCSIS_OK;
}

/* Frames with a LEN, up to the end of the header. */
static enum docsis_verdict parse_header(const uint8_t *frame, size_t length,
					struct docsis_mac *out) {
	bool parm_is_elen = out->kind != DOCSIS_KIND_CONCATENATION;
	size_t elen = (frame[0] & DOCSIS_FC_EHDR_ON) && parm_is_elen ? frame[1] : 0;
	size_t header_size = DOCSIS_MAC_HEADER + elen;
	uint16_t len = load_be16(frame + DOCSIS_LEN_OFFSET);

	if (length < header_size)
		return DOCSIS_TRUNCATED;
	if (!docsis_hcs_good(frame, header_size - DOCSIS_HCS_SIZE))
		return DOCSIS_BAD_HCS;
	out->header_size = (uint16_t)header_size;
	if (len < elen)
		return DOCSIS_BAD_LENGTH;
	out->frame_size = DOCSIS_MAC_HEADER + (uint32_t)len;
	if (out->kind == DOCSIS_KIND_RESERVED)
		return DOCSIS_RESERVED;
	if (elen > DOCSIS_EHDR_MAX || !ehdr_allowed(out) ||
	    !read_ehdr(frame + DOCSIS_EHDR_OFFSET, elen, out))
		return DOCSIS_BAD_EHDR;
	return DOCSIS_OK;
}

enum docsis_verdict docsis_mac_parse(const uint8_t *frame, size_t length, struct docsis_mac *out) {
	*out = (struct docsis_mac){.kind = DOCSIS_KIND_RESERVED};
	if (length < DOCSIS_MAC_HEADER)
		return DOCSIS_TRUNCATED;
	out->fc = frame[0];
	out->mac_parm = frame[1];
	out->kind = kind_of(frame[0]);
	if (is_request(out->kind))
		return parse_request(frame, length, out);

	enum docsis_verdict verdict = parse_header(frame, length, out);

	if (verdict != DOCSIS_OK)
		return verdict;
	if (length < out->frame_size)
		return DOCSIS_TRUNCATED;
	out->pdu = frame + out->header_size;
	out->pdu_size = out->frame_size - out->header_size;
	return DOCSIS_OK;
}
