/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests secret_process.h: disables core dumps, or excludes the memory of the process from them. */
#include "test_main.h"

#include <ftw.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "platform/secret/secret_process.h"

static bool limit_is_ignored;

/* Replaces libc's function. The kernel ignores a core limit of 0 if a program such as systemd-coredump collects
 * the cores; then only the other measures apply. */
int setrlimit(__rlimit_resource_t resource, const struct rlimit *limit) {
	return limit_is_ignored ? 0 : prlimit(0, resource, limit, NULL);
}

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

static int remove_one(const char *path, const struct stat *status, int type, struct FTW *at) {
	return remove(path);
}

/* Whether a child process with SECRET_CORE_DUMPS=`value` that aborts dumps core, although its limit has no effect. */
static bool dumps_core_with(const char *value, const char *folder) {
	struct rlimit limit;
	int status;

	if (fork() == 0) {
		getrlimit(RLIMIT_CORE, &limit);
		limit.rlim_cur = limit.rlim_max;
		setrlimit(RLIMIT_CORE, &limit);
		limit_is_ignored = true;
		setenv(SECRET_CORE_DUMPS, value, 1);
		signal(SIGABRT, SIG_DFL);
		if (chdir(folder) == 0)
			secret_process_protect();
		raise(SIGABRT);
		_exit(1);
	}
	wait(&status);
	assert_true(WIFSIGNALED(status));
	return WCOREDUMP(status);
}

TEST(core_handler_gets_no_memory) {
#if defined(__SANITIZE_ADDRESS__)
	skip(); /* such a build sets the core limit only */
#else
	char folder[] = "/tmp/test-secret-XXXXXX";
	bool dumped, dumps;

	assert_non_null(mkdtemp(folder));
	dumped = dumps_core_with("no", folder);
	dumps = dumps_core_with("yes", folder);
	assert_int_equal(nftw(folder, remove_one, 4, FTW_DEPTH | FTW_PHYS), 0);
	assert_false(dumped);
	if (!dumps)
		skip(); /* this system makes no cores, so the test shows nothing */
#endif
}
