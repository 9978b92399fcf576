/* SPDX-License-Identifier: BSD-3-Clause */
/* The version of a program: release, commit, libraries and the options of its build, as `--version` prints them. */
#pragma once

#include <stdio.h>

#include <jansson.h>

#define VERSION_LINE 160 /* bytes of version_line(), with its end */

/* Versions of the libraries in the process. NULL: the program does not use the library. */
struct version_libraries {
	const char *dpdk; /* "22.11.11" */
	const char *ipsec_mb; /* intel-ipsec-mb; "none" in a build without it */
};

/* Writes one line for the log: "OpenVCMTS 0.1.0 (commit b25e8212d9ee), DPDK 22.11.11, intel-ipsec-mb 1.3.0". */
void version_line(const struct version_libraries *libraries, char line[VERSION_LINE]);

/* Prints the lines of `--version`, each with its newline. */
void version_print(FILE *out, const char *program, const struct version_libraries *libraries);

/* The same for the key `version` of a JSON file (docs/results.md). The caller owns the reference. */
json_t *version_json(const struct version_libraries *libraries);

/* The commit's 40 digits, with "-dirty" if its files were changed; "unknown" in programs that are not installed. */
const char *version_commit(void);
