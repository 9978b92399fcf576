/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes headers, tag and checksums of test packets. */
#include "core/packet.h"

#include "wire/ip.h"

#define UDP_SIZE 8
#define TCP_SIZE 20
#define TCP_ACK 0x10
#define HOPS 64

const uint8_t traffic_source_mac[6] = {0x02, 0x00, 0x00, 0x00, 0xff, 0x01};

void pattern_create(struct pattern *p, struct random *random) {
	for (size_t i = 0; i < PATTERN_SIZE; i++)
		p->bytes[i] = (uint8_t)random_next(random);
	p->sums[0] = 0;
	for (size_t i = 0; i < PATTERN_SIZE / 2; i++)
		p->sums[i + 1] = p->sums[i] + load_be16(p->bytes + 2 * i);
}

static uint32_t packet_words_sum(const uint8_t *p, size_t even_size) {
	uint32_t sum = 0;

	for (size_t i = 0; i < even_size; i += 2)
		sum += load_be16(p + i);
	return sum;
}

static uint16_t packet_fold(uint32_t sum) {
	sum = (sum & 0xffff) + (sum >> 16);
	sum = (sum & 0xffff) + (sum >> 16);
	return (uint16_t)sum;
}

static size_t upper_size(uint8_t protocol) {
	return protocol == IP_PROTOCOL_UDP ? UDP_SIZE : protocol == IP_PROTOCOL_TCP ? TCP_SIZE : 0;
}

static void ipv4_write(const struct packet_address *a, uint8_t *ip) {
	ip[0] = 0x45;
	ip[1] = a->tos;
	ip[6] = 0x40; /* DF */
	ip[8] = HOPS;
	ip[9] = a->protocol;
	memcpy(ip + 12, a->source, 4);
	memcpy(ip + 16, a->destination, 4);
}

static void ipv6_write(const struct packet_address *a, uint8_t *ip) {
	store_be16(ip, (uint16_t)(0x6000 | a->tos << 4));
	ip[6] = a->protocol;
	ip[7] = HOPS;
	memcpy(ip + 8, a->source, 16);
	memcpy(ip + 24, a->destination, 16);
}

/* Optional over IPv4 (RFC 768): every second pair of addresses has a checksum. */
static bool has_udp_checksum(const struct packet_address *a) {
	return a->family == 6 || ((a->source[3] ^ a->destination[3]) & 1) != 0;
}

static void upper_write(struct packet_template *t, const struct packet_address *a) {
	uint8_t *upper = t->headers + ETHERNET_HEADER + t->ip_size;
	size_t size = upper_size(a->protocol);
	size_t addresses = ip_address_size(a->family);

	if (size == 0)
		return;
	store_be16(upper, a->source_port);
	store_be16(upper + 2, a->destination_port);
	if (a->protocol == IP_PROTOCOL_TCP) {
		upper[12] = TCP_SIZE / 4 << 4;
		upper[13] = TCP_ACK;
		store_be16(upper + 14, UINT16_MAX); /* window */
		t->checksum_at = (uint8_t)(ETHERNET_HEADER + t->ip_size + 16);
	} else if (has_udp_checksum(a)) {
		t->checksum_at = (uint8_t)(ETHERNET_HEADER + t->ip_size + 6);
	}
	t->upper_sum = packet_words_sum(a->source, addresses) +
		       packet_words_sum(a->destination, addresses) + a->protocol +
		       packet_words_sum(upper, size);
}

void packet_template_create(struct packet_template *t, const struct packet_address *a,
			    const uint8_t source_mac[6], const uint8_t destination_mac[6]) {
	uint8_t *ip = t->headers + ETHERNET_HEADER;

	memset(t, 0, sizeof(*t));
	memcpy(t->headers, destination_mac, 6);
	memcpy(t->headers + 6, source_mac, 6);
	store_be16(t->headers + 12, a->family == 4 ? ETHERTYPE_IPV4 : ETHERTYPE_IPV6);
	if (a->family == 4)
		ipv4_write(a, ip);
	else
		ipv6_write(a, ip);
	t->ip_size = a->family == 4 ? IPV4_HEADER : IPV6_HEADER;
	t->ip_sum = packet_words_sum(ip, t->ip_size);
	t->protocol = a->protocol;
	t->size = (uint8_t)(ETHERNET_HEADER + t->ip_size + upper_size(a->protocol));
	upper_write(t, a);
}

static uint32_t payload_sum(const struct pattern *p, uint32_t start, uint32_t size) {
	uint32_t sum = p->sums[(start + size) / 2] - p->sums[start / 2];

	if (size % 2 != 0)
		sum += (uint32_t)p->bytes[start + size - 1] << 8;
	return sum;
}

static void upper_checksum_write(const struct packet_template *t, const struct pattern *pattern,
				 uint32_t start, uint32_t size, uint8_t *out) {
	uint32_t upper_length = size - ETHERNET_HEADER - t->ip_size;
	uint32_t payload = size - t->size - PACKET_TAG_SIZE;
	uint32_t sum = t->upper_sum + upper_length; /* in the pseudo header */
	uint16_t checksum;

	if (t->protocol == IP_PROTOCOL_UDP)
		sum += upper_length; /* in the UDP header */
	sum += packet_words_sum(out + t->size, PACKET_TAG_SIZE);
	sum = packet_fold(sum) + packet_fold(payload_sum(pattern, start, payload));
	checksum = (uint16_t)~packet_fold(sum);
	store_be16(out + t->checksum_at, checksum == 0 ? UINT16_MAX : checksum);
}

void packet_start_write(const struct packet_template *t, const struct packet_tag *tag,
			const struct pattern *pattern, uint32_t start, uint32_t size,
			uint8_t *out) {
	uint8_t *ip = out + ETHERNET_HEADER;

	memcpy(out, t->headers, PACKET_HEADERS_MAX);
	packet_tag_write(tag, out + t->size);
	if (t->ip_size == IPV4_HEADER) {
		store_be16(ip + 2, (uint16_t)(size - ETHERNET_HEADER));
		store_be16(ip + 10, (uint16_t)~packet_fold(t->ip_sum + size - ETHERNET_HEADER));
	} else {
		store_be16(ip + 4, (uint16_t)(size - ETHERNET_HEADER - IPV6_HEADER));
	}
	if (t->protocol == IP_PROTOCOL_UDP)
		store_be16(ip + t->ip_size + 4, (uint16_t)(size - ETHERNET_HEADER - t->ip_size));
	if (t->checksum_at != 0)
		upper_checksum_write(t, pattern, start, size, out);
}

/* Replaces a word and returns its contribution to the sum of a checksum (RFC 1624). */
static uint32_t word_replace(uint8_t *word, uint16_t value) {
	uint32_t change = (uint32_t)(uint16_t)~load_be16(word) + value;

	store_be16(word, value);
	return change;
}

static uint16_t checksum_change(const uint8_t *checksum, uint32_t change) {
	return (uint16_t)~packet_fold((uint16_t)~load_be16(checksum) + change);
}

void packet_vary(const struct packet_template *t, const struct packet_variant *v, uint8_t *out) {
	uint8_t *ip = out + ETHERNET_HEADER;
	uint8_t *upper = ip + t->ip_size;
	bool ipv4 = t->ip_size == IPV4_HEADER;
	uint32_t change = word_replace(ip + (ipv4 ? 14 : 22), v->source_low);
	uint16_t checksum;

	if (ipv4)
		store_be16(ip + 10, checksum_change(ip + 10, change));
	if (upper_size(t->protocol) == 0)
		return;
	change += word_replace(upper, v->source_port);
	change += word_replace(upper + 2, v->destination_port);
	if (t->checksum_at == 0)
		return;
	checksum = checksum_change(out + t->checksum_at, change);
	store_be16(out + t->checksum_at, checksum == 0 ? UINT16_MAX : checksum);
}

size_t packet_tag_find(const uint8_t *frame, size_t size) {
	uint16_t type;
	size_t at;
	uint8_t protocol;

	if (size < ETHERNET_HEADER + IPV4_HEADER + PACKET_TAG_SIZE)
		return 0;
	type = load_be16(frame + 12);
	if (type == ETHERTYPE_IPV4) {
		at = ETHERNET_HEADER + IPV4_HEADER;
		protocol = frame[ETHERNET_HEADER + 9];
	} else if (type == ETHERTYPE_IPV6) {
		at = ETHERNET_HEADER + IPV6_HEADER;
		protocol = frame[ETHERNET_HEADER + 6];
	} else {
		return 0;
	}
	at += upper_size(protocol);
	return at + PACKET_TAG_SIZE <= size ? at : 0;
}
