/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes downstream frames without CRC, and loads the service group that receives them. The last
 * four bytes of the source MAC address are a serial number, which BPI+ does not encrypt. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "model/service_group.h"

#define PACKET_MAX 2048

/* Each writes a frame of `size` bytes with valid headers and returns `size`. Addresses are in
 * network order. The minimum sizes are 42, 62, 42 and 14 bytes. */
size_t packet_write_ipv4(uint8_t *out, size_t size, uint32_t serial, const uint8_t destination[4]);
size_t packet_write_ipv6(uint8_t *out, size_t size, uint32_t serial, const uint8_t destination[16]);
size_t packet_write_arp(uint8_t *out, size_t size, uint32_t serial, const uint8_t target[4]);
size_t packet_write_llc(uint8_t *out, size_t size, uint32_t serial, const uint8_t mac[6]);

/* Recomputes the IPv4 header checksum after a test changed the header. */
void packet_update_ipv4_checksum(uint8_t *frame);

/* Sets the UDP or TCP destination port of an IPv4 frame without options. */
void packet_set_ipv4_port(uint8_t *frame, uint16_t port);

uint32_t packet_serial(const uint8_t *frame);

/* Writes a frame to the modem's address of that index; returns its size. A smaller `size` is raised to the minimum. */
size_t packet_write_to_modem(const struct modem *m, size_t address, uint8_t *out, size_t size,
			     uint32_t serial);

/* Loads a group from YAML text; asserts that it has no errors. */
void group_load_text(struct service_group *sg, const char *text);
