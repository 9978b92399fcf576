/* SPDX-License-Identifier: BSD-3-Clause */
/* How answers of the telemetry are filled: dictionaries, one in another at most. */
#pragma once

#include <stdint.h>

#include <rte_telemetry.h>

void telemetry_put(struct rte_tel_data *d, const char *name, uint64_t value);
void telemetry_put_text(struct rte_tel_data *d, const char *name, const char *text);

/* Makes of `d` an answer that says what was wrong with the question. Returns 0. */
int telemetry_complain(struct rte_tel_data *d, const char *what);

/* A dictionary inside of `d`, under a name or a number; NULL without memory. */
struct rte_tel_data *telemetry_inner(struct rte_tel_data *d, const char *name);
struct rte_tel_data *telemetry_numbered(struct rte_tel_data *d, uint64_t number);
