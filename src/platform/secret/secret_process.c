/* SPDX-License-Identifier: BSD-3-Clause */
#include "platform/secret/secret_process.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "platform/secret/secret_memory.h"

/* LeakSanitizer needs ptrace access to its process. */
#ifdef __SANITIZE_ADDRESS__
#define MEMORY_IS_CHECKED 1
#else
#define MEMORY_IS_CHECKED 0
#endif

/* Excludes all memory, including huge pages, from core dumps. Call it while the process is dumpable: later
 * its /proc files belong to root. Without /proc, only the other measures apply. */
static void memory_exclude(void) {
	int filter = open("/proc/self/coredump_filter", O_WRONLY | O_CLOEXEC);
	ssize_t written = filter >= 0 ? write(filter, "0", 1) : 0;

	(void)written;
	if (filter >= 0)
		close(filter);
}

void secret_process_protect(void) {
	const char *wanted = getenv(SECRET_CORE_DUMPS);
	const struct rlimit none = {0, 0};

	secret_json_wipe();
	if (wanted != NULL && strcmp(wanted, "yes") == 0)
		return;
	memory_exclude();
	/* The limit applies to files only; a core that the kernel pipes to a program ignores it. */
	setrlimit(RLIMIT_CORE, &none);
	if (!MEMORY_IS_CHECKED)
		prctl(PR_SET_DUMPABLE, 0);
}
