/* SPDX-License-Identifier: BSD-3-Clause */
/* The command line of vcmts-traffic. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "core/shape.h"
#include "impairments/impair_shares.h"

struct options {
	const char *config;
	const char *network; /* device */
	const char *rphy; /* device */
	const char *mix;
	const char *replay; /* capture to replay instead of the mix; or NULL */
	const char *json; /* NULL: not written */
	const char *unexpected; /* capture of unexpected frames; NULL: not written */
	const char *witness; /* capture of packets for an independent decoder; NULL: not written */
	uint32_t witness_packets; /* per direction */
	uint64_t rate; /* bits per second; 0 = max */
	const char *upstream_mix;
	uint64_t upstream_rate; /* bits per second; 0 = max */
	bool upstream_rate_given;
	double upstream_share; /* of rate; below 0: not given */
	bool upstream;
	const char *shape_text; /* NULL: constant */
	const char *upstream_shape_text; /* NULL: as downstream */
	struct shape shape;
	struct shape upstream_shape;
	struct impair_shares impair; /* of the upstream */
	bool scheduled; /* modems use the grants of the upstream scheduler */
	bool no_downstream;
	bool send_only; /* receives nothing */
	uint64_t duration; /* ns */
	uint64_t seed;
	uint32_t first_number; /* first value of all sequence numbers */
	uint32_t core;
	uint32_t main_core;
	uint32_t permit_permille;
	uint32_t classify_permille;
	uint32_t flows; /* 5-tuples downstream; 0: one per target */
	uint32_t refuse_every; /* as in struct traffic_options */
	const char *follow; /* control socket of a server whose configuration changes; or NULL */
	bool check; /* only validates */
	bool trials; /* runs trials; the requests define what is sent */
};

/* Fills in `o`, or prints a message or the help and ends the process: 2 for a mistake. */
void options_parse(struct options *o, int argc, char **argv);
