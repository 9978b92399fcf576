/* SPDX-License-Identifier: BSD-3-Clause */
/* The list of errors: bounded, sorted by insertion, without control characters. */
#include "model/errors.h"

#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "platform/secret/secret_text.h"

#define LONGEST_QUOTE 60

void errors_quote(const char *text, size_t length, char *quoted, size_t size) {
	size_t used = 0, max = length < LONGEST_QUOTE ? length : LONGEST_QUOTE;

	if (size < 8)
		return;
	if (secret_like(text, length)) {
		snprintf(quoted, size, "\"(%zu characters, not shown)\"", length);
		return;
	}
	quoted[used++] = '"';
	for (size_t i = 0; i < max && used + 8 < size; i++) {
		unsigned char c = (unsigned char)text[i];

		if (c == '"' || c == '\\')
			used += (size_t)snprintf(&quoted[used], size - used, "\\%c", c);
		else if (c >= 0x20 && c < 0x7f)
			quoted[used++] = (char)c;
		else
			used += (size_t)snprintf(&quoted[used], size - used, "\\x%02x", c);
	}
	snprintf(&quoted[used], size - used, "%s\"", max < length ? "..." : "");
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
	/* a known key needs no quotes; an unknown one is printed with its escapes */
	fprintf(out, "%s%.*s", path->up != NULL ? "." : "", (int)strlen(quoted) - 2, &quoted[1]);
}

/* The scope of a line; lines are numbered over all scopes. */
static struct errors_scope scope_of(const struct errors *errors, uint32_t line) {
	for (size_t i = errors->scope_count; i > 0; i--) {
		if (errors->scopes[i - 1].first <= line)
			return errors->scopes[i - 1];
	}
	return (struct errors_scope){.file = errors->file, .first = 1, .line = 1};
}

static uint32_t line_in_file(const struct errors_scope *scope, uint32_t line) {
	return line - scope->first + scope->line;
}

bool errors_open_scope(struct errors *errors, struct errors_scope scope) {
	if (errors->scope_count == ERRORS_SCOPES)
		return false;
	errors->scopes[errors->scope_count++] = scope;
	return true;
}

void errors_where(const struct errors *errors, uint32_t line, uint32_t from, char *text,
		  size_t size) {
	struct errors_scope scope = scope_of(errors, line), near = scope_of(errors, from);

	if (line == 0) { /* a request */
		snprintf(text, size, "in the same request");
		return;
	}
	line = line_in_file(&scope, line);
	if (scope.order == near.order)
		snprintf(text, size, "on line %" PRIu32, line);
	else
		snprintf(text, size, "at %s:%" PRIu32, scope.file, line);
}

static char *render(const struct errors_scope *scope, uint32_t line, const struct path *path,
		    const char *format, va_list arguments) {
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (out == NULL)
		return NULL;
	fprintf(out, "%s:", scope->file);
	if (line > 0)
		fprintf(out, "%" PRIu32 ":", line);
	fputc(' ', out);
	if (scope->up != NULL)
		errors_print_path(scope->up, out);
	if (scope->up != NULL && path != NULL)
		fputc('.', out);
	if (path != NULL)
		errors_print_path(path, out);
	if (scope->up != NULL || path != NULL)
		fputs(": ", out);
	vfprintf(out, format, arguments);
	fclose(out);
	return text;
}

static bool is_before(const struct config_error *a, const struct config_error *b) {
	return a->order != b->order ? a->order < b->order : a->line < b->line;
}

/* Whether the same text is listed at this line before `index`. */
static bool is_known(const struct errors *errors, size_t index,
		     const struct config_error *mistake) {
	while (index > 0 && !is_before(&errors->shown[index - 1], mistake)) {
		const char *text = errors->shown[--index].text;

		if (text != NULL && mistake->text != NULL && strcmp(text, mistake->text) == 0)
			return true;
	}
	return false;
}

void errors_say(struct errors *errors, uint32_t line, const struct path *path, const char *format,
		...) {
	struct errors_scope scope = scope_of(errors, line);
	struct config_error mistake = {.order = scope.order, .line = line_in_file(&scope, line)};
	size_t index = errors->shown_count;
	va_list arguments;

	errors->total++;
	while (index > 0 && is_before(&mistake, &errors->shown[index - 1]))
		index--;
	if (index == ERRORS_SHOWN)
		return;
	va_start(arguments, format);
	mistake.text = render(&scope, mistake.line, path, format, arguments);
	va_end(arguments);
	if (is_known(errors, index, &mistake)) {
		free(mistake.text);
		errors->total--;
		errors->repeated++;
		return;
	}
	if (errors->shown_count == ERRORS_SHOWN)
		free(errors->shown[--errors->shown_count].text);
	memmove(&errors->shown[index + 1], &errors->shown[index],
		(errors->shown_count - index) * sizeof(errors->shown[0]));
	errors->shown[index] = mistake;
	errors->shown_count++;
}

void errors_add(struct errors *errors, uint32_t line, const struct path *path, const char *found,
		const char *allowed) {
	errors_say(errors, line, path, "found %s, allowed: %s", found, allowed);
}

void errors_add_missing(struct errors *errors, uint32_t line, const struct path *path,
			const char *needed) {
	errors_say(errors, line, path, "missing; needed: %s", needed);
}

void errors_add_duplicate(struct errors *errors, uint32_t line, const struct path *path,
			  const char *what, uint32_t first) {
	char where[ERRORS_WHERE_SIZE];

	errors_where(errors, first, line, where, sizeof(where));
	errors_say(errors, line, path, "duplicate %s, first %s", what, where);
}

void errors_add_no_memory(struct errors *errors) {
	errors_say(errors, 0, NULL, "no memory left");
}

int errors_print(struct errors *errors, FILE *out) {
	uint64_t total = errors->total;

	for (size_t i = 0; i < errors->shown_count; i++) {
		const char *text = errors->shown[i].text;

		fprintf(out, "%s\n", text != NULL ? text : "no memory left for this message");
		free(errors->shown[i].text);
	}
	if (total > errors->shown_count)
		fprintf(out, "%s: %" PRIu64 " more mistakes are not shown\n", errors->file,
			total - errors->shown_count);
	*errors = (struct errors){.file = errors->file};
	return total > INT_MAX ? INT_MAX : (int)total;
}
