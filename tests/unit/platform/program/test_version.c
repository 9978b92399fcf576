/* SPDX-License-Identifier: BSD-3-Clause */
/* The version as one line, as the lines of --version, and as JSON. */
#include "test_main.h"

#include <stdlib.h>
#include <string.h>

#include "platform/program/version.h"

#define COMMIT "0123456789abcdef0123456789abcdef01234567"

/* In programs, a generated file has it. */
extern const char version_revision[];
const char version_revision[] = COMMIT "-dirty";

#define RUNNING "99.11.1" /* no version that a build can have */

static const struct version_libraries both = {.dpdk = RUNNING, .ipsec_mb = "9.9"};

/* The caller frees it. */
static char *printed(const struct version_libraries *libraries) {
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	assert_non_null(out);
	version_print(out, "program", libraries);
	fclose(out);
	return text;
}

TEST(line_names_release_commit_and_libraries) {
	char line[VERSION_LINE];

	version_line(&both, line);
	assert_int_equal(strncmp(line, "OpenVCMTS ", 10), 0);
	assert_non_null(
		strstr(line, " (commit 0123456789ab-dirty), DPDK " RUNNING ", intel-ipsec-mb 9.9"));
}

TEST(line_fits_long_versions) {
	char long_version[300], line[VERSION_LINE];

	memset(long_version, '9', sizeof(long_version) - 1);
	long_version[sizeof(long_version) - 1] = '\0';
	version_line(&(struct version_libraries){long_version, long_version}, line);
	assert_non_null(strstr(line, ", intel-ipsec-mb 9"));
	assert_true(strlen(line) < VERSION_LINE);
}

TEST(other_version_than_that_of_the_build_is_shown) {
	char *text = printed(&both);

	assert_int_equal(strncmp(text, "program ", 8), 0);
	assert_non_null(strstr(text, "\ncommit: 0123456789ab-dirty\n"));
	assert_non_null(strstr(text, "\nDPDK: " RUNNING " (built with "));
	assert_non_null(strstr(text, "\ncompiler: "));
	free(text);
}

TEST(libraries_that_are_not_used_are_left_out) {
	char *text = printed(&(struct version_libraries){NULL});
	json_t *json = version_json(&(struct version_libraries){NULL});

	assert_null(strstr(text, "DPDK"));
	assert_null(json_object_get(json, "dpdk"));
	assert_null(json_object_get(json, "intel_ipsec_mb_built"));
	json_decref(json);
	free(text);
}

TEST(json_has_the_same_values) {
	json_t *json = version_json(&both);

	assert_string_equal(json_string_value(json_object_get(json, "commit")), COMMIT);
	assert_true(json_is_true(json_object_get(json, "dirty")));
	assert_string_equal(json_string_value(json_object_get(json, "dpdk")), RUNNING);
	assert_non_null(json_string_value(json_object_get(json, "dpdk_built")));
	assert_non_null(json_string_value(json_object_get(json, "sanitize")));
	json_decref(json);
}
