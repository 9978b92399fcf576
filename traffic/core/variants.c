/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds candidate values from the edges of the rules' ranges; the evaluator checks each combination. */
#include "core/variants.h"

#include "wire/bytes.h"

#define VALUES 65536u

static uint8_t *source_low(struct packet_address *p) {
	return p->source + (p->family == 4 ? 2 : 14);
}

static bool has_ports(const struct packet_address *p) {
	return p->protocol == IP_PROTOCOL_UDP || p->protocol == IP_PROTOCOL_TCP;
}

void variant_apply(const struct packet_variant *variant, struct packet_address *packet) {
	store_be16(source_low(packet), variant->source_low);
	if (!has_ports(packet))
		return;
	packet->source_port = variant->source_port;
	packet->destination_port = variant->destination_port;
}

static struct packet_variant variant_of(const struct packet_address *packet) {
	struct packet_address copy = *packet;

	return (struct packet_variant){
		.source_low = load_be16(source_low(&copy)),
		.source_port = packet->source_port,
		.destination_port = packet->destination_port,
	};
}

static uint16_t *field_of(struct packet_variant *v, enum variant_field field) {
	switch (field) {
	case VARIANT_SOURCE_PORT: return &v->source_port;
	case VARIANT_SOURCE_LOW: return &v->source_low;
	case VARIANT_DESTINATION_PORT:
	case VARIANT_FIELDS: break;
	}
	return &v->destination_port;
}

static bool is_same(const struct variants *v, const struct packet_variant *variant) {
	const struct evaluation *own = v->evaluation;
	struct packet_address packet = *v->packet;
	struct frame_fields fields;
	struct evaluation e;

	variant_apply(variant, &packet);
	fields = packet_fields(&packet);
	e = evaluate(v->sg, v->modem, &fields);
	return e.action == own->action && e.group == own->group && e.rule == own->rule &&
	       e.classifier == own->classifier && e.flow == own->flow;
}

/* The range of values of this 16-bit field that the match allows. */
static struct port_range range_of(const struct match *m, enum variant_field field) {
	unsigned bits = m->source.address.family == 4 ? 32 : 128; /* bits of the address */
	const uint8_t *low = m->source.address.bytes + bits / 8 - 2;
	uint32_t hosts;

	if (field == VARIANT_SOURCE_PORT)
		return m->source_ports;
	if (field == VARIANT_DESTINATION_PORT)
		return m->destination_ports;
	if (m->source.length <= bits - 16)
		return (struct port_range){0, UINT16_MAX};
	hosts = (1u << (bits - m->source.length)) - 1;
	return (struct port_range){load_be16(low) & (uint16_t)~hosts,
				   (uint16_t)(load_be16(low) | hosts)};
}

static uint32_t match_edge(const struct match *m, enum variant_field field, uint32_t above,
			   uint32_t min) {
	struct port_range range = range_of(m, field);
	uint32_t edges[2] = {range.low, range.high + 1u};

	for (int i = 0; i < 2; i++) {
		if (edges[i] > above && edges[i] < min)
			min = edges[i];
	}
	return min;
}

/* The smallest value above `value` at which a rule begins or ceases to match. */
static uint32_t next_edge(const struct variants *v, enum variant_field field, uint32_t value) {
	const struct modem *m = v->modem;
	uint32_t min = VALUES;

	for (size_t g = 0; g < m->filter_group_count; g++) {
		const struct filter_group *group = &v->sg->filter_groups[m->filter_groups[g]];

		for (size_t r = 0; r < group->rule_count; r++)
			min = match_edge(&group->rules[r].match, field, value, min);
	}
	for (size_t c = 0; c < m->classifier_count; c++)
		min = match_edge(&m->classifiers[c].match, field, value, min);
	return min;
}

static void span_add(struct variant_values *values, uint32_t low, uint32_t high, uint16_t own) {
	uint32_t n = values->span_count;

	if (n > 0 && values->spans[n - 1].high + 1u == low) {
		n--;
	} else {
		values->spans[n].low = (uint16_t)low;
		values->span_count++;
	}
	values->spans[n].high = (uint16_t)high;
	if (own >= low && own <= high)
		values->own = values->total + own - low;
	values->total += high - low + 1;
}

static void values_only_own(struct variants *v, enum variant_field field) {
	struct packet_variant variant = variant_of(v->packet);
	uint16_t own = *field_of(&variant, field);

	v->values[field] = (struct variant_values){0};
	span_add(&v->values[field], own, own, own);
}

static void values_find(struct variants *v, enum variant_field field) {
	struct variant_values *values = &v->values[field];
	struct packet_variant variant = variant_of(v->packet);
	uint16_t *value = field_of(&variant, field);
	uint16_t own = *value;
	/* Port 0 is not a valid source. */
	uint32_t low = field == VARIANT_SOURCE_LOW || own == 0 ? 0 : 1;
	uint32_t next;

	*values = (struct variant_values){0};
	for (; low < VALUES && values->span_count < VARIANT_SPANS_MAX; low = next) {
		next = next_edge(v, field, low);
		*value = (uint16_t)low;
		if (is_same(v, &variant))
			span_add(values, low, next - 1, own);
	}
	if (values->total == 0)
		values_only_own(v, field);
}

void variants_create(struct variants *v, const struct service_group *sg, const struct modem *modem,
		     const struct packet_address *packet, const struct evaluation *evaluation,
		     uint64_t enough) {
	v->sg = sg;
	v->modem = modem;
	v->packet = packet;
	v->evaluation = evaluation;
	v->total = 1;
	for (int field = 0; field < VARIANT_FIELDS; field++) {
		bool is_port = field != VARIANT_SOURCE_LOW;

		if (v->total < enough && (!is_port || has_ports(packet)))
			values_find(v, (enum variant_field)field);
		else
			values_only_own(v, (enum variant_field)field);
		v->total *= v->values[field].total;
	}
}

/* Number 0 is the packet's own value. */
static uint16_t value_get(const struct variant_values *values, uint32_t number) {
	uint32_t span = 0;

	number = (number + values->own) % values->total;
	while (number > (uint32_t)values->spans[span].high - values->spans[span].low) {
		number -= (uint32_t)values->spans[span].high - values->spans[span].low + 1;
		span++;
	}
	return (uint16_t)(values->spans[span].low + number);
}

bool variants_get(const struct variants *v, uint64_t number, struct packet_variant *out) {
	*out = variant_of(v->packet);
	for (int field = 0; field < VARIANT_FIELDS; field++) {
		const struct variant_values *values = &v->values[field];

		*field_of(out, (enum variant_field)field) =
			value_get(values, (uint32_t)(number % values->total));
		number /= values->total;
	}
	return is_same(v, out);
}
