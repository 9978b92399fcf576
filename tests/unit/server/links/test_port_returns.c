/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A device that comes back while a group still has it as it was when it went: it has a second place among the ports
 * then, under the same name and maybe the same number, and nobody takes one for the other.
 */
#include "test_main.h"

#include <stdio.h>
#include <string.h>

#include <rte_dev.h>
#include <rte_ethdev.h>

#include "server/links/port_states.h"
#include "telemetry/metrics/metrics.h"

#include "life_bench.h"

#define MOST 5 /* groups, of which three are there: a second port takes buffers as well */
#define SERIES 4000 /* more than there are of ports */
#define SERIES_TEXT 192

static struct life_bench storage, *const bench = &storage;
static const struct service_group *third;
static struct links links;
static uint64_t now; /* of the one who looks at links */

static struct metrics_source source = {.server = &storage.server};
static char series[SERIES][SERIES_TEXT]; /* of the last walk, those of ports */
static unsigned series_count;

static void open_three(void) {
	struct power_config power = power_config_default();

	life_bench_open(bench, 2, MOST);
	third = life_bench_group(bench, 3, LIFE_SHARED, 1, 2, 0);
	assert_int_equal(life_bench_add(bench, third), 2);
	links_open(&links, &bench->server, now);
	power.idle = IDLE_SLEEP;
	server_idle(&bench->server, &power);
	metrics_source_start(&source);
}

static const struct server_port *network_of(unsigned group) {
	return server_port_of(&bench->server.ports, group, DEVICE_NETWORK);
}

/* As the kernel does by DPDK's thread for interrupts. The function is experimental in DPDK 22.11. */
static void network_goes(unsigned group) {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
	rte_dev_event_callback_process(network_of(group)->name, RTE_DEV_EVENT_REMOVE);
#pragma GCC diagnostic pop
	links_follow(&links, now += LINKS_LOOK_NS);
}

/* The network port goes; then groups 1 and 2, which come with it again, while the third one stays. */
static void network_returns(void) {
	network_goes(0);
	life_bench_remove(bench, 0, 0);
	life_bench_remove(bench, 1, 0);
	life_bench_plug(LIFE_SHARED);
	for (unsigned g = 0; g < 2; g++)
		assert_int_equal(life_bench_add(bench, &bench->file[g]), g);
	links_follow(&links, now += LINKS_LOOK_NS);
	assert_ptr_equal(network_of(0), network_of(1));
	assert_ptr_not_equal(network_of(0), network_of(2));
	assert_string_equal(network_of(0)->name, network_of(2)->name);
	assert_string_equal(server_port_state_name(network_of(0)->state), "up");
	assert_string_equal(server_port_state_name(network_of(2)->state), "gone");
}

/* How many workers have the queue of the port among what wakes them. */
static unsigned asked_by(uint16_t port) {
	unsigned found = 0;

	for (unsigned w = 0; w < bench->server.worker_count; w++) {
		const struct worker *worker = &bench->server.workers[w];

		for (unsigned i = 0; i < worker->source_count; i++)
			found += worker->sources[i].port == port;
	}
	return found;
}

/* The number of the new port may be that of the one that is gone. */
TEST(one_worker_waits_for_it) {
	uint16_t before;

	open_three();
	before = network_of(0)->id;
	assert_int_equal(asked_by(before), 1);
	network_goes(0);
	assert_int_equal(asked_by(before), 0);
	life_bench_close(bench);
	open_three();
	network_returns();
	assert_int_equal(network_of(0)->id, network_of(2)->id);
	assert_int_equal(asked_by(network_of(0)->id), 1);
	life_bench_close(bench);
}

static void on_begin(void *arg, const struct metric *m) {
}

static void on_sample(void *arg, const struct metric *m, const struct metric_sample *s) {
	char *text = series[series_count];
	int used = snprintf(text, SERIES_TEXT, "%s", m->name);

	if (strncmp(m->name, "vcmts_port_", 11) != 0 && strncmp(m->name, "vcmts_ethdev_", 13) != 0)
		return;
	for (unsigned l = 0; l < METRIC_LABELS && m->labels[l] != NULL; l++)
		used += snprintf(text + used, SERIES_TEXT - (size_t)used, " %s", s->labels[l]);
	assert_true(used < SERIES_TEXT && ++series_count < SERIES);
}

static void check_series(void) {
	const struct metrics_sink sink = {.begin = on_begin, .sample = on_sample};

	series_count = 0;
	assert_true(metrics_walk(&source, &(struct metrics_selection){0}, &sink));
	assert_true(series_count > 20);
	for (unsigned a = 0; a < series_count; a++) {
		for (unsigned b = a + 1; b < series_count; b++)
			assert_string_not_equal(series[a], series[b]);
	}
}

/* How many of the series begin so. */
static unsigned told(const char *text) {
	unsigned found = 0;

	for (unsigned s = 0; s < series_count; s++)
		found += strncmp(series[s], text, strlen(text)) == 0;
	return found;
}

static void check_told_once(void) {
	char link[SERIES_TEXT], shared[SERIES_TEXT];

	snprintf(link, sizeof(link), "vcmts_ethdev_link_up %s network", network_of(0)->name);
	snprintf(shared, sizeof(shared), "vcmts_port_dropped_packets_total %s ",
		 network_of(0)->name);
	check_series();
	assert_int_equal(told(link), 1);
	assert_true(told(shared) > 0);
}

TEST(no_series_is_told_twice) {
	open_three();
	check_told_once();
	network_returns();
	check_told_once();
	network_goes(0); /* both are gone */
	check_told_once();
	life_bench_close(bench);
}
