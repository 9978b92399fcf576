/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Blocks of a pcapng file (IETF draft-ietf-opsawg-pcapng), put one behind the other into memory of the caller's. Numbers
 * are in the byte order of the machine, as the section's first block says. Times are in ns since 1970.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Link types of https://www.tcpdump.org/linktypes.html. */
#define PCAPNG_ETHERNET 1
#define PCAPNG_DOCSIS 143
#define PCAPNG_USER0 147

#define PCAPNG_INBOUND 1 /* epb_flags */
#define PCAPNG_OUTBOUND 2

#define PCAPNG_TEXT 1024 /* bytes of a name or comment; what is longer is cut */

struct pcapng {
	uint8_t *bytes;
	size_t room;
	size_t size; /* that are written */
};

struct pcapng_interface {
	uint16_t link;
	uint32_t snap; /* bytes of a packet, at most */
	const char *name;
	const char *about; /* NULL: nothing */
	uint8_t fcs; /* bytes of a frame check sequence behind each packet; 0: none is said of */
};

struct pcapng_packet {
	uint32_t interface; /* number, in the order of their blocks */
	uint64_t time;
	const uint8_t *bytes;
	uint32_t size; /* bytes that were captured */
	uint32_t wire_size; /* bytes that there were */
	uint32_t flags; /* of these above */
	const char *comment; /* NULL: none */
};

struct pcapng_statistics {
	uint32_t interface;
	uint64_t time;
	bool counted; /* the next two are told */
	uint64_t received; /* packets, whether captured or not */
	uint64_t dropped; /* packets that were to be captured, and were not */
	const char *comment; /* NULL: none */
};

/* Each returns false where there is no room for the block: then nothing was written. */
bool pcapng_section(struct pcapng *p, const char *program);
bool pcapng_interface(struct pcapng *p, const struct pcapng_interface *i);
bool pcapng_packet(struct pcapng *p, const struct pcapng_packet *packet);
bool pcapng_statistics(struct pcapng *p, const struct pcapng_statistics *s);
