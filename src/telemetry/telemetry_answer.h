/* SPDX-License-Identifier: BSD-3-Clause */
/* Builds responses of telemetry commands and parses their parameters. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <rte_telemetry.h>
#include <rte_version.h>

#define TELEMETRY_NUMBER 24 /* bytes of a decimal number */

void telemetry_put(struct rte_tel_data *d, const char *name, uint64_t value);
void telemetry_put_text(struct rte_tel_data *d, const char *name, const char *text);

/* Adds to an array that was started with TELEMETRY_UINT. */
#if RTE_VERSION >= RTE_VERSION_NUM(23, 3, 0, 0)
#define TELEMETRY_UINT RTE_TEL_UINT_VAL
#else
#define TELEMETRY_UINT RTE_TEL_U64_VAL
#endif
void telemetry_add(struct rte_tel_data *array, uint64_t value);

/* Sets the response {"error": what}. Returns 0 for the callback to return. */
int telemetry_error(struct rte_tel_data *d, const char *what);

/* Parses decimal digits, at most `max`. */
bool telemetry_number(const char *text, uint64_t max, uint64_t *value);
