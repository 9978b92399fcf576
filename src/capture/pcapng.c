/* SPDX-License-Identifier: BSD-3-Clause */
#include "capture/pcapng.h"

#include <string.h>

enum {
	BLOCK_INTERFACE = 1,
	BLOCK_STATISTICS = 5,
	BLOCK_PACKET = 6,
	BLOCK_SECTION = 0x0a0d0d0a,
};

#define BYTE_ORDER 0x1a2b3c4du
#define SECTION_OF_ANY_SIZE UINT64_MAX
#define NANOSECONDS 9 /* value of if_tsresol: 10^-9 s */

enum { OPTION_END = 0, OPTION_COMMENT = 1 };
enum { SECTION_PROGRAM = 4 };
enum { INTERFACE_NAME = 2, INTERFACE_ABOUT = 3, INTERFACE_RESOLUTION = 9, INTERFACE_FCS = 13 };
enum { PACKET_FLAGS = 2 };
enum { STATISTICS_RECEIVED = 4, STATISTICS_DROPPED = 5 };

/* A block that is being written. After the first write that does not fit, the rest is skipped. */
struct block {
	struct pcapng *p;
	size_t begin, at;
	bool full;
};

static void put(struct block *b, const void *bytes, size_t size) {
	size_t whole = (size + 3) & ~(size_t)3;

	if (b->full || whole > b->p->capacity - b->at) {
		b->full = true;
		return;
	}
	if (size > 0)
		memcpy(b->p->bytes + b->at, bytes, size);
	memset(b->p->bytes + b->at + size, 0, whole - size);
	b->at += whole;
}

static void put_32(struct block *b, uint32_t value) {
	put(b, &value, sizeof(value));
}

static void put_16s(struct block *b, uint16_t first, uint16_t second) {
	const uint16_t both[2] = {first, second};

	put(b, both, sizeof(both));
}

/* Writes timestamps and counters of pcapng: the upper 32 bits first. */
static void put_halves(struct block *b, uint64_t value) {
	put_32(b, (uint32_t)(value >> 32));
	put_32(b, (uint32_t)value);
}

static void put_option(struct block *b, uint16_t code, const void *bytes, size_t size) {
	put_16s(b, code, (uint16_t)size);
	put(b, bytes, size);
}

/* Cuts long UTF-8 texts at a character boundary. */
static void put_text(struct block *b, uint16_t code, const char *text) {
	size_t size;

	if (text == NULL)
		return;
	size = strnlen(text, PCAPNG_TEXT + 1);
	if (size > PCAPNG_TEXT) {
		size = PCAPNG_TEXT;
		while (size > 0 && ((uint8_t)text[size] & 0xc0) == 0x80)
			size--;
	}
	put_option(b, code, text, size);
}

static struct block block_begin(struct pcapng *p, uint32_t type) {
	struct block b = {.p = p, .begin = p->size, .at = p->size};

	put_32(&b, type);
	put_32(&b, 0); /* placeholder of the block size */
	return b;
}

static bool block_end(struct block *b) {
	uint32_t size;

	put_16s(b, OPTION_END, 0);
	put_32(b, 0);
	if (b->full)
		return false;
	size = (uint32_t)(b->at - b->begin);
	memcpy(b->p->bytes + b->begin + sizeof(size), &size, sizeof(size));
	memcpy(b->p->bytes + b->at - sizeof(size), &size, sizeof(size));
	b->p->size = b->at;
	return true;
}

bool pcapng_section(struct pcapng *p, const char *program) {
	struct block b = block_begin(p, BLOCK_SECTION);
	const uint64_t any = SECTION_OF_ANY_SIZE;

	put_32(&b, BYTE_ORDER);
	put_16s(&b, 1, 0); /* version 1.0 */
	put(&b, &any, sizeof(any));
	put_text(&b, SECTION_PROGRAM, program);
	return block_end(&b);
}

bool pcapng_interface(struct pcapng *p, const struct pcapng_interface *i) {
	struct block b = block_begin(p, BLOCK_INTERFACE);
	const uint8_t resolution = NANOSECONDS;

	put_16s(&b, i->link, 0);
	put_32(&b, i->snap);
	put_text(&b, INTERFACE_NAME, i->name);
	put_text(&b, INTERFACE_ABOUT, i->about);
	put_option(&b, INTERFACE_RESOLUTION, &resolution, sizeof(resolution));
	if (i->fcs != 0)
		put_option(&b, INTERFACE_FCS, &i->fcs, sizeof(i->fcs));
	return block_end(&b);
}

bool pcapng_packet(struct pcapng *p, const struct pcapng_packet *packet) {
	struct block b = block_begin(p, BLOCK_PACKET);

	put_32(&b, packet->interface);
	put_halves(&b, packet->time);
	put_32(&b, packet->size);
	put_32(&b, packet->wire_size);
	put(&b, packet->bytes, packet->size);
	put_text(&b, OPTION_COMMENT, packet->comment);
	put_option(&b, PACKET_FLAGS, &packet->flags, sizeof(packet->flags));
	return block_end(&b);
}

bool pcapng_statistics(struct pcapng *p, const struct pcapng_statistics *s) {
	struct block b = block_begin(p, BLOCK_STATISTICS);

	put_32(&b, s->interface);
	put_halves(&b, s->time);
	put_text(&b, OPTION_COMMENT, s->comment);
	if (s->counted) {
		put_option(&b, STATISTICS_RECEIVED, &s->received, sizeof(s->received));
		put_option(&b, STATISTICS_DROPPED, &s->dropped, sizeof(s->dropped));
	}
	return block_end(&b);
}
