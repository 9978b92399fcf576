/* SPDX-License-Identifier: BSD-3-Clause */
#include "wire/management.h"

#define LENGTH_AT 12
#define LLC_AT 14
/* the part that the length includes: DSAP, SSAP, control, version, type, multipart */
#define LLC_SIZE 6

const uint8_t management_all_modems[6] = {0x01, 0xe0, 0x2f, 0x00, 0x00, 0x01};
static const uint8_t llc[3] = {0, 0, 3};

enum management_verdict management_read(const uint8_t *message, size_t size,
					struct management *out) {
	if (size < MANAGEMENT_HEADER)
		return MANAGEMENT_TRUNCATED;

	size_t length = load_be16(message + LENGTH_AT);

	if (length > size - MANAGEMENT_LENGTH_FROM)
		return MANAGEMENT_TRUNCATED;
	if (length < size - MANAGEMENT_LENGTH_FROM)
		return MANAGEMENT_TRAILING;
	if (size > MANAGEMENT_MESSAGE_MAX)
		return MANAGEMENT_TOO_LONG;
	if (memcmp(message + LLC_AT, llc, sizeof(llc)) != 0)
		return MANAGEMENT_BAD_LLC;
	memcpy(out->da, message, sizeof(out->da));
	memcpy(out->sa, message + sizeof(out->da), sizeof(out->sa));
	out->version = message[17];
	out->type = message[18];
	out->multipart = message[19];
	out->body = message + MANAGEMENT_HEADER;
	out->body_size = size - MANAGEMENT_HEADER;
	return MANAGEMENT_OK;
}

static enum management_verdict verdict_of(enum docsis_verdict verdict) {
	switch (verdict) {
	case DOCSIS_OK: return MANAGEMENT_OK;
	case DOCSIS_TRUNCATED: return MANAGEMENT_TRUNCATED;
	case DOCSIS_BAD_HCS: return MANAGEMENT_BAD_HCS;
	case DOCSIS_BAD_EHDR:
	case DOCSIS_BAD_LENGTH:
	case DOCSIS_RESERVED: break;
	}
	return MANAGEMENT_NO_FRAME;
}

enum management_verdict management_frame_read(const uint8_t *frame, size_t size,
					      struct management *out) {
	struct docsis_mac mac;
	enum management_verdict verdict = verdict_of(docsis_mac_parse(frame, size, &mac));

	if (verdict != MANAGEMENT_OK)
		return verdict;
	if (mac.fc != DOCSIS_FC_MANAGEMENT || mac.mac_parm != 0)
		return MANAGEMENT_NO_FRAME;
	if (size > mac.frame_size)
		return MANAGEMENT_TRAILING;
	if (!ethernet_crc_good(mac.pdu, mac.pdu_size))
		return MANAGEMENT_BAD_CRC;
	return management_read(mac.pdu, mac.pdu_size - ETHERNET_CRC_SIZE, out);
}

size_t management_write(const struct management *m, uint8_t *out, size_t size) {
	if (m->body_size > MANAGEMENT_BODY_MAX || size < MANAGEMENT_HEADER + m->body_size)
		return 0;
	if (m->body_size > 0) /* before the header, which may overwrite `body` */
		memmove(out + MANAGEMENT_HEADER, m->body, m->body_size);
	memcpy(out, m->da, sizeof(m->da));
	memcpy(out + sizeof(m->da), m->sa, sizeof(m->sa));
	store_be16(out + LENGTH_AT, (uint16_t)(LLC_SIZE + m->body_size));
	memcpy(out + LLC_AT, llc, sizeof(llc));
	out[17] = m->version;
	out[18] = m->type;
	out[19] = m->multipart;
	return MANAGEMENT_HEADER + m->body_size;
}

size_t management_frame_close(uint8_t *frame, size_t message_size) {
	frame[0] = DOCSIS_FC_MANAGEMENT;
	frame[1] = 0;
	docsis_len_patch(frame, DOCSIS_MAC_HEADER, message_size + ETHERNET_CRC_SIZE);
	docsis_hcs_write(frame, DOCSIS_MAC_HEADER - DOCSIS_HCS_SIZE);
	ethernet_crc_write(frame + DOCSIS_MAC_HEADER, message_size);
	return message_size + MANAGEMENT_FRAME_EXTRA;
}

size_t management_frame_write(const struct management *m, uint8_t *out, size_t size) {
	if (size < MANAGEMENT_FRAME_EXTRA)
		return 0;

	size_t written =
		management_write(m, out + DOCSIS_MAC_HEADER, size - MANAGEMENT_FRAME_EXTRA);

	return written > 0 ? management_frame_close(out, written) : 0;
}
