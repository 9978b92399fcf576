/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads a text file line by line, and reports errors as PATH:LINE. */
#include "core/lines.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#define SHOWN 40 /* bytes of a malformed line in a message */

/* Removes the comment and surrounding white space. */
static char *trimmed(char *line) {
	size_t size = strcspn(line, "#");

	while (size > 0 && isspace((unsigned char)line[size - 1]))
		size--;
	line[size] = '\0';
	return line + strspn(line, " \t");
}

/* Replaces bytes that are not printable: the file may be binary. */
static void show(const char *text, char *out) {
	size_t i;

	for (i = 0; i < SHOWN && text[i] != '\0'; i++)
		out[i] = isprint((unsigned char)text[i]) ? text[i] : '?';
	strcpy(out + i, text[i] == '\0' ? "" : "...");
}

static bool lines_parse(char *line, lines_record *record, void *context, const char *where,
			char *error) {
	char *text = trimmed(line);
	char shown[SHOWN + 4];
	const char *allowed;

	if (*text == '\0')
		return true;
	show(text, shown);
	allowed = record(text, context);
	if (allowed != NULL)
		snprintf(error, LINES_ERROR, "%s: found \"%s\", allowed: %s", where, shown,
			 allowed);
	return allowed == NULL;
}

enum next { NEXT_LINE, NEXT_END, NEXT_LONG, NEXT_ZERO };

/* Reads byte by byte, so that it does not block on or buffer more of the file than one line. */
static enum next next_line(FILE *in, char line[LINES_MAX_SIZE + 1]) {
	size_t size = 0;
	int c;

	while ((c = getc(in)) != EOF && c != '\n') {
		if (c == '\0')
			return NEXT_ZERO;
		if (size == LINES_MAX_SIZE)
			return NEXT_LONG;
		line[size++] = (char)c;
	}
	line[size] = '\0';
	return c == EOF && size == 0 ? NEXT_END : NEXT_LINE;
}

static bool lines_read_all(FILE *in, const char *path, lines_record *record, void *context,
			   char *error) {
	char line[LINES_MAX_SIZE + 1];
	char where[160];

	for (unsigned number = 1;; number++) {
		enum next next = next_line(in, line);

		snprintf(where, sizeof(where), "%.140s:%u", path, number);
		switch (next) {
		case NEXT_END: return true;
		case NEXT_LINE:
			if (!lines_parse(line, record, context, where, error))
				return false;
			break;
		case NEXT_ZERO:
			snprintf(error, LINES_ERROR, "%s: a zero byte; needed: text", where);
			return false;
		case NEXT_LONG:
			snprintf(error, LINES_ERROR, "%s: a line of more than %d bytes", where,
				 LINES_MAX_SIZE);
			return false;
		}
	}
}

bool lines_read(const char *path, lines_record *record, void *context, char *error) {
	FILE *in = fopen(path, "r");
	bool good = in != NULL;

	if (good) {
		errno = 0;
		good = lines_read_all(in, path, record, context, error);
	}
	if (in == NULL || (good && ferror(in))) {
		snprintf(error, LINES_ERROR, "%.200s: %s", path, strerror(errno));
		good = false;
	}
	if (in != NULL)
		fclose(in);
	return good;
}
