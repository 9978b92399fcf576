/* SPDX-License-Identifier: BSD-3-Clause */
#include "platform/program/version.h"

#include <string.h>

#include "version_values.h"

#define DIRTY "-dirty"
#define DIGITS 12 /* of a commit that people read */

/* Only programs link it: a new commit must not link hundreds of tests again. */
extern const char version_revision[] __attribute__((weak));

/* A build option, or a version that the build used. */
struct item {
	const char *key, *value;
};

static const struct item options[] = {
	{"compiler", VERSION_COMPILER},		{"march", VERSION_MARCH},
	{"optimization", VERSION_OPTIMIZATION}, {"sanitize", VERSION_SANITIZE},
	{"profile_guided", VERSION_PGO},	{"link_time", VERSION_LTO},
	{"systemd", VERSION_SYSTEMD},
};

#define OPTIONS (sizeof(options) / sizeof(options[0]))

const char *version_commit(void) {
	return version_revision != NULL ? version_revision : "unknown";
}

/* "b25e8212d9ee-dirty" */
static void short_commit(char text[DIGITS + sizeof(DIRTY)]) {
	const char *commit = version_commit(), *dirty = strchr(commit, '-');

	snprintf(text, DIGITS + sizeof(DIRTY), "%.*s%s", DIGITS, commit,
		 dirty != NULL ? dirty : "");
}

void version_line(const struct version_libraries *libraries, char line[VERSION_LINE]) {
	char commit[DIGITS + sizeof(DIRTY)];
	int length;

	short_commit(commit);
	length = snprintf(line, VERSION_LINE, "OpenVCMTS %s (commit %s)", VERSION_NUMBER, commit);
	if (libraries->dpdk != NULL)
		length += snprintf(line + length, VERSION_LINE - (size_t)length, ", DPDK %.30s",
				   libraries->dpdk);
	if (libraries->ipsec_mb != NULL)
		snprintf(line + length, VERSION_LINE - (size_t)length, ", intel-ipsec-mb %.30s",
			 libraries->ipsec_mb);
}

/* Prints nothing about a library that is not used. */
static void print_library(FILE *out, const char *name, const char *used, const char *built) {
	if (used == NULL)
		return;
	fprintf(out, "%s: %s", name, used);
	if (strcmp(used, built) != 0)
		fprintf(out, " (built with %s)", built);
	fputc('\n', out);
}

void version_print(FILE *out, const char *program, const struct version_libraries *libraries) {
	char commit[DIGITS + sizeof(DIRTY)];

	short_commit(commit);
	fprintf(out, "%s %s\ncommit: %s\n", program, VERSION_NUMBER, commit);
	print_library(out, "DPDK", libraries->dpdk, VERSION_DPDK);
	print_library(out, "intel-ipsec-mb", libraries->ipsec_mb, VERSION_IPSEC_MB);
	for (size_t i = 0; i < OPTIONS; i++)
		fprintf(out, "%s: %s\n", options[i].key, options[i].value);
}

json_t *version_json(const struct version_libraries *libraries) {
	const char *commit = version_commit();
	size_t length = strcspn(commit, "-");
	json_t *o = json_pack("{s:s, s:s%, s:b}", "version", VERSION_NUMBER, "commit", commit,
			      length, "dirty", strcmp(commit + length, DIRTY) == 0);

	if (libraries->dpdk != NULL) {
		json_object_set_new(o, "dpdk", json_string(libraries->dpdk));
		json_object_set_new(o, "dpdk_built", json_string(VERSION_DPDK));
	}
	if (libraries->ipsec_mb != NULL) {
		json_object_set_new(o, "intel_ipsec_mb", json_string(libraries->ipsec_mb));
		json_object_set_new(o, "intel_ipsec_mb_built", json_string(VERSION_IPSEC_MB));
	}
	for (size_t i = 0; i < OPTIONS; i++)
		json_object_set_new(o, options[i].key, json_string(options[i].value));
	return o;
}
