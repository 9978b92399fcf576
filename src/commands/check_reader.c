/* SPDX-License-Identifier: BSD-3-Clause */
#include "commands/check_reader.h"

#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* The folder and user of deploy/systemd/vcmtsd.service.in, as packages install it. */
#define FOLDER "/etc/vcmts/"
#define USER "vcmts"

enum { READS, READS_NOT, UNKNOWN };

/* Opens the file as the user, in a child process: only the kernel knows all rules, such as access lists. */
static int open_as(const struct passwd *user, const char *path) {
	pid_t child = fork();
	int status = 0;

	if (child == 0) {
		if (initgroups(user->pw_name, user->pw_gid) != 0 ||
		    setresgid(user->pw_gid, user->pw_gid, user->pw_gid) != 0 ||
		    setresuid(user->pw_uid, user->pw_uid, user->pw_uid) != 0)
			_exit(UNKNOWN);
		_exit(open(path, O_RDONLY | O_CLOEXEC) >= 0 ? READS : READS_NOT);
	}
	if (child < 0 || waitpid(child, &status, 0) != child || !WIFEXITED(status))
		return UNKNOWN;
	return WEXITSTATUS(status);
}

void check_reader(const char *path) {
	const struct passwd *user = geteuid() == 0 ? getpwnam(USER) : NULL;
	char full[PATH_MAX];

	if (user == NULL || realpath(path, full) == NULL ||
	    strncmp(full, FOLDER, sizeof(FOLDER) - 1) != 0)
		return;
	if (open_as(user, full) == READS_NOT)
		fprintf(stderr,
			"%s: warning: the service cannot read it, as it runs as user " USER
			": run `chgrp " USER " FILE` and `chmod 640 FILE`, and for its folder "
			"`chgrp " USER "` and `chmod 750`\n",
			full);
}
