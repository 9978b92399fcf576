/* SPDX-License-Identifier: BSD-3-Clause */
#include "capture/live/output.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <rte_cycles.h>

#define STATISTICS_SIZE 512 /* bytes of an interface's statistics block, with a comment */
#define COMMENT TAP_COMMENT

static uint64_t time_now(void) {
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

int tap_output_open(struct tap_output *o, const struct tap_request *request) {
	*o = (struct tap_output){
		.blocks = {.bytes = malloc(TAP_OUTPUT_SIZE), .capacity = TAP_OUTPUT_SIZE},
		.max = request->size,
		.left = request->count != 0 ? request->count : UINT64_MAX,
		.base_tsc = rte_rdtsc(),
		.base_time = time_now(),
		.ns_per_tick = 1e9 / (double)rte_get_tsc_hz(),
	};
	if (o->blocks.bytes == NULL)
		return -1;
	tap_bucket_set(&o->bucket, request->rate);
	pcapng_section(&o->blocks, "vcmtsd");
	o->total = o->blocks.size;
	return 0;
}

void tap_output_free(struct tap_output *o) {
	free(o->blocks.bytes);
	o->blocks.bytes = NULL;
}

void tap_output_sent(struct tap_output *o, size_t size) {
	o->sent += size;
	if (o->sent < o->blocks.size)
		return;
	o->sent = o->blocks.size = 0;
}

/* Moves the unsent bytes to the front. */
static void output_shift(struct tap_output *o) {
	if (o->sent == 0)
		return;
	memmove(o->blocks.bytes, o->blocks.bytes + o->sent, o->blocks.size - o->sent);
	o->blocks.size -= o->sent;
	o->sent = 0;
}

/* Converts a TSC to ns since 1970. */
static uint64_t time_of(const struct tap_output *o, uint64_t tsc) {
	return o->base_time +
	       (uint64_t)(int64_t)((double)(int64_t)(tsc - o->base_tsc) * o->ns_per_tick);
}

/* Names the boundary, such as "frame out". For a drop it names the stage that dropped. */
static void boundary_text(const struct tap_source *p, const struct tap_record *r, char *out,
			  size_t size) {
	const char *stage = p->direction == DIRECTION_PORT ? "distributed"
			    : r->stage < TAP_STAGES	   ? tap_stage_name(p->direction, r->stage)
							   : "between rounds";

	if (r->reason != DROP_NONE)
		snprintf(out, size, "%s dropped", stage);
	else
		snprintf(out, size, "%s %s", stage, r->side == TAP_IN ? "in" : "out");
}

/* The number of the pcapng interface for records of this boundary or stage, and form. */
static uint16_t *interface_slot(struct tap_source *p, const struct tap_record *r) {
	unsigned slot = r->reason == DROP_NONE ? tap_boundary(r->stage, (enum tap_side)r->side)
					       : (unsigned)TAP_SLOTS + r->stage;

	return &p->interfaces[slot][r->form];
}

/* Finds the number of the record's interface, and writes its block before its first packet. Returns false
 * without space. */
static bool interface_find(struct tap_output *o, struct tap_source *p, const struct tap_record *r,
			   uint32_t *number) {
	static const uint16_t links[TAP_FORMS] = {PCAPNG_ETHERNET, PCAPNG_ETHERNET, PCAPNG_DOCSIS,
						  PCAPNG_USER0};
	static const char *const abouts[TAP_FORMS] = {
		"Ethernet", "Ethernet with CRC", "DOCSIS MAC frames",
		"pieces: bursts, segments or parts of frames"};
	uint16_t *source = interface_slot(p, r);
	char name[2 * TAP_NAME], boundary[TAP_NAME];
	struct pcapng_interface i = {
		.link = links[r->form],
		.snap = TAP_SNAP_MAX,
		.name = name,
		.about = abouts[r->form],
		.fcs = r->form == TAP_ETHERNET_FCS ? 4 : 0,
	};

	if (*source == 0) {
		if (o->interface_count == UINT16_MAX)
			return false;
		boundary_text(p, r, boundary, sizeof(boundary));
		snprintf(name, sizeof(name), "%s %s", p->name, boundary);
		if (!pcapng_interface(&o->blocks, &i))
			return false;
		*source = (uint16_t)++o->interface_count;
	}
	*number = *source - 1u;
	return true;
}

static void comment_add(char comment[COMMENT], const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static void comment_add(char comment[COMMENT], const char *format, ...) {
	size_t size = strlen(comment);
	va_list words;

	va_start(words, format);
	vsnprintf(comment + size, COMMENT - size, format, words);
	va_end(words);
}

/* Writes the comment of a packet: drop reason, boundary, modem, flow, session. */
static void comment_of(const struct tap_source *p, const struct tap_record *r,
		       char comment[COMMENT]) {
	char boundary[TAP_NAME];

	comment[0] = '\0';
	if (r->reason != DROP_NONE)
		comment_add(comment, "dropped: %s (%s); ", drop_name((enum drop_reason)r->reason),
			    drop_meaning((enum drop_reason)r->reason));
	boundary_text(p, r, boundary, sizeof(boundary));
	comment_add(comment, "%s, stage %s", p->name, boundary);
	if ((r->known & TAP_KNOWS_MODEM) != 0)
		comment_add(comment, ", modem %02x:%02x:%02x:%02x:%02x:%02x", r->mac[0], r->mac[1],
			    r->mac[2], r->mac[3], r->mac[4], r->mac[5]);
	if ((r->known & TAP_KNOWS_FLOW) != 0)
		comment_add(comment, ", flow %u", r->sfid);
	if ((r->known & TAP_KNOWS_SESSION) != 0)
		comment_add(comment, ", session 0x%08x", r->session);
}

/* Writes a record as a packet block, after its interface block. Returns false without space; then nothing is
 * added. */
static bool record_put(struct tap_output *o, struct tap_source *p, const struct tap_record *r) {
	size_t before = o->blocks.size;
	char comment[COMMENT];
	struct pcapng_packet packet = {
		.time = time_of(o, r->tsc),
		.bytes = r->bytes,
		.size = r->size,
		.wire_size = r->wire_size,
		.flags = p->direction == DIRECTION_UP	  ? PCAPNG_INBOUND
			 : p->direction == DIRECTION_DOWN ? PCAPNG_OUTBOUND
							  : 0,
		.comment = comment,
	};
	uint32_t count = o->interface_count;

	comment_of(p, r, comment);
	if (!interface_find(o, p, r, &packet.interface))
		return false;
	if (pcapng_packet(&o->blocks, &packet)) {
		o->total += o->blocks.size - before;
		return true;
	}
	if (o->interface_count != count) {
		*interface_slot(p, r) = 0;
		o->interface_count = count;
		o->blocks.size = before;
	}
	return false;
}

/* The source with the oldest record; NULL where no record is older than `until`. */
static struct tap_source *source_oldest(struct tap_source *const *sources, unsigned count,
					uint64_t until) {
	struct tap_source *oldest = NULL;
	uint32_t size;

	for (unsigned p = 0; p < count; p++) {
		const struct tap_record *r = tap_ring_first(&sources[p]->buffer->ring, &size);

		if (r == NULL || r->tsc >= until)
			continue;
		until = r->tsc;
		oldest = sources[p];
	}
	return oldest;
}

/* Upper bound of the bytes of a record and the end of the file. */
static uint64_t size_needed(const struct tap_output *o, uint32_t record) {
	uint64_t interfaces = o->interface_count - o->retired_interfaces;

	return record + COMMENT + (interfaces + 3) * STATISTICS_SIZE;
}

const char *tap_output_fill(struct tap_output *o, struct tap_source *const *sources, unsigned count,
			    uint64_t until) {
	struct tap_source *p;
	uint32_t size;

	output_shift(o);
	o->full = false;
	while (o->left > 0 && (p = source_oldest(sources, count, until)) != NULL) {
		const struct tap_record *r = tap_ring_first(&p->buffer->ring, &size);

		if (o->total + size_needed(o, r->size) > o->max || o->interface_count == UINT16_MAX)
			return TAP_END_SIZE;
		o->full = o->blocks.capacity - o->blocks.size <
			  r->size + 2 * COMMENT + STATISTICS_SIZE;
		if (o->full)
			return NULL;
		/* by the record's time: this thread may run late and find many at once */
		if (!tap_bucket_admit(&o->bucket, time_of(o, r->tsc)))
			o->limited++;
		else if (!record_put(o, p, r))
			return NULL;
		else {
			o->packets++;
			o->left--;
		}
		tap_ring_pop(&p->buffer->ring);
	}
	return o->left == 0 ? TAP_END_COUNT : NULL;
}

/* Without packets, a reader of the file still finds an interface that explains it. */
static bool interface_of_nothing(struct tap_output *o) {
	const struct pcapng_interface none = {
		.link = PCAPNG_ETHERNET,
		.snap = TAP_SNAP_MAX,
		.name = "nothing",
		.about = "no packet was captured",
	};

	if (!pcapng_interface(&o->blocks, &none))
		return false;
	o->interface_count++;
	return true;
}

/* The tally that belongs to an interface index of a source. */
static const struct tap_tally *tally_of(const struct tap_source *p, unsigned slot) {
	return &p->buffer->tallies[RTE_MIN(slot, (unsigned)TAP_DROP_SLOT)];
}

/* The first written block carries `*comment`. */
static bool source_finish(struct tap_output *o, const struct tap_source *p, uint64_t now,
			  const char **comment) {
	bool drops_done = false;

	for (unsigned slot = 0; slot < TAP_SLOTS + TAP_STAGES + 1; slot++) {
		const struct tap_tally *t = tally_of(p, slot);
		bool reported = slot >= TAP_DROP_SLOT && drops_done;

		for (unsigned form = 0; form < TAP_FORMS; form++) {
			struct pcapng_statistics s = {
				.interface = p->interfaces[slot][form] - 1u,
				.time = now,
				.counted = true,
				.received = reported ? 0 : t->matched,
				.dropped = reported ? 0 : t->missed + t->limited,
				.comment = *comment,
			};

			if (p->interfaces[slot][form] == 0)
				continue;
			if (!pcapng_statistics(&o->blocks, &s))
				return false;
			*comment = NULL;
			reported = true; /* counts cover all forms together */
			drops_done |= slot >= TAP_DROP_SLOT;
		}
	}
	return true;
}

/* Adds the counts of all boundaries of a source. */
static void tally_add(struct tap_tally *sum, const struct tap_source *p) {
	for (unsigned slot = 0; slot < TAP_SLOTS; slot++) {
		const struct tap_tally *t = &p->buffer->tallies[slot];

		sum->matched += t->matched;
		sum->limited += t->limited;
		sum->missed += t->missed;
	}
}

bool tap_output_retire(struct tap_output *o, const struct tap_source *source) {
	const char *none = NULL;
	size_t before;

	output_shift(o);
	before = o->blocks.size;
	if (!source_finish(o, source, time_of(o, rte_rdtsc()), &none)) {
		o->blocks.size = before;
		return false;
	}
	o->total += o->blocks.size - before;
	tally_add(&o->retired_tally, source);
	for (unsigned slot = 0; slot < TAP_SLOTS + TAP_STAGES + 1; slot++) {
		for (unsigned form = 0; form < TAP_FORMS; form++)
			o->retired_interfaces += source->interfaces[slot][form] != 0;
	}
	return true;
}

/* The counts so far, in a text that `vcmts capture` parses. */
static void sum_text(struct tap_output *o, struct tap_source *const *sources, unsigned count,
		     char text[COMMENT]) {
	struct tap_tally sum = o->retired_tally;

	sum.limited += o->limited;
	for (unsigned p = 0; p < count; p++)
		tally_add(&sum, sources[p]);
	o->missed = sum.missed;
	snprintf(text, COMMENT,
		 "captured: %llu, matched: %llu, beyond the rate: %llu, missed: %llu",
		 (unsigned long long)o->packets, (unsigned long long)sum.matched,
		 (unsigned long long)sum.limited, (unsigned long long)sum.missed);
}

void tap_output_report(struct tap_output *o, struct tap_source *const *sources, unsigned count) {
	const struct pcapng_statistics s = {.time = time_of(o, rte_rdtsc()),
					    .comment = o->reported};
	char text[COMMENT];
	size_t before;

	sum_text(o, sources, count, text);
	if (o->interface_count == 0 || strcmp(text, o->reported) == 0 ||
	    o->total + size_needed(o, 0) > o->max)
		return;
	output_shift(o);
	before = o->blocks.size;
	strcpy(o->reported, text);
	pcapng_statistics(&o->blocks, &s); /* or later, when there is space */
	o->total += o->blocks.size - before;
}

bool tap_output_finish(struct tap_output *o, struct tap_source *const *sources, unsigned count,
		       const char *why) {
	uint64_t now = time_of(o, rte_rdtsc());
	char comment[COMMENT + PCAPNG_TEXT], text[COMMENT];
	const char *left = comment;
	size_t before;
	bool good;

	output_shift(o);
	before = o->blocks.size;
	sum_text(o, sources, count, text);
	snprintf(comment, sizeof(comment), "%s; end: %s", text, why);
	good = o->interface_count > 0 || interface_of_nothing(o);
	for (unsigned p = 0; p < count && good; p++)
		good = source_finish(o, sources[p], now, &left);
	if (good && left != NULL)
		good = pcapng_statistics(&o->blocks, &(struct pcapng_statistics){
							     .time = now,
							     .comment = comment,
						     });
	if (!good)
		o->blocks.size = before;
	return good;
}
