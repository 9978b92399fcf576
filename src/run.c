/* SPDX-License-Identifier: BSD-3-Clause */
/* vcmtsd run: start, wire, run, stop. */
#include <argp.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <rte_cycles.h>
#include <rte_launch.h>

#include "commands.h"
#include "model/loader.h"
#include "model/units.h"
#include "platform/platform.h"
#include "platform/port.h"
#include "server/instance.h"
#include "server/process.h"
#include "server/reload.h"
#include "telemetry/report.h"
#include "telemetry/telemetry.h"

#define DRAIN_MS 500
#define MANY_MODEMS 1000 /* from here on their tables take a second and more */

struct run_options {
	const char *config;
	const char *network;
	const char *rphy;
	const char *control;
	const char *json;
	const char *ready; /* file to make when packets can come */
	uint64_t duration_ns; /* 0: until a signal */
	bool no_cycles;
	bool flows;
	bool latency;
};

static const struct argp_option options[] = {
	{"config", 'c', "FILE", 0, "service group, YAML", 0},
	{"network", 'n', "DEVICE", 0, "network port instead of the one in the configuration", 0},
	{"rphy", 'r', "DEVICE", 0, "R-PHY port instead of the one in the configuration", 0},
	{"control", 'm', "DEVICE", 0,
	 "port for management messages of modems, instead of the one in the configuration", 0},
	{"duration", 'd', "TIME", 0, "stop after this time, such as 10s (default: at a signal)", 0},
	{"json", 'j', "FILE", 0, "write the summary, - for stdout", 0},
	{"ready", 'R', "FILE", 0, "make this empty file when packets can come", 0},
	{"flows", 'f', NULL, 0,
	 "tell of every downstream service flow in the summary, not only of those with drops", 0},
	{"latency", 'l', NULL, 0, "measure how long packets stay in the pipeline", 0},
	{"no-cycles", 'C', NULL, 0, "do not measure the cycles of the stages", 0},
	{0},
};

static error_t option(int key, char *value, struct argp_state *state) {
	struct run_options *o = state->input;

	switch (key) {
	case 'c': o->config = value; return 0;
	case 'n': o->network = value; return 0;
	case 'r': o->rphy = value; return 0;
	case 'm': o->control = value; return 0;
	case 'j': o->json = value; return 0;
	case 'R': o->ready = value; return 0;
	case 'C': o->no_cycles = true; return 0;
	case 'f': o->flows = true; return 0;
	case 'l': o->latency = true; return 0;
	case 'd':
		if (!units_parse_duration(value, &o->duration_ns) || o->duration_ns == 0)
			argp_error(state, "--duration: found \"%s\", allowed: a time such as 10s",
				   value);
		return 0;
	default: return ARGP_ERR_UNKNOWN;
	}
}

static int start(const struct service_group *sg, const struct run_options *o) {
	struct platform_options p = {
		.program = "vcmtsd",
		.main_core = sg->threads.main_core,
		.devices = {o->network, o->rphy, o->control},
		.device_count = o->control == NULL ? 2 : 3,
		.memory_mb = instance_memory_mb(sg),
		.telemetry = true,
	};

	p.worker_count = layout_cores(sg, p.workers);
	return platform_start(&p);
}

/* DEPI frames of the MTU must pass; of larger packets from the network none will come. */
static bool mtu_passes(const struct service_group *sg, uint16_t rphy_port) {
	uint32_t limit = port_mtu_limit(rphy_port);

	if (sg->rphy.mtu <= limit)
		return true;
	fprintf(stderr, "rphy.mtu: found %u, allowed: up to %u on this R-PHY port\n", sg->rphy.mtu,
		limit);
	return false;
}

/* Bytes of the longest IP packet of a subscriber. */
static uint32_t network_mtu(const struct service_group *sg) {
	return sg->max_frame - RTE_ETHER_HDR_LEN - RTE_ETHER_CRC_LEN;
}

static int control_open(struct instance *i, const char *device) {
	uint16_t port;

	if (device == NULL)
		return 0;
	if (port_open(device, "control", i->packets, i->sg->control_port.queue_size,
		      network_mtu(i->sg), &port) != 0)
		return -1;
	instance_set_control(i, port);
	return 0;
}

/* Returns the exit status. */
static int wire(struct instance *i, const struct service_group *sg, const struct run_options *o) {
	uint16_t network_port, rphy_port;

	if (instance_pools(i, sg) != 0)
		return EXIT_TROUBLE;
	if (control_open(i, o->control) != 0 ||
	    port_open(o->network, "network", i->packets, sg->network.queue_size, network_mtu(sg),
		      &network_port) != 0)
		return EXIT_MISTAKE;
	if (port_open(o->rphy, "R-PHY", i->uepi != NULL ? i->uepi : i->packets,
		      sg->rphy_port.queue_size, sg->rphy.mtu, &rphy_port) != 0) {
		port_close(network_port);
		return EXIT_MISTAKE;
	}
	if (sg->modem_count >= MANY_MODEMS)
		fprintf(stderr, "vcmtsd: building the tables of %zu modems\n", sg->modem_count);
	if (instance_create(i, network_port, rphy_port) != 0)
		return EXIT_TROUBLE;
	/* Last, as tables of many modems take seconds, in which nobody would receive. */
	if (!mtu_passes(sg, rphy_port) || port_start(rphy_port, "R-PHY") != 0 ||
	    port_start(network_port, "network") != 0 ||
	    (i->has_control && port_start(i->control_port, "control") != 0))
		return EXIT_MISTAKE;
	return 0;
}

static bool is_busy(const struct instance *i) {
	return downstream_held(i->downstream) > 0 ||
	       (i->upstream != NULL && upstream_busy(i->upstream));
}

/*
 * The workers have stopped, nothing more is received: what is on its way goes out as long as the
 * port takes it, what cannot is counted as stopped.
 */
static void drain(struct instance *i) {
	uint64_t end = rte_rdtsc() + rte_get_tsc_hz() * DRAIN_MS / 1000;

	if (i->upstream != NULL)
		upstream_close(i->upstream);
	while (is_busy(i) && rte_rdtsc() < end) {
		for (unsigned w = 0; w < i->worker_count; w++)
			clock_tick(&i->workers[w].clock);
		pipeline_run(&i->downstream->dequeue);
		pipeline_run(&i->downstream->lower_mac);
		for (unsigned l = 0; i->upstream != NULL && l < US_PIPELINES; l++)
			pipeline_run(upstream_pipeline(i->upstream, l));
	}
	instance_stop(i);
}

/* SIGHUP or a command of the telemetry. */
static void reload_if_asked(struct reload *r) {
	if (!process_reload && !reload_is_asked(r))
		return;
	process_reload = 0; /* before the file is read: what comes meanwhile counts again */
	reload_run(r);
}

static double serve(struct instance *i, struct reload *r, uint64_t duration_ns) {
	uint64_t start_tsc = rte_rdtsc();

	for (unsigned w = 0; w < i->worker_count; w++) {
		clock_start(&i->workers[w].clock); /* not before: tables took their time */
		rte_eal_remote_launch(worker_run, &i->workers[w], w + 1);
	}
	while (!process_stopped) {
		usleep(20000);
		reload_if_asked(r);
		if (duration_ns != 0 && i->workers[0].clock.now >= duration_ns)
			break;
	}
	for (unsigned w = 0; w < i->worker_count; w++)
		worker_stop(&i->workers[w]);
	rte_eal_mp_wait_lcore();
	return (double)(rte_rdtsc() - start_tsc) / (double)rte_get_tsc_hz();
}

static int measure_host(void *host) {
	host_measure(host);
	return 0;
}

static int finish(struct instance *i, const struct run_options *o, double seconds) {
	struct host host;
	int status = 0;

	drain(i);
	/* On the core that the figures are of. */
	rte_eal_remote_launch(measure_host, &host, 1);
	rte_eal_mp_wait_lcore();
	report_print(report_is_stdout(o->json) ? stderr : stdout, i, &host, seconds);
	if (o->json != NULL) {
		json_t *json = report_json(i, &host, seconds);

		status = report_write(json, o->json) == 0 ? 0 : EXIT_TROUBLE;
		json_decref(json);
	}
	if (!report_balanced(i)) {
		fprintf(stderr, "vcmtsd: received differs from transmitted + dropped + held: this "
				"is a defect, please report it with the summary\n");
		status = EXIT_TROUBLE;
	}
	return status;
}

static bool touch(const char *path) {
	FILE *f = fopen(path, "w");

	if (f == NULL)
		fprintf(stderr, "--ready %s: %s\n", path, strerror(errno));
	return f != NULL && fclose(f) == 0;
}

static int serve_and_report(struct instance *i, const struct run_options *o, struct reload *r) {
	const struct service_group *sg = i->sg;
	double seconds;

	fprintf(stderr, "vcmtsd: serving service group %u: %zu modems, %zu channels\n", sg->id,
		sg->modem_count, sg->channel_count);
	if (o->ready != NULL && !touch(o->ready))
		return EXIT_MISTAKE;
	seconds = serve(i, r, o->duration_ns);
	reload_close(r);
	telemetry_close();
	return finish(i, o, seconds);
}

/* On an EAL that runs. */
static int run(struct instance *i, const struct run_options *o, const struct service_group *sg) {
	struct reload r;
	int status = wire(i, sg, o);

	if (status != 0)
		return status;
	instance_account(i, !o->no_cycles);
	i->report_flows = o->flows;
	if (instance_latency(i, o->latency) != 0)
		return EXIT_TROUBLE;
	reload_open(&r, i, o->config);
	status = telemetry_open(i, &r) == 0 ? serve_and_report(i, o, &r) : EXIT_TROUBLE;
	reload_close(&r); /* where it was not served */
	telemetry_close();
	reload_free(&r);
	return status;
}

/* A device that two ports would have, NULL: there is none. */
static const char *shared_device(const struct run_options *o) {
	if (port_same_device(o->network, o->rphy) ||
	    (o->control != NULL && port_same_device(o->control, o->rphy)))
		return o->rphy;
	return o->control != NULL && port_same_device(o->control, o->network) ? o->network : NULL;
}

/* Arguments and configuration. Returns 0 or EXIT_MISTAKE after a message. */
static int configure(int argc, char **argv, struct run_options *o, struct service_group *sg) {
	static const struct argp argp = {
		.options = options,
		.parser = option,
		.doc = "Serves a service group on its ports. SIGINT and SIGTERM stop it.",
	};
	const char *shared;

	argp_err_exit_status = EXIT_MISTAKE;
	argp_parse(&argp, argc, argv, 0, NULL, o);
	if (process_load(o->config, sg) != 0)
		return EXIT_MISTAKE;
	o->network = o->network ? o->network : sg->network.device;
	o->rphy = o->rphy ? o->rphy : sg->rphy_port.device;
	o->control = o->control ? o->control : sg->control_port.device;
	shared = shared_device(o);
	if (shared == NULL)
		return 0;
	fprintf(stderr, "vcmtsd: found one device, %.*s, for two ports, allowed: one each\n",
		(int)strcspn(shared, ","), shared);
	service_group_free(sg);
	return EXIT_MISTAKE;
}

int command_run(int argc, char **argv) {
	struct run_options o = {0};
	struct service_group sg = {0};
	struct instance *i;
	int status = EXIT_MISTAKE;

	if (configure(argc, argv, &o, &sg) != 0)
		return EXIT_MISTAKE;
	process_catch_signals();
	process_catch_reload();
	i = instance_alloc();
	if (i != NULL && start(&sg, &o) == 0) {
		status = run(i, &o, &sg);
		instance_free(i);
		platform_stop();
	}
	service_group_free(&sg);
	free(i);
	return status;
}
