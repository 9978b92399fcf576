/* SPDX-License-Identifier: BSD-3-Clause */
/* The bytes that a flow requests, and its requests without grant. */
#pragma once

#include "access/access_parts.h"

/* Whether the flow may make a request now and has bytes to request. */
bool requests_wanted(const struct access *a, const struct access_queue *f);

/* Makes a request that arrives at the CMTS at `at`. Returns its bytes, a multiple of N; 0: no request. */
uint32_t requests_make(struct access *a, struct access_queue *f, uint64_t at, bool contention);

/* Subtracts granted bytes from the requests, oldest first. Returns the granted bytes in excess of
 * all requests, or, if negative, the bytes that the last partly granted request still lacks. */
int64_t requests_granted(struct access_queue *f, uint64_t bytes);

/* Removes all requests made before the time `at`. Returns their number; `contended` gets the number
 * of those made in contention. */
unsigned requests_forget(struct access_queue *f, uint64_t at, unsigned *contended);
