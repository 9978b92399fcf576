/* SPDX-License-Identifier: BSD-3-Clause */
#include "lines.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

#define SHOWN 40 /* bytes of a wrong line */

/* Without comment and spaces around it. */
static char *trimmed(char *line) {
	size_t size = strcspn(line, "#");

	while (size > 0 && isspace((unsigned char)line[size - 1]))
		size--;
	line[size] = '\0';
	return line + strspn(line, " \t");
}

/* Terminals do not like every byte of what may have been no text at all. */
static void show(const char *text, char *out) {
	size_t i;

	for (i = 0; i < SHOWN && text[i] != '\0'; i++)
		out[i] = isprint((unsigned char)text[i]) ? text[i] : '?';
	strcpy(out + i, text[i] == '\0' ? "" : "...");
}

static bool take(char *line, lines_row *row, void *context, const char *where, char *error) {
	char *text = trimmed(line);
	char shown[SHOWN + 4];
	const char *allowed;

	if (*text == '\0')
		return true;
	show(text, shown);
	allowed = row(text, context);
	if (allowed != NULL)
		snprintf(error, LINES_ERROR, "%s: found \"%s\", allowed: %s", where, shown,
			 allowed);
	return allowed == NULL;
}

bool lines_read(const char *path, lines_row *row, void *context, char *error) {
	FILE *in = fopen(path, "r");
	char where[160];
	char *line = NULL;
	size_t room = 0;
	ssize_t size = 0;
	unsigned number = 0;
	bool good = in != NULL;

	errno = in == NULL ? errno : 0;
	while (good && (size = getline(&line, &room, in)) >= 0) {
		snprintf(where, sizeof(where), "%.140s:%u", path, ++number);
		if (strlen(line) != (size_t)size) {
			snprintf(error, LINES_ERROR, "%s: found a zero byte, allowed: text", where);
			good = false;
		} else {
			good = take(line, row, context, where, error);
		}
		errno = 0;
	}
	if (in == NULL || (good && ferror(in))) {
		snprintf(error, LINES_ERROR, "%.200s: %s", path, strerror(errno));
		good = false;
	}
	free(line);
	if (in != NULL)
		fclose(in);
	return good;
}
