/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes a file at once: a temporary file beside it gets its name when it is complete. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "server/save/save_files.h"

static bool refuse(const char *path, char why[LIVE_LINE]) {
	snprintf(why, LIVE_LINE, "%s: %s%s", path, strerror(errno),
		 errno == EROFS || errno == EACCES ? "; config.save with file= writes another file"
						   : "");
	return false;
}

static bool write_all(int fd, const char *text, size_t size) {
	while (size > 0) {
		ssize_t written = write(fd, text, size);

		if (written < 0 && errno == EINTR)
			continue;
		if (written < 0)
			return false;
		text += written;
		size -= (size_t)written;
	}
	return fsync(fd) == 0;
}

/* Gives the new file the owner and mode of the old one, before it has any text. */
static bool copy_owner(int fd, const char *path) {
	struct stat old;

	if (stat(path, &old) != 0)
		return false;
	/* An unprivileged server owns its files; a group that it may not set stays its own. */
	if (fchown(fd, old.st_uid, old.st_gid) != 0 && errno != EPERM)
		return false;
	return fchmod(fd, old.st_mode & 07777) == 0;
}

/* Makes the name durable; an error changes nothing any more. */
static void sync_folder(char *path) {
	char *slash = strrchr(path, '/');
	int fd;

	if (slash == NULL)
		return;
	slash[1] = '\0';
	fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return;
	(void)fsync(fd);
	close(fd);
}

static bool write_temporary(int fd, const char *path, const struct secret_text *text, bool fresh) {
	bool good = (fresh || copy_owner(fd, path)) && write_all(fd, text->at, text->size);
	int reason = errno;

	if (close(fd) != 0 && good)
		return false;
	errno = reason;
	return good;
}

/* Gives the temporary file its name. A new file must not exist yet. */
static bool name_file(const char *temporary, const char *path, bool fresh) {
	return fresh ? link(temporary, path) == 0 && unlink(temporary) == 0
		     : rename(temporary, path) == 0;
}

bool save_write(const char *path, const struct secret_text *text, bool fresh, char why[LIVE_LINE]) {
	/* a symbolic link keeps pointing to the file */
	char *real = fresh ? strdup(path) : realpath(path, NULL), *temporary = NULL;
	bool good = false;
	int fd = -1, reason;

	if (real != NULL && asprintf(&temporary, "%s.XXXXXX", real) < 0)
		temporary = NULL;
	if (temporary != NULL)
		fd = mkostemp(temporary, O_CLOEXEC); /* mode 0600 */
	if (fd >= 0) {
		good = write_temporary(fd, real, text, fresh) && name_file(temporary, real, fresh);
		reason = errno;
		if (!good)
			unlink(temporary);
		errno = reason;
	}
	if (!good)
		refuse(path, why);
	else
		sync_folder(real);
	free(temporary);
	free(real);
	return good;
}
