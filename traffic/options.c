/* SPDX-License-Identifier: BSD-3-Clause */
/* Parses arguments, their defaults and their help. */
#include "options.h"

#include <argp.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "core/generator.h"
#include "core/mix.h"
#include "core/pacing.h"
#include "core/targets.h"
#include "crypto/versions.h"
#include "model/units.h"
#include "options_rates.h"
#include "platform/program/arguments.h"
#include "proof/witness.h"

#define REFUSE_EVERY_MAX 1000000

enum key {
	KEY_CONFIG = 256,
	KEY_NETWORK,
	KEY_RPHY,
	KEY_MIX,
	KEY_RATE,
	KEY_UPSTREAM_MIX,
	KEY_UPSTREAM_RATE,
	KEY_UPSTREAM_SHARE,
	KEY_SHAPE,
	KEY_UPSTREAM_SHAPE,
	KEY_IMPAIR,
	KEY_GRANTS,
	KEY_NO_DOWNSTREAM,
	KEY_SEND_ONLY,
	KEY_DURATION,
	KEY_JSON,
	KEY_UNEXPECTED,
	KEY_WITNESS,
	KEY_WITNESS_PACKETS,
	KEY_CORE,
	KEY_MAIN_CORE,
	KEY_SEED,
	KEY_FIRST_NUMBER,
	KEY_PERMIT_SHARE,
	KEY_CLASSIFY_SHARE,
	KEY_FLOWS,
	KEY_REFUSE_EVERY,
	KEY_REPLAY,
	KEY_CHECK,
	KEY_TRIALS,
	KEY_FOLLOW,
};

static const struct argp_option arguments[] = {
	{.doc = "Connections:"},
	{"config", KEY_CONFIG, "FILE", 0,
	 "configuration of the service group or server, the same as vcmtsd's", 0},
	{"network", KEY_NETWORK, "DEVICE", 0,
	 "port to vcmtsd's network port: a PCI address or a DPDK virtual device with "
	 "arguments, such as net_memif0,role=client,id=0,socket-abstract=no,socket=PATH. "
	 "Several service groups share it; or each has its own if the text contains {group}, "
	 "which is replaced by the group's index in the file: 0, 1, ..",
	 0},
	{"rphy", KEY_RPHY, "DEVICE", 0, "port to vcmtsd's R-PHY port, in the same form", 0},
	{.doc = "Traffic:"},
	{"mix", KEY_MIX, "MIX", 0,
	 "Ethernet frames without CRC: " MIX_WORDS " (imix: 84:15,256:10,1280:75)", 0},
	{"replay", KEY_REPLAY, "FILE", 0,
	 "send the IP packets of a capture (pcap, pcapng) repeatedly instead of a mix, each "
	 "to an address of a modem",
	 0},
	{"rate", KEY_RATE, "RATE", 0,
	 "bits per second of Ethernet frames without CRC, such as 2Gbps, or max (2Gbps). For "
	 "all service groups together, divided in proportion to the rates of their channels, "
	 "like all rates",
	 0},
	{"upstream-rate", KEY_UPSTREAM_RATE, "RATE", 0,
	 "upstream rate of all modems together, bits per second of Ethernet frames without "
	 "CRC; max; 0: nothing (0)",
	 0},
	{"upstream-share", KEY_UPSTREAM_SHARE, "SHARE", 0,
	 "upstream rate as a share of --rate, such as 15%", 0},
	{"shape", KEY_SHAPE, "SHAPE", 0,
	 "the rates over time, repeated until the end: " SHAPE_WORDS
	 ". RATE is a share of --rate, such as 50%, or a rate such as 500Mbps. A ramp (0% to "
	 "100%), all steps and a day last as long as --duration unless time= or each= is "
	 "given. The rate changes linearly between points; two points at one time are a step. "
	 "Lines of FILE: TIME RATE. The upstream uses the same shares of its rate (constant)",
	 0},
	{"upstream-shape", KEY_UPSTREAM_SHAPE, "SHAPE", 0,
	 "the shape of the upstream: shares of --upstream-rate (as --shape)", 0},
	{"upstream-mix", KEY_UPSTREAM_MIX, "MIX", 0,
	 "upstream-imix, upstream-imix-70, or as --mix (upstream-imix: 84:65,256:18,1280:17; "
	 "upstream-imix-70: 70:65,256:18,1280:17, for modems that have an IPv4 address)",
	 0},
	{"grants", KEY_GRANTS, "open|scheduled", 0,
	 "open: modems get grants of 2 kB in round robin, without requests; scheduled: modems "
	 "request bandwidth and use the grants in MAPs of the upstream scheduler (open)",
	 0},
	{"impair", KEY_IMPAIR, "KIND=SHARE[,..]", 0,
	 "impairments of the upstream, with their shares of packets, bursts, frames, MAPs, "
	 "requests or modems, such as psp-loss=0.1%,clear=0.001; the kinds are listed below",
	 0},
	{"no-downstream", KEY_NO_DOWNSTREAM, NULL, 0, "only the modems send", 0},
	{"send-only", KEY_SEND_ONLY, NULL, 0,
	 "receive nothing and prove nothing, for ports that write a capture, such as "
	 "net_pcap0,tx_pcap=FILE",
	 0},
	{"duration", KEY_DURATION, "TIME", 0, "duration of sending, such as 10s or 500ms (10s)", 0},
	{"permit-share", KEY_PERMIT_SHARE, "PERCENT", 0,
	 "share of packets that a filter rule permits (10%)", 0},
	{"classify-share", KEY_CLASSIFY_SHARE, "PERCENT", 0,
	 "share of packets that match a classifier (10%)", 0},
	{"flows", KEY_FLOWS, "NUMBER", 0,
	 "number of downstream 5-tuples: addresses, protocol and ports (one per modem address "
	 "and kind of packet)",
	 0},
	{"refuse-every", KEY_REFUSE_EVERY, "NUMBER", 0,
	 "after one in so many packets, in both directions, send one that vcmtsd must drop: "
	 "malformed, multicast, to unknown addresses, denied by a filter, without encryption, "
	 "from foreign addresses (none)",
	 0},
	{"seed", KEY_SEED, "NUMBER", 0, "seed of the random numbers (1)", 0},
	{"first-number", KEY_FIRST_NUMBER, "NUMBER", OPTION_HIDDEN,
	 "first sequence number of UEPI and of segments, for tests (0)", 0},
	{.doc = "Operation:"},
	ARGUMENTS_JSON(KEY_JSON, "write the results as JSON to this file"),
	{"unexpected", KEY_UNEXPECTED, "FILE", 0,
	 "write the first 64 corrupted or unexpected frames to this file, as pcapng", 0},
	{"witness", KEY_WITNESS, "FILE", 0,
	 "write a random sample of the packets of the R-PHY port, in both directions, to this "
	 "file, as pcapng",
	 0},
	{"witness-packets", KEY_WITNESS_PACKETS, "NUMBER", 0,
	 "packets in this sample, per direction (300)", 0},
	{"core", KEY_CORE, "NUMBER", 0, "CPU of the polling thread (0)", 0},
	{"check", KEY_CHECK, NULL, 0, "only check arguments and configuration", 0},
	{"trials", KEY_TRIALS, NULL, 0,
	 "run trials on request: read lines of JSON from stdin, answer each by a line on stdout",
	 0},
	{"follow", KEY_FOLLOW, "SOCKET", 0,
	 "follow changes of vcmtsd's configuration by the events of its control socket", 0},
	{"main-core", KEY_MAIN_CORE, "NUMBER", 0,
	 "CPU of the main thread, which prints the progress (0)", 0},
	{.doc = "Kinds of --impair:"},
#define IMPAIRMENT(enumerator, name, target, meaning) \
	{name, 0, NULL, OPTION_DOC | OPTION_NO_USAGE, meaning, 0},
#include "impairments/impairment.def"
#undef IMPAIRMENT
	{0},
};

static bool parse_number(const char *text, uint64_t *value) {
	char *end;

	errno = 0;
	*value = strtoull(text, &end, 0);
	return *text >= '0' && *text <= '9' && *end == '\0' && errno == 0;
}

static bool parse_between(const char *text, uint32_t min, uint32_t max, uint32_t *value) {
	uint64_t number;

	if (!parse_number(text, &number) || number < min || number > max)
		return false;
	*value = (uint32_t)number;
	return true;
}

static bool parse_share(const char *text, uint32_t *permille) {
	char *end;
	double percent = strtod(text, &end);

	if (*text < '0' || *text > '9' || !(percent >= 0 && percent <= 100) ||
	    (*end != '\0' && strcmp(end, "%") != 0))
		return false;
	*permille = (uint32_t)(percent * 10 + 0.5);
	return true;
}

static bool parse_rate(const char *text, uint64_t *rate) {
	if (strcmp(text, "max") == 0) {
		*rate = 0;
		return true;
	}
	return units_parse_rate(text, rate) && *rate > 0 && *rate <= PACING_RATE_MAX;
}

static bool parse_upstream_rate(const char *text, struct options *o) {
	o->upstream_rate_given = true;
	o->upstream = strcmp(text, "0") != 0;
	return !o->upstream || parse_rate(text, &o->upstream_rate);
}

static void parse_impair(const char *text, struct options *o, struct argp_state *state) {
	char error[IMPAIR_ERROR];

	if (!impair_parse(text, &o->impair, error, sizeof(error)))
		argp_error(state, "--impair: %s", error);
}

static void require(struct argp_state *state, bool good, const char *name, const char *text,
		    const char *allowed) {
	if (!good)
		argp_error(state, "--%s: found %s, allowed: %s", name, text, allowed);
}

static void parse_time(const char *text, struct options *o, struct argp_state *state) {
	require(state, units_parse_duration(text, &o->duration) && o->duration > 0, "duration",
		text, "a time above 0 with us, ms, s, min or h");
}

static void parse_grants(const char *text, struct options *o, struct argp_state *state) {
	o->scheduled = strcmp(text, "scheduled") == 0;
	require(state, o->scheduled || strcmp(text, "open") == 0, "grants", text,
		"open, scheduled");
}

/* Rejects combinations without meaning. */
static void check_replay(struct argp_state *state, const struct options *o) {
	if (o->replay == NULL)
		return;
	if (o->mix != NULL || o->flows != 0)
		argp_error(state, "--replay: not allowed with --mix or --flows, as the "
				  "capture defines sizes and flows");
	if (o->no_downstream)
		argp_error(state, "--replay: nothing is sent downstream with --no-downstream");
}

/* The requests define what is sent and when. */
static void check_trials(struct argp_state *state, const struct options *o) {
	if (!o->trials)
		return;
	if (o->send_only || o->replay != NULL || impair_any(&o->impair) || o->json != NULL ||
	    o->shape_text != NULL || o->upstream_shape_text != NULL)
		argp_error(state, "--trials: not allowed with --send-only, --replay, "
				  "--impair, --json or shapes");
}

static void check_follow(struct argp_state *state, const struct options *o) {
	if (o->follow == NULL)
		return;
	if (o->trials || o->send_only || o->replay != NULL || o->flows != 0 ||
	    impair_any(&o->impair))
		argp_error(state, "--follow: not allowed with --trials, --send-only, "
				  "--replay, --flows or --impair");
}

/* Impairments of packets in flight are predicted only for modems that do not request bandwidth. */
static void check_grants(struct argp_state *state, const struct options *o) {
	bool access = impair_any_of(&o->impair, IMPAIR_ACCESS);

	if (!o->scheduled) {
		if (access)
			argp_error(state, "--impair: impairments of MAPs, requests and "
					  "scheduled modems need --grants scheduled");
		return;
	}
	if (!o->upstream)
		argp_error(state, "--grants: modems do not request without --upstream-rate");
	if (o->upstream_rate == 0)
		argp_error(state, "--grants: scheduled needs an --upstream-rate other than max");
	if (o->trials || o->follow != NULL || o->send_only)
		argp_error(
			state,
			"--grants scheduled: not allowed with --trials, --follow or --send-only");
	if (impair_any_of(&o->impair, IMPAIR_PACKET) || impair_any_of(&o->impair, IMPAIR_BURST) ||
	    impair_any_of(&o->impair, IMPAIR_FRAME))
		argp_error(state, "--impair: impairments of packets, bursts and frames need "
				  "--grants open");
}

static void option_check(struct argp_state *state, struct options *o) {
	char error[OPTIONS_RATES_ERROR];

	if (!options_rates(o, error))
		argp_error(state, "%s", error);
	if (o->config == NULL || o->network == NULL || o->rphy == NULL)
		argp_error(state, "--config, --network and --rphy are needed");
	if (o->permit_permille + o->classify_permille > 1000)
		argp_error(state, "--permit-share, --classify-share: the sum is above 100%%");
	check_replay(state, o);
	check_trials(state, o);
	check_follow(state, o);
	check_grants(state, o);
	if (impair_any(&o->impair) && !o->upstream)
		argp_error(state, "--impair: needs --upstream-rate");
	if (o->no_downstream && !o->upstream && !o->trials)
		argp_error(state, "--no-downstream: nothing is sent without --upstream-rate");
}

static void parse_numbers(int key, const char *text, struct options *o, struct argp_state *state) {
	if (key == KEY_WITNESS_PACKETS)
		require(state, parse_between(text, 1, WITNESS_MAX, &o->witness_packets),
			"witness-packets", text, "1 to 100000");
	else if (key == KEY_FLOWS)
		require(state, parse_between(text, 1, FLOWS_MAX, &o->flows), "flows", text,
			"1 to 16777216");
	else if (key == KEY_REFUSE_EVERY)
		require(state,
			parse_between(text, GENERATOR_BURST, REFUSE_EVERY_MAX, &o->refuse_every),
			"refuse-every", text, "32 to 1000000");
	else if (key == KEY_CORE)
		require(state, parse_between(text, 0, UINT16_MAX, &o->core), "core", text,
			"a CPU number");
	else if (key == KEY_MAIN_CORE)
		require(state, parse_between(text, 0, UINT16_MAX, &o->main_core), "main-core", text,
			"a CPU number");
	else if (key == KEY_SEED)
		require(state, parse_number(text, &o->seed), "seed", text, "a number of 64 bits");
	else
		require(state, parse_between(text, 0, UINT16_MAX, &o->first_number), "first-number",
			text, "0 to 65535");
}

static error_t option_parse(int key, char *text, struct argp_state *state) {
	struct options *o = state->input;

	switch (key) {
	case KEY_CONFIG: o->config = text; break;
	case KEY_NETWORK: o->network = text; break;
	case KEY_RPHY: o->rphy = text; break;
	case KEY_MIX: o->mix = text; break;
	case KEY_JSON: o->json = text; break;
	case KEY_UNEXPECTED: o->unexpected = text; break;
	case KEY_WITNESS: o->witness = text; break;
	case KEY_RATE:
		require(state, parse_rate(text, &o->rate), "rate", text,
			"max, or up to 1 Tbps with bps, kbps, Mbps, Gbps");
		break;
	case KEY_UPSTREAM_MIX: o->upstream_mix = text; break;
	case KEY_UPSTREAM_RATE:
		require(state, parse_upstream_rate(text, o), "upstream-rate", text,
			"0, max, or up to 1 Tbps with bps, kbps, Mbps, Gbps");
		break;
	case KEY_UPSTREAM_SHARE:
		require(state, options_share(text, &o->upstream_share), "upstream-share", text,
			"0% to 1000%");
		break;
	case KEY_SHAPE: o->shape_text = text; break;
	case KEY_UPSTREAM_SHAPE: o->upstream_shape_text = text; break;
	case KEY_GRANTS: parse_grants(text, o, state); break;
	case KEY_IMPAIR: parse_impair(text, o, state); break;
	case KEY_NO_DOWNSTREAM: o->no_downstream = true; break;
	case KEY_SEND_ONLY: o->send_only = true; break;
	case KEY_DURATION: parse_time(text, o, state); break;
	case KEY_CORE:
	case KEY_MAIN_CORE:
	case KEY_SEED:
	case KEY_FLOWS:
	case KEY_REFUSE_EVERY:
	case KEY_WITNESS_PACKETS:
	case KEY_FIRST_NUMBER: parse_numbers(key, text, o, state); break;
	case KEY_PERMIT_SHARE:
		require(state, parse_share(text, &o->permit_permille), "permit-share", text,
			"0% to 100%");
		break;
	case KEY_CLASSIFY_SHARE:
		require(state, parse_share(text, &o->classify_permille), "classify-share", text,
			"0% to 100%");
		break;
	case KEY_REPLAY: o->replay = text; break;
	case KEY_CHECK: o->check = true; break;
	case KEY_TRIALS: o->trials = true; break;
	case KEY_FOLLOW: o->follow = text; break;
	case ARGP_KEY_ARG: argp_error(state, "unexpected argument %s", text); break;
	case ARGP_KEY_END: option_check(state, o); break;
	default: return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

void options_parse(struct options *o, int argc, char **argv) {
	static const struct argp argp = {
		.options = arguments,
		.parser = option_parse,
		.doc = "Sends IP packets through vcmtsd to and from the cable modems of "
		       "service groups, simulates R-PHY device and modems, and proves every "
		       "packet.\vExit status: 0 when every packet is proven, except those that "
		       "--impair was to lose or corrupt (with --send-only: when all is sent), 1 "
		       "when a packet or DEPI frame was not, 2 for a mistake in arguments.",
	};

	*o = (struct options){
		.upstream_mix = "upstream-imix",
		.rate = 2000000000,
		.upstream_share = -1,
		.duration = 10000000000,
		.seed = 1,
		.witness_packets = 300,
		.permit_permille = 100,
		.classify_permille = 100,
	};
	versions_parse(&argp, argc, argv, o);
	if (o->mix == NULL)
		o->mix = "imix";
}
