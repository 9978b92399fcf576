/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Answers to requests. A request is lost if the ack times of the MAPs of all channels of the flow have
 * passed it and it was neither granted nor reported pending. The flow then requests again (MULPI 3.1,
 * 7.2.1.5.2).
 */
#pragma once

#include "access/access_parts.h"

/* Makes a flow with requests wait for their answer. */
void answers_watch(struct access *a, struct access_queue *f);

/* Processes the ack time `ack` of a MAP of a channel. */
void answers_acknowledge(struct access *a, struct access_line *l,
			 const struct access_map_reception *map, uint64_t ack);

/* Handles an ack time that the flow's modem has received. Returns whether the flow must discard a
 * packet. */
bool answers_run(struct access *a, struct access_queue *f);
