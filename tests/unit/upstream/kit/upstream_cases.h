/* SPDX-License-Identifier: BSD-3-Clause */
/* Programs of cases: each runs on an upstream of its own, and what was expected is compared at its end. */
#pragma once

#include <string.h>

#include "test.h"

#include "fixture.h"
#include "upstream_bench.h"

/* Streams that most cases take. */
#define FRAMED 4 /* of modem 2, in the clear, with segment headers, cluster 5, channels 0 and 2 */
#define PLAIN 6 /* of modem 3, in the clear, without segment headers, channel 0 */

/* The upstream of the case. */
extern struct upstream_bench *const bench;

struct bench_case {
	const char *name;
	void (*run)(void);
	void (*prepare)(void); /* NULL, or changes what bench_prepare() has set */
	/* as in struct upstream_bench; sizes that are 0 stay as bench_prepare() has set them */
	unsigned network_depth, control_depth, frame_buffers, piece_buffers;
	bool no_control, copies, lossy;
	bool closed; /* it opens and closes as many as it wants itself */
	uint32_t held_by_modem, held; /* where not 0, limits of the configuration */
};

/* CASE(what_it_shows, .prepare = ..) { .. }: they run in the order of the file, which has no main(). */
#define CASE(name, ...)                  \
	static void name(void);          \
	CASE_OF(name, name, __VA_ARGS__) \
	static void name(void)

/* The case that stands before it once more, prepared like this. */
#define CASE_AGAIN(preparation, name) CASE_OF(preparation##_##name, name, .prepare = preparation)

#define CASE_OF(id, name, ...)                                                 \
	__attribute__((constructor)) static void register_##id(void) {         \
		static const struct bench_case one = {#id, name, __VA_ARGS__}; \
                                                                               \
		bench_case_add(&one);                                          \
	}

/* At most once in a file: `ready` is called for each upstream that is open. */
#define EACH_CASE(ready)                                                    \
	__attribute__((constructor)) static void register_each_case(void) { \
		bench_when_ready = ready;                                   \
	}

void bench_case_add(const struct bench_case *one);
extern void (*bench_when_ready)(void);

/* For `prepare`: packets of up to 20 kB, fewer than else. */
void bench_long_packets(void);

/* A frame of this kind in the clear, around the `size` bytes of a PDU without CRC. Returns its size. */
size_t bench_clear(unsigned modem, enum docsis_kind kind, const void *pdu, size_t size,
		   uint8_t *out);

/* Nothing waits anywhere. */
void bench_nothing_held(void);

/* Sends bytes in a segment that begins with a frame, or in a burst, as the stream has it. */
void bench_send(unsigned stream, const void *bytes, size_t size);

/* The same, and all that comes of it; or in a segment in which no frame begins. */
void bench_handle(unsigned stream, const void *bytes, size_t size);
void bench_handle_rest(unsigned stream, const void *bytes, size_t size);

/* The stream's next frame of `size` bytes of Ethernet, sent alone. */
void bench_put(unsigned stream, size_t size);

/* Writes the stream's next frames of `size` bytes behind each other, as many as `most` bytes hold. Returns how many
 * bytes they are. */
size_t bench_fill(unsigned stream, size_t size, uint8_t *out, size_t most);

/* The stream's next `count` frames of `size` bytes, sent behind each other. */
void bench_put_many(unsigned stream, unsigned count, size_t size);

/* One of them, and all that comes of it. */
void bench_whole(unsigned stream, size_t size);

/* A fragment of the stream, number `sequence` of its frame, is the first, the last, both or none. */
#define FRAGMENT_FIRST 1
#define FRAGMENT_LAST 2
size_t bench_fragment(unsigned stream, unsigned sequence, int flags, const void *bytes, size_t size,
		      uint8_t *out);

/* Sends a unit in fragments of `part` bytes from number 0 on, each in a segment or burst of its own; `between`, or
 * NULL, is called behind each. Returns how many they were. */
unsigned bench_put_unit(unsigned stream, const uint8_t *unit, size_t size, size_t part,
			void (*between)(void));

/* A packet with a whole burst: the stream's next frame of `size` bytes. To be sent by psp_send(). */
void bench_packet(struct bench_psp *p, unsigned stream, size_t size);

/* A packet in which a burst begins. */
void bench_open_burst(struct bench_psp *p, uint32_t session, uint16_t sid);

/* Sends a packet, and all that comes of it. */
void bench_handle_packet(const struct bench_psp *p);

/* Sends an empty packet of a flow with this number. */
void bench_put_number(uint32_t session, uint8_t flow, uint16_t number);

/* Windows for order that are not in use. */
unsigned bench_windows_free(void);

/* `n` more than before were dropped, now. */
void bench_dropped(enum drop_reason reason, uint64_t n);
