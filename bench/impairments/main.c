/* SPDX-License-Identifier: BSD-3-Clause */
/* vcmts-impairments: runs each impairment alone, then all together, and compares the CMTS' counts
 * with the prediction. */
#include <argp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "crypto/versions.h"
#include "matrix.h"
#include "model/load/loader.h"
#include "platform/platform.h"
#include "platform/program/arguments.h"
#include "server/process.h"
#include "summary/words.h"
#include "telemetry/report.h"

#define ROWS_MAX (2 * IMPAIRMENTS + 8)
/* Shares of packets, bursts and frames that an impairment hits: a few hundred of each kind. */
#define SHARE_PACKETS 0.05
#define SHARE_BURSTS 0.1
#define SHARE_FRAMES 0.02
#define SHARE_OF_ALL 5 /* all together: a fifth of each share */

struct matrix_options {
	const char *config;
	const char *json;
	unsigned packets;
	unsigned seed;
	bool reports_progress; /* in machine-readable form */
	bool verbose;
};

/* Parameters of one row of the matrix. */
struct plan {
	char name[64];
	struct impair_shares shares;
	bool verify_crc;
	bool verify_source;
};

struct plans {
	struct plan all[ROWS_MAX];
	unsigned count;
};

static const struct argp_option options[] = {
	{"config", 'c', "FILE", 0, "service group, YAML", 0},
	{"packets", 'p', "N", 0, "IP packets in each row (default 20000)", 0},
	{"seed", 's', "N", 0, "seed of the random numbers (default 1)", 0},
	{"progress", 'P', NULL, 0, "print progress on stderr as lines \"progress DONE TOTAL TEXT\"",
	 0},
	{"verbose", 'v', NULL, 0, "print all quantities of each impairment that are not 0", 0},
	ARGUMENTS_JSON('j', "also write the matrix as JSON to this file"),
	{0},
};

static unsigned number(const char *text, struct argp_state *state) {
	char *end;
	unsigned long value = strtoul(text, &end, 10);

	if (*text < '0' || *text > '9' || *end != '\0' || value < 1 || value > 10000000)
		argp_error(state, "found \"%s\", allowed: 1 to 10000000", text);
	return (unsigned)value;
}

static error_t option(int key, char *text, struct argp_state *state) {
	struct matrix_options *o = state->input;

	switch (key) {
	case 'c': o->config = text; break;
	case 'p': o->packets = number(text, state); break;
	case 's': o->seed = number(text, state); break;
	case 'j': o->json = text; break;
	case 'P': o->reports_progress = true; break;
	case 'v': o->verbose = true; break;
	case ARGP_KEY_ARG: argp_error(state, "unexpected argument %s", text); break;
	default: return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

/* The share for a row with this impairment alone. 0: not tested here. Grants are given in round robin, as this
 * program's time advances with the packets, so there are no MAPs to lose. The tests of uplink_scheduled.c cover
 * these kinds. */
static double usual_share(enum impairment kind) {
	switch (impair_target(kind)) {
	case IMPAIR_PACKET: return SHARE_PACKETS;
	case IMPAIR_BURST: return SHARE_BURSTS;
	case IMPAIR_FRAME: return SHARE_FRAMES;
	case IMPAIR_ACCESS: break;
	}
	return 0;
}

/* Adds a row without impairments, named `name` and `more` together. */
static struct plan *plan_add(struct plans *p, const char *name, const char *more, bool verify_crc) {
	struct plan *plan = &p->all[p->count++];

	*plan = (struct plan){.verify_crc = verify_crc, .verify_source = true};
	snprintf(plan->name, sizeof(plan->name), "%s%s", name, more);
	return plan;
}

/* Kinds whose outcome depends on CRC verification are tested with it and without. */
static bool crc_matters(enum impairment kind) {
	return kind == IMPAIR_PAYLOAD_ERROR || kind == IMPAIR_CRC_ERROR || kind == IMPAIR_WRONG_KEY;
}

/* Adds the rows of one impairment. */
static void plan_kind(struct plans *p, enum impairment kind) {
	const char *name = impair_name(kind);

	plan_add(p, name, "", false)->shares.share[kind] = usual_share(kind);
	if (crc_matters(kind))
		plan_add(p, name, ", CRC verified", true)->shares.share[kind] = usual_share(kind);
	if (kind == IMPAIR_FOREIGN_SOURCE) {
		struct plan *plan = plan_add(p, name, ", not verified", false);

		plan->verify_source = false;
		plan->shares.share[kind] = usual_share(kind);
	}
}

static void plan_all(struct plan *plan) {
	for (unsigned i = 0; i < IMPAIRMENTS; i++)
		plan->shares.share[i] = usual_share((enum impairment)i) / SHARE_OF_ALL;
}

static void plan_rows(struct plans *p) {
	for (unsigned i = 0; i < IMPAIRMENTS; i++) {
		if (usual_share((enum impairment)i) > 0)
			plan_kind(p, (enum impairment)i);
	}
	plan_all(plan_add(p, "all", "", false));
	plan_all(plan_add(p, "all", ", CRC verified", true));
}

/* Fills `row`. Returns 0, or -1 after a message. */
static int run_row(const struct plan *plan, struct service_group *sg,
		   const struct matrix_options *o, struct row *row) {
	struct box_run run = {
		.sg = sg,
		.shares = plan->shares,
		.packets = o->packets,
		.seed = o->seed,
	};
	static struct box_result result;

	sg->upstream.verify_crc = plan->verify_crc;
	sg->upstream.verify_source = plan->verify_source;
	if (box_run(&run, &result) != 0)
		return -1;
	if (!result.traffic.expected_known) {
		fprintf(stderr, "impairments: %s: no memory for the expected values\n", plan->name);
		return -1;
	}
	row_fill(row, plan->name, &result);
	return 0;
}

static void name_untried(FILE *out, const struct row *rows, unsigned count) {
	const char *before = "no hit, use more packets: ";

	for (unsigned i = 0; i < count; i++) {
		if (rows[i].hits > 0)
			continue;
		fprintf(out, "%s%s", before, rows[i].name);
		before = "; ";
	}
	fputc('\n', out);
}

/* Prints differing cells, rows without hits, and the verdict. Returns whether it passed. */
static bool conclude(FILE *out, const struct row *rows, unsigned count) {
	char counted[WORDS_SIZE], different[WORDS_SIZE];
	unsigned cells = 0, differ = 0, untried = 0;

	for (unsigned i = 0; i < count; i++) {
		cells += rows[i].count;
		differ += row_differences(&rows[i]);
		untried += rows[i].hits == 0;
	}
	if (differ > 0)
		row_print_heading(out);
	for (unsigned i = 0; i < count; i++)
		row_print(out, &rows[i], true);
	if (untried > 0)
		name_untried(out, rows, count);
	words_count(cells, counted);
	if (differ + untried == 0)
		fprintf(out, "PASS: %s counts of %u impairments are as expected\n", counted, count);
	else
		fprintf(out, "FAIL: %s of %s counts differ, %u of %u impairments hit nothing\n",
			words_count(differ, different), counted, untried, count);
	return differ + untried == 0;
}

static void show_progress(const struct matrix_options *o, const struct plans *plans, unsigned row) {
	const char *name = plans->all[row].name;

	if (o->reports_progress)
		fprintf(stderr, "progress %u %u %s\n", row, plans->count, name);
	else
		fprintf(stderr, "%2u of %u  %s\n", row + 1, plans->count, name);
}

static int write_json(const char *path, const struct row *rows, unsigned count) {
	json_t *all = json_array(), *root;
	int ret;

	for (unsigned i = 0; i < count; i++)
		json_array_append_new(all, row_json(&rows[i]));
	root = json_pack("{s:o, s:o}", "version", versions_json(), "rows", all);
	ret = report_write(root, path);
	json_decref(root);
	return ret;
}

/* Prints a row: all quantities, or how many there are and how many differ. */
static void show_row(FILE *out, const struct row *r, const struct matrix_options *o) {
	if (o->verbose)
		row_print(out, r, false);
	else
		row_print_sum(out, r);
}

/* Runs and prints all rows. Returns the exit status. */
static int matrix(struct service_group *sg, const struct matrix_options *o) {
	FILE *out = report_is_stdout(o->json) ? stderr : stdout;
	static struct row rows[ROWS_MAX];
	static struct plans plans;

	plan_rows(&plans);
	if (o->verbose)
		row_print_heading(out);
	else
		row_print_sum_heading(out);
	for (unsigned i = 0; i < plans.count; i++) {
		show_progress(o, &plans, i);
		if (run_row(&plans.all[i], sg, o, &rows[i]) != 0)
			return EXIT_FAILED;
		show_row(out, &rows[i], o);
	}
	if (o->json != NULL && write_json(o->json, rows, plans.count) != 0)
		return EXIT_USAGE;
	return conclude(out, rows, plans.count) ? 0 : EXIT_FAILED;
}

int main(int argc, char **argv) {
	static const struct argp argp = {
		.options = options,
		.parser = option,
		.doc = "Applies each impairment of vcmts-traffic to the upstream, and "
		       "compares losses and counters with the expected values.\vExit status: "
		       "0 when all cells are equal, 1 when one differs or an impairment hit "
		       "nothing, 2 for a mistake in arguments or configuration.",
	};
	struct matrix_options o = {.packets = 20000, .seed = 1};
	struct platform_options platform = {
		.program = "vcmts-impairments",
		.main_core = PLATFORM_ANY_CORE,
		.offline = true,
	};
	struct service_group sg = {0};
	struct single_group lone;
	int status = EXIT_FAILED;

	versions_parse(&argp, argc, argv, &o);
	if (o.config == NULL || service_group_load(o.config, &sg, stderr) != 0) {
		if (o.config == NULL)
			fprintf(stderr, "--config: a file is needed\n");
		return EXIT_USAGE;
	}
	platform.memory_mb = 2 * server_memory_mb(single_group_config(&lone, &sg), NULL);
	if (sg.upstream_channel_count == 0) {
		fprintf(stderr, "--config: the service group has no upstream channels\n");
		status = EXIT_USAGE;
	} else if (platform_start(&platform) == 0) {
		status = matrix(&sg, &o);
		platform_stop();
	}
	service_group_free(&sg);
	return status;
}
