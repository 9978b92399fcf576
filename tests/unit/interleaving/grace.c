/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "server/change_parts.h"

#include "world.h"

#include "test.h"

#define CHAINS 1024 /* that leave at a time */

/* The tasks of a group that leaves, by the flag that the last one sets. */
struct chain_seen {
	const bool *done;
	bool ended;
	unsigned rounds[LIFE_WORKERS]; /* that each worker had made then */
};

static struct chain_seen chains[CHAINS];
static unsigned chain_count, periods, rounds[LIFE_WORKERS];
static bool watched;

void grace_watch(bool on) {
	watched = on;
	chain_count = periods = 0;
}

unsigned grace_periods(void) {
	return periods;
}

void grace_round_ended(unsigned worker) {
	rounds[worker]++;
	for (unsigned i = 0; i < chain_count; i++) {
		struct chain_seen *c = &chains[i];

		if (c->ended || !worker_chain_is_done(c->done))
			continue;
		c->ended = true;
		memcpy(c->rounds, rounds, sizeof(rounds));
	}
}

void __real_worker_chain_begin(struct worker_task *first, enum worker_urgency urgency, bool *done);
void __wrap_worker_chain_begin(struct worker_task *first, enum worker_urgency urgency, bool *done);
void __real_server_change_close(struct server_change *c);
void __wrap_server_change_close(struct server_change *c);

void __wrap_worker_chain_begin(struct worker_task *first, enum worker_urgency urgency, bool *done) {
	if (watched && urgency == WORKER_BEHIND) {
		assert_true(chain_count < CHAINS);
		chains[chain_count++] = (struct chain_seen){.done = done};
	}
	__real_worker_chain_begin(first, urgency, done);
}

static void check_group(const struct group_change *g) {
	unsigned i = 0;

	while (i < chain_count && chains[i].done != &g->left)
		i++;
	assert_true(i < chain_count);
	assert_true(chains[i].ended);
	for (unsigned w = 0; w < LIFE_WORKERS; w++)
		assert_true(rounds[w] > chains[i].rounds[w]);
	chains[i] = chains[--chain_count];
	periods++;
}

void __wrap_server_change_close(struct server_change *c) {
	for (unsigned i = 0; watched && c != NULL && c->taken && i < c->count; i++)
		check_group(c->groups[i]);
	__real_server_change_close(c);
}
