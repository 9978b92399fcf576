/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes one line of JSON per request. */
#include "trials/answer.h"

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

void answer_error_repair(char *error) {
	json_t *text = json_string(error);

	for (char *p = error; text == NULL && *p != '\0'; p++) {
		if ((unsigned char)*p >= 0x80)
			*p = '?';
	}
	json_decref(text);
}

json_t *answer_refusal(const char *error) {
	return json_pack("{s:s}", "error", error);
}

int answers_serve(struct line_reader *reader, json_t *ready, answer_fn answer, void *context,
		  FILE *out) {
	const char *line;
	size_t size;

	if (answer_write(ready, out) != 0)
		return -1;
	for (;;) {
		json_t *said = NULL;

		switch (line_reader_next(reader, &line, &size)) {
		case LINE_END: return 0;
		case LINE_TOO_LONG: said = answer_refusal("a line of more than 65536 bytes"); break;
		case LINE_READ: said = answer(context, line, size); break;
		}
		if (answer_write(said, out) != 0)
			return -1;
	}
}
