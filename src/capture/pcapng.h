/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Writes blocks of a pcapng file (IETF draft-ietf-opsawg-pcapng) to memory of the caller, one after the
 * other. Numbers are in host byte order, which the section header announces. Times are in ns since 1970.
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

#define PCAPNG_TEXT 1024 /* bytes of a name or comment; longer ones are cut */

struct pcapng {
	uint8_t *bytes;
	size_t capacity;
	size_t size; /* bytes written */
};

struct pcapng_interface {
	uint16_t link;
	uint32_t snap; /* bytes per packet, at most */
	const char *name;
	const char *about; /* NULL: none */
	uint8_t fcs; /* bytes of the FCS after each packet; 0: not stated */
};

struct pcapng_packet {
	uint32_t interface; /* number in the order of the interface blocks */
	uint64_t time;
	const uint8_t *bytes;
	uint32_t size; /* captured bytes */
	uint32_t wire_size; /* bytes of the packet */
	uint32_t flags; /* epb_flags, as above */
	const char *comment; /* NULL: none */
};

struct pcapng_statistics {
	uint32_t interface;
	uint64_t time;
	bool counted; /* the next two are valid */
	uint64_t received; /* packets, captured or not */
	uint64_t dropped; /* selected packets that were not captured */
	const char *comment; /* NULL: none */
};

/* Each returns false if the block does not fit; then nothing is written. */
bool pcapng_section(struct pcapng *p, const char *program);
bool pcapng_interface(struct pcapng *p, const struct pcapng_interface *i);
bool pcapng_packet(struct pcapng *p, const struct pcapng_packet *packet);
bool pcapng_statistics(struct pcapng *p, const struct pcapng_statistics *s);
