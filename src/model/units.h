/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Parses and formats the values of a configuration file. A parser takes the whole NUL-terminated
 * text. If the text is not a value, or the value does not fit, it returns false and leaves its
 * result unchanged.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/server_config.h"

/* Buffer size of the units_format_ functions. */
#define UNITS_TEXT_SIZE 40

#define UNITS_ENDPOINT_SIZE 64 /* bytes of an address with its port and the NUL */

/* A whole number, decimal or hexadecimal ("18", "0x12"), without sign or leading zero. YAML 1.1
 * readers take 010 as octal, so 010 is refused. */
bool units_parse_integer(const char *text, uint64_t *value);

/* Bytes: "1500", "2000 B", "512 kB". k, M and G count in thousands; Ki, Mi and Gi in 1024; the
 * space and the B may be left out. The value must be a whole number of bytes. */
bool units_parse_size(const char *text, uint64_t *bytes);

/* Bits per second: "1.89 Gbps", with bps, kbps, Mbps, Gbps or Tbps (thousands). */
bool units_parse_rate(const char *text, uint64_t *bits_per_second);

/* Nanoseconds: "50 us", with ns, us, ms, s, min or h. */
bool units_parse_duration(const char *text, uint64_t *nanoseconds);

/* A unicast MAC address that is not all zero, as six pairs of hexadecimal digits with colons. */
bool units_parse_mac(const char *text, uint8_t mac[6]);

/* A unicast IPv4 or IPv6 address (RFC 4291 text form): not unspecified, multicast or broadcast. */
bool units_parse_address(const char *text, struct ip_address *address);

/* "192.0.2.0/24" or "2001:db8::/32"; without a length, one host. Bits past the length must be 0. */
bool units_parse_prefix(const char *text, struct ip_prefix *prefix);

/* "80" or "135-139", low to high. */
bool units_parse_ports(const char *text, struct port_range *ports);

/* "7-23": from the beginning of one hour of the day to that of another, 0 to 24; "22-6" spans
 * midnight. */
bool units_parse_hours(const char *text, struct hours *hours);

/* "127.0.0.1:9464" or "[::1]:9464": an address and a port. Does not check that the address is
 * local. */
bool units_parse_endpoint(const char *text);

/* An IP protocol by name (tcp, udp, icmp, icmpv6, igmp, gre, esp) or number. */
bool units_parse_protocol(const char *text, uint8_t *protocol);

/* "0xb8/0xfc": TOS or traffic class under a mask that is not 0; without a mask, all eight bits. */
bool units_parse_tos(const char *text, uint8_t *tos, uint8_t *mask);

/* Exactly `size` bytes as hexadecimal digits. */
bool units_parse_hex(const char *text, uint8_t *bytes, size_t size);

/* The shortest exact text in the largest unit that keeps a whole part: "1.89 Gbps", "50 us". */
void units_format_size(uint64_t bytes, char text[UNITS_TEXT_SIZE]);
void units_format_rate(uint64_t bits_per_second, char text[UNITS_TEXT_SIZE]);
void units_format_duration(uint64_t nanoseconds, char text[UNITS_TEXT_SIZE]);

/* Six pairs of lower-case hexadecimal digits with colons. */
void units_format_mac(const uint8_t mac[6], char text[UNITS_TEXT_SIZE]);
