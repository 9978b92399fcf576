/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Addresses beyond the CPE limit of a modem (MULPI, subscriber management, TLV 35 and 63). vcmtsd has to refuse packets
 * to them as long as the addresses that the limit admits are active. So packets to these are watched.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <rte_mbuf.h>

#include "model/service_group.h"

struct cpe_watch;

/*
 * Looks for modems that have more addresses of a family than may be active, from modem `first` on. Returns NULL where
 * there is none, where activity ends too soon to rely on it, or where memory is short. `tsc_hz` is the rate of the
 * clock of cpe_watch_see(). To be freed by cpe_watch_free(), which takes NULL too. `sg` is not kept.
 */
struct cpe_watch *cpe_watch_create(const struct service_group *sg, size_t first, uint64_t tsc_hz);
void cpe_watch_free(struct cpe_watch *w);

/* These packets, without VLAN tags, are going to be sent at `now`. `w` may be NULL. */
void cpe_watch_see(struct cpe_watch *w, struct rte_mbuf *const *packets, unsigned n, uint64_t now);

/*
 * An address to which no packet may go at `now`: `nth` modulo those that there are. Returns NULL where there is none of
 * the family, or where one that the limit admits may not be active.
 */
const uint8_t *cpe_watch_beyond(const struct cpe_watch *w, bool ipv4, uint64_t nth, uint64_t now);
