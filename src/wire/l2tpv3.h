/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The headers of a DEPI or UEPI data packet, from Ethernet to the L2TPv3 session (RFC 3931, 4.1;
 * R-DEPI). R-PHY devices use no cookie.
 *
 *     over IP, protocol 115                        over UDP, port 1701
 *     +-----------------------------+              +-----------------------------+
 *     | Ethernet                 14 |              | Ethernet, IPv4 or IPv6      |
 *     +-----------------------------+              +-----------------------------+
 *     | IPv4 20 or IPv6 40          |              | UDP                       8 |
 *     +-----------------------------+              +-----------------------------+
 *     | session ID                4 |              | 0x0003, reserved 0x0000   4 |
 *     +-----------------------------+              +-----------------------------+
 *     | sublayer (PSP) ..           |              | session ID, sublayer ..     |
 *     +-----------------------------+              +-----------------------------+
 *
 *     45 10 005E D431 4000 40 73 84D1 0A646648 0A64660A  00430000  40 01 6564 ..
 *            IPv4 of 94 bytes, DSCP 4, DF, TTL 64, 10.100.102.72 to 10.100.102.10,
 *            session 0x00430000, then 70 bytes of PSP
 *
 * Session 0 over IP, and the T bit over UDP, mark the control connection.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define L2TP_PORT 1701
#define L2TP_SESSION_SIZE 4
#define DEPI_ENCAP_MAX (14 + 4 + 40 + 4)

struct depi_encap {
	uint8_t source_mac[6];
	uint8_t destination_mac[6];
	uint16_t vlan; /* 1..4094; 0: no tag */
	uint8_t family; /* 4 or 6 */
	uint8_t source_ip[16]; /* network order; IPv4 uses the first four */
	uint8_t destination_ip[16];
	uint8_t dscp; /* 6 bits */
	uint8_t ttl; /* or hop limit */
	uint32_t session; /* chosen by the receiver, not 0 */
};

/* Bytes of Ethernet header, IP header and session ID: 38 for IPv4, 58 for IPv6; a tag is 4 more. */
size_t depi_encap_size(const struct depi_encap *e);

/*
 * Writes these headers for `l2tp_payload` bytes behind the session ID and returns their size. IPv4
 * has DF = 1 and identification 0, as DEPI never fragments at the IP layer. Returns 0 and writes
 * nothing if the IP length field cannot hold the packet.
 */
size_t depi_encap_write(const struct depi_encap *e, size_t l2tp_payload, uint8_t *out);

/*
 * Sets the length in headers of depi_encap_write(), and updates the IPv4 checksum.
 *
 * `headers` points to the Ethernet header; if that has a tag, the caller adds VLAN_TAG_SIZE. The
 * caller limits the payload to the range of the length field.
 */
void depi_encap_patch(uint8_t *headers, uint8_t family, size_t l2tp_payload);

enum l2tp_verdict {
	L2TP_OK,
	L2TP_RUNT, /* no complete Ethernet header or tag */
	L2TP_NOT_IP,
	L2TP_IP_HEADER, /* wrong version or IHL, or a truncated header */
	L2TP_IP_LENGTH, /* total length is less than the headers or exceeds the frame */
	L2TP_IP_CHECKSUM,
	L2TP_FRAGMENT, /* R-PHY devices send none; not reassembled */
	L2TP_NOT_L2TP, /* another protocol, or a UDP port other than 1701 */
	L2TP_VERSION, /* over UDP: not version 3 */
	L2TP_TRUNCATED, /* the UDP header or session ID is truncated */
	L2TP_CONTROL, /* a message of the control connection */
};

struct l2tp_data {
	uint8_t family; /* 4 or 6 */
	uint32_t session; /* 0 with L2TP_CONTROL */
	const uint8_t *payload; /* behind the session ID; of a control message, from its flags */
	size_t payload_size; /* by the IP or UDP length: without Ethernet padding */
	const uint8_t *source_ip; /* into the frame */
	const uint8_t *destination_ip;
};

/*
 * Parses a frame without its CRC, with at most one 802.1Q tag. `out` is valid with L2TP_OK and
 * L2TP_CONTROL only. A UDP checksum is not verified, as the HCS and CRC of the DOCSIS frames cover
 * the data.
 */
enum l2tp_verdict l2tp_parse(const uint8_t *frame, size_t length, struct l2tp_data *out);
