/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests secret_process.h: disables core dumps, or excludes the memory of the process from them. */
#include "test_main.h"

#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "platform/secret/secret_process.h"

/* The kinds of memory that a core dump contains, as core(5) defines the bits. */
static unsigned coredump_filter(void) {
	FILE *file = fopen("/proc/self/coredump_filter", "r");
	unsigned value = ~0u;

	assert_non_null(file);
	assert_int_equal(fscanf(file, "%x", &value), 1);
	fclose(file);
	return value;
}

static bool is_protected(bool dumps, unsigned before) {
	struct rlimit limit;

	getrlimit(RLIMIT_CORE, &limit);
	if (coredump_filter() != (dumps ? before : 0) || (!dumps && limit.rlim_max != 0))
		return false;
#if !defined(__SANITIZE_ADDRESS__)
	return prctl(PR_GET_DUMPABLE) == dumps;
#else
	return true;
#endif
}

/* Whether a child process with SECRET_CORE_DUMPS=`value` has the protection that it requests. */
static bool protected_with(const char *value) {
	unsigned before = coredump_filter();
	int status;

	if (fork() == 0) {
		setenv(SECRET_CORE_DUMPS, value, 1);
		secret_process_protect();
		_exit(is_protected(strcmp(value, "yes") == 0, before) ? 7 : 1);
	}
	wait(&status);
	return WEXITSTATUS(status) == 7;
}

TEST(core_dumps_are_disabled_unless_requested) {
	assert_true(protected_with("no"));
	assert_true(protected_with("yes"));
}
