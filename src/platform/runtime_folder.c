/* SPDX-License-Identifier: BSD-3-Clause */
#include "platform/runtime_folder.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <rte_common.h>

#include "platform/log/log.h"
#include "platform/owned_folder.h"
#include "platform/sockets/socket_claim.h"

#define NAME "dpdk"
#define TELEMETRY "dpdk_telemetry.v2"

/* DPDK 22.11 also creates a socket of the former telemetry version. */
static const char *const sockets[] = {TELEMETRY, "dpdk_telemetry.v1", "telemetry"};

void runtime_folder_remove(const char *folder) {
	char path[PATH_MAX + 32];

	for (size_t s = 0; s < RTE_DIM(sockets); s++) {
		snprintf(path, sizeof(path), "%s/%s", folder, sockets[s]);
		unlink(path);
	}
	rmdir(folder);
}

/* The PID in a folder name "PROGRAM-PID"; 0 for other names. */
static pid_t process_of(const char *name, const char *program) {
	size_t length = strlen(program);
	char *end;
	long pid;

	if (strncmp(name, program, length) != 0 || name[length] != '-')
		return 0;
	pid = strtol(name + length + 1, &end, 10);
	return *end == '\0' && pid > 0 && pid <= INT_MAX ? (pid_t)pid : 0;
}

/* Whether no process uses the folder. In a container with its own PID namespace, the PID is not
 * sufficient, so that the socket is checked, too. */
static bool is_left(const char *folder, pid_t pid) {
	struct socket_claim claim;
	char path[PATH_MAX + 32];

	if (pid != getpid() && (kill(pid, 0) == 0 || errno != ESRCH))
		return false;
	snprintf(path, sizeof(path), "%s/" TELEMETRY, folder);
	if (access(path, F_OK) != 0 || socket_claim(&claim, path, SOCK_SEQPACKET) != NULL)
		return false;
	socket_claim_release(&claim);
	return true;
}

static void leftovers_remove(const char *base, const char *program) {
	DIR *list = opendir(base);
	const struct dirent *entry;
	char folder[PATH_MAX];

	while (list != NULL && (entry = readdir(list)) != NULL) {
		pid_t pid = process_of(entry->d_name, program);

		if (pid == 0 || (size_t)snprintf(folder, sizeof(folder), "%s/%s", base,
						 entry->d_name) >= sizeof(folder))
			continue;
		if (is_left(folder, pid))
			runtime_folder_remove(folder);
	}
	if (list != NULL)
		closedir(list);
}

/* EAL chooses among $RUNTIME_DIRECTORY, /var/run for root, $XDG_RUNTIME_DIR, and /tmp/dpdk, which all
 * users would share. */
static void lead_eal(const char *folder) {
	char base[PATH_MAX];

	snprintf(base, sizeof(base), "%.*s", (int)strlen(folder) - (int)strlen("/" NAME), folder);
	if (getuid() != 0 && getenv("RUNTIME_DIRECTORY") == NULL)
		setenv("XDG_RUNTIME_DIR", base, 1);
}

static const char *prepare(const char *program, char folder[PATH_MAX],
			   char line[OWNED_FOLDER_LINE]) {
	const char *fault = owned_folder_runtime("/var/run/" NAME, NAME, folder, PATH_MAX, line);
	int length;

	if (fault != NULL)
		return fault;
	if (access(folder, W_OK | X_OK) != 0)
		return strerror(errno);
	lead_eal(folder);
	leftovers_remove(folder, program);
	length = snprintf(NULL, 0, "%s/%s-%d/" TELEMETRY, folder, program, (int)getpid());
	return (size_t)length < SOCKET_PATH_SIZE
		       ? NULL
		       : "the path of the socket would be longer than 107 bytes; set "
			 "RUNTIME_DIRECTORY or XDG_RUNTIME_DIR to a shorter path";
}

bool runtime_folder_prepare(const char *program, bool warn) {
	char folder[PATH_MAX], line[OWNED_FOLDER_LINE];
	const char *fault = prepare(program, folder, line);

	if (fault != NULL && warn)
		log_warning("telemetry", LOG_FIELDS(LOG_STRING("path", folder)),
			    "no telemetry socket: %s: %s", folder, fault);
	return fault == NULL;
}
