/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finds addresses beyond the CPE limit of a modem (MULPI, subscriber management, TLV 35 and 63). vcmtsd
 * must drop packets to them while the admitted addresses are active, so this watches packets to the
 * admitted addresses.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <rte_mbuf.h>

#include "model/service_group.h"

struct cpe_watch;

/*
 * Searches the modems from `first` on for those with more addresses of a family than may be active. Returns
 * NULL if there are none, if activity ends too soon to rely on it, or if memory is short. `tsc_hz` is the
 * rate of the clock of cpe_watch_record(). Does not keep `sg`. The caller frees the result with
 * cpe_watch_free(), which accepts NULL.
 */
struct cpe_watch *cpe_watch_create(const struct service_group *sg, size_t first, uint64_t tsc_hz);
void cpe_watch_free(struct cpe_watch *w);

/* Records packets without VLAN tags that are about to be sent at `now`. `w` may be NULL. */
void cpe_watch_record(struct cpe_watch *w, struct rte_mbuf *const *packets, unsigned n,
		      uint64_t now);

/* An address to which vcmtsd must drop packets at `now`, of limit number `nth` modulo their count or the next
 * one of the family. Returns NULL if the family has none, or if an admitted address may be inactive. */
const uint8_t *cpe_watch_beyond(const struct cpe_watch *w, bool ipv4, uint64_t nth, uint64_t now);
