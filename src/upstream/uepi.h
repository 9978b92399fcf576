/* SPDX-License-Identifier: BSD-3-Clause */
/* The order of PSP packets, as others need it beside the stage. */
#pragma once

#include "upstream/tables.h"

struct upstream;

/* Gives up the first gap of a PSP flow. */
void us_packets_skip(struct upstream *u, struct us_psp_flow *f);

/* Drops the packets that wait and the open bursts of all sessions. */
void us_packets_stop(struct upstream *u);
