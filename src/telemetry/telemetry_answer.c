/* SPDX-License-Identifier: BSD-3-Clause */
#include "telemetry/telemetry_answer.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

void telemetry_put(struct rte_tel_data *d, const char *name, uint64_t value) {
#if RTE_VERSION >= RTE_VERSION_NUM(23, 3, 0, 0)
	rte_tel_data_add_dict_uint(d, name, value);
#else
	rte_tel_data_add_dict_u64(d, name, value);
#endif
}

void telemetry_add(struct rte_tel_data *array, uint64_t value) {
#if RTE_VERSION >= RTE_VERSION_NUM(23, 3, 0, 0)
	rte_tel_data_add_array_uint(array, value);
#else
	rte_tel_data_add_array_u64(array, value);
#endif
}

void telemetry_put_text(struct rte_tel_data *d, const char *name, const char *text) {
	rte_tel_data_add_dict_string(d, name, text);
}

int telemetry_error(struct rte_tel_data *d, const char *what) {
	rte_tel_data_start_dict(d);
	telemetry_put_text(d, "error", what);
	return 0;
}

bool telemetry_number(const char *text, uint64_t max, uint64_t *value) {
	char *end;

	if (text == NULL || !isdigit((unsigned char)text[0]))
		return false;
	*value = strtoull(text, &end, 10);
	return *end == '\0' && *value <= max;
}
