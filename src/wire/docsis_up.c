/* SPDX-License-Identifier: BSD-3-Clause */
#include "wire/docsis_up.h"

#define BP_UP2_LENGTH 3
#define BP_UP_LENGTH 4
#define BP_UP_FRAGMENT_LENGTH 5
#define REQUEST_LENGTH 3

#define PRIVACY_ENABLE 0x8000
#define PRIVACY_TOGGLE 0x4000
#define FRAGMENT_FIRST 0x20
#define FRAGMENT_LAST 0x10

/* Bytes behind the type byte of the privacy element; 0 if there is none. */
static size_t privacy_length(const struct docsis_up_header *h) {
	if (h->kind == DOCSIS_KIND_FRAGMENT)
		return BP_UP_FRAGMENT_LENGTH;
	if (h->privacy == PRIVACY_BP_UP)
		return BP_UP_LENGTH;
	return h->privacy == PRIVACY_BP_UP2 ? BP_UP2_LENGTH : 0;
}

/* MULPI: the extended header of a fragment contains BP_UP and nothing else. */
static bool has_request(const struct docsis_up_header *h) {
	return h->request && h->kind != DOCSIS_KIND_FRAGMENT;
}

size_t docsis_up_header_size(const struct docsis_up_header *h) {
	size_t size = DOCSIS_MAC_HEADER;

	if (privacy_length(h) > 0)
		size += 1 + privacy_length(h);
	if (has_request(h))
		size += 1 + REQUEST_LENGTH;
	return size;
}

static uint8_t *write_privacy(const struct docsis_up_header *h, uint8_t *out) {
	size_t length = privacy_length(h);
	unsigned type = length == BP_UP2_LENGTH ? DOCSIS_EH_BP_UP2 : DOCSIS_EH_BP_UP;
	unsigned bits = h->sid & DOCSIS_SAID_MASK;

	if (length == 0)
		return out;
	if (h->encrypted)
		bits |= PRIVACY_ENABLE;
	if (h->key_sequence & 1)
		bits |= PRIVACY_TOGGLE;
	out[0] = (uint8_t)(type << 4 | length);
	out[1] = (uint8_t)(h->key_sequence << 4 | DOCSIS_PRIVACY_VERSION);
	store_be16(out + 2, (uint16_t)bits);
	if (length >= BP_UP_LENGTH)
		out[4] = h->piggyback;
	if (length == BP_UP_FRAGMENT_LENGTH)
		out[5] = (uint8_t)((h->fragment_first ? FRAGMENT_FIRST : 0) |
				   (h->fragment_last ? FRAGMENT_LAST : 0) |
				   (h->fragment_sequence & 0x0f));
	return out + 1 + length;
}

static void write_request_element(const struct docsis_up_header *h, uint8_t *out) {
	out[0] = DOCSIS_EH_REQUEST << 4 | REQUEST_LENGTH;
	out[1] = h->request_minislots;
	store_be16(out + 2, h->sid & DOCSIS_SAID_MASK);
}

/* The frame control of a kind with a PDU and an optional extended header, or -1. */
static int frame_control(enum docsis_kind kind) {
	switch (kind) {
	case DOCSIS_KIND_PACKET: return DOCSIS_FC_PACKET;
	case DOCSIS_KIND_ISOLATION: return DOCSIS_FC_ISOLATION;
	case DOCSIS_KIND_MANAGEMENT: return DOCSIS_FC_MANAGEMENT;
	case DOCSIS_KIND_FRAGMENT: return DOCSIS_FC_FRAGMENT;
	case DOCSIS_KIND_RESERVED:
	case DOCSIS_KIND_TIMING:
	case DOCSIS_KIND_REQUEST:
	case DOCSIS_KIND_QUEUE_REQUEST:
	case DOCSIS_KIND_CONCATENATION: break;
	}
	return -1;
}

size_t docsis_up_header_write(const struct docsis_up_header *h, size_t pdu_length, uint8_t *out) {
	int fc = frame_control(h->kind);
	size_t size = docsis_up_header_size(h);
	size_t ehdr = size - DOCSIS_MAC_HEADER;

	if (fc < 0 || h->privacy == PRIVACY_BP_DOWN || pdu_length > DOCSIS_LEN_MAX - ehdr)
		return 0;
	if (h->kind == DOCSIS_KIND_FRAGMENT && h->privacy == PRIVACY_BP_UP2)
		return 0;
	out[0] = (uint8_t)(ehdr > 0 ? fc | DOCSIS_FC_EHDR_ON : fc);
	out[1] = (uint8_t)ehdr;
	docsis_len_patch(out, size, pdu_length);

	uint8_t *at = write_privacy(h, out + DOCSIS_EHDR_OFFSET);

	if (has_request(h))
		write_request_element(h, at);
	docsis_hcs_write(out, size - DOCSIS_HCS_SIZE);
	return size;
}

size_t docsis_request_write(uint8_t minislots, uint16_t sid, uint8_t *out) {
	out[0] = DOCSIS_FC_REQUEST;
	out[1] = minislots;
	store_be16(out + 2, sid & DOCSIS_SAID_MASK);
	docsis_hcs_write(out, DOCSIS_MAC_HEADER - DOCSIS_HCS_SIZE);
	return DOCSIS_MAC_HEADER;
}

size_t docsis_queue_request_write(uint16_t units, uint16_t sid, uint8_t *out) {
	out[0] = DOCSIS_FC_QUEUE_REQUEST;
	store_be16(out + 1, units);
	store_be16(out + 3, sid & DOCSIS_SAID_MASK);
	docsis_hcs_write(out, DOCSIS_QUEUE_REQUEST_SIZE - DOCSIS_HCS_SIZE);
	return DOCSIS_QUEUE_REQUEST_SIZE;
}

size_t docsis_concatenation_write(uint8_t count, size_t length, uint8_t *out) {
	if (length > DOCSIS_LEN_MAX)
		return 0;
	out[0] = DOCSIS_FC_CONCATENATION;
	out[1] = count;
	docsis_len_patch(out, DOCSIS_MAC_HEADER, length);
	docsis_hcs_write(out, DOCSIS_MAC_HEADER - DOCSIS_HCS_SIZE);
	return DOCSIS_MAC_HEADER;
}
