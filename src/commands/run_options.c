/* SPDX-License-Identifier: BSD-3-Clause */
#include "commands/run_options.h"

#include <argp.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "crypto/versions.h"
#include "model/units.h"
#include "platform/program/arguments.h"
#include "server/process.h"

enum {
	OPTION_CONTROL_SOCKET = 256,
	OPTION_CONTROL_MODE,
	OPTION_CRYPTO_ISA,
	OPTION_IOVA_MODE,
	OPTION_METRICS,
	OPTION_LOG_FORMAT,
	OPTION_LOG_LEVEL,
	OPTION_IDLE,
	OPTION_POLICY,
	OPTION_DRIVER,
	OPTION_FIRST_NUMBER
};

static const struct argp_option options[] = {
	{"config", 'c', "FILE", 0, "service group, or a server of several, YAML", 0},
	{"network", 'n', "DEVICE", 0,
	 "network port instead of the one in the configuration; with several groups, {group} "
	 "in it is replaced by the index of each, 0, 1, ..; without it they share the port",
	 0},
	{"rphy", 'r', "DEVICE", 0, "R-PHY port instead of the one in the configuration", 0},
	{"control", 'm', "DEVICE", 0,
	 "port for management messages of modems, instead of the one in the configuration", 0},
	{"duration", 'd', "TIME", 0, "stop after this time, such as 10s (default: at a signal)", 0},
	ARGUMENTS_JSON('j', "write the summary as JSON to this file"),
	{"ready", 'R', "FILE", 0, "create this empty file when packets can arrive", 0},
	{"flows", 'f', NULL, 0,
	 "report every downstream service flow in the summary, not only those with drops", 0},
	{"latency", 'l', NULL, 0, "measure how long packets stay in the pipeline", 0},
	{"control-socket", OPTION_CONTROL_SOCKET, "PATH", 0,
	 "socket for requests (`vcmts control`), or none (default: a path with the process "
	 "ID, which is logged)",
	 0},
	{"control-mode", OPTION_CONTROL_MODE, "MODE", 0,
	 "permissions of the socket's file: users with write permission may use it (default: "
	 "0600)",
	 0},
	{"metrics", OPTION_METRICS, "ADDRESS:PORT", 0,
	 "address and port that serve metrics over HTTP at /metrics, such as 127.0.0.1:9464; "
	 "port 0 selects a free one, which is logged (default: none)",
	 0},
	{"crypto-isa", OPTION_CRYPTO_ISA, "NAME", 0,
	 "instruction sets that intel-ipsec-mb may use: auto, avx512, avx2, avx, sse, or "
	 "plain without AES instructions (default: auto, all of the CPU)",
	 0},
	{"iova-mode", OPTION_IOVA_MODE, "MODE", 0,
	 "addresses that PCI NICs use for DMA: va, virtual ones, which needs an IOMMU; pa, "
	 "physical ones; or auto (default: auto)",
	 0},
	{"log-format", OPTION_LOG_FORMAT, "FORMAT", 0,
	 "log format: plain, text with time, level and fields, or json (default: plain; text "
	 "for the journal)",
	 0},
	{"log-level", OPTION_LOG_LEVEL, "LEVEL", 0,
	 "minimum severity of logged messages: error, warning, notice, info or debug "
	 "(default: info)",
	 0},
	{"idle", OPTION_IDLE, "KIND", 0,
	 "how idle workers wait, instead of the configuration's power.idle: poll, spin, "
	 "tpause-c0.1, tpause-c0.2, mwaitx, umwait, sleep or auto",
	 0},
	{"policy", OPTION_POLICY, "POLICY", 0,
	 "frequency policy, instead of the configuration's: none, performance, balanced or saving",
	 0},
	{"power-driver", OPTION_DRIVER, "DRIVER", 0,
	 "frequency driver, instead of the configuration's: auto, cpufreq or simulated", 0},
	{"no-cycles", 'C', NULL, 0, "do not measure the cycles of the stages", 0},
	{"first-number", OPTION_FIRST_NUMBER, "NUMBER", OPTION_HIDDEN,
	 "first sequence number of DSIDs and PSP sessions, for tests (default: 0)", 0},
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

static void parse_log(int key, char *value, struct argp_state *state) {
	struct run_options *o = state->input;

	if (key == OPTION_LOG_LEVEL && !log_level_parse(value, &o->log.level))
		argp_error(
			state,
			"--log-level: found \"%s\", allowed: error, warning, notice, info or debug",
			value);
	if (key != OPTION_LOG_FORMAT)
		return;
	if (!log_format_parse(value, &o->log.format))
		argp_error(state, "--log-format: found \"%s\", allowed: plain, text or json",
			   value);
	o->log.format_given = true;
}

static void parse_power(int key, const char *value, struct argp_state *state) {
	struct run_power *p = &((struct run_options *)state->input)->power;

	if (key == OPTION_IDLE)
		p->has_idle = idle_kind_parse(value, &p->idle);
	if (key == OPTION_IDLE && !p->has_idle)
		argp_error(state,
			   "--idle: found \"%s\", allowed: poll, spin, tpause-c0.1, tpause-c0.2, "
			   "mwaitx, umwait, sleep or auto",
			   value);
	if (key == OPTION_POLICY)
		p->has_policy = power_policy_parse(value, &p->policy);
	if (key == OPTION_POLICY && !p->has_policy)
		argp_error(state,
			   "--policy: found \"%s\", allowed: none, performance, balanced or saving",
			   value);
	if (key == OPTION_DRIVER)
		p->has_driver = power_driver_parse(value, &p->driver);
	if (key == OPTION_DRIVER && !p->has_driver)
		argp_error(state,
			   "--power-driver: found \"%s\", allowed: auto, cpufreq or simulated",
			   value);
}

static void parse_iova(const char *value, struct argp_state *state) {
	struct run_options *o = state->input;

	if (!platform_iova_parse(value, &o->iova))
		argp_error(state, "--iova-mode: found \"%s\", allowed: va, pa or auto", value);
}

static void parse_first_number(const char *value, struct argp_state *state) {
	struct run_options *o = state->input;
	char *end;
	unsigned long number = strtoul(value, &end, 10);

	if (value[0] < '0' || value[0] > '9' || *end != '\0' || number > UINT16_MAX)
		argp_error(state, "--first-number: found \"%s\", allowed: 0 to 65535", value);
	o->first_number = (uint16_t)number;
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
	case OPTION_METRICS: o->metrics = value; return 0;
	case OPTION_CONTROL_SOCKET: o->control_socket = value; return 0;
	case OPTION_CRYPTO_ISA:
		if (!crypto_isa_parse(value, &o->crypto_isa))
			argp_error(state, "--crypto-isa: found \"%s\", allowed: " CRYPTO_ISA_NAMES,
				   value);
		return 0;
	case OPTION_FIRST_NUMBER: parse_first_number(value, state); return 0;
	case OPTION_IOVA_MODE: parse_iova(value, state); return 0;
	case OPTION_IDLE:
	case OPTION_POLICY:
	case OPTION_DRIVER: parse_power(key, value, state); return 0;
	case OPTION_CONTROL_MODE: parse_mode(value, state); return 0;
	case OPTION_LOG_FORMAT:
	case OPTION_LOG_LEVEL: parse_log(key, value, state); return 0;
	case 'd':
		if (!units_parse_duration(value, &o->duration_ns) || o->duration_ns == 0)
			argp_error(state, "--duration: found \"%s\", allowed: a time such as 10s",
				   value);
		return 0;
	default: return ARGP_ERR_UNKNOWN;
	}
}

void run_options_parse(struct run_options *o, int argc, char **argv) {
	static const struct argp argp = {
		.options = options,
		.parser = option,
		.doc = "Serves service groups on their ports. SIGINT and SIGTERM stop it.",
	};

	*o = (struct run_options){
		.control_mode = 0600,
		.log = {.level = LEVEL_INFO, .fd = STDERR_FILENO},
	};
	versions_parse(&argp, argc, argv, o);
}
