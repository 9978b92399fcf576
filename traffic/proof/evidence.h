/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Frames that are corrupted, or that nobody asked for: the first EVIDENCE_FRAMES of a run are kept, and written as
 * pcapng when it ends, one interface for each end and one for DOCSIS frames out of DEPI. One thread.
 */
#pragma once

#include <stdint.h>

#include <rte_mbuf.h>

#define EVIDENCE_FRAMES 64
#define EVIDENCE_BYTES 2048 /* of a frame; what is behind is cut off */

enum evidence_interface { EVIDENCE_NETWORK, EVIDENCE_RPHY, EVIDENCE_DOCSIS, EVIDENCE_INTERFACES };

struct evidence;

/* Returns NULL when memory is short. To be freed by evidence_free(), which takes NULL too. */
struct evidence *evidence_create(void);
void evidence_free(struct evidence *e);

/* Keeps a frame of `size` bytes that came just now, and why it is kept, a constant text. `e`: NULL keeps nothing. */
void evidence_add(struct evidence *e, enum evidence_interface at, const char *why,
		  const uint8_t *frame, uint32_t size);
void evidence_add_mbuf(struct evidence *e, enum evidence_interface at, const char *why,
		       const struct rte_mbuf *m);

/* How many there were, kept or not, at either end. */
uint64_t evidence_count(const struct evidence *e);

/* Writes those that were kept. Returns 0, or -1 after a message. */
int evidence_write(const struct evidence *e, const char *path);
