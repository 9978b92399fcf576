/* SPDX-License-Identifier: BSD-3-Clause */
/* A core of a process that has keys: none is made, and one that is made all the same has none of its memory. */
#include "test_main.h"

#include <dirent.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "platform/secret/secret_process.h"

#define KEY 32 /* bytes; the test itself knows them inverted */
#define COPIES 2000

static const unsigned char inverted[KEY] = "\xb2\x09\x5c\x83\x1f\xe6\x77\x10";
static char folder[] = "/tmp/secret-process-XXXXXX";

/* In the heap, and on the stack of whoever looks. */
static void key_write(volatile unsigned char *to) {
	for (unsigned i = 0; i < KEY; i++)
		to[i] = (unsigned char)~inverted[i];
}

static unsigned filter(void) {
	FILE *file = fopen("/proc/self/coredump_filter", "r");
	unsigned value = ~0u;

	assert_non_null(file);
	assert_int_equal(fscanf(file, "%x", &value), 1);
	fclose(file);
	return value;
}

/* That of a protected process. */
static unsigned filter_protected(void) {
	int status;

	if (fork() == 0) {
		secret_process_protect();
		_exit((int)filter());
	}
	wait(&status);
	return (unsigned)WEXITSTATUS(status);
}

/* Ends with a core, where the system makes one, of which this filter says what is in it. */
static void dump_with_keys(unsigned memory) {
	FILE *file = fopen("/proc/self/coredump_filter", "w");
	struct rlimit limit;
	volatile unsigned char *heap = malloc((size_t)COPIES * KEY), stack[KEY];

	if (chdir(folder) != 0 || heap == NULL || file == NULL ||
	    fprintf(file, "%#x", memory) < 0 || fclose(file) != 0)
		_exit(1);
	getrlimit(RLIMIT_CORE, &limit);
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_CORE, &limit);
	for (unsigned i = 0; i < COPIES; i++)
		key_write(heap + (size_t)i * KEY);
	key_write(stack);
	signal(SIGABRT, SIG_DFL);
	abort();
}

static unsigned keys_in(const char *path) {
	FILE *file = fopen(path, "r");
	unsigned char key[KEY];
	unsigned found = 0;
	char *bytes;
	size_t size;

	key_write(key);
	assert_non_null(file);
	fseek(file, 0, SEEK_END);
	size = (size_t)ftell(file);
	rewind(file);
	bytes = malloc(size + 1);
	assert_non_null(bytes);
	size = fread(bytes, 1, size, file);
	fclose(file);
	for (const char *at = bytes; (at = memmem(at, size - (size_t)(at - bytes), key, KEY)); at++)
		found++;
	free(bytes);
	return found;
}

/* How often the key is in the core; -1: the system makes none, at least not here. */
static int keys_dumped(unsigned memory) {
	const struct dirent *entry;
	char path[512] = "";
	pid_t child = fork();
	int found = -1;
	DIR *list;

	if (child == 0)
		dump_with_keys(memory);
	waitpid(child, NULL, 0);
	list = opendir(folder);
	while ((entry = readdir(list)) != NULL) {
		if (entry->d_name[0] != '.')
			snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name);
	}
	closedir(list);
	if (path[0] != '\0')
		found = (int)keys_in(path);
	unlink(path);
	return found;
}

TEST(no_memory_in_a_core) {
#if defined(__SANITIZE_ADDRESS__)
	skip(); /* it makes none */
#endif
	if (keys_dumped(filter()) < 1)
		skip();
	assert_true(keys_dumped(filter_protected()) <= 0);
}

static bool is_protected(bool wanted, unsigned before) {
	struct rlimit limit;

	getrlimit(RLIMIT_CORE, &limit);
	if (filter() != (wanted ? before : 0) || (!wanted && limit.rlim_max != 0))
		return false;
#if !defined(__SANITIZE_ADDRESS__)
	return prctl(PR_GET_DUMPABLE) == wanted;
#else
	return true;
#endif
}

/* Whether a process with this in its environment is what it is to be. */
static bool protected_with(const char *value) {
	unsigned before = filter();
	int status;

	if (fork() == 0) {
		setenv(SECRET_CORE_DUMPS, value, 1);
		secret_process_protect();
		_exit(is_protected(strcmp(value, "yes") == 0, before) ? 7 : 1);
	}
	wait(&status);
	return WEXITSTATUS(status) == 7;
}

TEST(all_is_set) {
	assert_true(protected_with("no"));
	assert_true(protected_with("yes"));
}

static int begin(void **state) {
	unsetenv(SECRET_CORE_DUMPS);
	return mkdtemp(folder) == NULL ? -1 : 0;
}

static int end(void **state) {
	return rmdir(folder);
}

ALL_TESTS(begin, end)
