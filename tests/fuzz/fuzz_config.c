/* SPDX-License-Identifier: BSD-3-Clause */
/* Any bytes as a configuration: refused with at least one line, or loaded and freed. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "model/loader.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
	struct service_group sg;
	char *said = NULL;
	size_t length = 0;
	FILE *errors = open_memstream(&said, &length);
	int mistakes;

	if (errors == NULL)
		abort();
	mistakes = service_group_load_text("fuzz.yaml", (const char *)data, size, &sg, errors);
	fclose(errors);
	if ((mistakes > 0) != (length > 0) || (mistakes > 0) != (sg.arena == NULL))
		abort();
	service_group_free(&sg);
	free(said);
	return 0;
}
