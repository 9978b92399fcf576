/* SPDX-License-Identifier: BSD-3-Clause */
/* vcmtsd run: starts, serves and stops. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <rte_cycles.h>
#include <rte_launch.h>

#include "commands/commands.h"
#include "commands/run_control.h"
#include "commands/run_frequencies.h"
#include "commands/run_options.h"
#include "commands/systemd/service.h"
#include "crypto/versions.h"
#include "pipeline/first_number.h"
#include "platform/log/log.h"
#include "platform/platform.h"
#include "platform/port_wake.h"
#include "server/changes.h"
#include "server/links/port_states.h"
#include "server/measure.h"
#include "server/placement.h"
#include "server/process.h"
#include "server/reload.h"
#include "server/running.h"
#include "server/server.h"
#include "server/steering.h"
#include "telemetry/metrics/endpoint/http.h"
#include "telemetry/report.h"
#include "telemetry/telemetry.h"

#define DRAIN_MS 500
#define ROUND_MS 20 /* maximum wait of the control thread, for signals and the duration */
#define LEAVING_MS 1 /* the same while removed objects retire */
#define LARGE_MODEMS 1000 /* with as many, building the tables takes over a second and is logged */

/* State of a running vcmtsd. */
struct run {
	struct run_options o;
	struct server_config config;
	struct server server;
	struct run_control control;
	struct reload reload;
	struct links links;
	struct service service;
	struct metrics_source metrics;
	struct power *power;
	struct metrics_http *http; /* NULL: no metrics endpoint */
};

/* Starts EAL on the cores and with the devices of the configuration. */
static int start(const struct server *s, const struct server_config *config,
		 enum platform_iova iova) {
	struct platform_options p = {
		.program = "vcmtsd",
		.main_core = config->main_core,
		.memory_mb = server_memory_mb(config, &s->ports),
		.memory_piece_mb = server_memory_piece_mb(config),
		.telemetry = true,
		.iova = iova,
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

/* Creates the server, puts the groups into service and starts the ports. Returns 0, or the exit status
 * after a message. A device that cannot be used is EXIT_FAILED: it may appear later, as an interface or a binding to
 * VFIO at boot does, so that systemd must try again. */
static int wire(struct server *s, const struct server_config *config) {
	const struct server_pools *pools = &s->pools;

	if (server_create(s, config) != 0)
		return EXIT_FAILED;
	port_wakes_enable(server_may_sleep(s));
	if (server_ports_open(&s->ports, pools->packets,
			      pools->uepi != NULL ? pools->uepi : pools->packets) != 0)
		return EXIT_FAILED;
	if (modems_of(config) >= LARGE_MODEMS)
		log_notice("server", LOG_FIELDS(LOG_NUMBER("modems", modems_of(config))),
			   "building the tables of %zu modems", modems_of(config));
	if (server_serve(s) != 0)
		return s->no_crypto ? EXIT_USAGE : EXIT_FAILED;
	/* Starts the ports last: building large tables takes seconds, in which nothing would receive. */
	if (server_ports_start(&s->ports) != 0)
		return EXIT_FAILED;
	server_steering_start(s);
	server_steering_log(s);
	return 0;
}

/* Reloads if SIGHUP was received. The method config.reload does not need it. */
static void reload_if_requested(struct run *r) {
	if (!process_reload)
		return;
	process_reload = 0; /* cleared before the file is read: a later signal reloads again */
	reload_run(&r->reload, false);
}

static double serve(struct run *r) {
	struct server *s = &r->server;
	uint64_t start_tsc = rte_rdtsc();

	service_open(&r->service, s);
	service_watch_reloads(&r->service, &r->reload);
	server_idle(s, &s->power);
	server_launch(s);
	links_open(&r->links, s, server_now(s));
	run_control_start(&r->control, s);
	service_ready(&r->service);
	if (r->http != NULL)
		metrics_http_ready(r->http, true);
	while (!process_stopped) {
		run_frequencies_update(r->power, s);
		run_control_serve(&r->control, s->retiring != NULL ? LEAVING_MS : ROUND_MS);
		server_changes_retire(s);
		links_update(&r->links, server_now(s));
		reload_if_requested(r);
		service_round(&r->service);
		if (r->o.duration_ns != 0 && s->workers[0].clock.now >= r->o.duration_ns)
			break;
	}
	if (r->http != NULL)
		metrics_http_ready(r->http, false);
	service_stopping(&r->service);
	run_control_close(&r->control);
	server_changes_settle(s);
	power_stop(r->power);
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

	server_drain(s, rte_get_tsc_hz() / 1000 * DRAIN_MS);
	/* The workers have stopped: lcore 1, their first, can measure the clock of the cores. */
	rte_eal_remote_launch(measure_host, &host, 1);
	rte_eal_mp_wait_lcore();
	/* The text is on stderr if stdout has the JSON summary, but not between JSON log lines. */
	if (!report_is_stdout(o->json))
		report_print(stdout, s, &host, seconds);
	else if (log_format() == LOG_PLAIN)
		report_print(stderr, s, &host, seconds);
	if (o->json != NULL) {
		json_t *json = report_json(s, &host, seconds);

		status = report_write(json, o->json) == 0 ? 0 : EXIT_FAILED;
		json_decref(json);
	}
	if (!server_balanced(s)) {
		log_error(
			"server", LOG_NO_FIELDS,
			"received differs from transmitted + dropped + pending: this is a defect, "
			"please report it with the summary");
		status = EXIT_FAILED;
	}
	return status;
}

static bool touch(const char *path) {
	FILE *f = fopen(path, "w");

	if (f == NULL)
		log_error("server", LOG_FIELDS(LOG_STRING("path", path)), "--ready %s: %s", path,
			  strerror(errno));
	return f != NULL && fclose(f) == 0;
}

static void log_serving(const struct server *s) {
	const struct service_group *sg = s->groups[0].sg;
	size_t modems = 0, channels = 0;

	for (unsigned g = 0; g < s->group_count; g++)
		modems += s->groups[g].live.modems;
	for (size_t c = 0; c < sg->channel_count; c++)
		channels += channel_exists(&sg->channels[c]);
	if (s->group_count == 1)
		log_notice("server",
			   LOG_FIELDS(LOG_NUMBER("service_group", sg->id),
				      LOG_NUMBER("modems", modems),
				      LOG_NUMBER("channels", channels)),
			   "serving service group %u: %zu modems, %zu channels", sg->id, modems,
			   channels);
	else
		log_notice("server",
			   LOG_FIELDS(LOG_NUMBER("service_groups", s->group_count),
				      LOG_NUMBER("modems", modems)),
			   "serving service groups: %u, with %zu modems", s->group_count, modems);
}

/* Closes telemetry and metrics before the objects that they report. */
static void close_stats(struct run *r) {
	telemetry_close();
	metrics_http_close(r->http);
	r->http = NULL;
}

/* Serves until a signal or the duration, then drains and reports. Returns the exit status. */
static int serve_and_report(struct run *r) {
	double seconds;

	run_control_log(&r->control);
	log_serving(&r->server);
	if (r->o.ready != NULL && !touch(r->o.ready))
		return EXIT_USAGE;
	seconds = serve(r);
	close_stats(r);
	return finish(&r->server, &r->o, seconds);
}

/* Opens reload, power, metrics and telemetry. The metrics thread runs on this thread's core, to which EAL has
 * bound it. Returns false after a message. */
static bool open_stats(struct run *r) {
	struct server *s = &r->server;

	reload_open(&r->reload, s, r->o.config, &r->o.devices);
	r->power = run_frequencies_open(s);
	if (r->power == NULL)
		return false;
	r->metrics =
		(struct metrics_source){.server = s, .version = VCMTS_VERSION, .power = r->power};
	metrics_source_start(&r->metrics);
	r->control.methods = (struct methods){
		.server = s,
		.reload = &r->reload,
		.metrics = &r->metrics,
		.power = r->power,
		.events = r->control.methods.events,
	};
	if (r->http != NULL && metrics_http_start(r->http, &r->metrics) != 0)
		return false;
	return telemetry_open(&r->metrics) == 0;
}

/* Requires a running EAL. */
static int run(struct run *r) {
	struct server *s = &r->server;
	int status;

	first_number_set(r->o.first_number);
	status = wire(s, &r->config);

	if (status != 0)
		return status;
	server_config_free_groups(&r->config); /* the groups in service have copies */
	server_account(s, !r->o.no_cycles);
	s->report_flows = r->o.flows;
	if (server_latency(s, r->o.latency) != 0)
		return EXIT_FAILED;
	status = open_stats(r) ? serve_and_report(r) : EXIT_FAILED;
	close_stats(r); /* in case it did not serve */
	reload_free(&r->reload);
	power_free(r->power);
	return status;
}

/* Listens before tables are built, so that a wrong address or one in use is reported early. Returns false after a message. */
static bool listen_for_scrapers(struct run *r) {
	r->server.metrics_fixed = r->o.metrics != NULL;
	if (r->o.metrics == NULL)
		r->o.metrics = r->config.metrics;
	if (r->o.metrics != NULL)
		r->http = metrics_http_open(r->o.metrics);
	return r->o.metrics == NULL || r->http != NULL;
}

/* Determines ports and cores before anything starts. Returns 0, or -1 after a message. */
static int plan(struct server *s, const struct server_config *config) {
	static struct cpus machine;

	s->machine = &machine;
	if (server_ports_find(&s->ports, config) != 0)
		return -1;
	return layout_make(&s->layout, config) == 0 ? placement_check(config, &machine) : -1;
}

/* Opens the sockets, starts EAL and runs the server. Returns the exit status. */
static int plan_and_run(struct run *r) {
	int status;

	if (plan(&r->server, &r->config) != 0 ||
	    run_control_open(&r->control, r->o.control_socket, r->o.control_mode) != 0 ||
	    !listen_for_scrapers(r))
		return EXIT_USAGE;
	if (start(&r->server, &r->config, r->o.iova) != 0)
		return EXIT_FAILED; /* as in wire(): devices or huge pages are missing */
	status = run(r);
	server_free(&r->server);
	platform_stop();
	return status;
}

/* Options override the file, also after a reload. */
static void apply_power(struct run *r) {
	const struct run_power *given = &r->o.power;
	struct power_config *power = &r->config.power;

	if (given->has_idle)
		power->idle = given->idle;
	if (given->has_policy)
		power->policy = given->policy;
	if (given->has_driver)
		power->driver = given->driver;
	r->server.power_fixed =
		(struct power_fixed){given->has_idle, given->has_policy, given->has_driver, *power};
}

int command_run(int argc, char **argv) {
	static struct run r;
	int status;

	run_options_parse(&r.o, argc, argv);
	if (process_load(r.o.config, &r.o.devices, &r.config) != 0)
		return EXIT_USAGE;
	log_open(&r.o.log);
	versions_log();
	process_catch_signals();
	process_catch_reload();
	signal(SIGPIPE, SIG_IGN); /* a failed write reports a closed reader */
	r.server.crypto_isa = r.o.crypto_isa;
	apply_power(&r);
	status = plan_and_run(&r);
	metrics_http_close(r.http); /* in case it was not started */
	run_control_close(&r.control);
	server_ports_free(&r.server.ports); /* in case nothing was started */
	server_config_free(&r.config);
	log_close();
	return status;
}
