/* SPDX-License-Identifier: BSD-3-Clause */
#include "power/leftovers.h"

#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "platform/log/log.h"
#include "power/initial_settings.h"

#define SUFFIX "-power.state"

int leftovers_path(const char *folder, pid_t pid, char path[LEFTOVERS_PATH]) {
	int length = snprintf(path, LEFTOVERS_PATH, "%s/%d" SUFFIX, folder, (int)pid);

	return length >= 0 && length < LEFTOVERS_PATH ? 0 : -ENAMETOOLONG;
}

/* Whether a file name is a number followed by the suffix. */
static bool is_state(const char *name) {
	size_t digits = strspn(name, "0123456789");

	return digits > 0 && strcmp(name + digits, SUFFIX) == 0;
}

int leftovers_restore_file(const char *path, const struct cpu_files *f) {
	struct initial_settings *initial;
	char fault[INITIAL_LINE];
	unsigned wrong;
	int ret = -EINVAL;

	if (access(path, F_OK) != 0)
		return -errno;
	initial = calloc(1, sizeof(*initial));
	if (initial == NULL)
		return -ENOMEM;
	if (initial_load(initial, path, fault) != 0) {
		log_error("power", LOG_FIELDS(LOG_STRING("path", path)),
			  "%s: %s; none of its values were restored", path, fault);
	} else if (initial_owner_runs(initial)) {
		ret = -EBUSY;
	} else {
		wrong = initial_restore(initial, f);
		log_notice("power",
			   LOG_FIELDS(LOG_STRING("path", path), LOG_NUMBER("wrong", wrong)),
			   "%s: restored the frequency settings from before process %d: %u of "
			   "%u values",
			   path, (int)initial->pid, initial->count - wrong, initial->count);
		if (wrong == 0)
			ret = unlink(path) == 0 ? 0 : -errno;
	}
	free(initial);
	return ret;
}

struct leftovers leftovers_restore(const char *folder, const struct cpu_files *f) {
	struct leftovers sum = {0};
	DIR *names = opendir(folder);
	const struct dirent *name;

	while (names != NULL && (name = readdir(names)) != NULL) {
		char path[LEFTOVERS_PATH];
		int ret;

		if (!is_state(name->d_name) ||
		    snprintf(path, sizeof(path), "%s/%s", folder, name->d_name) >= LEFTOVERS_PATH)
			continue;
		ret = leftovers_restore_file(path, f);
		if (ret == 0)
			sum.restored++;
		else if (ret == -EBUSY)
			sum.running++;
		else
			sum.failed++;
	}
	if (names != NULL)
		closedir(names);
	return sum;
}
