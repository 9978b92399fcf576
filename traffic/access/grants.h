/* SPDX-License-Identifier: BSD-3-Clause */
/* Opportunities that MAPs give to one flow: for data, requests (polls) and station maintenance. */
#pragma once

#include "access/access_parts.h"

/* What an element of a MAP gives to a flow. */
struct grants_element {
	uint16_t sid;
	uint8_t iuc;
	uint64_t minislot;
	uint32_t minislots;
};

/* Takes an opportunity, if its modem has heard the MAP in time. */
void grants_add(struct access *a, const struct access_line *l, const struct access_heard *map,
		const struct grants_element *e);

/* An opportunity is filled: writes what is sent into `out`. Returns the flow, or NULL where nothing is sent. */
struct access_queue *grants_run(struct access *a, uint32_t grant, struct access_event *out);

/* A grant pending: the CMTS has heard the flow. */
void grants_pending(struct access *a, const struct access_line *l, const struct access_heard *map,
		    uint16_t sid, uint64_t ack);
