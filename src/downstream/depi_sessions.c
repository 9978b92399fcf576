/* SPDX-License-Identifier: BSD-3-Clause */
/* DEPI sessions: one per channel, and those of messages. */
#include <string.h>

#include <rte_ether.h>
#include <rte_malloc.h>

#include "downstream/depi.h"
#include "model/grants_times.h"
#include "model/live/live_group.h"
#include "pipeline/first_number.h"
#include "pipeline/messages.h"
#include "wire/vlan.h"

static unsigned psp_extra_bytes(const struct channel *c) {
	return c->psp_extra == PSP_EXTRA_NONE ? 0 : 2;
}

struct depi_format depi_format(const struct rphy_config *r, const struct channel *c) {
	struct depi_encap e = {.family = r->core_ip.family};
	size_t overhead = depi_encap_size(&e) + psp_header_size(0, psp_extra_bytes(c));

	return (struct depi_format){
		.overhead = (uint16_t)overhead,
		.capacity = (uint16_t)(r->mtu + RTE_ETHER_HDR_LEN - overhead),
	};
}

static void session_set(struct depi_channel *ch, const struct service_group *sg,
			const struct channel *c, bool stays) {
	const struct rphy_config *r = &sg->rphy;
	struct depi_encap e = {
		.vlan = sg->rphy_port.vlan,
		.family = r->core_ip.family,
		.dscp = r->dscp,
		.ttl = r->ttl,
		.session = c->session,
	};

	memcpy(e.source_mac, r->core_mac, sizeof(e.source_mac));
	memcpy(e.destination_mac, r->rpd_mac, sizeof(e.destination_mac));
	memcpy(e.source_ip, r->core_ip.bytes, sizeof(e.source_ip));
	memcpy(e.destination_ip, r->rpd_ip.bytes, sizeof(e.destination_ip));
	depi_encap_write(&e, 0, ch->encap);
	ch->extra = c->psp_extra;
	ch->extra_bytes = (uint8_t)psp_extra_bytes(c);
	ch->capacity = depi_format(r, c).capacity;
	ch->profile = c->profile;
	if (!stays)
		ch->sequence = first_number();
	if (!stays || c->psp_extra != PSP_EXTRA_COUNTER)
		ch->counter = 0;
}

void depi_channel_set(struct depi *d, const struct service_group *sg, uint32_t channel,
		      const struct channel *c, bool stays) {
	session_set(&d->channels[channel], sg, c, stays);
	if (d->messages != NULL)
		session_set(&d->messages[d->pseudowires + channel], sg, c, stays);
}

int depi_create(struct depi *d, const struct service_group *sg, uint32_t channels,
		struct rte_mempool *headers, struct rte_mempool *fragments) {
	const struct rphy_config *r = &sg->rphy;
	struct depi_encap e = {.family = r->core_ip.family, .vlan = sg->rphy_port.vlan};

	TAILQ_INIT(&d->open);
	channels = RTE_MAX(channels, (uint32_t)sg->channel_count);
	d->channels = rte_zmalloc("depi", channels * sizeof(*d->channels), RTE_CACHE_LINE_SIZE);
	if (d->channels == NULL)
		return -1;
	d->channel_count = channels;
	d->flush_ns = r->flush_ns;
	d->max_segments = (uint8_t)r->max_segments;
	d->family = r->core_ip.family;
	d->encap_size = (uint8_t)depi_encap_size(&e);
	d->tag_size = e.vlan != 0 ? VLAN_TAG_SIZE : 0;
	d->headers = headers;
	d->fragments = fragments;
	for (uint32_t i = 0; i < sg->channel_count; i++)
		depi_channel_set(d, sg, i, &sg->channels[i], false);
	return 0;
}

int depi_messages_create(struct depi *d, const struct service_group *sg, uint32_t pseudowires) {
	d->messages = rte_zmalloc("depi", (pseudowires + d->channel_count) * sizeof(*d->messages),
				  RTE_CACHE_LINE_SIZE);
	if (d->messages == NULL)
		return -1;
	d->pseudowires = pseudowires;
	d->message_flow = sg->upstream.scheduler.psp_flow;
	for (uint32_t i = 0; i < sg->upstream_channel_count; i++) {
		struct channel c = {.session = grants_map_session(&sg->upstream_channels[i])};

		if (upstream_channel_exists(&sg->upstream_channels[i]))
			session_set(&d->messages[i], sg, &c, false);
	}
	for (uint32_t i = 0; i < d->channel_count; i++) {
		struct depi_channel *ch = &d->messages[pseudowires + i];

		ch->flow = d->message_flow;
		if (i < sg->channel_count && channel_exists(&sg->channels[i]))
			session_set(ch, sg, &sg->channels[i], false);
	}
	return 0;
}

void depi_free(struct depi *d) {
	for (uint32_t i = 0; d->channels != NULL && i < d->channel_count; i++)
		rte_pktmbuf_free(d->channels[i].head);
	rte_free(d->channels);
	rte_free(d->messages);
	d->channels = d->messages = NULL;
}
