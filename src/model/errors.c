/* SPDX-License-Identifier: BSD-3-Clause */
/* The list of mistakes: bounded, sorted by insertion, harmless to a terminal. */
#include "model/errors.h"

#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#define LONGEST_QUOTE 60

void errors_quote(const char *text, size_t length, char *quoted, size_t size) {
	size_t used = 0, most = length < LONGEST_QUOTE ? length : LONGEST_QUOTE;

	if (size < 8)
		return;
	quoted[used++] = '"';
	for (size_t i = 0; i < most && used + 8 < size; i++) {
		unsigned char c = (unsigned char)text[i];

		if (c == '"' || c == '\\')
			used += (size_t)snprintf(&quoted[used], size - used, "\\%c", c);
		else if (c >= 0x20 && c < 0x7f)
			quoted[used++] = (char)c;
		else
			used += (size_t)snprintf(&quoted[used], size - used, "\\x%02x", c);
	}
	snprintf(&quoted[used], size - used, "%s\"", most < length ? "..." : "");
}

static void errors_print_path(const struct path *path, FILE *out) {
	char quoted[4 * LONGEST_QUOTE + 16];

	if (path->up != NULL)
		errors_print_path(path->up, out);
	if (path->key == NULL) {
		fprintf(out, "[%zu]", path->index);
		return;
	}
	errors_quote(path->key, strlen(path->key), quoted, sizeof(quoted));
	/* a known key needs no quotes; an unknown one keeps its escapes */
	fprintf(out, "%s%.*s", path->up != NULL ? "." : "", (int)strlen(quoted) - 2, &quoted[1]);
}

static char *render(const char *file, uint32_t line, const struct path *path, const char *found,
		    const char *allowed) {
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (out == NULL)
		return NULL;
	fprintf(out, "%s:", file);
	if (line > 0)
		fprintf(out, "%" PRIu32 ":", line);
	fputc(' ', out);
	if (path != NULL)
		errors_print_path(path, out);
	else
		fputs("file", out);
	fprintf(out, ": found %s, allowed: %s", found, allowed);
	fclose(out);
	return text;
}

void errors_add(struct errors *errors, uint32_t line, const struct path *path, const char *found,
		const char *allowed) {
	size_t place = errors->shown_count;

	errors->total++;
	while (place > 0 && errors->shown[place - 1].line > line)
		place--;
	if (place == ERRORS_SHOWN)
		return;
	if (errors->shown_count == ERRORS_SHOWN)
		free(errors->shown[--errors->shown_count].text);
	memmove(&errors->shown[place + 1], &errors->shown[place],
		(errors->shown_count - place) * sizeof(errors->shown[0]));
	errors->shown[place].line = line;
	errors->shown[place].text = render(errors->file, line, path, found, allowed);
	errors->shown_count++;
}

int errors_print(struct errors *errors, FILE *out) {
	uint64_t total = errors->total;

	for (size_t i = 0; i < errors->shown_count; i++) {
		const char *text = errors->shown[i].text;

		fprintf(out, "%s\n", text != NULL ? text : "no memory left for this mistake");
		free(errors->shown[i].text);
	}
	if (total > errors->shown_count)
		fprintf(out, "%s: %" PRIu64 " more mistakes are not shown\n", errors->file,
			total - errors->shown_count);
	*errors = (struct errors){.file = errors->file};
	return total > INT_MAX ? INT_MAX : (int)total;
}
