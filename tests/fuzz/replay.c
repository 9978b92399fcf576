/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs a fuzz target on the files of directories, for compilers without libFuzzer. Each input is in
 * memory of exactly its size. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>

#include "fuzz.h"

static int replay_file(const char *path) {
	FILE *f = fopen(path, "rb");

	if (f == NULL) {
		perror(path);
		return -1;
	}
	fseek(f, 0, SEEK_END);

	size_t size = (size_t)ftell(f);
	uint8_t *data = malloc(size > 0 ? size : 1);

	rewind(f);
	if (data == NULL || fread(data, 1, size, f) != size) {
		perror(path);
		free(data);
		fclose(f);
		return -1;
	}
	fclose(f);
	LLVMFuzzerTestOneInput(data, size);
	free(data);
	return 0;
}

/* Returns the number of files that were replayed, or -1. */
static int replay_directory(const char *path) {
	struct dirent **entries;
	int files = scandir(path, &entries, NULL, alphasort), count = 0;

	if (files < 0)
		perror(path);
	for (int i = 0; i < files; i++) {
		char file[4096];

		snprintf(file, sizeof(file), "%s/%s", path, entries[i]->d_name);
		if (entries[i]->d_name[0] != '.' && count >= 0)
			count = replay_file(file) == 0 ? count + 1 : -1;
		free(entries[i]);
	}
	if (files >= 0)
		free(entries);
	return count;
}

int main(int argc, char **argv) {
	for (int i = 1; i < argc; i++) {
		int count = replay_directory(argv[i]);

		if (count <= 0) {
			fprintf(stderr, "%s: nothing replayed\n", argv[i]);
			return 1;
		}
		printf("%s: %d inputs\n", argv[i], count);
	}
	return 0;
}
