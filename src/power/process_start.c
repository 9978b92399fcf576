/* SPDX-License-Identifier: BSD-3-Clause */
#include "power/process_start.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* /proc/PID/stat (proc(5)): the program's name may contain any characters, so it ends at the last
 * ')'. The state is field 3, the start time is field 22. */
uint64_t process_start(pid_t pid) {
	char path[64], text[1024];
	const char *state;
	uint64_t began;
	size_t size;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	f = fopen(path, "re");
	if (f == NULL)
		return 0;
	size = fread(text, 1, sizeof(text) - 1, f);
	fclose(f);
	text[size] = '\0';
	state = strrchr(text, ')');
	if (state == NULL || state[1] != ' ' || state[2] == 'Z' || state[2] == 'X')
		return 0;
	state += 2;
	for (int field = 3; field < 22 && state != NULL; field++) {
		state = strchr(state, ' ');
		state = state != NULL ? state + 1 : NULL;
	}
	return state != NULL && sscanf(state, "%" SCNu64, &began) == 1 ? began : 0;
}
