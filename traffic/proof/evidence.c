/* SPDX-License-Identifier: BSD-3-Clause */
/* Keeps the first corrupted or unexpected frames of a run, and writes them as pcapng. */
#include "proof/evidence.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "capture/pcapng.h"

#define HEADS 4096 /* maximum bytes of the blocks before the first packet */
#define BLOCK (EVIDENCE_BYTES + PCAPNG_TEXT + 256)

struct kept {
	enum evidence_interface at;
	const char *why;
	uint64_t time; /* ns since 1970 */
	uint32_t wire_size;
	uint32_t size;
	uint8_t bytes[EVIDENCE_BYTES];
};

struct evidence {
	uint64_t count;
	unsigned kept_count;
	struct kept kept[EVIDENCE_FRAMES];
};

static const struct pcapng_interface interfaces[EVIDENCE_INTERFACES] = {
	[EVIDENCE_NETWORK] = {.link = PCAPNG_ETHERNET, .snap = EVIDENCE_BYTES, .name = "network"},
	[EVIDENCE_RPHY] = {.link = PCAPNG_ETHERNET, .snap = EVIDENCE_BYTES, .name = "rphy"},
	[EVIDENCE_DOCSIS] = {.link = PCAPNG_DOCSIS, .snap = EVIDENCE_BYTES, .name = "docsis"},
};

struct evidence *evidence_create(void) {
	return calloc(1, sizeof(struct evidence));
}

void evidence_free(struct evidence *e) {
	free(e);
}

static struct kept *kept_next(struct evidence *e, enum evidence_interface at, const char *why,
			      uint32_t size) {
	struct timespec now;
	struct kept *k;

	if (e == NULL || e->count++ >= EVIDENCE_FRAMES)
		return NULL;
	clock_gettime(CLOCK_REALTIME, &now);
	k = &e->kept[e->kept_count++];
	k->at = at;
	k->why = why;
	k->time = (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
	k->wire_size = size;
	k->size = RTE_MIN(size, (uint32_t)EVIDENCE_BYTES);
	return k;
}

void evidence_add(struct evidence *e, enum evidence_interface at, const char *why,
		  const uint8_t *frame, uint32_t size) {
	struct kept *k = kept_next(e, at, why, size);

	if (k != NULL)
		memcpy(k->bytes, frame, k->size);
}

void evidence_add_mbuf(struct evidence *e, enum evidence_interface at, const char *why,
		       const struct rte_mbuf *m) {
	struct kept *k = kept_next(e, at, why, rte_pktmbuf_pkt_len(m));
	const void *bytes;

	if (k == NULL)
		return;
	bytes = rte_pktmbuf_read(m, 0, k->size, k->bytes);
	if (bytes != k->bytes)
		memcpy(k->bytes, bytes, k->size);
}

uint64_t evidence_count(const struct evidence *e) {
	return e == NULL ? 0 : e->count;
}

static bool evidence_put(const struct evidence *e, FILE *out) {
	uint8_t bytes[BLOCK + HEADS];
	struct pcapng p = {.bytes = bytes, .capacity = sizeof(bytes)};

	if (!pcapng_section(&p, "vcmts-traffic"))
		return false;
	for (int i = 0; i < EVIDENCE_INTERFACES; i++) {
		if (!pcapng_interface(&p, &interfaces[i]))
			return false;
	}
	for (unsigned i = 0; i < e->kept_count; i++) {
		const struct kept *k = &e->kept[i];
		struct pcapng_packet packet = {
			.interface = k->at,
			.time = k->time,
			.bytes = k->bytes,
			.size = k->size,
			.wire_size = k->wire_size,
			.flags = PCAPNG_INBOUND,
			.comment = k->why,
		};

		if (!pcapng_packet(&p, &packet) || fwrite(bytes, 1, p.size, out) != p.size)
			return false;
		p.size = 0;
	}
	return fwrite(bytes, 1, p.size, out) == p.size;
}

int evidence_write(const struct evidence *e, const char *path) {
	FILE *out = fopen(path, "wb");
	bool good = out != NULL && evidence_put(e, out);

	if (out != NULL && fclose(out) != 0)
		good = false;
	if (good)
		return 0;
	fprintf(stderr, "%s: cannot be written: %s\n", path, strerror(errno));
	return -1;
}
