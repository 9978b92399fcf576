/* SPDX-License-Identifier: BSD-3-Clause */
#include "platform/program/arguments.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "platform/program/exit_status.h"

/* What the last call allocated. Its results point into the joined words. */
static struct {
	char **words, **joined;
	unsigned joined_count;
} last;

static void forget_last(void) {
	for (unsigned i = 0; i < last.joined_count; i++)
		free(last.joined[i]);
	free(last.words);
	free(last.joined);
	last.words = last.joined = NULL;
	last.joined_count = 0;
}

/* Whether `word` is this option without a value: --json, or -j. */
static bool is_option(const struct argp_option *option, const char *word) {
	if (word[0] != '-')
		return false;
	if (word[1] == '-')
		return option->name != NULL && strcmp(word + 2, option->name) == 0;
	return word[1] != '\0' && word[1] == option->key && word[2] == '\0';
}

/* The option that `word` is, without a value in the word; NULL: none. */
static const struct argp_option *find(const struct argp *argp, const char *word) {
	const struct argp_option *o = argp->options;

	while (o != NULL && (o->name != NULL || o->doc != NULL)) {
		if (is_option(o, word))
			return o;
		o++;
	}
	return NULL;
}

/* Returns the joined word, or NULL. */
static char *join(const char *option, const char *value) {
	char **joined = &last.joined[last.joined_count];

	if (asprintf(joined, "%s%s%s", option, option[1] == '-' ? "=" : "", value) < 0)
		return NULL;
	last.joined_count++;
	return *joined;
}

/* Copies the words to `out`, which has space for argc + 1, with each optional value joined to its option. Returns
 * their number, or -1. */
static int join_values(const struct argp *argp, int argc, char **argv, char **out) {
	int count = 0;

	for (int i = 0; i < argc; i++) {
		const struct argp_option *option = i > 0 ? find(argp, argv[i]) : NULL;
		const char *next = i + 1 < argc ? argv[i + 1] : NULL;
		bool optional = option != NULL && (option->flags & OPTION_ARG_OPTIONAL) != 0;
		bool is_value = next != NULL && option != NULL && option->arg != NULL &&
				(!optional || next[0] != '-' || next[1] == '\0');

		out[count] = optional ? join(argv[i], is_value ? next : "-") : argv[i];
		if (out[count++] == NULL)
			return -1;
		if (is_value && !optional)
			out[count++] = argv[i + 1];
		i += is_value;
	}
	out[count] = NULL;
	return count;
}

error_t arguments_parse(const struct argp *argp, int argc, char **argv, void *input) {
	int count = -1;

	argp_err_exit_status = EXIT_USAGE;
	forget_last();
	last.words = calloc((size_t)argc + 1, sizeof(*last.words));
	last.joined = calloc((size_t)argc + 1, sizeof(*last.joined));
	if (last.words != NULL && last.joined != NULL)
		count = join_values(argp, argc, argv, last.words);
	if (count < 0) {
		fprintf(stderr, "%s: memory is short\n", argv[0]);
		exit(EXIT_FAILED);
	}
	return argp_parse(argp, count, last.words, 0, NULL, input);
}
