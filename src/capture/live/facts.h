/* SPDX-License-Identifier: BSD-3-Clause */
/* What a worker can tell of a packet: whose it is, and which bytes make it whole. */
#pragma once

#include <stdint.h>

#include <rte_mbuf.h>

#include "capture/live/names.h"
#include "capture/live/record.h"
#include "capture/live/stages.h"
#include "downstream/downstream.h"
#include "upstream/upstream.h"

#define TAP_HEAD 64 /* bytes of a header that is made again */

/* Where its packets are looked up: one of both, or neither for a port. */
struct tap_tables {
	const struct downstream *d;
	const struct upstream *u;
	const struct tap_names *names; /* NULL: of a port */
};

struct tap_facts {
	uint8_t known; /* bits: TAP_KNOWS_MODEM, .. */
	uint32_t modem; /* places, TAP_NOBODY where they are in no table; see `known` */
	uint32_t flow;
	uint32_t session; /* ID */
};

/* Reads what the packet's fields say, as its kind allows. */
void tap_facts_read(const struct tap_tables *t, enum tap_kind kind, struct rte_mbuf *m,
		    struct tap_facts *out);

/* The bytes of a packet: a header that was made, bytes of the buffer in front of its data, its data. */
struct tap_shape {
	enum tap_form form;
	uint8_t head_size;
	uint8_t head[TAP_HEAD];
	uint16_t before; /* bytes in front of the data that belong to it */
	uint16_t cut; /* bytes at its end that are not written yet */
};

/* `f->session` becomes known where only the outer headers tell it. */
void tap_shape_read(enum tap_kind kind, struct rte_mbuf *m, struct tap_facts *f,
		    struct tap_shape *out);
