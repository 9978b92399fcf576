/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What is due, against packets: a worker that sleeps until something comes or is due sends each packet at the very time at
 * which one that polls every microsecond does.
 */
#include "test_main.h"

#include <string.h>

#include "server_bench.h"

#define PACKETS 2500
#define STEP 1000 /* ns */

static struct server_bench bench;

/* When a packet comes, and which. */
struct arrival {
	uint64_t at;
	uint8_t modem, address;
	uint16_t size;
};

static struct arrival arrivals[PACKETS];
static uint64_t polled[PACKETS], jumped[PACKETS];

/* Bursts that make a backlog at the slow channel, and gaps longer than any timer. */
static void arrivals_make(void) {
	static const uint32_t gaps[] = {0, 0, 0, 0, 3, 10, 60, 900, 4000};
	struct random random = {.state = 987654321};
	uint64_t at = STEP;

	for (unsigned a = 0; a < PACKETS; a++) {
		unsigned modem = random_below(&random, BENCH_MODEMS);

		at += (uint64_t)STEP * gaps[random_below(&random, 9)];
		arrivals[a] = (struct arrival){
			.at = at,
			.modem = (uint8_t)modem,
			.size = (uint16_t)random_between(&random, 64, 1500),
		};
	}
}

static uint64_t next_time(struct server_bench *b, uint64_t now, unsigned sent, bool jumps) {
	uint64_t next = now + STEP, due = worker_due(&b->server.workers[0]);
	uint64_t arrival = sent < PACKETS ? arrivals[sent].at : UINT64_MAX;

	if (!jumps)
		return next;
	if (due != UINT64_MAX)
		due = (due + STEP - 1) / STEP * STEP;
	due = due < arrival ? due : arrival;
	return due > next ? due : next;
}

/* Returns how many rounds it took; `back` is when each packet came back. */
static uint64_t play(bool jumps, uint64_t back[PACKETS]) {
	struct server_bench *b = &bench;
	uint64_t now = 0, times = 0;
	unsigned sent = 0;

	server_bench_open(b, server_bench_text, 4096);
	assert_true(worker_due(&b->server.workers[0]) == UINT64_MAX); /* nothing is in it */
	while (sent < PACKETS || downstream_held(b->group->downstream) > 0) {
		server_bench_clock(b)->now = now;
		for (; sent < PACKETS && arrivals[sent].at <= now; sent++)
			server_bench_good(b, arrivals[sent].modem, arrivals[sent].address,
					  arrivals[sent].size);
		while (worker_round(&b->server.workers[0]) > 0)
			;
		server_bench_take(b, UINT32_MAX);
		now = next_time(b, now, sent, jumps);
		/* what is held is due at some time */
		assert_true(now != UINT64_MAX || downstream_held(b->group->downstream) == 0);
		times++;
	}
	for (unsigned s = 0; s < PACKETS; s++)
		back[s] = b->sent[s].back ? b->sent[s].back_at : 0;
	assert_true(worker_due(&b->server.workers[0]) == UINT64_MAX);
	server_bench_settle(b);
	server_bench_close(b);
	return times;
}

TEST(nothing_is_late) {
	uint64_t steps, jumps;
	unsigned came = 0;

	arrivals_make();
	steps = play(false, polled);
	jumps = play(true, jumped);
	for (unsigned s = 0; s < PACKETS; s++) {
		assert_int_equal(jumped[s], polled[s]);
		came += polled[s] != 0;
	}
	assert_in_range(came, PACKETS / 2, PACKETS);
	assert_true(jumps < steps / 10);
}
