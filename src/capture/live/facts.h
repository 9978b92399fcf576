/* SPDX-License-Identifier: BSD-3-Clause */
/* What a worker knows about a packet: its modem, flow and session, and the bytes that complete it. */
#pragma once

#include <stdint.h>

#include <rte_mbuf.h>

#include "capture/live/names.h"
#include "capture/live/record.h"
#include "capture/live/stages.h"
#include "downstream/downstream.h"
#include "upstream/upstream.h"

#define TAP_HEAD 64 /* bytes of a rebuilt header */

/* Tables for the lookup of packets: one direction of a group, or none for a port. */
struct tap_tables {
	const struct downstream *d;
	const struct upstream *u;
	const struct tap_names *names; /* NULL for a port */
};

struct tap_facts {
	uint8_t known; /* bits: TAP_KNOWS_MODEM, .. */
	uint32_t modem; /* indexes, TAP_NONE if not in a table; valid as `known` says */
	uint32_t flow;
	uint32_t session; /* ID */
};

/* Reads the packet's fields that its kind defines. */
void tap_facts_read(const struct tap_tables *t, enum tap_kind kind, struct rte_mbuf *m,
		    struct tap_facts *out);

/* The bytes of a packet: a rebuilt header, bytes of the buffer before its data, its data. */
struct tap_shape {
	enum tap_form form;
	uint8_t head_size;
	uint8_t head[TAP_HEAD];
	uint16_t before; /* bytes before the data that belong to it */
	uint16_t trim; /* bytes at its end that are not written yet */
};

/* Sets `f->session` where only the outer headers carry it. */
void tap_shape_read(enum tap_kind kind, struct rte_mbuf *m, struct tap_facts *f,
		    struct tap_shape *out);
