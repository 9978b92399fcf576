/* SPDX-License-Identifier: BSD-3-Clause */
/* Templates of the subscribers' packets, and the choice of a template by sequence number. */
#include "modems/uplink_packets.h"

#include <stdio.h>
#include <stdlib.h>

#include <rte_cycles.h>
#include <rte_memcpy.h>

#include "model/units.h"
#include "wire/ip.h"

#define SERVERS 250 /* addresses of servers, last byte 1..250 */
#define SERVER_PORT 443
#define TOS_STEP 37 /* between consecutive addresses; odd, so that all values occur */
#define SUBSCRIBER_PORTS 49152 /* first source port */

static const uint8_t router_mac[6] = {0x02, 0x00, 0x00, 0x00, 0xff, 0x01};
static const uint8_t servers_v4[4] = {198, 18, 0, 0};
static const uint8_t servers_v6[16] = {0x20, 0x01, 0x0d, 0xb8, 0xff, 0xff};

static void template_create(struct packet_template *t, const struct modem *m,
			    const struct ip_address *address, uint32_t number, uint8_t protocol) {
	struct packet_address a = {
		.family = address->family,
		.protocol = protocol,
		.tos = (uint8_t)(number * TOS_STEP),
		.source_port = (uint16_t)(SUBSCRIBER_PORTS + number % 16384),
		.destination_port = SERVER_PORT,
	};
	uint8_t cpe_mac[6];

	memcpy(cpe_mac, m->mac, 6);
	cpe_mac[0] ^= 0x04; /* the CPE's address differs from its modem's in one bit */
	memcpy(a.source, address->bytes, sizeof(a.source));
	if (a.family == 4) {
		memcpy(a.destination, servers_v4, sizeof(servers_v4));
		a.destination[3] = (uint8_t)(1 + number % SERVERS);
	} else {
		memcpy(a.destination, servers_v6, sizeof(servers_v6));
		a.destination[15] = (uint8_t)(1 + number % SERVERS);
	}
	packet_template_create(t, &a, cpe_mac, router_mac);
}

bool uplink_sources_create(struct uplink_sources *s, const struct service_group *sg) {
	uint32_t count = 0;

	*s = (struct uplink_sources){0};
	for (size_t m = 0; m < sg->modem_count; m++)
		count += (uint32_t)sg->modems[m].address_count;
	s->templates = calloc(2 * (size_t)count + 1, sizeof(*s->templates));
	s->modems = calloc(sg->modem_count + 1, sizeof(*s->modems));
	if (s->templates == NULL || s->modems == NULL)
		return false;
	s->modem_count = (uint32_t)sg->modem_count;
	count = 0;
	for (size_t m = 0; m < sg->modem_count; m++) {
		const struct modem *modem = &sg->modems[m];

		s->modems[m].first = count;
		s->modems[m].addresses = (uint32_t)modem->address_count;
		for (size_t a = 0; a < modem->address_count; a++, count += 2) {
			template_create(&s->templates[count], modem, &modem->addresses[a],
					count / 2, IP_PROTOCOL_UDP);
			template_create(&s->templates[count + 1], modem, &modem->addresses[a],
					count / 2, IP_PROTOCOL_TCP);
		}
	}
	return true;
}

void uplink_sources_free(struct uplink_sources *s) {
	free(s->templates);
	free(s->modems);
	*s = (struct uplink_sources){0};
}

static bool sizes_create(struct uplink_packets *p, const struct mix *mix, struct random *random) {
	struct deck deck;

	if (mix_deck(mix, &deck) != 0)
		return false;
	p->sizes = calloc(deck.size, sizeof(*p->sizes));
	p->deck_size = deck.size;
	for (uint32_t i = 0; p->sizes != NULL && i < deck.size; i++)
		p->sizes[i] = (uint16_t)mix->sizes[deck_draw(&deck, random)];
	deck_free(&deck);
	return p->sizes != NULL;
}

static bool template_fits(const struct packet_template *t, uint32_t size) {
	return t->size + (uint32_t)PACKET_TAG_SIZE <= size;
}

static bool source_fits(const struct uplink_sources *s, uint32_t modem, uint32_t size) {
	const struct uplink_source *source = &s->modems[modem];

	for (uint32_t a = 0; a < source->addresses; a++) {
		if (template_fits(&s->templates[source->first + 2 * a], size))
			return true;
	}
	return source->addresses == 0; /* such a modem sends nothing, so every size fits */
}

bool uplink_sources_fit(const struct uplink_sources *s, const struct mix *mix, uint32_t modem) {
	for (unsigned i = 0; i < mix->count; i++) {
		if (!source_fits(s, modem, mix->sizes[i]))
			return false;
	}
	return true;
}

void uplink_packets_apply(struct uplink_packets *p, struct uplink_sources *next) {
	struct uplink_sources before = p->sources;

	before.magic = p->magic++;
	p->sources = *next;
	p->sources.older = next;
	*next = before;
}

const struct uplink_sources *uplink_packets_sources(const struct uplink_packets *p,
						    uint32_t magic) {
	const struct uplink_sources *s = p->sources.older;

	if (magic == p->magic)
		return &p->sources;
	while (s != NULL && s->magic != magic)
		s = s->older;
	return s;
}

static bool packet_sizes_fit(const struct uplink_packets *p, const struct service_group *sg,
			     const struct mix *mix) {
	for (size_t m = 0; m < sg->modem_count; m++) {
		for (unsigned i = 0; i < mix->count; i++) {
			char modem[UNITS_TEXT_SIZE];

			if (source_fits(&p->sources, (uint32_t)m, mix->sizes[i]))
				continue;
			units_format_mac(sg->modems[m].mac, modem);
			fprintf(stderr,
				"traffic: upstream mix: frames of %u bytes are too short for "
				"the addresses of modem %s\n",
				mix->sizes[i], modem);
			return false;
		}
	}
	return true;
}

int uplink_packets_create(struct uplink_packets *p, const struct service_group *sg,
			  const struct mix *mix, uint64_t seed) {
	struct random random = {seed};

	memset(p, 0, sizeof(*p));
	/* The TSC makes the magic unique: late packets of an earlier process with this seed must not match. */
	p->first_magic = p->magic = (uint32_t)(random_next(&random) ^ rte_rdtsc());
	pattern_create(&p->pattern, &random);
	if (!uplink_sources_create(&p->sources, sg) || !sizes_create(p, mix, &random)) {
		fprintf(stderr, "traffic: no memory for the upstream packets\n");
		return -1;
	}
	return packet_sizes_fit(p, sg, mix) ? 0 : -1;
}

int uplink_packets_restart(struct uplink_packets *p, const struct service_group *sg,
			   const struct mix *mix) {
	struct uplink_packets with = *p;
	struct random random = {p->magic};

	if (!packet_sizes_fit(p, sg, mix))
		return -1;
	if (!sizes_create(&with, mix, &random)) {
		fprintf(stderr, "traffic: no memory for the upstream packets\n");
		return -1;
	}
	free(p->sizes);
	p->sizes = with.sizes;
	p->deck_size = with.deck_size;
	return 0;
}

void uplink_packets_free(struct uplink_packets *p) {
	free(p->sizes);
	uplink_sources_free(&p->sources);
	rewrites_free(&p->rewrites);
	memset(p, 0, sizeof(*p));
}

/* Takes the next address that fits `size`: one pass over all addresses with UDP, one with TCP; UDP if TCP
 * does not fit. The modem must have such an address. */
static const struct packet_template *packet_choose(const struct uplink_packets *p,
						   const struct uplink_sources *s, uint32_t modem,
						   uint32_t sequence, uint32_t size) {
	const struct uplink_source *source = &s->modems[modem];
	/* Sizes repeat after a deck. Each deck begins with another address, so that every address gets all
	 * sizes. */
	uint32_t step = sequence + sequence / p->deck_size;
	bool tcp = step / source->addresses % 2 == 1;
	const struct packet_template *t;

	do
		t = &s->templates[source->first + 2 * (step++ % source->addresses)];
	while (!template_fits(t, size));
	return tcp && template_fits(t + 1, size) ? t + 1 : t;
}

uint32_t uplink_packet_write(const struct uplink_packets *p, uint32_t modem,
			     const struct packet_tag *tag, uint8_t *out) {
	uint32_t size = uplink_packet_size(p, tag->target, tag->sequence);
	uint32_t start = pattern_start(tag->target, tag->sequence);
	const struct packet_template *t = packet_choose(p, &p->sources, modem, tag->sequence, size);
	uint32_t headers = t->size + PACKET_TAG_SIZE;

	packet_start_write(t, tag, &p->pattern, start, size, out);
	rte_memcpy(out + headers, p->pattern.bytes + start, size - headers);
	return size;
}

bool uplink_packet_is(const struct uplink_packets *p, uint32_t modem, const struct packet_tag *tag,
		      const uint8_t *frame, uint32_t size) {
	const struct uplink_sources *sources = uplink_packets_sources(p, tag->magic);
	uint32_t start = pattern_start(tag->target, tag->sequence);
	const struct packet_template *t;
	uint8_t expected[PACKET_START_MAX];
	uint32_t headers;

	if (sources == NULL || size != uplink_packet_size(p, tag->target, tag->sequence) ||
	    modem >= sources->modem_count || sources->modems[modem].addresses == 0)
		return false;
	t = packet_choose(p, sources, modem, tag->sequence, size);
	headers = t->size + PACKET_TAG_SIZE;
	packet_start_write(t, tag, &p->pattern, start, size, expected);
	return expected_rewrite(&p->rewrites, tag->magic, tag->target, expected, frame, 0,
				headers) &&
	       memcmp(frame + headers, p->pattern.bytes + start, size - headers) == 0;
}
