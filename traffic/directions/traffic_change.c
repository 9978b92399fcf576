/* SPDX-License-Identifier: BSD-3-Clause */
/* Hands a change from the thread that prepares it to the polling thread, and applies it to both directions. */
#include "directions/traffic_change.h"

#include <stdlib.h>

#include <rte_common.h>
#include <rte_cycles.h>

#define CHANGE_ROUNDS 64 /* rounds of a burst each: more than a port's ring holds */

void traffic_offer(struct traffic *t, struct traffic_change *c) {
	__atomic_store_n(&t->offered, c, __ATOMIC_RELEASE);
}

bool traffic_applied(const struct traffic *t) {
	return __atomic_load_n(&t->offered, __ATOMIC_ACQUIRE) == NULL;
}

/* Applies the change to both directions, or to neither while the upstream is within a round. */
static void offered_apply(struct traffic *t, struct traffic_change *c, uint64_t now) {
	uint64_t start = rte_rdtsc();

	if (t->uplink != NULL && !uplink_change_apply(&t->uplink_follow, t->uplink,
						      &t->uplink_receiver, &c->upstream, now))
		return;
	if (t->downlink != NULL)
		downlink_change_apply(t->downlink, &c->downstream, now);
	t->apply_longest = RTE_MAX(t->apply_longest, rte_rdtsc() - start);
	c->applied = true;
	t->offered_rounds = 0;
	__atomic_store_n(&t->offered, NULL, __ATOMIC_RELEASE);
}

/*
 * Frames that the server sent before it applied the change must get their verdict before the
 * change is applied here. They have arrived, as the server reports the change later. A port that
 * is never empty has been read once around after CHANGE_ROUNDS.
 */
static bool is_received(struct traffic *t) {
	if (t->downlink == NULL)
		return true;
	if (t->offered_rounds++ == 0) {
		t->emptied = false;
		return false;
	}
	return t->emptied || t->offered_rounds > CHANGE_ROUNDS;
}

void traffic_change_round(struct traffic *t, uint64_t now) {
	struct traffic_change *c = __atomic_load_n(&t->offered, __ATOMIC_ACQUIRE);

	if (c != NULL && is_received(t))
		offered_apply(t, c, now);
	if (t->uplink != NULL)
		uplink_follow_round(&t->uplink_follow, t->uplink, &t->uplink_receiver, now);
}

bool traffic_change_done(const struct traffic *t, const struct traffic_change *c) {
	return (t->downlink == NULL || __atomic_load_n(&c->downstream.done, __ATOMIC_ACQUIRE)) &&
	       (t->uplink == NULL || __atomic_load_n(&c->upstream.done, __ATOMIC_ACQUIRE));
}

void traffic_change_free(struct traffic_change *c) {
	downlink_change_free(&c->downstream);
	uplink_change_free(&c->upstream);
	free(c);
}

void traffic_follow_end(struct traffic *t) {
	t->offered = NULL;
	if (t->downlink != NULL)
		downlink_follow_end(t->downlink);
	if (t->uplink != NULL)
		uplink_follow_end(&t->uplink_follow, t->uplink, &t->uplink_receiver);
}
