/* SPDX-License-Identifier: BSD-3-Clause */
/* Where the thread that starts EAL may run afterwards: each start is one of a process of its own. */
#include <sched.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "platform/platform.h"

#include "test_main.h"

static cpu_set_t allowed_now(void) {
	cpu_set_t set;

	CPU_ZERO(&set);
	assert_int_equal(sched_getaffinity(0, sizeof(set), &set), 0);
	return set;
}

/* Whether it may run on these cores, and on no others. */
static bool runs_on(unsigned main_core, const cpu_set_t *wanted) {
	const struct platform_options options = {
		.program = "unit-test",
		.main_core = main_core,
		.memory_mb = 16,
		.offline = true,
	};
	pid_t child = fork();
	int status = -1;

	assert_true(child >= 0);
	if (child == 0) {
		cpu_set_t found;

		if (platform_start(&options) != 0)
			_exit(2);
		found = allowed_now();
		platform_stop();
		_exit(CPU_EQUAL(&found, wanted) ? 0 : 1);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) < 2);
	return WEXITSTATUS(status) == 0;
}

/* One of its cores: the first, or the last. */
static cpu_set_t one_of(const cpu_set_t *allowed, bool last) {
	int core = last ? CPU_SETSIZE - 1 : 0;
	cpu_set_t one;

	while (!CPU_ISSET(core, allowed))
		core += last ? -1 : 1;
	CPU_ZERO(&one);
	CPU_SET(core, &one);
	return one;
}

TEST(any_core_one_core_or_this_core) {
	const cpu_set_t allowed = allowed_now(), first = one_of(&allowed, false),
			last = one_of(&allowed, true);
	unsigned number = 0;

	while (!CPU_ISSET(number, &last))
		number++;
	assert_true(runs_on(PLATFORM_ANY_CORE, &allowed));
	assert_true(runs_on(PLATFORM_ONE_CORE, &first));
	assert_true(runs_on(number, &last));
}
