/* SPDX-License-Identifier: BSD-3-Clause */
#include "wire/tos.h"

#include "wire/bytes.h"
#include "wire/ip.h"
#include "wire/vlan.h"

#define TAGS_MAX 2
#define IPV6_TOS_SHIFT 4 /* of the first 16 bits */
#define IPV6_TOS 0x0ff0

static uint8_t overwritten(uint8_t tos, uint8_t and_mask, uint8_t or_mask) {
	return (uint8_t)((tos & and_mask) | or_mask);
}

static void ipv4_overwrite(uint8_t *ip, uint8_t and_mask, uint8_t or_mask) {
	uint16_t before = load_be16(ip);
	uint16_t now =
		(uint16_t)((before & 0xff00) | overwritten((uint8_t)before, and_mask, or_mask));

	if (now != before)
		ipv4_replace(ip, 0, now);
}

static void ipv6_overwrite(uint8_t *ip, uint8_t and_mask, uint8_t or_mask) {
	uint16_t before = load_be16(ip);
	uint8_t tos = overwritten((uint8_t)(before >> IPV6_TOS_SHIFT), and_mask, or_mask);

	store_be16(ip, (uint16_t)((before & ~IPV6_TOS) | tos << IPV6_TOS_SHIFT));
}

void tos_overwrite(uint8_t *frame, size_t length, uint8_t and_mask, uint8_t or_mask) {
	size_t at = ETHERNET_HEADER;
	unsigned tags = 0;
	uint16_t type;

	if (length < at)
		return;
	type = load_be16(frame + at - 2);
	while (vlan_is_tag(type) && tags++ < TAGS_MAX && length >= at + VLAN_TAG_SIZE) {
		at += VLAN_TAG_SIZE;
		type = load_be16(frame + at - 2);
	}
	if (type == ETHERTYPE_IPV4 && length >= at + IPV4_HEADER && frame[at] >> 4 == 4 &&
	    (frame[at] & 0x0f) >= IPV4_HEADER / 4)
		ipv4_overwrite(frame + at, and_mask, or_mask);
	else if (type == ETHERTYPE_IPV6 && length >= at + IPV6_HEADER && frame[at] >> 4 == 6)
		ipv6_overwrite(frame + at, and_mask, or_mask);
}
