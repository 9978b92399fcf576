/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Evidence: the first EVIDENCE_FRAMES corrupted or unexpected frames of a run. They are written as pcapng
 * at its end, with an interface for each port and one for DOCSIS frames from DEPI. Used by one thread.
 */
#pragma once

#include <stdint.h>

#include <rte_mbuf.h>

#define EVIDENCE_FRAMES 64
#define EVIDENCE_BYTES 2048 /* maximum bytes kept of a frame */

enum evidence_interface { EVIDENCE_NETWORK, EVIDENCE_RPHY, EVIDENCE_DOCSIS, EVIDENCE_INTERFACES };

struct evidence;

/* Returns NULL if memory is short. The caller frees it with evidence_free(), which accepts NULL. */
struct evidence *evidence_create(void);
void evidence_free(struct evidence *e);

/* Keeps a frame of `size` bytes with the time and the reason `why`, a constant string. `e` may be
 * NULL: does nothing. */
void evidence_add(struct evidence *e, enum evidence_interface at, const char *why,
		  const uint8_t *frame, uint32_t size);
void evidence_add_mbuf(struct evidence *e, enum evidence_interface at, const char *why,
		       const struct rte_mbuf *m);

/* Number of frames added, kept or not. */
uint64_t evidence_count(const struct evidence *e);

/* Writes the kept frames. Returns 0, or -1 after a message. */
int evidence_write(const struct evidence *e, const char *path);
