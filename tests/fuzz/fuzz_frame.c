/* SPDX-License-Identifier: BSD-3-Clause */
/* Fuzzes the parser of Ethernet frames from the network. */
#include "fuzz.h"
#include "wire/ip.h"

static void check_ip(const uint8_t *frame, size_t size, const struct frame_fields *f) {
	size_t address = ip_address_size(f->family);

	CHECK(f->destination == f->source + address);
	touch(f->source, 2 * address);
	CHECK(f->upper >= f->destination + address && f->upper <= frame + size);
	CHECK(f->upper_size <= (size_t)(frame + size - f->upper));
	touch(f->upper, f->upper_size);
	if (f->protocol != IP_PROTOCOL_TCP && f->protocol != IP_PROTOCOL_UDP)
		CHECK(!f->has_ports);
	if (!f->has_ports)
		CHECK(f->source_port == 0 && f->destination_port == 0);
	CHECK(f->extensions >> IPV6_EXTENSION_KINDS == 0 && (f->family == 6 || f->extensions == 0));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
	struct frame_fields fields;

	if (frame_parse(data, size, &fields) != FRAME_GOOD)
		return 0;
	switch (fields.kind) {
	case FRAME_IPV4:
		CHECK(fields.ethertype == ETHERTYPE_IPV4 && fields.family == 4);
		check_ip(data, size, &fields);
		(void)ipv4_checksum_good(data + ETHERNET_HEADER);
		break;
	case FRAME_IPV6:
		CHECK(fields.ethertype == ETHERTYPE_IPV6 && fields.family == 6);
		check_ip(data, size, &fields);
		break;
	case FRAME_ARP:
		CHECK(fields.ethertype == ETHERTYPE_ARP && fields.family == 4);
		touch(fields.source, 4);
		touch(fields.destination, 4);
		break;
	case FRAME_OTHER: CHECK(fields.family == 0 && fields.source == NULL); break;
	}
	return 0;
}
