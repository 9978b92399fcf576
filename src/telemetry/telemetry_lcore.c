/* SPDX-License-Identifier: BSD-3-Clause */
#include "telemetry/telemetry_lcore.h"

#include <pthread.h>
#include <stdio.h>

#include <rte_cycles.h>
#include <rte_lcore.h>
#include <rte_version.h>

#include "platform/core_speed.h"
#include "telemetry/busyness.h"
#include "telemetry/telemetry_answer.h"

/* Several threads of the telemetry socket may query at the same time. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct busyness queried[PLATFORM_MAX_WORKERS];
static bool disabled;

bool telemetry_lcore_cycles(const struct server *s, unsigned lcore, uint64_t *busy,
			    uint64_t *total) {
	const struct worker *w;

	if (lcore == 0 || lcore > s->worker_count)
		return false;
	w = &s->workers[lcore - 1];
	*busy = __atomic_load_n(&w->busy_cycles, __ATOMIC_RELAXED);
	*total = *busy + __atomic_load_n(&w->idle_cycles, __ATOMIC_RELAXED);
	return true;
}

static int lcore_busyness(const struct server *s, unsigned lcore) {
	uint64_t window = rte_get_tsc_hz() / 1000000 * BUSYNESS_WINDOW_US;
	struct busyness_reading now = {.tsc = rte_rdtsc()};
	int percent = BUSYNESS_UNKNOWN;

	if (!telemetry_lcore_cycles(s, lcore, &now.busy, &now.total))
		return BUSYNESS_UNKNOWN;
	pthread_mutex_lock(&lock);
	if (!disabled)
		percent = busyness_of(&queried[lcore - 1], now, window);
	pthread_mutex_unlock(&lock);
	return percent;
}

static void put_lcore(struct rte_tel_data *d, unsigned lcore, int value) {
	char name[TELEMETRY_NUMBER];

	snprintf(name, sizeof(name), "%u", lcore);
	rte_tel_data_add_dict_int(d, name, value);
}

int telemetry_busyness(struct server *s, const char *params, struct rte_tel_data *d) {
	(void)params;
	rte_tel_data_start_dict(d);
	for (unsigned lcore = 0; lcore <= s->worker_count; lcore++)
		put_lcore(d, lcore, lcore_busyness(s, lcore));
	return 0;
}

static int busyness_switch(bool on, struct rte_tel_data *d) {
	pthread_mutex_lock(&lock);
	disabled = !on;
	pthread_mutex_unlock(&lock);
	rte_tel_data_start_dict(d);
	return rte_tel_data_add_dict_int(d, "busyness_enabled", on);
}

int telemetry_busyness_enable(struct server *s, const char *params, struct rte_tel_data *d) {
	(void)s;
	(void)params;
	return busyness_switch(true, d);
}

int telemetry_busyness_disable(struct server *s, const char *params, struct rte_tel_data *d) {
	(void)s;
	(void)params;
	return busyness_switch(false, d);
}

/* Busyness as if the core ran at its base frequency. */
static int lcore_capacity(const struct server *s, unsigned lcore) {
	int percent = lcore_busyness(s, lcore);
	struct core_speed speed;

	if (percent == BUSYNESS_UNKNOWN || !core_speed_read("", s->layout.cores[lcore - 1], &speed))
		return BUSYNESS_UNKNOWN;
	return (int)((uint64_t)percent * speed.now_khz / speed.base_khz);
}

int telemetry_capacity_used(struct server *s, const char *params, struct rte_tel_data *d) {
	(void)params;
	rte_tel_data_start_dict(d);
	for (unsigned lcore = 0; lcore <= s->worker_count; lcore++)
		put_lcore(d, lcore, lcore_capacity(s, lcore));
	return 0;
}

static struct rte_tel_data *put_array(struct rte_tel_data *d, const char *name,
				      enum rte_tel_value_type type) {
	struct rte_tel_data *in = rte_tel_data_alloc();

	if (in == NULL)
		return NULL;
	rte_tel_data_start_array(in, type);
	if (rte_tel_data_add_dict_container(d, name, in, 0) == 0)
		return in;
	rte_tel_data_free(in);
	return NULL;
}

int telemetry_cpuset(struct server *s, const char *params, struct rte_tel_data *d) {
	(void)params;
	rte_tel_data_start_dict(d);
	for (unsigned lcore = 0; lcore <= s->worker_count; lcore++) {
		rte_cpuset_t set = rte_lcore_cpuset(lcore);
		char name[TELEMETRY_NUMBER];
		struct rte_tel_data *in;

		snprintf(name, sizeof(name), "%u", lcore);
		in = put_array(d, name, RTE_TEL_INT_VAL);
		for (int core = 0; in != NULL && core < CPU_SETSIZE; core++) {
			if (CPU_ISSET(core, &set))
				rte_tel_data_add_array_int(in, core);
		}
	}
	return 0;
}

int telemetry_lcore_list(struct server *s, const char *params, struct rte_tel_data *d) {
	(void)params;
	rte_tel_data_start_array(d, RTE_TEL_INT_VAL);
	for (unsigned lcore = 0; lcore <= s->worker_count; lcore++)
		rte_tel_data_add_array_int(d, (int)lcore);
	return 0;
}

int telemetry_lcore_usage(struct server *s, const char *params, struct rte_tel_data *d) {
	struct rte_tel_data *ids, *totals, *busies;

	(void)params;
	rte_tel_data_start_dict(d);
	ids = put_array(d, "lcore_ids", RTE_TEL_INT_VAL);
	totals = put_array(d, "total_cycles", TELEMETRY_UINT);
	busies = put_array(d, "busy_cycles", TELEMETRY_UINT);
	if (ids == NULL || totals == NULL || busies == NULL)
		return 0;
	for (unsigned lcore = 1; lcore <= s->worker_count; lcore++) {
		uint64_t busy, total;

		telemetry_lcore_cycles(s, lcore, &busy, &total);
		rte_tel_data_add_array_int(ids, (int)lcore);
		telemetry_add(totals, total);
		telemetry_add(busies, busy);
	}
	return 0;
}
