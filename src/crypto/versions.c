/* SPDX-License-Identifier: BSD-3-Clause */
#include "crypto/versions.h"

#include <stdlib.h>
#include <string.h>

#include <rte_version.h>

#include "crypto/isa.h"
#include "platform/log/log.h"
#include "platform/program/arguments.h"
#include "platform/program/version.h"

/* DPDK's name precedes its version: "DPDK 22.11.11". */
static struct version_libraries libraries(void) {
	const char *dpdk = strrchr(rte_version(), ' ');

	return (struct version_libraries){
		.dpdk = dpdk != NULL ? dpdk + 1 : rte_version(),
		.ipsec_mb = crypto_library_version(),
	};
}

void versions_print(FILE *out, const char *program) {
	const struct version_libraries used = libraries();

	version_print(out, program, &used);
}

/* A command of vcmtsd has two words: "vcmtsd run". */
static void on_option(FILE *out, struct argp_state *state) {
	char program[64];

	snprintf(program, sizeof(program), "%.*s", (int)strcspn(state->name, " "), state->name);
	versions_print(out, program);
}

error_t versions_parse(const struct argp *argp, int argc, char **argv, void *input) {
	argp_program_version_hook = on_option;
	return arguments_parse(argp, argc, argv, input);
}

json_t *versions_json(void) {
	const struct version_libraries used = libraries();

	return version_json(&used);
}

void versions_log(void) {
	const struct version_libraries used = libraries();
	const char *logged = getenv(VERSIONS_LOGGED);
	char line[VERSION_LINE];

	version_line(&used, line);
	if (logged == NULL || strcmp(logged, line) != 0)
		log_notice("version",
			   LOG_FIELDS(LOG_STRING("commit", version_commit()),
				      LOG_STRING("dpdk", used.dpdk)),
			   "%s", line);
}
