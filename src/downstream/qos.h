/* SPDX-License-Identifier: BSD-3-Clause */
/* Converts a service group's configuration to the settings of its scheduler, and counts the bytes that
 * its channels could have carried. */
#pragma once

#include <stdint.h>

#include "downstream/downstream.h"
#include "model/service_group.h"

/* Creates the scheduler of `d`, whose tables and clock of the upper MAC must exist, for `queued_max` packets in
 * all queues; qos_capacity() counts from now on. Returns 0, or -1 after logging an error. Call qos_free() in either
 * case. */
int qos_create(struct downstream *d, const struct service_group *sg, uint32_t queued_max);

/* Sizes and limits of the channel's DEPI frames, by which the scheduler charges their overhead to the rate. */
struct scheduler_depi qos_depi(const struct rphy_config *r, const struct channel *c);

/* Frees what qos_create() allocated, but no queued packets: drain the scheduler first. Call it once per
 * qos_create(); no effect on a zeroed `d`. */
void qos_free(struct downstream *d);

/* The scheduler's settings of an object. For an unused slot of a channel or bonding group, the
 * result means that the scheduler has no such object. Modems and flows must exist. */
struct scheduler_channel qos_channel(const struct rphy_config *r, const struct channel *c);
/* The result points to the list of channels of `g`, which must outlive it. */
struct scheduler_group qos_group(const struct bonding_group *g);
struct scheduler_modem qos_modem(const struct modem *m);
/* `modem`: its index. `header_size`: bytes of the DOCSIS header that the lower MAC writes. */
struct scheduler_flow qos_flow(const struct service_flow *f, uint32_t modem, uint8_t header_size);

/* Sets the rate (bits per second, 0: none) by which qos_capacity() counts from now on, the time of `u->clock`;
 * does not change the scheduler. The thread of the upper MAC calls it. */
void qos_capacity_change(struct ds_upper *u, uint32_t channel, uint64_t rate);

/* The same for a new channel in the slot, whose count starts at 0. */
void qos_capacity_begin(struct ds_upper *u, uint32_t channel, uint64_t rate);

/* Bytes that the channel could have carried until `now` (ns of the upper MAC's clock), at the
 * rates that it had. Any thread may call it while the upper MAC runs. The count of a channel never falls
 * if the caller loads `now` from the clock (acquire) before the call. */
uint64_t qos_capacity(const struct downstream *d, uint32_t channel, uint64_t now);

/* The same until now. */
uint64_t qos_capacity_now(const struct downstream *d, uint32_t channel);
