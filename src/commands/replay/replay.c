/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * vcmtsd replay: packets of a capture arrive at the network port, and the DEPI frames sent at the R-PHY port
 * are written to a capture; or the reverse direction. Time is the capture's, so that the same input,
 * configuration and changes give the same bytes.
 */
#include <argp.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "capture/capture.h"
#include "commands/replay/replay.h"
#include "commands/replay/replay_play.h"
#include "crypto/versions.h"
#include "platform/platform.h"
#include "platform/program/arguments.h"
#include "server/measure.h"
#include "server/process.h"
#include "server/server.h"
#include "telemetry/report.h"

enum route {
	DOWN, /* --network-in, --rphy-out */
	UP, /* --rphy-in, --network-out */
	ROUTES,
};

struct replay_options {
	const char *config;
	const char *in[ROUTES];
	const char *out[ROUTES];
	const char *control_out;
	const char *json;
	const char *changes_in;
	const char *answers;
	struct replay_changes *changes; /* the changes of --then, and later those of `changes_in` */
	struct server_devices devices;
	enum route route;
	bool flows;
};

static const struct argp_option options[] = {
	{"config", 'c', "FILE", 0, "service group, YAML", 0},
	{"network-in", 'i', "PCAP", 0, "input: packets received at the network port", 0},
	{"rphy-out", 'o', "PCAP", 0,
	 "output: frames sent at the R-PHY port; with --rphy-in: the MAPs of the upstream "
	 "scheduler",
	 0},
	{"rphy-in", 'I', "PCAP", 0, "input: upstream packets received at the R-PHY port", 0},
	{"network-out", 'O', "PCAP", 0, "output: packets sent at the network port", 0},
	{"control-out", 'm', "PCAP", 0, "output: management messages of modems, upstream", 0},
	{"flows", 'f', NULL, 0, "report every downstream service flow, not only those with drops",
	 0},
	ARGUMENTS_JSON('j', "write all counters as JSON to this file"),
	{"then", 't', "TIME=FILE", 0,
	 "at this time after the first packet, reload from FILE, as at SIGHUP; may be repeated", 0},
	{"changes", 'C', "FILE", 0,
	 "JSON file with calls of the control socket's methods at times after the first "
	 "packet: [{\"at\": \"12.5ms\", \"method\": \"modem.add\", \"params\": {..}}]",
	 0},
	{"answers", 'a', "FILE", 0, "write the results of all changes as JSON, - for stdout", 0},
	{0},
};

static error_t option(int key, char *value, struct argp_state *state) {
	struct replay_options *o = state->input;

	switch (key) {
	case 'c': o->config = value; return 0;
	case 'i': o->in[DOWN] = value; return 0;
	case 'o': o->out[DOWN] = value; return 0;
	case 'I': o->in[UP] = value; return 0;
	case 'O': o->out[UP] = value; return 0;
	case 'm': o->control_out = value; return 0;
	case 'j': o->json = value; return 0;
	case 'f': o->flows = true; return 0;
	case 'C': o->changes_in = value; return 0;
	case 'a': o->answers = value; return 0;
	case 't': return replay_changes_add_reload(o->changes, value) == 0 ? 0 : EINVAL;
	case ARGP_KEY_END:
		o->route = o->in[UP] != NULL ? UP : DOWN;
		if (o->in[o->route] == NULL || o->out[o->route] == NULL ||
		    o->in[!o->route] != NULL ||
		    (o->route == DOWN && (o->out[UP] != NULL || o->control_out != NULL)))
			argp_error(state,
				   "required: --network-in and --rphy-out, or --rphy-in and "
				   "--network-out (optional then: --control-out, --rphy-out)");
		return 0;
	default: return ARGP_ERR_UNKNOWN;
	}
}

static int write_json(const struct replay *r, const char *path) {
	json_t *json = report_json(&r->server, NULL, 0);
	int ret;

	json_object_set_new(json, "steps", json_integer((json_int_t)r->steps));
	json_object_set_new(json, "missed", json_integer((json_int_t)r->missed));
	ret = report_write(json, path);
	json_decref(json);
	return ret;
}

/* Replays all packets and writes the results. */
static int replay(struct replay *r, const struct replay_options *o) {
	bool whole = replay_play(r) == 0;
	int ret = !whole ? EXIT_FAILED : r->changes->refused > 0 ? EXIT_USAGE : 0;
	double seconds = (double)r->now / CLOCK_NS_PER_S;
	bool stdout_used = report_is_stdout(o->json) || report_is_stdout(o->out[DOWN]) ||
			   report_is_stdout(o->out[UP]) || report_is_stdout(o->control_out) ||
			   report_is_stdout(o->answers);

	replay_play_out(r);
	if (o->json != NULL && write_json(r, o->json) != 0)
		ret = EXIT_FAILED;
	if (o->answers != NULL && report_write(r->changes->answers, o->answers) != 0)
		ret = EXIT_FAILED;
	report_print(stdout_used ? stderr : stdout, &r->server, NULL, seconds);
	return server_balanced(&r->server) ? ret : EXIT_FAILED;
}

static bool is_input(const struct replay_options *o, const char *path) {
	const char *const inputs[] = {o->config, o->in[o->route], o->changes_in};
	bool found = false;

	for (size_t i = 0; i < RTE_DIM(inputs); i++)
		found |= inputs[i] != NULL && capture_same(path, inputs[i]);
	for (size_t c = 0; c < o->changes->count; c++) {
		const char *file = o->changes->list[c].file;

		found |= file != NULL && capture_same(path, file);
	}
	return found;
}

/* No output may overwrite an input or another output. */
static bool outputs_free(const struct replay_options *o) {
	const char *const outputs[] = {o->out[DOWN], o->out[UP], o->control_out, o->json,
				       o->answers};

	for (size_t i = 0; i < RTE_DIM(outputs); i++) {
		if (outputs[i] == NULL)
			continue;
		if (is_input(o, outputs[i])) {
			fprintf(stderr, "%s: is an input too; choose another file for the output\n",
				outputs[i]);
			return false;
		}
		for (size_t j = 0; j < i; j++) {
			if (outputs[j] != NULL && strcmp(outputs[i], outputs[j]) == 0) {
				fprintf(stderr,
					"%s: is given for two outputs; choose different files\n",
					outputs[i]);
				return false;
			}
		}
	}
	return true;
}

/* Requires a running EAL. */
static int replay_files(struct replay *r, const struct replay_options *o,
			const struct server_config *config) {
	int ret = EXIT_FAILED;

	r->name = o->in[o->route];
	r->in = capture_open(r->name);
	if (r->in == NULL)
		return EXIT_USAGE;
	r->changes = o->changes;
	r->from = o->route == DOWN ? REPLAY_NETWORK : REPLAY_RPHY;
	r->wires.out[REPLAY_RPHY] = o->out[DOWN];
	r->wires.out[REPLAY_NETWORK] = o->out[UP];
	r->wires.out[REPLAY_CONTROL] = o->control_out;
	if (replay_wires_create(&r->wires) != 0) {
		ret = EXIT_USAGE;
	} else if (replay_wires_open(&r->wires, &r->server, config) == 0) {
		server_account(&r->server, false);
		r->server.report_flows = o->flows;
		if (replay_changes_open(r->changes, &r->server, o->config, &o->devices) == 0)
			ret = replay(r, o);
		replay_wires_close(&r->wires);
	} else if (r->server.no_crypto) {
		ret = EXIT_USAGE;
	}
	pcap_close(r->in);
	return replay_wires_finish(&r->wires) == 0 ? ret : EXIT_FAILED;
}

/* Whether a group has an upstream scheduler. */
static bool has_scheduler(const struct server_config *config) {
	for (size_t g = 0; g < config->group_count; g++) {
		if (config->groups[g].upstream.scheduled)
			return true;
	}
	return false;
}

static bool route_exists(const struct replay_options *o, const struct server_config *config) {
	if (o->route == DOWN)
		return true;
	if (o->out[DOWN] != NULL && !has_scheduler(config)) {
		fprintf(stderr,
			"%s: has no upstream.scheduler; --rphy-out together with --rphy-in "
			"needs it\n",
			o->config);
		return false;
	}
	for (size_t g = 0; g < config->group_count; g++) {
		if (config->groups[g].upstream_channel_count > 0)
			return true;
	}
	fprintf(stderr, "%s: has no upstream_channels; --rphy-in needs them\n", o->config);
	return false;
}

/* Starts and stops EAL. Returns the exit status. */
static int replay_config(const struct replay_options *o, const struct server_config *config) {
	struct platform_options p = {
		.program = "vcmtsd",
		.main_core = PLATFORM_ANY_CORE,
		.memory_mb = server_memory_mb(config, NULL),
		.offline = true,
	};
	static struct replay r; /* static, as it is large and its counters are aligned */
	int status = EXIT_FAILED;

	if (platform_start(&p) == 0) {
		status = replay_files(&r, o, config);
		server_free(&r.server);
		platform_stop();
	}
	return status;
}

int replay_command(int argc, char **argv) {
	static const struct argp argp = {
		.options = options,
		.parser = option,
		.doc = "Replays a capture through the downstream or the upstream, "
		       "deterministically.",
	};
	struct replay_changes changes = {0};
	/* captures have one network port and one R-PHY port, which all groups share */
	struct replay_options o = {
		.changes = &changes,
		.devices = {.network = "network", .rphy = "rphy"},
	};
	struct server_config config = {0};
	int status = EXIT_USAGE;
	bool good;

	/* an invalid --then ends the parser */
	good = versions_parse(&argp, argc, argv, &o) == 0;
	if (o.control_out != NULL)
		o.devices.control = "control";
	if (good && (o.changes_in == NULL || replay_changes_read(&changes, o.changes_in) == 0) &&
	    process_load(o.config, &o.devices, &config) == 0 && outputs_free(&o) &&
	    route_exists(&o, &config)) {
		process_catch_signals();
		status = replay_config(&o, &config);
	}
	replay_changes_free(&changes);
	server_config_free(&config);
	return status;
}
