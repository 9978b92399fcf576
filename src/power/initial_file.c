/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reads and writes the file of initial settings:
 *
 *     vcmts-power 1
 *     process 1234 567890
 *     scaling_governor 3 0 schedutil
 *     uncore 0 1 2400000
 *     end
 *
 * The first line has the format's number. A later format appends the version of vcmtsd that wrote the file, as
 * in "vcmts-power 2 0.3.0", which an older vcmtsd reports.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "power/initial_kinds.h"

#define FORMAT 1u
#define HEADER_WORD "vcmts-power "
#define HEADER "vcmts-power 1"
#define END "end"

static void print(FILE *out, const struct initial_settings *initial) {
	fprintf(out, HEADER "\nprocess %d %" PRIu64 "\n", (int)initial->pid, initial->began);
	for (unsigned i = 0; i < initial->count; i++) {
		const struct initial_value *v = &initial->values[i];

		fprintf(out, "%s %u %u %s\n", initial_formats[v->kind].word, v->a, v->b, v->value);
	}
	fprintf(out, END "\n");
}

/* The old file at `path` remains until the new one is complete and on the disk. */
int initial_save(const struct initial_settings *initial, const char *path) {
	char temp[4096];
	int fd, fault;
	FILE *out;

	if ((size_t)snprintf(temp, sizeof(temp), "%s.new", path) >= sizeof(temp))
		return -ENAMETOOLONG;
	unlink(temp); /* left by a process that ended during a save */
	fd = open(temp, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	out = fd >= 0 ? fdopen(fd, "w") : NULL;
	if (out == NULL) {
		fault = -errno;
		if (fd >= 0)
			close(fd);
		return fault;
	}
	print(out, initial);
	fault = fflush(out) != 0 || fsync(fd) != 0 ? -errno : 0;
	if (fclose(out) != 0 && fault == 0)
		fault = -errno;
	if (fault == 0 && rename(temp, path) != 0)
		fault = -errno;
	if (fault != 0)
		unlink(temp);
	return fault;
}

static int __attribute__((format(printf, 2, 3))) fails(char fault[INITIAL_LINE], const char *format,
						       ...) {
	va_list args;

	va_start(args, format);
	vsnprintf(fault, INITIAL_LINE, format, args);
	va_end(args);
	return -1;
}

/* Parses a complete line. */
static bool parse_value(const char *line, struct initial_value *value) {
	char word[INITIAL_VALUE_SIZE], text[INITIAL_VALUE_SIZE];
	int end = 0;

	if (sscanf(line, "%31s %4u %4u %31s%n", word, &value->a, &value->b, text, &end) != 4 ||
	    line[end] != '\0' || value->a >= INITIAL_CORES || value->b >= INITIAL_CORES)
		return false;
	for (enum initial_kind kind = 0; kind < INITIAL_KINDS; kind++) {
		if (strcmp(word, initial_formats[kind].word) != 0)
			continue;
		value->kind = kind;
		memcpy(value->value, text, sizeof(text));
		return initial_value_is_valid(kind, text);
	}
	return false;
}

static bool parse_process(const char *line, struct initial_settings *initial) {
	unsigned pid;
	int end = 0;

	if (sscanf(line, "process %9u %19" SCNu64 "%n", &pid, &initial->began, &end) != 2 ||
	    line[end] != '\0' || pid == 0 || pid > INT32_MAX)
		return false;
	initial->pid = (pid_t)pid;
	return true;
}

static int parse_header(const char *line, char fault[INITIAL_LINE]) {
	unsigned format = 0;
	char writer[32] = "";
	int found = line != NULL
			    ? sscanf(line, HEADER_WORD "%9u %31[0-9A-Za-z.~+-]", &format, writer)
			    : 0;

	if (found >= 1 && format > FORMAT)
		return fails(fault,
			     "a newer vcmtsd wrote it, in format %u, and this one reads %u: run "
			     "`vcmtsd power restore` of %s%s",
			     format, FORMAT, found == 2 ? "version " : "that vcmtsd", writer);
	if (line == NULL || strcmp(line, HEADER) != 0)
		return fails(fault, "line 1: it does not begin with \"" HEADER "\"");
	return 0;
}

int initial_parse(struct initial_settings *initial, char *text, size_t size,
		  char fault[INITIAL_LINE]) {
	char *rest = NULL, *line;
	unsigned number = 2;

	initial->count = 0;
	if (memchr(text, '\0', size) != NULL)
		return fails(fault, "it contains no text");
	line = strtok_r(text, "\n", &rest);
	if (parse_header(line, fault) != 0)
		return -1;
	line = strtok_r(NULL, "\n", &rest);
	if (line == NULL || !parse_process(line, initial))
		return fails(fault, "line 2: no process");
	while ((line = strtok_r(NULL, "\n", &rest)) != NULL) {
		number++;
		if (strcmp(line, END) == 0)
			return strtok_r(NULL, "\n", &rest) == NULL
				       ? 0
				       : fails(fault, "it has data after its end");
		if (initial->count == INITIAL_VALUES_MAX)
			return fails(fault, "more than %d values", INITIAL_VALUES_MAX);
		if (!parse_value(line, &initial->values[initial->count]))
			return fails(fault, "line %u: found \"%.60s\"", number, line);
		initial->count++;
	}
	return fails(fault, "it is incomplete: its end is missing");
}

/* Refuses a file that others can write, as we write its values. */
static const char *owner_fault(int fd) {
	struct stat status;

	if (fstat(fd, &status) != 0)
		return strerror(errno);
	if (!S_ISREG(status.st_mode))
		return "it is no file";
	if (status.st_uid != geteuid() && status.st_uid != 0)
		return "it belongs to another user";
	if ((status.st_mode & 022) != 0)
		return "other users may write it";
	return status.st_size > INITIAL_FILE_MAX ? "it is too long" : NULL;
}

int initial_load(struct initial_settings *initial, const char *path, char fault[INITIAL_LINE]) {
	int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC), ret;
	const char *reason = fd < 0 ? strerror(errno) : owner_fault(fd);
	char *text = malloc(INITIAL_FILE_MAX + 1);
	ssize_t size = reason == NULL && text != NULL ? read(fd, text, INITIAL_FILE_MAX) : -1;

	if (fd >= 0)
		close(fd);
	if (size < 0) {
		free(text);
		return fails(fault, "%s", reason != NULL ? reason : "it cannot be read");
	}
	text[size] = '\0';
	ret = initial_parse(initial, text, (size_t)size, fault);
	free(text);
	return ret;
}
