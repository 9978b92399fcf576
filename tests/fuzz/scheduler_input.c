/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads settings of the scheduler from the input. */
#include "scheduler_input.h"

#include <stdlib.h>

#include "fuzz.h"

uint64_t input_rate(struct scheduler_input *in) {
	static const uint64_t rates[16] = {
		0,	    SCHEDULER_RATE_MIN, 64000,	     1000000,	   3333333,
		10000000,   50000000,		100000000,   150000000,	   37500000,
		1000000000, 1890000000,		10000000000, 123456789012, SCHEDULER_RATE_MAX,
		1001,
	};

	return rates[input_byte(in) & 15];
}

uint32_t input_size(struct scheduler_input *in) {
	static const uint32_t sizes[16] = {
		64,	    1518,
		1000,	    128,
		9000,	    1,
		2000,	    SCHEDULER_PACKET_MAX,
		2001,	    SCHEDULER_PACKET_MAX + 1,
		100,	    262144,
		3044,	    1u << 20,
		UINT32_MAX, 0,
	};
	uint8_t b = input_byte(in);

	return sizes[b & 15] - (sizes[b & 15] > 500 ? b >> 4 : 0);
}

/* Invalid rates. */
static const uint64_t bad_rates[4] = {1, SCHEDULER_RATE_MIN - 1, SCHEDULER_RATE_MAX + 1,
				      UINT64_MAX};

struct scheduler_channel input_channel(struct scheduler_input *in) {
	static const struct scheduler_depi depis[8] = {
		{0},
		{58, 1442, 2, 64, 255, 200000},
		{58, 8942, 2, 64, 3, 20000},
		{0, 2, 0, 1, 1, UINT64_MAX},
		{100, 200, 10, 100, 4, 0},
		{1, 16, 1, 1, 65535, 1},
		{58, 65535, 2, 1, 2, 1000000},
		{1024, 65535, 255, 65000, 7, 1},
	};
	struct scheduler_channel c = {.rate = input_rate(in)};

	if (c.rate == 0)
		c.rate = 500000000;
	c.depi = depis[input_byte(in) % 8];
	return c;
}

uint32_t *input_group(struct scheduler_input *in, struct scheduler_group *out) {
	uint8_t mask = input_byte(in), from = input_byte(in);
	uint32_t *channels = calloc(SCHEDULER_MAX_CHANNELS, sizeof(*channels));
	size_t count = 0;

	CHECK(channels != NULL);
	for (uint32_t i = 0; i < in->channel_count; i++) {
		uint32_t c = (i + from) % in->channel_count;

		if ((mask >> c % 8 & 1) != 0)
			channels[count++] = c;
	}
	if (count == 0)
		channels[count++] = mask % in->channel_count;
	channels = realloc(channels, count * sizeof(*channels));
	CHECK(channels != NULL);
	*out = (struct scheduler_group){channels, count};
	return channels;
}

struct scheduler_limit input_limit(struct scheduler_input *in) {
	struct scheduler_limit l = {.rate = input_rate(in)};

	l.burst = input_size(in);
	if (l.burst == 0)
		l.burst = l.rate != 0 ? UINT64_MAX : 0;
	return l;
}

static void input_rates(struct scheduler_input *in, struct scheduler_flow *f) {
	f->sustained = input_limit(in);
	f->peak = input_rate(in);
	f->reserved = input_rate(in);
	f->reserved_packet = (uint16_t)input_size(in);
	if (f->peak != 0 && f->peak < f->sustained.rate)
		f->peak = f->sustained.rate;
	if (f->sustained.rate != 0 && f->reserved > f->sustained.rate)
		f->reserved = f->sustained.rate;
}

struct scheduler_flow input_flow(struct scheduler_input *in) {
	static const uint32_t buffers[8] = {100000, 3000, 16000, 0, 1u << 20, UINT32_MAX, 1, 30000};
	static const struct scheduler_wred wreds[2] = {{200, 20000, 65536, 1},
						       {0, UINT32_MAX, 1, 15}};
	uint8_t where = input_byte(in), how = input_byte(in), buffers_byte = input_byte(in);
	uint32_t buffer = buffers[buffers_byte & 7];
	struct scheduler_flow f = {
		.group = (where & 0xc0) == 0xc0 ? SCHEDULER_NONE : where % in->group_count,
		.modem = (where >> 3 & 7) % in->modem_count,
		.priority = how & 7,
		.weight = (uint8_t)(how >> 3 == 0 ? 255 : how >> 3),
		.header_bytes = (buffers_byte & 0x38) == 0 ? UINT8_MAX : buffers_byte >> 3 & 7,
		.min_buffer = buffer / 4,
		.buffer = buffer / 2,
		.max_buffer = buffer,
		.aqm = (enum scheduler_aqm)((buffers_byte >> 6) % 3),
		.wred = wreds[how & 1],
		.latency_target = 1000000 + (uint64_t)how * 1000000,
	};

	input_rates(in, &f);
	return f;
}

uint64_t input_bad_rate(struct scheduler_input *in) {
	return bad_rates[input_byte(in) & 3];
}

void spoil_group(struct scheduler_input *in, struct scheduler_group *g, uint32_t *channels) {
	switch (input_byte(in) % 3) {
	case 0: g->channel_count = 0; break;
	case 1: channels[g->channel_count - 1] = in->channel_count; break;
	default:
		if (g->channel_count > 1)
			channels[0] = channels[g->channel_count - 1];
		else
			channels[0] = UINT32_MAX;
	}
}

void spoil_flow(struct scheduler_input *in, struct scheduler_flow *f) {
	uint8_t how = input_byte(in);

	if (f->group == SCHEDULER_NONE)
		f->group = 0;
	switch (how & 15) {
	case 0: f->group = in->group_count; break;
	case 1: f->modem = in->modem_count; break;
	case 2: f->priority = SCHEDULER_PRIORITIES; break;
	case 3: f->weight = 0; break;
	case 4: f->header_bytes = UINT8_MAX + 1; break;
	case 5: f->sustained.rate = bad_rates[how >> 6]; break;
	case 6: f->peak = bad_rates[how >> 6]; break;
	case 7: f->reserved = bad_rates[how >> 6]; break;
	case 8: f->sustained = (struct scheduler_limit){1000000, 0}; break;
	case 9: f->min_buffer = 2, f->buffer = 1; break;
	case 10: f->buffer = 2, f->max_buffer = 1; break;
	case 11: f->sustained = (struct scheduler_limit){1000000, 2000}, f->peak = 999999; break;
	case 12:
		f->sustained = (struct scheduler_limit){1000000, 2000}, f->reserved = 1000001;
		break;
	case 13:
		f->aqm = SCHEDULER_DOCSIS_PIE, f->latency_target = how & 16 ? 0 : UINT64_MAX;
		break;
	case 14: f->aqm = SCHEDULER_WRED, f->wred.min_threshold = f->wred.max_threshold; break;
	default: f->aqm = SCHEDULER_WRED, f->wred.weight = how & 16 ? 0 : 16;
	}
}
