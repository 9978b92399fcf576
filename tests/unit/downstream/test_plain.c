/* SPDX-License-Identifier: BSD-3-Clause */
/* The quick reader of plain headers beside frame_parse(): where it answers, it says the same. */
#include "test_main.h"

#include "downstream/plain.h"

#include "random.h"

#define FRAME 100

static struct random random_state = {.state = 9};

/* What the slow reader makes of it. */
static struct flow_key key_of_fields(const struct frame_fields *f) {
	const bool ipv4 = f->kind == FRAME_IPV4;
	struct flow_key key = {
		.family = ipv4 ? RULE_IPV4 : RULE_IPV6, .protocol = f->protocol, .tos = f->tos};

	store_be16((uint8_t *)&key.source_port, f->source_port);
	store_be16((uint8_t *)&key.destination_port, f->destination_port);
	memcpy(ipv4 ? key.ipv4.source : key.ipv6.source, f->source, ipv4 ? 4 : 16);
	memcpy(ipv4 ? key.ipv4.destination : key.ipv6.destination, f->destination, ipv4 ? 4 : 16);
	return key;
}

/* Good headers, of which some bytes are changed, and a length that may cut them off. */
static uint32_t random_frame(uint8_t *frame, bool ipv6) {
	uint32_t length = random_between(&random_state, ETHERNET_HEADER, FRAME);
	uint32_t room = length - ETHERNET_HEADER;
	uint8_t *ip = frame + ETHERNET_HEADER;

	random_fill(&random_state, frame, FRAME);
	store_be16(frame + 12, ipv6 ? ETHERTYPE_IPV6 : ETHERTYPE_IPV4);
	ip[0] = ipv6 ? 0x60 : 0x45;
	ip[ipv6 ? 6 : 9] = random_below(&random_state, 2) ? IP_PROTOCOL_TCP : IP_PROTOCOL_UDP;
	store_be16(ip + (ipv6 ? 4 : 2), (uint16_t)(!ipv6 || room < 40 ? room : room - 40));
	if (!ipv6)
		store_be16(ip + 6, 0x4000);
	for (uint32_t change = random_below(&random_state, 3); change > 0; change--)
		frame[random_between(&random_state, 12, 60)] ^=
			(uint8_t)(1u << random_below(&random_state, 8));
	return length;
}

TEST(same_as_frame_parse) {
	uint32_t plain = 0, asked = 0;

	for (unsigned i = 0; i < 2000000; i++) {
		uint8_t frame[FRAME];
		uint32_t length = random_frame(frame, i % 2);
		struct flow_key key, slow;
		struct frame_fields f;

		memset(&key, 0xee, sizeof(key));
		if (!plain_ipv4(frame, length, &key) && !plain_ipv6(frame, length, &key)) {
			asked++;
			continue;
		}
		plain++;
		assert_int_equal(frame_parse(frame, length, &f), FRAME_GOOD);
		assert_true(f.kind == FRAME_IPV4 || f.kind == FRAME_IPV6);
		assert_false(f.fragment);
		assert_true(f.has_ports);
		assert_int_equal(f.extensions, 0);
		slow = key_of_fields(&f);
		assert_memory_equal(&key, &slow, f.kind == FRAME_IPV4 ? 16 : 40);
	}
	assert_true(plain > 500000);
	assert_true(asked > 500000);
}
