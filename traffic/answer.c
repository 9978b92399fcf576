/* SPDX-License-Identifier: BSD-3-Clause */
#include "answer.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

int answer_write(json_t *answer, FILE *out) {
	bool good = answer != NULL &&
		    json_dumpf(answer, out, JSON_COMPACT | JSON_REAL_PRECISION(9)) == 0 &&
		    fputc('\n', out) != EOF && fflush(out) == 0;

	json_decref(answer);
	if (!good)
		fprintf(stderr, "an answer cannot be written: %s\n", strerror(errno));
	return good ? 0 : -1;
}

json_t *answer_refusal(const char *error) {
	return json_pack("{s:s}", "error", error);
}
