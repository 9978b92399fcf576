/* SPDX-License-Identifier: BSD-3-Clause */
#include "server/measure.h"

#include "platform/log/log.h"
#include "server/running.h"

/* Argument of the tasks that switch measurements. */
struct measure_switch {
	struct served_group *group;
	struct port_share *share;
	bool on;
};

static bool account_upper(void *arg) {
	const struct measure_switch *m = arg;

	downstream_account_upper(m->group->downstream, m->on);
	return true;
}

static bool account_lower(void *arg) {
	const struct measure_switch *m = arg;

	downstream_account_lower(m->group->downstream, m->on);
	return true;
}

static bool account_upstream(void *arg) {
	const struct measure_switch *m = arg;

	upstream_account(m->group->upstream, m->on);
	return true;
}

static bool account_share(void *arg) {
	const struct measure_switch *m = arg;

	pipeline_account(&m->share->receiving, m->on);
	pipeline_account(&m->share->sending, m->on);
	return true;
}

/* Run by the workers that write the figures. */
static bool latency_lower(void *arg) {
	const struct measure_switch *m = arg;

	latency_set(&m->group->downstream->latency, m->on);
	return true;
}

static bool latency_upstream(void *arg) {
	const struct measure_switch *m = arg;

	latency_set(&m->group->upstream->latency, m->on);
	return true;
}

static void measure_by(struct worker *w, bool (*step)(void *arg), struct measure_switch *m) {
	struct worker_task task = {.step = step, .arg = m};

	worker_do(w, &task);
}

static void group_account(struct served_group *g, bool on) {
	struct measure_switch m = {.group = g, .on = on};

	measure_by(g->upper, account_upper, &m);
	measure_by(g->lower, account_lower, &m);
	if (g->upstream != NULL)
		measure_by(g->upstream_worker, account_upstream, &m);
}

static int no_memory(const struct served_group *g) {
	log_error("memory", LOG_FIELDS(LOG_NUMBER("service_group", g->sg->id)),
		  "no memory to measure latencies");
	return -1;
}

/* Takes the lock, since other threads read the histograms. Resets earlier figures. */
static int group_latency_prepare(struct server *s, struct served_group *g) {
	int ret;

	pthread_rwlock_wrlock(&s->lock);
	ret = downstream_latency_prepare(g->downstream);
	if (ret == 0 && g->upstream != NULL)
		ret = latency_prepare(&g->upstream->latency);
	pthread_rwlock_unlock(&s->lock);
	return ret != 0 ? no_memory(g) : 0;
}

/* Allocates memory only: earlier figures stay. */
static int group_latency_reserve(struct server *s, struct served_group *g) {
	int ret;

	pthread_rwlock_wrlock(&s->lock);
	ret = downstream_latency_reserve(g->downstream);
	if (ret == 0 && g->upstream != NULL)
		ret = latency_reserve(&g->upstream->latency);
	pthread_rwlock_unlock(&s->lock);
	return ret != 0 ? no_memory(g) : 0;
}

/* For a group that never measured. The queue of arrival times stays, since the lower MAC's worker
 * reads it. */
static void group_latency_release(struct server *s, struct served_group *g) {
	pthread_rwlock_wrlock(&s->lock);
	latency_readers_lock();
	latency_free(&g->downstream->latency);
	if (g->upstream != NULL)
		latency_free(&g->upstream->latency);
	latency_readers_unlock();
	pthread_rwlock_unlock(&s->lock);
}

static void group_latency_set(struct served_group *g, bool on) {
	struct measure_switch m = {.group = g, .on = on};

	measure_by(g->lower, latency_lower, &m);
	if (g->upstream != NULL)
		measure_by(g->upstream_worker, latency_upstream, &m);
}

static void measure_note(struct server *s, struct server_measure *m, bool on) {
	uint64_t now = server_now(s);

	pthread_rwlock_wrlock(&s->lock);
	if (on && !m->on)
		m->since = now;
	else if (m->on && !on)
		m->until = now;
	m->on = on;
	pthread_rwlock_unlock(&s->lock);
}

void server_account(struct server *s, bool on) {
	for (unsigned g = 0; g < s->group_count; g++) {
		if (s->groups[g].in_service)
			group_account(&s->groups[g], on);
	}
	for (unsigned p = 0; p < SERVER_PORTS_MAX; p++) {
		struct measure_switch m = {.share = s->shares.of[p], .on = on};

		if (m.share != NULL)
			measure_by(&s->workers[s->shares.owners[p]], account_share, &m);
	}
	measure_note(s, &s->measures.cycles, on);
}

/* Reserves memory for all groups, or for none. */
static int latency_reserve_all(struct server *s) {
	bool fresh[SERVER_MAX_GROUPS] = {false};
	unsigned g = 0;

	for (; g < s->group_count; g++) {
		if (!s->groups[g].in_service)
			continue;
		fresh[g] = !latency_measured(&s->groups[g].downstream->latency);
		if (group_latency_reserve(s, &s->groups[g]) != 0)
			break;
	}
	if (g == s->group_count)
		return 0;
	for (g = 0; g < s->group_count; g++) {
		if (fresh[g])
			group_latency_release(s, &s->groups[g]);
	}
	return -1;
}

int server_latency(struct server *s, bool on) {
	if (on && latency_reserve_all(s) != 0)
		return -1;
	for (unsigned g = 0; g < s->group_count; g++) {
		if (!s->groups[g].in_service)
			continue;
		if (on) /* cannot fail: the memory is reserved */
			group_latency_prepare(s, &s->groups[g]);
		group_latency_set(&s->groups[g], on);
	}
	measure_note(s, &s->measures.latency, on);
	return 0;
}

int server_measure_group(struct server *s, unsigned group) {
	struct served_group *g = &s->groups[group];

	group_account(g, s->measures.cycles.on);
	if (!s->measures.latency.on)
		return 0;
	if (group_latency_prepare(s, g) != 0)
		return -1;
	group_latency_set(g, true);
	return 0;
}

void server_measure_share(struct server *s, struct port_share *share) {
	share->receiving.accounting = share->sending.accounting = s->measures.cycles.on;
}

uint64_t server_measured_ms(const struct server *s, const struct server_measure *m) {
	return ((m->on ? server_now(s) : m->until) - m->since) / SERVER_MS;
}
