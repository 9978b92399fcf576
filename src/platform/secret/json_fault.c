/* SPDX-License-Identifier: BSD-3-Clause */
#include "platform/secret/json_fault.h"

#include <stdio.h>
#include <string.h>

#define QUOTED " near '"

const char *json_fault(const json_error_t *error, char fault[JSON_FAULT_LINE]) {
	const char *quoted = strstr(error->text, QUOTED);
	int length = quoted != NULL ? (int)(quoted - error->text) : (int)strlen(error->text);

	if (error->line > 0)
		snprintf(fault, JSON_FAULT_LINE, "%.*s at line %d, column %d", length, error->text,
			 error->line, error->column);
	else
		snprintf(fault, JSON_FAULT_LINE, "%.*s", length, error->text);
	return fault;
}
