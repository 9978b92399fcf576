/* SPDX-License-Identifier: BSD-3-Clause */
/* The options of vcmtsd run. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "crypto/providers.h"
#include "model/server_config.h"
#include "platform/log/log.h"
#include "platform/platform.h"

struct run_options {
	const char *config;
	struct server_devices devices;
	const char *json;
	const char *ready; /* file to create when the server receives packets */
	const char *control_socket; /* NULL: default path */
	unsigned control_mode;
	const char *metrics; /* ADDRESS:PORT; NULL: no endpoint */
	enum crypto_isa crypto_isa;
	enum platform_iova iova;
	struct log_options log;
	/* Overrides the file's `power`. */
	struct run_power {
		bool has_idle, has_policy, has_driver;
		enum idle_kind idle;
		enum power_policy policy;
		enum power_driver driver;
	} power;
	uint64_t duration_ns; /* 0: until a signal */
	uint16_t first_number; /* of DSIDs and PSP sessions */
	bool no_cycles;
	bool flows;
	bool latency;
};

/* Parses the arguments. A mistake, or --help, ends the program after a message. `o` points into
 * `argv` afterwards. */
void run_options_parse(struct run_options *o, int argc, char **argv);
