/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Frames of modems and packets of R-PHY devices that vcmtsd has to drop (upstream.def), a few between the others. Each
 * frame holds a packet with a tag that is no packet's, so that one which comes out is foreign.
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
 * One packet in `every` of the modems is followed by a frame that is to be refused, and one in `every` of the R-PHY
 * device by a packet. `shared`: groups with the same VLAN share the R-PHY port. Returns NULL where memory is short; to
 * be freed by uplink_refused_free(), which takes NULL too. `flows` must live on.
 */
struct uplink_refused *uplink_refused_create(const struct service_group *sg,
					     const struct uplink_flows *flows, uint32_t every,
					     bool shared, uint64_t seed);
void uplink_refused_free(struct uplink_refused *r);

/* The frames of modems. */
extern const struct frame_refuser uplink_refused_frames;

/* A packet of the R-PHY device with `headers` bytes up to the end of its session ID: a copy with a fault that is to be
 * sent behind it, from `pool`; NULL: none. */
struct rte_mbuf *uplink_refused_packet(struct uplink_refused *r, struct rte_mbuf *m,
				       uint32_t headers, struct rte_mempool *pool);

struct refused_counts uplink_refused_counts(const struct uplink_refused *r);
