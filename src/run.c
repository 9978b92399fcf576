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
#include "metrics/metrics.h"
#include "model/units.h"
#include "platform/platform.h"
#include "run_control.h"
#include "server/changes.h"
#include "server/placement.h"
#include "server/process.h"
#include "server/reload.h"
#include "server/running.h"
#include "server/server.h"
#include "server/steering.h"
#include "telemetry/report.h"
#include "telemetry/telemetry.h"

#define DRAIN_MS 500
#define ROUND_MS 20 /* at most, between two looks at signals and the time */
#define LEAVING_MS 1 /* likewise, while something leaves that a change removed */
#define MANY_MODEMS 1000 /* from here on their tables take a second and more */

struct run_options {
	const char *config;
	struct server_devices devices;
	const char *json;
	const char *ready; /* file to make when packets can come */
	const char *control_socket; /* NULL: where it is found by itself */
	unsigned control_mode;
	enum crypto_isa crypto_isa;
	uint64_t duration_ns; /* 0: until a signal */
	bool no_cycles;
	bool flows;
	bool latency;
};

enum { OPTION_CONTROL_SOCKET = 256, OPTION_CONTROL_MODE, OPTION_CRYPTO_ISA };

static const struct argp_option options[] = {
	{"config", 'c', "FILE", 0, "service group, or a server of several, YAML", 0},
	{"network", 'n', "DEVICE", 0,
	 "network port instead of the one in the configuration; with several groups {group} in it "
	 "stands for the place of each, 0, 1, .., and without it they share the port",
	 0},
	{"rphy", 'r', "DEVICE", 0, "R-PHY port instead of the one in the configuration", 0},
	{"control", 'm', "DEVICE", 0,
	 "port for management messages of modems, instead of the one in the configuration", 0},
	{"duration", 'd', "TIME", 0, "stop after this time, such as 10s (default: at a signal)", 0},
	{"json", 'j', "FILE", 0, "write the summary, - for stdout", 0},
	{"ready", 'R', "FILE", 0, "make this empty file when packets can come", 0},
	{"flows", 'f', NULL, 0,
	 "tell of every downstream service flow in the summary, not only of those with drops", 0},
	{"latency", 'l', NULL, 0, "measure how long packets stay in the pipeline", 0},
	{"control-socket", OPTION_CONTROL_SOCKET, "PATH", 0,
	 "socket for requests (`vcmts control`), or none (default: one by the number of the "
	 "process, "
	 "which is told)",
	 0},
	{"control-mode", OPTION_CONTROL_MODE, "MODE", 0,
	 "permissions of its file: who may write to it may use it (default: 0600)", 0},
	{"crypto-isa", OPTION_CRYPTO_ISA, "NAME", 0,
	 "the most that intel-ipsec-mb may use of the CPU: auto, avx512, avx2, avx, sse, or plain "
	 "without AES instructions (default: auto, all that there is)",
	 0},
	{"no-cycles", 'C', NULL, 0, "do not measure the cycles of the stages", 0},
	{0},
};

static void parse_mode(const char *value, struct argp_state *state) {
	struct run_options *o = state->input;
	char *end;
	unsigned long mode = strtoul(value, &end, 8);

	if (end == value || *end != '\0' || value[0] == '-' || mode > 0777)
		argp_error(state,
			   "--control-mode: found \"%s\", allowed: octal digits such as 0660",
			   value);
	o->control_mode = (unsigned)mode;
}

static error_t option(int key, char *value, struct argp_state *state) {
	struct run_options *o = state->input;

	switch (key) {
	case 'c': o->config = value; return 0;
	case 'n': o->devices.network = value; return 0;
	case 'r': o->devices.rphy = value; return 0;
	case 'm': o->devices.control = value; return 0;
	case 'j': o->json = value; return 0;
	case 'R': o->ready = value; return 0;
	case 'C': o->no_cycles = true; return 0;
	case 'f': o->flows = true; return 0;
	case 'l': o->latency = true; return 0;
	case OPTION_CONTROL_SOCKET: o->control_socket = value; return 0;
	case OPTION_CRYPTO_ISA:
		if (!crypto_isa_parse(value, &o->crypto_isa))
			argp_error(state,
				   "--crypto-isa: found \"%s\", allowed: auto, avx512, avx2, avx, "
				   "sse or plain",
				   value);
		return 0;
	case OPTION_CONTROL_MODE: parse_mode(value, state); return 0;
	case 'd':
		if (!units_parse_duration(value, &o->duration_ns) || o->duration_ns == 0)
			argp_error(state, "--duration: found \"%s\", allowed: a time such as 10s",
				   value);
		return 0;
	default: return ARGP_ERR_UNKNOWN;
	}
}

static int start(const struct server *s, const struct server_config *config) {
	struct platform_options p = {
		.program = "vcmtsd",
		.main_core = config->main_core,
		.memory_mb = server_memory_mb(config, &s->ports),
		.memory_piece_mb = server_memory_piece_mb(config),
		.telemetry = true,
	};

	p.device_count = server_ports_devices(&s->ports, p.devices);
	p.worker_count = s->layout.worker_count;
	memcpy(p.workers, s->layout.cores, sizeof(p.workers));
	return platform_start(&p);
}

static size_t modems_of(const struct server_config *config) {
	size_t modems = 0;

	for (size_t g = 0; g < config->group_count; g++)
		modems += config->groups[g].modem_count;
	return modems;
}

/* Returns the exit status. */
static int wire(struct server *s, const struct server_config *config) {
	const struct server_pools *pools = &s->pools;

	if (server_create(s, config) != 0)
		return EXIT_TROUBLE;
	if (server_ports_open(&s->ports, pools->packets,
			      pools->uepi != NULL ? pools->uepi : pools->packets) != 0)
		return EXIT_MISTAKE;
	if (modems_of(config) >= MANY_MODEMS)
		fprintf(stderr, "vcmtsd: building the tables of %zu modems\n", modems_of(config));
	if (server_serve(s) != 0)
		return EXIT_TROUBLE;
	/* Last, as tables of many modems take seconds, in which nobody would receive. */
	if (server_ports_start(&s->ports) != 0)
		return EXIT_MISTAKE;
	server_steering_start(s);
	server_steering_print(s, stderr);
	return 0;
}

/* SIGHUP or a command of the telemetry. */
static void reload_if_asked(struct reload *r) {
	if (!process_reload && !reload_is_asked(r))
		return;
	process_reload = 0; /* before the file is read: what comes meanwhile counts again */
	reload_run(r);
}

static double serve(struct server *s, struct reload *r, struct run_control *control,
		    uint64_t duration_ns) {
	uint64_t start_tsc = rte_rdtsc();

	server_launch(s);
	while (!process_stopped) {
		run_control_serve(control, s->leaving != NULL ? LEAVING_MS : ROUND_MS);
		server_changes_go_on(s);
		reload_if_asked(r);
		if (duration_ns != 0 && s->workers[0].clock.now >= duration_ns)
			break;
	}
	run_control_close(control);
	server_changes_settle(s);
	server_halt(s);
	return (double)(rte_rdtsc() - start_tsc) / (double)rte_get_tsc_hz();
}

static int measure_host(void *host) {
	host_measure(host);
	return 0;
}

static int finish(struct server *s, const struct run_options *o, double seconds) {
	struct host host;
	int status = 0;

	/* the workers have stopped */
	server_drain(s, rte_get_tsc_hz() / 1000 * DRAIN_MS);
	/* On the core that the figures are of. */
	rte_eal_remote_launch(measure_host, &host, 1);
	rte_eal_mp_wait_lcore();
	report_print(report_is_stdout(o->json) ? stderr : stdout, s, &host, seconds);
	if (o->json != NULL) {
		json_t *json = report_json(s, &host, seconds);

		status = report_write(json, o->json) == 0 ? 0 : EXIT_TROUBLE;
		json_decref(json);
	}
	if (!server_balanced(s)) {
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

static void say_serving(const struct server *s) {
	const struct service_group *sg = s->groups[0].sg;
	size_t modems = 0, channels = 0;

	for (unsigned g = 0; g < s->group_count; g++)
		modems += s->groups[g].live.modems;
	for (size_t c = 0; c < sg->channel_count; c++)
		channels += channel_is_there(&sg->channels[c]);
	if (s->group_count == 1)
		fprintf(stderr, "vcmtsd: serving service group %u: %zu modems, %zu channels\n",
			sg->id, modems, channels);
	else
		fprintf(stderr, "vcmtsd: serving service groups: %u, with %zu modems\n",
			s->group_count, modems);
}

static int serve_and_report(struct server *s, const struct run_options *o, struct reload *r,
			    struct run_control *control) {
	double seconds;

	run_control_say(control);
	say_serving(s);
	if (o->ready != NULL && !touch(o->ready))
		return EXIT_MISTAKE;
	seconds = serve(s, r, control, o->duration_ns);
	reload_close(r);
	telemetry_close();
	return finish(s, o, seconds);
}

/* On an EAL that runs. */
static int run(struct server *s, const struct run_options *o, struct server_config *config,
	       struct run_control *control) {
	struct metrics_source metrics = {.server = s, .version = VCMTS_VERSION};
	struct reload r;
	int status = wire(s, config);

	if (status != 0)
		return status;
	server_config_shed(config); /* the groups in service have copies */
	server_account(s, !o->no_cycles);
	s->report_flows = o->flows;
	if (server_latency(s, o->latency) != 0)
		return EXIT_TROUBLE;
	reload_open(&r, s, o->config, &o->devices);
	metrics_source_start(&metrics);
	control->methods = (struct methods){.server = s, .reload = &r, .metrics = &metrics};
	status = telemetry_open(s, &r) == 0 ? serve_and_report(s, o, &r, control) : EXIT_TROUBLE;
	reload_close(&r); /* where it was not served */
	telemetry_close();
	reload_free(&r);
	return status;
}

/* Arguments and configuration. Returns 0 or EXIT_MISTAKE after a message. */
static int configure(int argc, char **argv, struct run_options *o, struct server_config *config) {
	static const struct argp argp = {
		.options = options,
		.parser = option,
		.doc = "Serves service groups on their ports. SIGINT and SIGTERM stop it.",
	};

	argp_err_exit_status = EXIT_MISTAKE;
	argp_parse(&argp, argc, argv, 0, NULL, o);
	return process_load(o->config, &o->devices, config);
}

/* Where things are to be, before anything is started. Returns 0 or -1 after a message. */
static int place(struct server *s, const struct server_config *config) {
	static struct cpus machine;

	s->machine = &machine;
	if (server_ports_find(&s->ports, config) != 0)
		return -1;
	return layout_make(&s->layout, config) == 0 ? placement_check(config, &machine) : -1;
}

int command_run(int argc, char **argv) {
	static struct server server;
	struct run_options o = {.control_mode = 0600};
	struct server_config config = {0};
	struct run_control control = {0};
	int status = EXIT_MISTAKE;

	if (configure(argc, argv, &o, &config) != 0)
		return EXIT_MISTAKE;
	process_catch_signals();
	process_catch_reload();
	server.crypto_isa = o.crypto_isa;
	if (place(&server, &config) == 0 &&
	    run_control_open(&control, o.control_socket, o.control_mode) == 0 &&
	    start(&server, &config) == 0) {
		status = run(&server, &o, &config, &control);
		server_free(&server);
		platform_stop();
	}
	run_control_close(&control);
	server_ports_free(&server.ports); /* where nothing was started */
	server_config_free(&config);
	return status;
}
