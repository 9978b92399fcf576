/* SPDX-License-Identifier: BSD-3-Clause */
/* Converts the frames of a capture file to packets for modems. */
#include "captures/capture_replay.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "captures/capture_destinations.h"
#include "core/candidates.h"
#include "core/evaluate.h"
#include "wire/bytes.h"
#include "wire/crc32.h"

#define PACKETS_FIRST 1024
#define BYTES_FIRST 1048576

struct loader {
	struct capture_replay *r;
	const struct service_group *sg;
	const char *name;
	struct capture_destinations destinations;
	struct captured_frame frame;
	size_t max_size;
};

static bool capture_no_memory(const struct loader *l) {
	fprintf(stderr, "%s: no memory for more than %u packets\n", l->name, l->r->replayed.count);
	return false;
}

static bool capture_reserve(struct loader *l, uint32_t size) {
	struct replayed *r = &l->r->replayed;

	if (r->count == CAPTURE_PACKETS_MAX || r->bytes_used + size > CAPTURE_BYTES_MAX) {
		fprintf(stderr,
			"%s: more than %u packets or %.0f GB to replay; editcap -r selects a part "
			"of a capture\n",
			l->name, CAPTURE_PACKETS_MAX, CAPTURE_BYTES_MAX / 1073741824.0);
		return false;
	}
	if (r->count == r->capacity) {
		uint32_t capacity = r->capacity == 0 ? PACKETS_FIRST : 2 * r->capacity;
		struct replayed_packet *packets = realloc(r->packets, capacity * sizeof(*packets));

		if (packets == NULL)
			return capture_no_memory(l);
		r->packets = packets;
		r->capacity = capacity;
	}
	if (r->bytes_used + size > r->bytes_capacity) {
		uint64_t capacity = r->bytes_capacity == 0 ? BYTES_FIRST : 2 * r->bytes_capacity;
		uint8_t *bytes = realloc(r->bytes, capacity);

		if (bytes == NULL)
			return capture_no_memory(l);
		r->bytes = bytes;
		r->bytes_capacity = capacity;
	}
	return true;
}

static uint8_t class_of(const struct evaluation *e) {
	if (e->classifier != NO_RULE)
		return CLASS_CLASSIFIED;
	return e->group != NO_RULE ? CLASS_PERMIT : CLASS_UNMATCHED;
}

static bool capture_keep(struct loader *l, uint32_t modem, const struct evaluation *e) {
	const struct captured_frame *f = &l->frame;
	struct replayed *r = &l->r->replayed;
	struct capture_counts *counts = &l->r->counts;

	if (!capture_reserve(l, f->size))
		return false;
	memcpy(r->bytes + r->bytes_used, f->bytes, f->size);
	r->packets[r->count++] = (struct replayed_packet){
		.offset = r->bytes_used,
		.modem = modem,
		.flow = (uint16_t)e->flow,
		.size = f->size,
		.tag_at = f->tag_at,
		.headers = f->headers,
		.checksum_at = f->checksum_at,
		.sum = f->sum,
		.class = class_of(e),
		.protocol = f->fields.protocol,
	};
	r->bytes_used += f->size;
	counts->packets++;
	counts->bytes += f->size;
	counts->lengthened += f->lengthened;
	counts->untagged += f->untagged;
	if (f->size > l->r->largest)
		l->r->largest = f->size;
	return true;
}

/* Returns false after a message. A skipped packet is no error. */
static bool capture_add(struct loader *l, const struct capture_packet *captured) {
	struct captured_frame *f = &l->frame;
	uint64_t *skipped = l->r->counts.skipped;
	enum capture_skip verdict = capture_frame_read(captured->data, captured->size,
						       captured->wire_size, l->max_size, f);
	struct modem_address to;
	struct evaluation e;

	if (verdict != CAPTURE_ACCEPTED) {
		skipped[verdict]++;
		return true;
	}
	switch (capture_destinations_find(&l->destinations, f->fields.family, f->fields.destination,
					  &to)) {
	case DESTINATION_FOUND: break;
	case DESTINATION_NONE: skipped[CAPTURE_SKIP_NO_ADDRESS]++; return true;
	case DESTINATION_NO_MEMORY: return capture_no_memory(l);
	}
	capture_frame_finish(f, to.address->bytes, packet_cmts_mac(l->sg), traffic_source_mac);
	e = evaluate(l->sg, &l->sg->modems[to.modem], &f->fields);
	if (e.action == FILTER_PERMIT)
		return capture_keep(l, to.modem, &e);
	skipped[CAPTURE_SKIP_DENIED]++;
	return true;
}

static bool capture_read_all(struct loader *l, pcap_t *in) {
	struct capture_packet packet;

	/* Packets before a broken record are replayed. */
	while (capture_next(in, l->name, &packet) == 1) {
		if (!capture_add(l, &packet))
			return false;
	}
	l->r->counts.destinations = l->destinations.count;
	if (l->r->replayed.count > 0)
		return true;
	fprintf(stderr, "%s: no packet can be replayed: ", l->name);
	capture_replay_describe(l->r, NULL, stderr);
	return false;
}

int capture_replay_read(struct capture_replay *r, pcap_t *in, const char *name,
			const struct service_group *sg) {
	struct loader *l = calloc(1, sizeof(*l));
	bool good = false;

	*r = (struct capture_replay){0};
	if (l == NULL) {
		fprintf(stderr, "%s: no memory\n", name);
		return -1;
	}
	l->r = r;
	l->sg = sg;
	l->name = name;
	l->max_size = sg->max_frame - ETHERNET_CRC_SIZE;
	if (capture_destinations_create(&l->destinations, sg) != 0)
		capture_no_memory(l);
	else
		good = capture_read_all(l, in);
	capture_destinations_free(&l->destinations);
	free(l);
	if (!good)
		capture_replay_free(r);
	return good ? 0 : -1;
}

int capture_replay_load(struct capture_replay *r, const char *name,
			const struct service_group *sg) {
	pcap_t *in = capture_open(name);
	int ret;

	if (in == NULL)
		return -1;
	ret = capture_replay_read(r, in, name, sg);
	pcap_close(in);
	return ret;
}

void capture_replay_free(struct capture_replay *r) {
	free(r->replayed.packets);
	free(r->replayed.bytes);
	*r = (struct capture_replay){0};
}

void capture_replay_describe(const struct capture_replay *r, const char *name, FILE *out) {
	const struct capture_counts *c = &r->counts;
	const char *separator = ": ";
	uint64_t skipped = 0;

	for (int i = 0; i < CAPTURE_SKIPS; i++)
		skipped += c->skipped[i];
	if (name != NULL)
		fprintf(out,
			"%s: %" PRIu64 " packets to %" PRIu64 " addresses are replayed (%" PRIu64
			" lengthened, %" PRIu64 " without their VLAN tags), ",
			name, c->packets, c->destinations, c->lengthened, c->untagged);
	fprintf(out, "%" PRIu64 " skipped", skipped);
	for (int i = 0; i < CAPTURE_SKIPS; i++) {
		if (c->skipped[i] == 0)
			continue;
		fprintf(out, "%s%" PRIu64 " %s", separator, c->skipped[i], capture_skip_names[i]);
		separator = ", ";
	}
	fputc('\n', out);
}

double capture_replay_mean(const struct capture_replay *r) {
	return (double)r->counts.bytes / (double)r->counts.packets;
}
