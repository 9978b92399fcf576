/* SPDX-License-Identifier: BSD-3-Clause */
#include "commands/replay/replay_play.h"

#include <stdio.h>

#include "commands/replay/replay_clock.h"
#include "server/process.h"

/* Packets that are pending for so long after the last arrival are counted as stopped. */
#define END_NS (60 * CLOCK_NS_PER_S)

/* Whether a crypto provider has frames, or an upstream has work without new input. */
static bool in_crypto(const struct server *s) {
	for (unsigned g = 0; g < s->group_count; g++) {
		const struct served_group *group = &s->groups[g];

		if (!group->in_service)
			continue;
		if (group->downstream->lower.crypto->pending > 0 ||
		    (group->upstream != NULL && upstream_busy(group->upstream)))
			return true;
	}
	return false;
}

/* Runs the workers at the current time until no packet moves and the crypto providers are empty. */
static void settle(struct replay *r) {
	struct server *s = &r->server;
	unsigned moved;

	do {
		moved = 0;
		for (unsigned w = 0; w < s->worker_count; w++) {
			s->workers[w].clock.now = r->now;
			moved += worker_round(&s->workers[w]);
		}
		replay_wires_record(&r->wires, r->base + r->now);
	} while (moved > 0 || in_crypto(s));
	r->waiting = 0;
	r->steps++;
}

/* Runs all steps before `to`, ns since `base`, and sets the clock to it. */
static void advance(struct replay *r, uint64_t to) {
	uint64_t next;

	if (to <= r->now) /* capture times may decrease; the clock does not */
		return;
	settle(r);
	while ((next = replay_next(&r->server, r->now, to)) < to) {
		r->now = next;
		settle(r);
	}
	r->now = to;
}

/* Reads the next packet of the capture. */
static void fetch(struct replay *r) {
	int ret = capture_next(r->in, r->name, &r->packet);

	r->more = ret == 1;
	r->failed |= ret < 0;
}

static uint64_t packet_at(const struct replay *r) {
	return r->packet.time > r->base ? r->packet.time - r->base : 0;
}

/* Sends the next packet at its time. Packets of the same time form a burst. */
static void inject(struct replay *r) {
	bool up = r->from == REPLAY_RPHY;
	struct rte_mempool *pool = up ? r->server.pools.uepi : r->server.pools.packets;

	advance(r, packet_at(r));
	switch (replay_wires_send(&r->wires, r->from, pool, &r->packet)) {
	case REPLAY_SENT: break;
	case REPLAY_WIRE_FULL: r->missed++; break;
	case REPLAY_NO_BUFFER:
		fprintf(stderr, "replay: no buffer for a packet of %u bytes\n", r->packet.size);
		r->failed = true;
		r->more = false;
		return;
	}
	if (++r->waiting == PIPELINE_BURST)
		settle(r);
	fetch(r);
}

/* Runs a step while a change waits; packets continue to arrive. */
static void run_step(void *arg) {
	struct replay *r = arg;
	uint64_t to = r->now + REPLAY_STEP_NS;

	if (r->more && packet_at(r) <= to) {
		inject(r);
	} else {
		advance(r, to);
		settle(r);
	}
}

/* Runs a change at the last step before its time, so that unrelated packets leave at the same times
 * as without it. */
static void change(struct replay *r, uint64_t at) {
	if (at > r->now)
		advance(r, r->now + (at - r->now) / REPLAY_STEP_NS * REPLAY_STEP_NS);
	settle(r);
	replay_changes_apply_next(r->changes);
}

int replay_play(struct replay *r) {
	uint64_t at;

	r->rounds = (struct server_rounds){run_step, r};
	r->server.rounds = &r->rounds;
	fetch(r);
	r->base = r->more ? r->packet.time : 0;
	while (!process_stopped && !r->failed) {
		at = replay_changes_next_time(r->changes);
		if (at != REPLAY_NO_CHANGE && (!r->more || at <= packet_at(r)))
			change(r, at);
		else if (r->more)
			inject(r);
		else
			break;
	}
	if (process_stopped)
		fprintf(stderr, "replay: stopped by a signal; all earlier packets were replayed\n");
	return process_stopped || r->failed ? -1 : 0;
}

/* No modem remains to use the grants of further MAPs. */
static void stop_granting(struct replay *r) {
	settle(r);
	for (unsigned g = 0; g < r->server.group_count; g++) {
		struct upstream *u = r->server.groups[g].upstream;

		if (r->server.groups[g].in_service && u != NULL && upstream_grants(u))
			upstream_stop_granting(u);
	}
}

/* Whether a group has an upstream scheduler. */
static bool grants(const struct server *s) {
	for (unsigned g = 0; g < s->group_count; g++) {
		const struct upstream *u = s->groups[g].upstream;

		if (s->groups[g].in_service && u != NULL && upstream_grants(u))
			return true;
	}
	return false;
}

void replay_play_out(struct replay *r) {
	if (grants(&r->server))
		stop_granting(r);
	advance(r, r->now + END_NS);
	server_stop(&r->server);
}
