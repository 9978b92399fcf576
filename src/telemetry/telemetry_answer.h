/* SPDX-License-Identifier: BSD-3-Clause */
/* What answers of the telemetry are made of, and what their parameters are read by. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <rte_telemetry.h>
#include <rte_version.h>

#define TELEMETRY_NUMBER 24 /* room for a number in decimals */

void telemetry_put(struct rte_tel_data *d, const char *name, uint64_t value);
void telemetry_put_text(struct rte_tel_data *d, const char *name, const char *text);

/* To an array that was started as one of TELEMETRY_UINT. */
#if RTE_VERSION >= RTE_VERSION_NUM(23, 3, 0, 0)
#define TELEMETRY_UINT RTE_TEL_UINT_VAL
#else
#define TELEMETRY_UINT RTE_TEL_U64_VAL
#endif
void telemetry_add(struct rte_tel_data *array, uint64_t value);

/* The answer is {"error": what}. Returns 0, as a callback does then. */
int telemetry_complain(struct rte_tel_data *d, const char *what);

/* Decimal digits only, at most `most`. */
bool telemetry_number(const char *text, uint64_t most, uint64_t *value);
