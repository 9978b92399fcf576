/* SPDX-License-Identifier: BSD-3-Clause */
/* A core of a process that has keys: none is made, and one that is made all the same has none of its memory. */
#include "test_main.h"

#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "platform/secret/secret_process.h"

/* Which memory is in a core (core(5)). */
static unsigned filter(void) {
	FILE *file = fopen("/proc/self/coredump_filter", "r");
	unsigned value = ~0u;

	assert_non_null(file);
	assert_int_equal(fscanf(file, "%x", &value), 1);
	fclose(file);
	return value;
}

static bool is_protected(bool wanted, unsigned before) {
	struct rlimit limit;

	getrlimit(RLIMIT_CORE, &limit);
	if (filter() != (wanted ? before : 0) || (!wanted && limit.rlim_max != 0))
		return false;
#if !defined(__SANITIZE_ADDRESS__)
	return prctl(PR_GET_DUMPABLE) == wanted;
#else
	return true;
#endif
}

/* Whether a process with this in its environment is what it is to be. */
static bool protected_with(const char *value) {
	unsigned before = filter();
	int status;

	if (fork() == 0) {
		setenv(SECRET_CORE_DUMPS, value, 1);
		secret_process_protect();
		_exit(is_protected(strcmp(value, "yes") == 0, before) ? 7 : 1);
	}
	wait(&status);
	return WEXITSTATUS(status) == 7;
}

TEST(all_is_set) {
	assert_true(protected_with("no"));
	assert_true(protected_with("yes"));
}
