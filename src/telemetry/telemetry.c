/* SPDX-License-Identifier: BSD-3-Clause */
#include "telemetry/telemetry.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include <rte_telemetry.h>

#include "telemetry/telemetry_latency.h"
#include "telemetry/telemetry_scheduler.h"
#include "telemetry/telemetry_workers.h"

/* The socket's threads come and go as they like: what they read is theirs under the lock. */
static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static struct instance *instance; /* NULL: closed */
static struct reload *reload;

static const struct {
	const char *name;
	int (*answer)(struct instance *i, const char *params, struct rte_tel_data *d);
	const char *help;
} commands[] = {
	{"/vcmts/workers", telemetry_workers,
	 "Polling threads: load, interruptions. Parameter: none, or anew: the longest so far is "
	 "forgotten"},
	{"/vcmts/drops", telemetry_drops, "Drops and counters since the start. No parameters"},
	{"/vcmts/scheduler/delay", telemetry_delay,
	 "Delay in the queues by priority. Parameter: none, or a priority for its histogram"},
	{"/vcmts/scheduler/channels", telemetry_channels,
	 "Downstream channels, 64 at a time. Parameter: index of the first, 0 where not given"},
	{"/vcmts/scheduler/groups", telemetry_groups,
	 "Bonding groups, 64 at a time. Parameter: index of the first, 0 where not given"},
	{"/vcmts/scheduler/flow", telemetry_flow, "A downstream service flow. Parameter: its SFID"},
	{"/vcmts/scheduler/modem", telemetry_modem,
	 "A modem's downstream service flows. Parameter: its MAC address, or its index"},
	{"/vcmts/latency", telemetry_latency,
	 "Time in the pipeline. Parameter: none, reset, or a direction and ns: histogram from "
	 "there"},
};

static int on_instance(const char *cmd, const char *params, struct rte_tel_data *d) {
	int ret = -1;

	pthread_rwlock_rdlock(&lock);
	for (size_t c = 0; instance != NULL && c < RTE_DIM(commands); c++) {
		if (strcmp(commands[c].name, cmd) != 0)
			continue;
		pthread_mutex_lock(&instance->qos_lock);
		ret = commands[c].answer(instance, params, d);
		pthread_mutex_unlock(&instance->qos_lock);
	}
	pthread_rwlock_unlock(&lock);
	return ret;
}

static int telemetry_on_reload(const char *cmd, const char *params, struct rte_tel_data *d) {
	char line[RELOAD_LINE], text[RELOAD_LINE + 16];
	int ret = -1;

	(void)cmd;
	(void)params;
	pthread_rwlock_rdlock(&lock);
	if (reload != NULL) {
		bool good = reload_ask(reload, line, sizeof(line));

		snprintf(text, sizeof(text), "%s: %s", good ? "done" : "refused", line);
		ret = rte_tel_data_string(d, text);
	}
	pthread_rwlock_unlock(&lock);
	return ret;
}

int telemetry_open(struct instance *i, struct reload *r) {
	pthread_rwlock_wrlock(&lock);
	instance = i;
	reload = r;
	pthread_rwlock_unlock(&lock);
	for (size_t c = 0; c < RTE_DIM(commands); c++) {
		if (rte_telemetry_register_cmd(commands[c].name, on_instance, commands[c].help))
			goto failed;
	}
	if (rte_telemetry_register_cmd("/vcmts/reload", telemetry_on_reload,
				       "Reads the configuration again. No parameters") == 0)
		return 0;
failed:
	fprintf(stderr, "telemetry: the commands cannot be registered\n");
	return -1;
}

void telemetry_close(void) {
	pthread_rwlock_wrlock(&lock);
	instance = NULL;
	reload = NULL;
	pthread_rwlock_unlock(&lock);
}
