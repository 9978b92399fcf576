/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Frames from the network, without CRC, and the service group that they are for. The second half of
 * the source MAC address is a serial number, which stays readable in what is encrypted.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "model/service_group.h"

#define PACKET_MAX 2048

/* Each writes a frame of `size` bytes with a good header and returns `size`. `destination` is in
 * network order. The smallest sizes are 42, 62, 42 and 14 bytes. */
size_t packet_ipv4(uint8_t *out, size_t size, uint32_t serial, const uint8_t destination[4]);
size_t packet_ipv6(uint8_t *out, size_t size, uint32_t serial, const uint8_t destination[16]);
size_t packet_arp(uint8_t *out, size_t size, uint32_t serial, const uint8_t target[4]);
size_t packet_llc(uint8_t *out, size_t size, uint32_t serial, const uint8_t mac[6]);

/* Makes the IPv4 checksum right again after a change. */
void packet_ipv4_checksum(uint8_t *frame);

/* UDP or TCP destination port of an IPv4 frame without options. */
void packet_ipv4_port(uint8_t *frame, uint16_t port);

uint32_t packet_serial(const uint8_t *frame);

/* A frame for address `address` of the modem, of a size that is raised to the smallest. */
size_t packet_for(const struct modem *m, size_t address, uint8_t *out, size_t size,
		  uint32_t serial);

/* Loads a configuration that has no mistakes. */
void group_load(struct service_group *sg, const char *text);
