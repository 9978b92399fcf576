/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A change of the service group on its way into an uplink and its receiver, as downlink_change.h has it for the
 * other direction.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "directions/uplink.h"
#include "directions/uplink_receiver.h"
#include "modems/uplink_flow.h"
#include "modems/uplink_packets.h"
#include "proof/watch.h"

struct uplink_change {
	bool tables; /* all is made anew; else only keys differ */
	struct uplink_plan plan;
	struct uplink_sources sources;
	struct upstream_channel *channels; /* by place */
	uint32_t channel_count;
	uint32_t *fresh; /* as downlink_change has them */
	uint32_t fresh_count;
	struct stream_mark *marks;
	uint32_t mark_count;
	struct key_store *store; /* of the keys that follow */
	struct uplink_modem *rekeys; /* in the order of their places */
	uint32_t rekey_count;
	uint32_t grant_size; /* that the modems now want */
	double lowest;
	uint64_t until; /* TSC */
	struct uplink_change *newer;
	bool done; /* it has been given back */
};

struct uplink_follow {
	struct watch watch;
	struct uplink_change *oldest, *newest;
	uint64_t keep; /* TSC cycles */
};

/* Makes what an uplink needs to follow changes. Returns false after a message; to be given to
 * uplink_follow_end() in either case. */
bool uplink_follow_begin(struct uplink_follow *f, const struct uplink *u, uint64_t tsc_hz);

void uplink_follow_end(struct uplink_follow *f, struct uplink *u);

/*
 * The configuration's part of a change, to be made on any thread. First its sources, and which of its modems, by
 * place, are `silent` as they have no address for the packets; then with that what is left. Return false
 * after a message.
 */
bool uplink_change_sources(struct uplink_change *c, const struct uplink *u,
			   const struct service_group *sg, bool *silent);
bool uplink_change_plan(struct uplink_change *c, struct uplink *u, const struct service_group *sg,
			const struct uplink_plan_follow *follow);

/* Takes a change at TSC `now`, unless the uplink is in the middle of a round: then false is returned. */
bool uplink_change_take(struct uplink_follow *f, struct uplink *u, struct uplink_receiver *r,
			struct uplink_change *c, uint64_t now);

/* What time brings, at TSC `now`. */
void uplink_follow_round(struct uplink_follow *f, struct uplink *u, const struct proof *p,
			 uint64_t now);

/* Frees what is in a change that was not taken, or was given back. */
void uplink_change_free(struct uplink_change *c);
