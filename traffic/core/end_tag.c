/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds the offset of the tag at the end of a captured packet. */
#include "core/end_tag.h"

#include "core/packet.h"
#include "wire/bytes.h"

#define UDP_HEADER 8
#define TCP_HEADER 20
#define ICMP_HEADER 8
#define OTHER_HEADER 8 /* assumed for protocols that this file does not parse */
#define PROTOCOL_ICMP 1
#define PROTOCOL_ICMPV6 58

size_t end_tag_header(const struct frame_fields *f) {
	size_t size = OTHER_HEADER;

	switch (f->protocol) {
	case IP_PROTOCOL_UDP:
		if (f->upper_size < UDP_HEADER || load_be16(f->upper + 4) != f->upper_size)
			return 0;
		return UDP_HEADER;
	case IP_PROTOCOL_TCP:
		if (f->upper_size < TCP_HEADER)
			return 0;
		size = 4 * (size_t)(f->upper[12] >> 4);
		return size < TCP_HEADER || size > f->upper_size ? 0 : size;
	case PROTOCOL_ICMP:
	case PROTOCOL_ICMPV6: return f->upper_size < ICMP_HEADER ? 0 : ICMP_HEADER;
	default: return size;
	}
}

size_t end_tag_offset(const struct frame_fields *f, size_t header) {
	size_t at;

	if (f->upper_size < header + PACKET_TAG_SIZE)
		return 0;
	at = (f->upper_size - PACKET_TAG_SIZE) & ~(size_t)1;
	return at < header ? 0 : at;
}

size_t end_tag_find(const uint8_t *frame, size_t size) {
	struct frame_fields fields;
	size_t header, offset;

	if (frame_parse(frame, size, &fields) != FRAME_GOOD ||
	    (fields.kind != FRAME_IPV4 && fields.kind != FRAME_IPV6))
		return 0;
	header = end_tag_header(&fields);
	offset = header == 0 ? 0 : end_tag_offset(&fields, header);
	return offset == 0 ? 0 : (size_t)(fields.upper - frame) + offset;
}
