/* SPDX-License-Identifier: BSD-3-Clause */
#include "depi_reader.h"

#include "wire/ip.h"
#include "wire/l2tpv3.h"
#include "wire/psp.h"
#include "wire/vlan.h"

#include "fixture.h"
#include "test.h"

#define DEPI_MAX (18 + 9000)
#define MIN_FRAME 60 /* bytes of an Ethernet frame without its CRC */

/* Reads the frame, removes its VLAN tag, and parses the L2TPv3 header. */
static struct l2tp_data parse(const struct rte_mbuf *m, uint8_t *bytes, size_t *size,
			      uint16_t *vlan) {
	struct l2tp_data data;

	*size = fixture_packet_read(m, bytes, DEPI_MAX);
	*vlan = 0;
	if (load_be16(bytes + VLAN_ADDRESSES) == ETHERTYPE_VLAN) {
		*vlan = load_be16(bytes + VLAN_ADDRESSES + 2);
		*size -= VLAN_TAG_SIZE;
		memmove(bytes + VLAN_ADDRESSES, bytes + VLAN_ADDRESSES + VLAN_TAG_SIZE,
			*size - VLAN_ADDRESSES);
	}
	assert_int_equal(l2tp_parse(bytes, *size, &data), L2TP_OK);
	return data;
}

struct depi_reader depi_reader_create(const struct service_group *sg, uint32_t channel) {
	const struct channel *c = &sg->channels[channel];

	return (struct depi_reader){
		.session = c->session,
		.extra = c->psp_extra,
		.vlan = sg->rphy_port.vlan,
		.profile = c->profile,
		.family = sg->rphy.core_ip.family,
		.mtu = sg->rphy.mtu,
		.max_segments = sg->rphy.max_segments,
	};
}

uint32_t depi_session(const struct rte_mbuf *m) {
	uint8_t bytes[DEPI_MAX];
	uint16_t vlan;
	size_t size;

	return parse(m, bytes, &size, &vlan).session;
}

static void check_extra(struct depi_reader *r, const struct psp *psp) {
	if (r->extra == PSP_EXTRA_NONE) {
		assert_null(psp->extra);
		return;
	}
	assert_int_equal(psp->extra[0], 0);
	assert_int_equal(psp->extra[1] & 0xf, r->profile);
	if (r->extra == PSP_EXTRA_STATIC)
		assert_int_equal(psp->extra[1] >> 4, 0);
	else
		assert_int_equal(psp->extra[1] >> 4, r->counter++ & 0xf);
}

static void add_segment(struct depi_reader *r, const struct psp_segment *s) {
	if (s->begin) {
		r->incomplete += r->open;
		r->open = true;
		r->size = 0;
	}
	assert_true(r->open);
	assert_true(s->length > 0);
	assert_true(r->size + s->length <= sizeof(r->bytes));
	memcpy(r->bytes + r->size, s->data, s->length);
	r->size += s->length;
	r->fragments += !s->begin || !s->end;
	if (!s->end)
		return;
	r->open = false;
	r->frames++;
	r->frame(r->ctx, r->bytes, r->size);
}

struct depi_contents depi_read(struct depi_reader *r, const struct rte_mbuf *m) {
	uint8_t bytes[DEPI_MAX];
	struct depi_contents contents = {0};
	struct psp_cursor cursor = {0};
	struct psp_segment segment;
	struct l2tp_data data;
	struct psp psp;
	size_t size, end;
	uint16_t vlan;

	fixture_packet_check(m);
	data = parse(m, bytes, &size, &vlan);
	assert_int_equal(vlan, r->vlan);
	assert_true(size <= ETHERNET_HEADER + r->mtu);
	assert_int_equal(data.family, r->family);
	assert_int_equal(data.session, r->session);
	/* only padding to the minimum frame size may follow the PSP payload */
	end = (size_t)(data.payload + data.payload_size - bytes);
	assert_int_equal(size, end < MIN_FRAME ? MIN_FRAME : end);
	for (size_t i = end; i < size; i++)
		assert_int_equal(bytes[i], 0);
	assert_int_equal(psp_parse(data.payload, data.payload_size,
				   r->extra == PSP_EXTRA_NONE ? 0 : 2, &psp),
			 PSP_OK);
	assert_true(psp.sequence_valid);
	assert_int_equal(psp.flow, 0);
	assert_int_equal(psp.sequence, r->sequence++);
	assert_in_range(psp.count, 0, r->max_segments);
	check_extra(r, &psp);
	while (psp_next(&psp, &cursor, &segment)) {
		add_segment(r, &segment);
		contents.ends += segment.end;
	}
	contents.segments = psp.count;
	contents.space = ETHERNET_HEADER + r->mtu - end;
	r->packets++;
	r->segments += psp.count;
	return contents;
}
