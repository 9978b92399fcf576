/* SPDX-License-Identifier: BSD-3-Clause */
/* Verdicts of a downlink on received frames. */
#pragma once

#include "directions/downlink.h"

/* A deliver_fn for packets that passed every check but order, or that are only counted. */
void verdict_deliver(void *downlink, const struct arrived *packet, uint64_t now);

/* A receiver_wants_fn for frames that are only counted. */
bool verdict_is_wanted(void *downlink, struct rte_mbuf *head);

/* Processes a DEPI frame and extracts its DOCSIS frames, for verdict_batch(). Returns true if the caller keeps the
 * frame; false: it is unresolved and owned by `d`. */
bool verdict_depi(struct downlink *d, struct rte_mbuf *depi);

/* Checks the headers of the frames that verdict_depi() extracted, decrypts and verifies them. */
void verdict_batch(struct downlink *d);

/* Reprocesses the unresolved frames received before TSC `before`. With `again` false, their verdict
 * is final. */
void verdict_retry(struct downlink *d, uint64_t before, bool again);
