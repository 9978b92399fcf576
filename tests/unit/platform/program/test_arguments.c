/* SPDX-License-Identifier: BSD-3-Clause */
/* Options with an optional value, and the exit status of wrong arguments. */
#include "test_main.h"

#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "platform/program/arguments.h"
#include "platform/program/exit_status.h"

struct parsed {
	const char *json, *config;
	unsigned words; /* positional arguments */
};

static error_t parse_option(int key, char *value, struct argp_state *state) {
	struct parsed *p = state->input;

	switch (key) {
	case 'j': p->json = value; return 0;
	case 'c': p->config = value; return 0;
	case ARGP_KEY_ARG: p->words++; return 0;
	default: return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp_option options[] = {
	{"config", 'c', "FILE", 0, "a value that is needed", 0},
	ARGUMENTS_JSON('j', "write JSON to this file"),
	{0},
};

/* Parses the words, which NULL ends. */
static struct parsed parse(const struct argp *argp, const char *const *words) {
	struct parsed p = {0};
	char program[] = "program", *argv[8] = {program};
	int argc = 1;

	while (*words != NULL)
		argv[argc++] = (char *)(uintptr_t)*words++;
	assert_int_equal(arguments_parse(argp, argc, argv, &p), 0);
	return p;
}

static struct parsed parse_options(const char *const *words) {
	return parse(&(struct argp){.options = options, .parser = parse_option}, words);
}

#define PARSED(...) parse_options((const char *const[]){__VA_ARGS__, NULL})

TEST(next_word_is_the_file_of_json) {
	assert_string_equal(PARSED("--json", "a.json").json, "a.json");
	assert_string_equal(PARSED("--json=a.json").json, "a.json");
	assert_string_equal(PARSED("-j", "a.json").json, "a.json");
	assert_string_equal(PARSED("-ja.json").json, "a.json");
}

TEST(json_without_a_file_is_stdout) {
	const struct parsed p = PARSED("--json", "--config", "a.yaml");

	assert_string_equal(p.json, "-");
	assert_string_equal(p.config, "a.yaml");
	assert_string_equal(PARSED("--config", "a.yaml", "--json").json, "-");
	assert_string_equal(PARSED("-j").json, "-");
}

TEST(a_dash_is_stdout) {
	const struct parsed p = PARSED("--json", "-", "--config", "a.yaml");

	assert_string_equal(p.json, "-");
	assert_string_equal(p.config, "a.yaml");
	assert_int_equal(p.words, 0);
}

TEST(other_words_stay_as_they_are) {
	const struct parsed p = PARSED("--config", "--json", "word");

	assert_string_equal(p.config, "--json");
	assert_null(p.json);
	assert_int_equal(p.words, 1);
}

TEST(program_without_options_parses) {
	const struct argp none = {.parser = parse_option};

	assert_int_equal(parse(&none, (const char *const[]){"word", NULL}).words, 1);
}

TEST(wrong_argument_exits_with_status_of_usage) {
	pid_t child = fork();
	int status;

	if (child == 0) {
		close(STDERR_FILENO);
		PARSED("--bogus");
		_exit(0);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), EXIT_USAGE);
}
