/* SPDX-License-Identifier: BSD-3-Clause */
#include "power/cpu_files.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The kernel follows links within the folder (cpu0/cpufreq is one) and refuses others, and ".." beyond the
 * folder. Opens only regular files: a read of a pipe would block for ever. */
static int open_below(int folder, const char *name, uint64_t flags) {
	struct open_how how = {
		.flags = flags | O_CLOEXEC | O_NONBLOCK | O_NOCTTY,
		.resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS,
	};
	struct stat status;
	int fd = (int)syscall(SYS_openat2, folder, name, &how, sizeof(how));

	if (fd < 0)
		return -errno;
	if (fstat(fd, &status) == 0 && S_ISREG(status.st_mode))
		return fd;
	close(fd);
	return -EINVAL;
}

/* Trims trailing white space. Returns false if the text contains non-printable characters. */
static bool tidy(char *text, size_t length) {
	while (length > 0 && isspace((unsigned char)text[length - 1]))
		length--;
	text[length] = '\0';
	for (size_t i = 0; i < length; i++) {
		if (!isprint((unsigned char)text[i]))
			return false;
	}
	return true;
}

static int read_file(void *ctx, const char *name, char *text, size_t size) {
	const struct cpu_files *f = ctx;
	int fd = open_below(f->folder, name, O_RDONLY);
	ssize_t length;
	int fault;

	text[0] = '\0';
	if (fd < 0)
		return fd;
	length = read(fd, text, size);
	fault = length < 0 ? -errno : 0;
	close(fd);
	if (fault != 0 || (size_t)length >= size) {
		text[0] = '\0';
		return fault != 0 ? fault : -EFBIG;
	}
	return tidy(text, (size_t)length) ? 0 : -EINVAL;
}

static int write_file(void *ctx, const char *name, const char *text) {
	const struct cpu_files *f = ctx;
	size_t length = strlen(text);
	/* Kernel files have no length. A regular file, as in tests, must not keep the tail of a
	 * longer text. */
	int fd = open_below(f->folder, name, O_WRONLY | O_TRUNC);
	ssize_t written;
	int fault;

	if (fd < 0)
		return fd;
	written = write(fd, text, length);
	fault = written < 0 ? -errno : (size_t)written == length ? 0 : -EIO;
	if (close(fd) != 0 && fault == 0)
		fault = -errno;
	return fault;
}

int cpu_files_open(struct cpu_files *f, const char *root) {
	int folder = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);

	*f = (struct cpu_files){.read = read_file, .write = write_file, .ctx = f, .folder = folder};
	if (folder >= 0)
		return 0;
	*f = (struct cpu_files){.folder = -1};
	return -errno;
}

void cpu_files_close(struct cpu_files *f) {
	if (f->read == read_file)
		close(f->folder);
	*f = (struct cpu_files){.folder = -1};
}

static void name_of(char name[CPU_FILES_NAME], unsigned core, const char *key) {
	snprintf(name, CPU_FILES_NAME, "cpu%u/cpufreq/%s", core, key);
}

int cpu_files_read(const struct cpu_files *f, unsigned core, const char *key, char *text,
		   size_t size) {
	char name[CPU_FILES_NAME];

	name_of(name, core, key);
	return f->read(f->ctx, name, text, size);
}

int cpu_files_write(const struct cpu_files *f, unsigned core, const char *key, const char *text) {
	char name[CPU_FILES_NAME];

	name_of(name, core, key);
	return f->write(f->ctx, name, text);
}

uint32_t cpu_files_parse_khz(const char *text) {
	uint64_t khz = 0;

	if (*text == '\0')
		return 0;
	for (; *text != '\0'; text++) {
		if (!isdigit((unsigned char)*text))
			return 0;
		khz = 10 * khz + (uint64_t)(*text - '0');
		if (khz > CPU_FILES_MAX_KHZ)
			return 0;
	}
	return (uint32_t)khz;
}

uint32_t cpu_files_read_khz(const struct cpu_files *f, unsigned core, const char *key) {
	char text[CPU_FILES_TEXT];

	return cpu_files_read(f, core, key, text, sizeof(text)) == 0 ? cpu_files_parse_khz(text)
								     : 0;
}

int cpu_files_write_khz(const struct cpu_files *f, unsigned core, const char *key, uint32_t khz) {
	char text[16];

	snprintf(text, sizeof(text), "%" PRIu32, khz);
	return cpu_files_write(f, core, key, text);
}
