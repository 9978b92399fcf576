/* SPDX-License-Identifier: BSD-3-Clause */
/* Fuzzes a stream of DOCSIS MAC frames, parsed as the upstream does. */
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "wire/docsis_mac.h"

/* The offset of the HCS, or 0 if the header is incomplete. */
static size_t hcs_offset(const uint8_t *frame, size_t length) {
	size_t offset = DOCSIS_EHDR_OFFSET;

	if (length < DOCSIS_MAC_HEADER)
		return 0;
	if ((frame[0] & 0xfe) == DOCSIS_FC_QUEUE_REQUEST)
		offset = DOCSIS_QUEUE_REQUEST_SIZE - DOCSIS_HCS_SIZE;
	else if (frame[0] & DOCSIS_FC_EHDR_ON && (frame[0] & 0xfe) != DOCSIS_FC_REQUEST &&
		 (frame[0] & 0xfe) != DOCSIS_FC_CONCATENATION)
		offset += frame[1];
	return offset + DOCSIS_HCS_SIZE <= length ? offset : 0;
}

static void check_frame(const uint8_t *frame, size_t length, enum docsis_verdict verdict,
			const struct docsis_mac *mac) {
	CHECK(mac->frame_size == 0 || mac->frame_size >= mac->header_size);
	CHECK(mac->header_size == 0 || mac->header_size <= length);
	CHECK(mac->said_or_sid <= DOCSIS_SAID_MASK && mac->dsid <= DOCSIS_DSID_MASK);
	CHECK(mac->priority <= 7 && mac->key_sequence <= 15);
	if (verdict != DOCSIS_OK) {
		CHECK(mac->pdu == NULL);
		return;
	}
	CHECK(mac->header_size >= DOCSIS_MAC_HEADER && mac->frame_size <= length);
	CHECK(mac->pdu == frame + mac->header_size);
	CHECK(mac->pdu_size == mac->frame_size - mac->header_size);
	touch(mac->pdu, mac->pdu_size);
}

/* Most inputs have a wrong HCS, behind which nothing would be parsed: it is corrected. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
	uint8_t *stream = malloc(size > 0 ? size : 1);
	struct docsis_mac mac;

	if (size > 0)
		memcpy(stream, data, size);
	for (size_t at = 0; at < size;) {
		enum docsis_verdict verdict = docsis_mac_parse(stream + at, size - at, &mac);
		size_t hcs = hcs_offset(stream + at, size - at);

		check_frame(stream + at, size - at, verdict, &mac);
		if (verdict == DOCSIS_BAD_HCS) {
			CHECK(hcs > 0);
			docsis_hcs_write(stream + at, hcs);
			verdict = docsis_mac_parse(stream + at, size - at, &mac);
			CHECK(verdict != DOCSIS_BAD_HCS);
			check_frame(stream + at, size - at, verdict, &mac);
		}
		if (verdict == DOCSIS_TRUNCATED || mac.frame_size == 0)
			break;
		at += mac.frame_size;
	}
	free(stream);
	return 0;
}
