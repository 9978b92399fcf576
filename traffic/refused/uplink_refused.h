/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Frames of modems and packets of R-PHY devices that vcmtsd must drop (upstream.def), mixed into valid ones
 * at a low rate. Each frame has an invalid tag, so that it counts as foreign if the CMTS forwards it.
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
 * Adds a frame to refuse after one packet in `every` of the modems, and a packet after one in `every` of
 * the R-PHY device. `shared`: groups with the same VLAN share the R-PHY port. `flows` must outlive it.
 * Returns NULL if memory is short. The caller frees it with uplink_refused_free(), which accepts NULL.
 */
struct uplink_refused *uplink_refused_create(const struct service_group *sg,
					     const struct uplink_flows *flows, uint32_t every,
					     bool shared, uint64_t seed);
void uplink_refused_free(struct uplink_refused *r);

/* Callbacks for the frames of modems. */
extern const struct frame_refuser uplink_refused_frames;

/* Returns a faulty copy from `pool` of a packet of the R-PHY device, sent after it; NULL: none.
 * `headers` is the number of bytes up to the end of the session ID. */
struct rte_mbuf *uplink_refused_packet(struct uplink_refused *r, struct rte_mbuf *m,
				       uint32_t headers, struct rte_mempool *pool);

struct refused_counts uplink_refused_counts(const struct uplink_refused *r);
