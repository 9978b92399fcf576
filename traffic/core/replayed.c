/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes a captured packet with its tag and upper-layer checksum. */
#include "core/replayed.h"

#include <string.h>

#include "wire/bytes.h"
#include "wire/ip.h"

/* In UDP, checksum 0 means none (RFC 768). */
static uint16_t checksum(uint32_t sum, uint8_t protocol) {
	sum = (sum & 0xffff) + (sum >> 16);
	sum = (uint16_t)~(sum + (sum >> 16));
	return sum == 0 && protocol == IP_PROTOCOL_UDP ? UINT16_MAX : (uint16_t)sum;
}

uint32_t replayed_write(const struct replayed *r, uint32_t index, const struct packet_tag *tag,
			uint8_t *out) {
	const struct replayed_packet *p = &r->packets[index];
	uint8_t *at = out + p->tag_at;
	uint32_t sum = p->sum;

	memcpy(out, r->bytes + p->offset, p->size);
	packet_tag_write(tag, at);
	if (p->checksum_at == 0)
		return p->size;
	for (int i = 0; i < PACKET_TAG_SIZE; i += 2)
		sum += load_be16(at + i);
	store_be16(out + p->checksum_at, checksum(sum, p->protocol));
	return p->size;
}
