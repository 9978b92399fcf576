/* SPDX-License-Identifier: BSD-3-Clause */
#include "model/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "platform/secret/secret_memory.h"

static FILE *file_open(const char *path, bool regular) {
	/* otherwise, open() of a pipe without a writer blocks */
	int descriptor = open(path, O_RDONLY | O_CLOEXEC | (regular ? O_NONBLOCK : 0));
	struct stat about;
	FILE *file;

	if (descriptor < 0)
		return NULL;
	errno = ENOTSUP;
	if (regular && (fstat(descriptor, &about) != 0 ||
			(!S_ISREG(about.st_mode) && !S_ISDIR(about.st_mode)))) {
		close(descriptor);
		return NULL;
	}
	file = fdopen(descriptor, "rb");
	if (file == NULL)
		close(descriptor);
	return file;
}

/* The file's size, and one byte more to find its end. */
static size_t first_capacity(FILE *file, size_t max) {
	const size_t min = 1u << 12;
	struct stat about;

	if (fstat(fileno(file), &about) != 0 || about.st_size < (off_t)min ||
	    (size_t)about.st_size > max)
		return min;
	return (size_t)about.st_size + 1;
}

char *file_read(const char *path, size_t max, bool regular, size_t *size) {
	FILE *file = file_open(path, regular);
	char *text = NULL, *larger;
	size_t capacity;

	*size = 0;
	if (file == NULL)
		return NULL;
	setvbuf(file, NULL, _IONBF, 0); /* fread() reads directly into the buffer */
	capacity = first_capacity(file, max);
	while (!feof(file)) {
		errno = *size > max ? EFBIG : 0;
		larger = errno == 0 ? secret_realloc(text, capacity) : NULL;
		if (larger == NULL)
			break;
		text = larger;
		*size += fread(text + *size, 1, capacity - *size, file);
		if (ferror(file))
			break;
		if (*size == capacity)
			capacity *= 2;
	}
	if (!feof(file) || *size > max) {
		int reason = feof(file) ? EFBIG : errno;

		secret_free(text);
		text = NULL;
		errno = reason;
	}
	fclose(file);
	return text;
}

/* The reason in errno, in words. */
static const char *reason_of(int number) {
	if (number == EFBIG)
		return "the configuration is larger than 1 GiB";
	return number == ENOTSUP ? "not a regular file" : strerror(number);
}

void file_report_error(struct errors *errors, uint32_t line, const struct path *path,
		       const char *name) {
	int number = errno;
	char quoted[256];

	errors_quote(name, strlen(name), quoted, sizeof(quoted));
	errors_say(errors, line, path, "cannot read %s: %s", quoted, reason_of(number));
}

char *file_read_or_print(const char *path, bool regular, size_t *size, FILE *out) {
	char *text = file_read(path, FILE_MAX, regular, size);
	struct errors mistakes = {.file = path};

	if (text != NULL)
		return text;
	errors_say(&mistakes, 0, NULL, "cannot read the file: %s", reason_of(errno));
	errors_print(&mistakes, out);
	return NULL;
}
