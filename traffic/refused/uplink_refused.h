/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Frames of modems and packets of the R-PHY device that vcmtsd must drop (refused/upstream.def), mixed into
 * valid ones. A frame has an invalid tag, so that it counts as foreign if the CMTS forwards it. A packet is a
 * copy with the same PSP number: if the CMTS accepts it, only the drop reasons show that.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <rte_mbuf.h>

#include "core/packet.h"
#include "model/service_group.h"
#include "modems/uplink_flow.h"
#include "refused/kinds.h"
#include "wire/docsis_up.h"

struct uplink_refused;

/*
 * Adds at most one such frame per `every` packets of streams with segment headers, and one such packet per
 * `every` L2TPv3 packets; `every` is 1 or more. Adds nothing if the drawn fault is impossible, such as a wrong
 * key of a modem without one. `shared`: groups with the same VLAN share the R-PHY port, so that its drop
 * reasons count unknown sessions and control messages. `flows` must outlive the result. Returns NULL if memory
 * is short. The caller frees it with uplink_refused_free(), which accepts NULL.
 */
struct uplink_refused *uplink_refused_create(const struct service_group *sg,
					     const struct uplink_flows *flows, uint32_t every,
					     bool shared, uint64_t seed);
void uplink_refused_free(struct uplink_refused *r);

/* Callbacks of struct uplink_frames that add the frames; their context is a struct uplink_refused. */
extern const struct frame_refuser uplink_refused_frames;

/* Returns a faulty copy of `m` from `pool`, which the caller owns and must send after `m`. NULL: none is due,
 * its fault is impossible, or no buffer is free. `m` has no VLAN tag and stays the caller's. `headers` is the
 * number of bytes up to the end of the session ID. */
struct rte_mbuf *uplink_refused_packet(struct uplink_refused *r, struct rte_mbuf *m,
				       uint32_t headers, struct rte_mempool *pool);

/* Sets all counts to 0. `r` may be NULL. */
void uplink_refused_restart(struct uplink_refused *r);

/* Counts since the last restart; all 0 if `r` is NULL. */
struct refused_counts uplink_refused_counts(const struct uplink_refused *r);
