/* SPDX-License-Identifier: BSD-3-Clause */
#include "telemetry/telemetry.h"

#include <pthread.h>
#include <string.h>

#include <rte_lcore.h>
#include <rte_telemetry.h>
#include <rte_version.h>

#include "platform/log/log.h"
#include "telemetry/telemetry_lcore.h"
#include "telemetry/telemetry_metrics.h"

/* Threads of the telemetry socket start and end at any time; the lock protects what they read. */
static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static struct server *server; /* NULL: closed */
static const struct metrics_source *source;

/* Registered only if this version of DPDK has no such command. */
static const struct {
	const char *name;
	int (*answer)(struct server *s, const char *params, struct rte_tel_data *d);
	const char *help;
} lcore_commands[] = {
	{"/eal/lcore/busyness", telemetry_busyness,
	 "Percent of cycles with packets by lcore, -1: not known. No parameters"},
	{"/eal/lcore/busyness_enable", telemetry_busyness_enable,
	 "Enables busyness reports. No parameters"},
	{"/eal/lcore/busyness_disable", telemetry_busyness_disable,
	 "Disables busyness reports. No parameters"},
	{"/eal/lcore/capacity_used", telemetry_capacity_used,
	 "Busyness as if at the base frequency, by lcore. No parameters"},
	{"/eal/lcore/cpuset", telemetry_cpuset, "Cores by lcore. No parameters"},
#if RTE_VERSION < RTE_VERSION_NUM(23, 3, 0, 0)
	{"/eal/lcore/list", telemetry_lcore_list, "Lcores. No parameters"},
	{"/eal/lcore/usage", telemetry_lcore_usage,
	 "Cycles, and those with packets, by lcore. No parameters"},
#endif
};

/* Prevents the control thread from adding or removing groups until server_unlock(). Returns false,
 * without the lock, if there is no server. */
static bool server_lock(void) {
	pthread_rwlock_rdlock(&lock);
	if (server == NULL) {
		pthread_rwlock_unlock(&lock);
		return false;
	}
	pthread_rwlock_rdlock(&server->lock);
	return true;
}

static void server_unlock(void) {
	pthread_rwlock_unlock(&server->lock);
	pthread_rwlock_unlock(&lock);
}

static int on_lcore(const char *cmd, const char *params, struct rte_tel_data *d) {
	int ret = -1;

	if (!server_lock())
		return -1;
	for (size_t c = 0; c < RTE_DIM(lcore_commands); c++) {
		if (strcmp(lcore_commands[c].name, cmd) == 0)
			ret = lcore_commands[c].answer(server, params, d);
	}
	server_unlock();
	return ret;
}

/* Does not take the server's lock, as the walk over the metrics takes it. */
static int on_metrics(const char *cmd, const char *params, struct rte_tel_data *d) {
	int ret = -1;

	(void)cmd;
	pthread_rwlock_rdlock(&lock);
	if (server != NULL)
		ret = telemetry_metrics(source, params, d);
	pthread_rwlock_unlock(&lock);
	return ret;
}

#if RTE_VERSION >= RTE_VERSION_NUM(23, 3, 0, 0)
/* Answers /eal/lcore/usage and /eal/lcore/info of DPDK. */
static int on_usage(unsigned lcore, struct rte_lcore_usage *usage) {
	bool known;

	if (!server_lock())
		return -1;
	known = telemetry_lcore_cycles(server, lcore, &usage->busy_cycles, &usage->total_cycles);
	server_unlock();
	return known ? 0 : -1;
}
#endif

static void lcores_register(void) {
	for (size_t c = 0; c < RTE_DIM(lcore_commands); c++)
		rte_telemetry_register_cmd(lcore_commands[c].name, on_lcore,
					   lcore_commands[c].help);
#if RTE_VERSION >= RTE_VERSION_NUM(23, 3, 0, 0)
	rte_lcore_register_usage_cb(on_usage);
#endif
}

static bool commands_register(void) {
	lcores_register();
	return rte_telemetry_register_cmd("/vcmts/metrics", on_metrics,
					  "Metrics, 200 at a time. Parameters: LABEL=VALUE, "
					  "from=N, a prefix of names") == 0;
}

int telemetry_open(const struct metrics_source *m) {
	pthread_rwlock_wrlock(&lock);
	server = m->server;
	source = m;
	pthread_rwlock_unlock(&lock);
	if (commands_register())
		return 0;
	log_error("telemetry", LOG_NO_FIELDS, "the commands of telemetry cannot be registered");
	return -1;
}

void telemetry_close(void) {
	pthread_rwlock_wrlock(&lock);
	server = NULL;
	pthread_rwlock_unlock(&lock);
}
