/* SPDX-License-Identifier: BSD-3-Clause */
#include "program.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "crypto/versions.h"
#include "platform/platform.h"
#include "server/process.h"
#include "telemetry/report.h"

static bool reports_progress;
static volatile sig_atomic_t stopped;

/* The option whose value is `text`, as the user wrote it, and its length. */
static const char *option_of(const struct argp_state *state, const char *text, int *length) {
	const char *word = state->argv[state->next - 1];

	if (word == text && state->next >= 2) /* a word of its own: `--runs 5`, not `--runs=5` */
		word = state->argv[state->next - 2];
	*length = word[0] == '-' && word[1] == '-' ? (int)strcspn(word, "=") : 2;
	return word;
}

unsigned program_number(const char *text, unsigned low, unsigned high, struct argp_state *state) {
	char *end;
	unsigned long value = strtoul(text, &end, 10);

	if (*text == '\0' || *end != '\0' || value < low || value > high) {
		int length;
		const char *option = option_of(state, text, &length);

		argp_error(state, "%.*s: found \"%s\", allowed: %u to %u", length, option, text,
			   low, high);
	}
	return (unsigned)value;
}

void program_report_progress(void) {
	reports_progress = true;
}

void program_progress(unsigned done, unsigned total, const char *format, ...) {
	va_list list;

	va_start(list, format);
	if (reports_progress)
		fprintf(stderr, "progress %u %u ", done, total);
	vfprintf(stderr, format, list);
	fputc('\n', stderr);
	va_end(list);
}

static void on_signal(int number) {
	(void)number;
	stopped = 1;
}

void program_catch_signals(void) {
	struct sigaction action = {.sa_handler = on_signal, .sa_flags = (int)SA_RESETHAND};

	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
}

bool program_stopped(void) {
	return stopped;
}

const volatile sig_atomic_t *program_stop_flag(void) {
	return &stopped;
}

json_t *program_report(json_t *results, const struct host *host, bool complete) {
	return json_pack("{s:o, s:o, s:b, s:{s:s, s:I, s:I, s:b}}", "version", versions_json(),
			 "results", results, "complete", complete, "host", "cpu", host->cpu,
			 "tsc_hz", (json_int_t)host->tsc_hz, "core_hz", (json_int_t)host->core_hz,
			 "huge_pages", platform_has_huge_pages());
}

int program_end(json_t *root, const char *path, int ret) {
	if (report_write(root, path) != 0)
		ret = -1;
	json_decref(root);
	if (ret == 0)
		return 0;
	return program_stopped() ? EXIT_STOPPED : EXIT_FAILED;
}
