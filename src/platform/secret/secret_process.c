/* SPDX-License-Identifier: BSD-3-Clause */
#include "platform/secret/secret_process.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "platform/secret/secret_memory.h"

/* LeakSanitizer looks at its process as a debugger does. */
#ifdef __SANITIZE_ADDRESS__
#define LOOKED_AT 1
#else
#define LOOKED_AT 0
#endif

/* What a core has of the process's memory: nothing, neither of the heap nor of huge pages. Before the process is not
 * dumpable: then its files are root's. Without /proc it is left to what follows. */
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
	/* The limit is for files; a program that the kernel pipes cores to gets them in spite of it. */
	setrlimit(RLIMIT_CORE, &none);
	if (!LOOKED_AT)
		prctl(PR_SET_DUMPABLE, 0);
}
