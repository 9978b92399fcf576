/* SPDX-License-Identifier: BSD-3-Clause */
#include "packets.h"

#include "model/load/loader.h"
#include "wire/bytes.h"
#include "wire/ip.h"

#include "test.h"

#define UDP_HEADER 8
#define ARP_BODY 28

/* Writes the Ethernet header, and a payload that depends on serial number and position. */
static void write_ethernet(uint8_t *out, size_t size, uint32_t serial, uint16_t ethertype) {
	for (size_t i = 0; i < size; i++)
		out[i] = (uint8_t)(serial * 13 + i * 5 + (i >> 8));
	memcpy(out, "\x02\xff\xff\xff\xff\xfe", 6); /* next hop of the router */
	memcpy(out + 6, "\x02\x0c", 2);
	store_be32(out + 8, serial);
	store_be16(out + 12, ethertype);
}

static void write_udp_header(uint8_t *out, size_t size) {
	store_be16(out, 50000);
	store_be16(out + 2, 40000);
	store_be16(out + 4, (uint16_t)size);
	store_be16(out + 6, 0);
}

size_t packet_write_ipv4(uint8_t *out, size_t size, uint32_t serial, const uint8_t destination[4]) {
	uint8_t *ip = out + ETHERNET_HEADER;

	write_ethernet(out, size, serial, ETHERTYPE_IPV4);
	memset(ip, 0, IPV4_HEADER);
	ip[0] = 0x45;
	store_be16(ip + 2, (uint16_t)(size - ETHERNET_HEADER));
	ip[8] = 64;
	ip[9] = IP_PROTOCOL_UDP;
	memcpy(ip + 12, "\xc6\x33\x64\x01", 4);
	memcpy(ip + 16, destination, 4);
	packet_update_ipv4_checksum(out);
	write_udp_header(ip + IPV4_HEADER, size - ETHERNET_HEADER - IPV4_HEADER);
	return size;
}

size_t packet_write_ipv6(uint8_t *out, size_t size, uint32_t serial,
			 const uint8_t destination[16]) {
	uint8_t *ip = out + ETHERNET_HEADER;

	write_ethernet(out, size, serial, ETHERTYPE_IPV6);
	memset(ip, 0, IPV6_HEADER);
	ip[0] = 0x60;
	store_be16(ip + 4, (uint16_t)(size - ETHERNET_HEADER - IPV6_HEADER));
	ip[6] = IP_PROTOCOL_UDP;
	ip[7] = 64;
	memcpy(ip + 8, "\x20\x01\x0d\xb8\xff", 5);
	memcpy(ip + 24, destination, 16);
	write_udp_header(ip + IPV6_HEADER, size - ETHERNET_HEADER - IPV6_HEADER);
	return size;
}

size_t packet_write_arp(uint8_t *out, size_t size, uint32_t serial, const uint8_t target[4]) {
	write_ethernet(out, size, serial, ETHERTYPE_ARP);
	memset(out, 0xff, 6);
	memcpy(out + ETHERNET_HEADER, "\x00\x01\x08\x00\x06\x04\x00\x01", 8);
	memcpy(out + ETHERNET_HEADER + ARP_BODY - 4, target, 4);
	return size;
}

size_t packet_write_llc(uint8_t *out, size_t size, uint32_t serial, const uint8_t mac[6]) {
	write_ethernet(out, size, serial, 0x88b5); /* local experimental */
	memcpy(out, mac, 6);
	return size;
}

void packet_update_ipv4_checksum(uint8_t *frame) {
	uint8_t *ip = frame + ETHERNET_HEADER;

	store_be16(ip + 10, ipv4_checksum(ip, IPV4_HEADER));
}

void packet_set_ipv4_port(uint8_t *frame, uint16_t port) {
	store_be16(frame + ETHERNET_HEADER + IPV4_HEADER + 2, port);
}

uint32_t packet_serial(const uint8_t *frame) {
	return load_be32(frame + 8);
}

static size_t at_least(size_t size, size_t minimum) {
	return size < minimum ? minimum : size;
}

size_t packet_write_to_modem(const struct modem *m, size_t address, uint8_t *out, size_t size,
			     uint32_t serial) {
	const struct ip_address *a = &m->addresses[address];

	if (a->family == 4)
		return packet_write_ipv4(out,
					 at_least(size, ETHERNET_HEADER + IPV4_HEADER + UDP_HEADER),
					 serial, a->bytes);
	return packet_write_ipv6(out, at_least(size, ETHERNET_HEADER + IPV6_HEADER + UDP_HEADER),
				 serial, a->bytes);
}

void group_load_text(struct service_group *sg, const char *text) {
	assert_int_equal(service_group_load_text("test", text, strlen(text), sg, stderr), 0);
}
