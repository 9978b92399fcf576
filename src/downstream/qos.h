/* SPDX-License-Identifier: BSD-3-Clause */
/* The scheduler of a service group: converts its configuration to that of the scheduler. */
#pragma once

#include <stdint.h>

#include "downstream/downstream.h"
#include "model/service_group.h"

/* Creates the scheduler of `d`, whose tables must exist, for `queued_max` packets. Returns 0, or
 * -1 after logging an error. */
int qos_create(struct downstream *d, const struct service_group *sg, uint32_t queued_max);

/* The format of the channel's DEPI frames, as the stage `depi` fills them. */
struct scheduler_depi qos_depi(const struct rphy_config *r, const struct channel *c);

/* No effect if nothing was created. */
void qos_free(struct downstream *d);

/* The scheduler's settings of an object; those of an unused slot mean that it does not exist. A
 * flow's DOCSIS header has `header_size` bytes. A bonding group has the channels of `g`. */
struct scheduler_channel qos_channel(const struct rphy_config *r, const struct channel *c);
struct scheduler_group qos_group(const struct bonding_group *g);
struct scheduler_modem qos_modem(const struct modem *m);
struct scheduler_flow qos_flow(const struct service_flow *f, uint32_t modem, uint8_t header_size);

/* Sets a new rate of the channel, 0: none. Called by the thread of the upper MAC. */
void qos_capacity_change(struct ds_upper *u, uint32_t channel, uint64_t rate);

/* The same for a new channel, which starts with no bytes. */
void qos_capacity_begin(struct ds_upper *u, uint32_t channel, uint64_t rate);

/* Bytes that the channel could have carried until `now` (ns of the upper MAC's clock), at the
 * rates that it had. May be called while workers run. */
uint64_t qos_capacity(const struct downstream *d, uint32_t channel, uint64_t now);
