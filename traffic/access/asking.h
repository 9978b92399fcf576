/* SPDX-License-Identifier: BSD-3-Clause */
/* How many bytes a flow asks for, and what it has asked for and not been granted yet. */
#pragma once

#include "access/access_parts.h"

/* Whether it may make a request now, and has something to ask for. */
bool asking_wanted(const struct access *a, const struct access_queue *f);

/* Makes a request that the CMTS hears at `at`. Returns its bytes, as a multiple of N; 0: none is made. */
uint32_t asking_request(struct access *a, struct access_queue *f, uint64_t at, bool contention);

/* So many bytes are granted. Returns how many of them were not asked for; below 0: how many are still missing of a
 * request that got a part of them. */
int64_t asking_granted(struct access_queue *f, uint64_t bytes);

/* Forgets all requests up to the time `at`; returns how many were still in doubt, of these in contention `contended`. */
unsigned asking_forget(struct access_queue *f, uint64_t at, unsigned *contended);
