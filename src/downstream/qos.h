/* SPDX-License-Identifier: BSD-3-Clause */
/* The scheduler's part of a service group: from the configuration's terms to the scheduler's. */
#pragma once

#include <stdint.h>

#include "downstream/downstream.h"
#include "model/service_group.h"

/* Makes the scheduler of `d`, whose tables are ready, for `queued_max` packets. Returns 0, or -1 after a
 * message. */
int qos_create(struct downstream *d, const struct service_group *sg, uint32_t queued_max);

/* How the channel's DEPI frames are filled, as the DEPI stage does it. */
struct scheduler_depi qos_depi(const struct rphy_config *r, const struct channel *c);

/* Harmless where nothing was made. */
void qos_free(struct downstream *d);

/* What the scheduler is told of an object; of a free place, that there is none. A flow's DOCSIS header has
 * `header_size` bytes. A bonding group's channels are those of `g`. */
struct scheduler_channel qos_channel(const struct rphy_config *r, const struct channel *c);
struct scheduler_group qos_group(const struct bonding_group *g);
struct scheduler_modem qos_modem(const struct modem *m);
struct scheduler_flow qos_flow(const struct service_flow *f, uint32_t modem, uint8_t header_size);

/* From now on the channel has another rate, 0: none. By the thread of the upper MAC. */
void qos_capacity_change(struct ds_upper *u, uint32_t channel, uint64_t rate);

/* Likewise for one that comes: nothing is left of the one that had its place. */
void qos_capacity_begin(struct ds_upper *u, uint32_t channel, uint64_t rate);

/* Bytes that the channel could have carried up to time `now` (ns of the upper MAC's clock), at the
 * rates that it has had. May be called while workers run. */
uint64_t qos_capacity(const struct downstream *d, uint32_t channel, uint64_t now);
