/* SPDX-License-Identifier: BSD-3-Clause */
#include "platform/program/arguments.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "platform/program/exit_status.h"

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

/* Returns false if no memory is left. */
static bool join(char **out, const char *option, const char *value) {
	return asprintf(out, "%s%s%s", option, option[1] == '-' ? "=" : "", value) >= 0;
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

		out[count] = argv[i];
		if (optional && !join(&out[count], argv[i], is_value ? next : "-"))
			return -1;
		count++;
		if (is_value && !optional)
			out[count++] = argv[i + 1];
		i += is_value;
	}
	out[count] = NULL;
	return count;
}

error_t arguments_parse(const struct argp *argp, int argc, char **argv, void *input) {
	static char **words; /* still in use by `input` when this function has returned */
	int count;

	argp_err_exit_status = EXIT_USAGE;
	words = calloc((size_t)argc + 1, sizeof(*words));
	count = words != NULL ? join_values(argp, argc, argv, words) : -1;
	if (count < 0) {
		fprintf(stderr, "%s: memory is short\n", argv[0]);
		exit(EXIT_FAILED);
	}
	return argp_parse(argp, count, words, 0, NULL, input);
}
