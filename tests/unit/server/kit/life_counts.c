/* SPDX-License-Identifier: BSD-3-Clause */
/* What the groups of a life_bench count, and what a process may lose. */
#include <dirent.h>

#include <rte_ethdev.h>
#include <rte_memzone.h>

#include "life_bench.h"

#include "test.h"

struct counters life_bench_down_of(const struct life_bench *b, unsigned group) {
	struct counters c;

	downstream_counters(b->server.groups[group].downstream, &c);
	return c;
}

const struct counters *life_bench_up_of(const struct life_bench *b, unsigned group) {
	return &b->server.groups[group].upstream->counters;
}

struct life_totals life_bench_totals(const struct life_bench *b) {
	const struct server *s = &b->server;
	struct counters down = s->gone.down, up = s->gone.up, ports = s->gone.ports, all;

	for (unsigned g = 0; g < s->group_count; g++) {
		struct counters c;

		if (!s->groups[g].there)
			continue;
		downstream_counters(s->groups[g].downstream, &c);
		counters_add(&down, &c);
		counters_add(&up, &s->groups[g].upstream->counters);
	}
	for (unsigned p = 0; p < s->ports.count; p++) {
		if (s->shares.of[p] == NULL)
			continue;
		share_counters(s->shares.of[p], &all);
		counters_add(&ports, &all);
	}
	return (struct life_totals){
		.down_in = down.values[COUNTER_RECEIVED],
		.down_out = down.values[COUNTER_TRANSMITTED],
		.down_dropped = counters_dropped(&down),
		.up_in = up.values[COUNTER_RECEIVED],
		.up_out = up.values[COUNTER_TRANSMITTED],
		.up_dropped = counters_dropped(&up),
		.port_steered = ports.values[COUNTER_PORT_STEERED],
		.port_strayed = ports.values[COUNTER_PORT_STRAYED],
		.port_in = ports.values[COUNTER_PORT_RECEIVED],
		.port_dropped = counters_dropped(&ports),
	};
}

void life_bench_check_totals(const struct life_bench *b) {
	struct life_totals t = life_bench_totals(b);
	uint64_t held = 0;

	for (unsigned g = 0; g < b->server.group_count; g++) {
		if (b->server.groups[g].there)
			held += downstream_held(b->server.groups[g].downstream);
	}
	assert_int_equal(t.down_in, t.down_out + t.down_dropped + held);
	assert_int_equal(b->sent_down + b->sent_up,
			 t.down_in + t.up_in + t.port_dropped +
				 server_shares_held_in(&b->server.shares));
	assert_true(server_balanced(&b->server));
}

/* A piece that is too small for an allocation stays with the one before it: as many as this, of 128 bytes and less. */
#define ODD_BYTES 1024

static void count_zone(const struct rte_memzone *zone, void *count) {
	(*(unsigned *)count)++;
}

static unsigned files_open(void) {
	DIR *d = opendir("/proc/self/fd");
	unsigned count = 0;

	assert_non_null(d);
	while (readdir(d) != NULL)
		count++;
	closedir(d);
	return count;
}

struct life_left life_left_now(void) {
	struct life_left l = {.heaps = heaps_used(), .files = files_open()};

	rte_memzone_walk(count_zone, &l.zones);
	l.ports = rte_eth_dev_count_avail();
	return l;
}

void life_left_check(const struct life_left *before) {
	const struct life_left now = life_left_now();

	assert_int_equal(before->heaps.allocations, now.heaps.allocations);
	assert_in_range(now.heaps.bytes + ODD_BYTES, before->heaps.bytes,
			before->heaps.bytes + 2 * ODD_BYTES);
	assert_int_equal(before->zones, now.zones);
	assert_int_equal(before->files, now.files);
	assert_int_equal(before->ports, now.ports);
}
