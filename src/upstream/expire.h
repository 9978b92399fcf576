/* SPDX-License-Identifier: BSD-3-Clause */
/* The stage `expire`: ends the waits of all stages. */
#pragma once

#include "upstream/defragment.h"
#include "upstream/reassemble.h"
#include "upstream/receive.h"
#include "upstream/stream.h"
#include "upstream/uepi.h"

struct us_expire {
	struct counters *counters;
	struct pending_set *pending_set;
	const struct us_reorder_set *reorder_set;
	const struct us_receive *receive;
	/* the owners of pending buffers */
	struct us_uepi *uepi;
	struct us_reassemble *reassemble;
	struct us_streams *streams;
	struct us_defragment *defragment;
};

uint16_t us_expire(void *ctx, struct rte_mbuf **pkts, uint16_t n);
