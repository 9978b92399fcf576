/* SPDX-License-Identifier: BSD-3-Clause */
#include "upstream/give_up.h"

#include <stddef.h>

#include "upstream/bursts.h"
#include "upstream/defragment.h"
#include "upstream/reassemble.h"
#include "upstream/stream.h"
#include "upstream/uepi.h"
#include "upstream/upstream.h"

#define OWNER(type, member, h) ((type *)(void *)((char *)(h) - offsetof(type, member)))

void us_give_up(struct upstream *u, struct hold *h, bool timeout) {
	switch (h->kind) {
	case HOLD_PACKETS: us_packets_skip(u, OWNER(struct us_psp_flow, hold, h)); return;
	case HOLD_SEGMENTS: us_segments_skip(u, OWNER(struct us_stream, segments_hold, h)); return;
	case HOLD_BURST:
		us_burst_drop(u, OWNER(struct us_burst, hold, h),
			      timeout ? DROP_BURST_TIMEOUT : DROP_BURST_LIMIT);
		return;
	case HOLD_FRAME:
		us_frame_drop(u, OWNER(struct us_stream, frame_hold, h),
			      timeout ? DROP_FRAME_TIMEOUT : DROP_FRAME_LIMIT);
		return;
	case HOLD_FRAGMENTS:
		us_fragments_drop(u, OWNER(struct us_fragments, hold, h),
				  timeout ? DROP_FRAME_TIMEOUT : DROP_FRAME_LIMIT);
		return;
	case HOLD_KINDS: return;
	}
}

void us_relieve(struct upstream *u) {
	struct hold *h;
	bool timeout;

	/* What is waited for may stand in the port, or be on its way: so far no time runs out. */
	while ((h = holds_excess(&u->holds, u->passed_until, &timeout)) != NULL)
		us_give_up(u, h, timeout);
}

void us_relieve_modem(struct upstream *u, uint32_t modem) {
	struct hold *h;

	if (modem == HOLD_NOBODY)
		return;
	while ((h = holds_modem_excess(&u->holds, modem)) != NULL)
		us_give_up(u, h, false);
}
