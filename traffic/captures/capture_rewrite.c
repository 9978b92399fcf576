/* SPDX-License-Identifier: BSD-3-Clause */
/* Rewrites captured frames. */
#include "captures/capture_rewrite.h"

#include <string.h>

#include "core/end_tag.h"
#include "wire/bytes.h"
#include "wire/ip.h"

#define VLAN_TAG 4
#define VLAN_TAGS_MAX 8
#define ETHERTYPE_OLD_SERVICE_VLAN 0x9100
#define FRAME_MIN 60 /* Ethernet, without CRC */
#define PROTOCOL_ICMP 1
#define PROTOCOL_ICMPV6 58

const char *const capture_skip_names[CAPTURE_SKIPS] = {
#define CAPTURE_SKIP(enumerator, name, meaning) name,
#include "captures/capture_skip.def"
#undef CAPTURE_SKIP
};

static bool is_vlan(uint16_t ethertype) {
	return ethertype == ETHERTYPE_VLAN || ethertype == ETHERTYPE_SERVICE_VLAN ||
	       ethertype == ETHERTYPE_OLD_SERVICE_VLAN;
}

/* Bytes of VLAN tags before the EtherType. */
static size_t vlan_tags(const uint8_t *frame, size_t size) {
	size_t tags = 0;

	while (tags < VLAN_TAGS_MAX * VLAN_TAG && size >= ETHERNET_HEADER + tags + VLAN_TAG &&
	       is_vlan(load_be16(frame + 12 + tags)))
		tags += VLAN_TAG;
	return tags;
}

/* Parses the frame after its VLAN tags. The MAC addresses of `fields` are then not valid. */
static enum capture_skip rewrite_parse(const uint8_t *frame, size_t size, bool truncated,
				       struct frame_fields *fields) {
	enum frame_verdict verdict = frame_parse(frame, size, fields);
	bool ipv4 = fields->ethertype == ETHERTYPE_IPV4;
	bool ipv6 = fields->ethertype == ETHERTYPE_IPV6;

	if (verdict == FRAME_RUNT)
		return truncated ? CAPTURE_SKIP_TRUNCATED : CAPTURE_SKIP_TOO_SHORT;
	if (!ipv4 && !ipv6)
		return CAPTURE_SKIP_NOT_IP;
	if (verdict == FRAME_GOOD)
		return fields->fragment ? CAPTURE_SKIP_FRAGMENT : CAPTURE_ACCEPTED;
	if (truncated)
		return CAPTURE_SKIP_TRUNCATED;
	return size < ETHERNET_HEADER + (size_t)(ipv4 ? IPV4_HEADER : IPV6_HEADER)
		       ? CAPTURE_SKIP_TOO_SHORT
		       : CAPTURE_SKIP_MALFORMED;
}

/* Offset of the checksum in the upper-layer header; 0: the packet has none, or the protocol is unknown. */
static size_t checksum_offset(const struct frame_fields *f) {
	switch (f->protocol) {
	case IP_PROTOCOL_UDP: return f->family == 4 && load_be16(f->upper + 6) == 0 ? 0 : 6;
	case IP_PROTOCOL_TCP: return 16;
	case PROTOCOL_ICMP: return f->family == 4 ? 2 : 0;
	case PROTOCOL_ICMPV6: return f->family == 6 ? 2 : 0;
	default: return 0;
	}
}

/* Moves the pointers of the fields from a buffer to its copy. */
static struct frame_fields fields_moved(const struct frame_fields *f, const uint8_t *from,
					const uint8_t *to) {
	struct frame_fields moved = *f;

	moved.source = to + (f->source - from);
	moved.destination = to + (f->destination - from);
	moved.upper = to + (f->upper - from);
	return moved;
}

/* Bytes by which the payload is too short for a tag at its end. */
static size_t rewrite_missing(const struct frame_fields *f, size_t header) {
	size_t min = (f->upper_size + 1) & ~(size_t)1;

	return (min < header ? header : min) + PACKET_TAG_SIZE - f->upper_size;
}

/* Lengthens the packet: adjusts all length fields. */
static void lengthen(struct captured_frame *f, size_t more) {
	size_t offset = (size_t)(f->fields.upper - f->bytes);
	uint8_t *ip = f->bytes + ETHERNET_HEADER;
	uint8_t *length = ip + (f->fields.family == 4 ? 2 : 4);

	if (f->fields.protocol == IP_PROTOCOL_UDP)
		store_be16(f->bytes + offset + 4, (uint16_t)(f->fields.upper_size + more));
	store_be16(length, (uint16_t)(load_be16(length) + more));
	f->fields.upper_size += more;
}

/* A truncated experimental header (RFC 7045) parses as upper-layer protocol. Once the packet is
 * longer, it parses as extension header, so such a packet cannot be lengthened. */
static bool is_still_the_same(const struct captured_frame *f) {
	struct frame_fields reparsed;

	return frame_parse(f->bytes, f->size, &reparsed) == FRAME_GOOD &&
	       reparsed.upper == f->fields.upper && reparsed.protocol == f->fields.protocol;
}

enum capture_skip capture_frame_read(const uint8_t *frame, size_t size, size_t wire_size,
				     size_t max_size, struct captured_frame *out) {
	size_t tags = vlan_tags(frame, size);
	const uint8_t *from = frame + tags;
	struct frame_fields fields;
	enum capture_skip verdict = rewrite_parse(from, size - tags, size < wire_size, &fields);
	size_t header, end, more, size_now;

	if (verdict != CAPTURE_ACCEPTED)
		return verdict;
	header = end_tag_header(&fields);
	if (header == 0)
		return CAPTURE_SKIP_MALFORMED;
	end = (size_t)(fields.upper - from) + fields.upper_size;
	more = end_tag_offset(&fields, header) == 0 ? rewrite_missing(&fields, header) : 0;
	size_now = end + more > FRAME_MIN ? end + more : FRAME_MIN;
	if (size_now > max_size || size_now > PACKET_SIZE_MAX)
		return CAPTURE_SKIP_TOO_LONG;
	memset(out->bytes, 0, size_now);
	memcpy(out->bytes + 12, from + 12, end - 12);
	out->fields = fields_moved(&fields, from, out->bytes);
	out->untagged = tags > 0;
	out->lengthened = more > 0;
	out->size = (uint16_t)size_now;
	if (more > 0)
		lengthen(out, more);
	if (more > 0 && !is_still_the_same(out))
		return CAPTURE_SKIP_MALFORMED;
	out->headers = (uint16_t)((size_t)(out->fields.upper - out->bytes) + header);
	out->tag_at = (uint16_t)((size_t)(out->fields.upper - out->bytes) +
				 end_tag_offset(&out->fields, header));
	return CAPTURE_ACCEPTED;
}

static uint32_t rewrite_words_sum(const uint8_t *p, size_t size) {
	uint32_t sum = 0;

	for (size_t i = 0; i + 1 < size; i += 2)
		sum += load_be16(p + i);
	return size % 2 == 0 ? sum : sum + ((uint32_t)p[size - 1] << 8);
}

static uint16_t rewrite_fold(uint32_t sum) {
	sum = (sum & 0xffff) + (sum >> 16);
	return (uint16_t)(sum + (sum >> 16));
}

/* ICMP's checksum has no pseudo header, unlike the others (RFC 792, RFC 4443). */
static void upper_sum(struct captured_frame *f) {
	const struct frame_fields *fields = &f->fields;
	size_t addresses = ip_address_size(fields->family);
	size_t offset = checksum_offset(fields);
	uint32_t sum = 0;

	f->checksum_at = 0;
	memset(f->bytes + f->tag_at, 0, PACKET_TAG_SIZE);
	if (offset == 0)
		return;
	f->checksum_at = (uint16_t)((size_t)(fields->upper - f->bytes) + offset);
	store_be16(f->bytes + f->checksum_at, 0);
	if (fields->protocol != PROTOCOL_ICMP)
		sum = rewrite_words_sum(fields->source, addresses) +
		      rewrite_words_sum(fields->destination, addresses) + fields->protocol +
		      (uint32_t)fields->upper_size;
	f->sum = rewrite_fold(sum + rewrite_words_sum(fields->upper, fields->upper_size));
}

void capture_frame_finish(struct captured_frame *f, const uint8_t *destination,
			  const uint8_t destination_mac[6], const uint8_t source_mac[6]) {
	uint8_t *ip = f->bytes + ETHERNET_HEADER;

	memcpy(f->bytes, destination_mac, 6);
	memcpy(f->bytes + 6, source_mac, 6);
	if (f->fields.family == 4) {
		memcpy(ip + 16, destination, 4);
		store_be16(ip + 10, ipv4_checksum(ip, 4 * (size_t)(ip[0] & 0x0f)));
	} else {
		memcpy(ip + 24, destination, 16);
	}
	upper_sum(f);
}
