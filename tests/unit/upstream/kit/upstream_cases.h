/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Programs of cases. Each case runs on an upstream of its own between ports in memory: the test is the R-PHY device with
 * its modems at one end, and the network and the control plane at the others. Every packet that comes out is made again
 * from its number and compared byte by byte. What was expected is compared at the end of the case.
 */
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
	bool copies, lossy;
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

/* For `prepare`: packets of up to 20 kB, fewer than else; and `count` modems more, in the clear, each with one flow with
 * segment headers and one SID cluster, whose streams come behind the others. */
void bench_long_packets(void);
void bench_crowd(unsigned count);

/* Makes EAL (the first time), ports, pools and the upstream; the other prepares it, too. */
void bench_start(void);
void bench_open(void);

/* Fails where a drop was not expected, a packet did not come, a unit does not add up, or a buffer, operation or hold has
 * not come back after a stop. */
void bench_close(void);

/* A provider, a queue and the schedules of all keys of the configuration. */
void bench_crypto_start(void);
void bench_crypto_end(struct crypto_provider *crypto, struct crypto_queue *queue,
		      void *schedules[2 * BENCH_MOST_MODEMS]);

/* `n` more will be dropped, or were dropped now. */
void bench_expect(enum drop_reason reason, uint64_t n);
void bench_dropped(enum drop_reason reason, uint64_t n);

uint64_t bench_count(enum counter counter);

/* Nothing waits anywhere. */
void bench_nothing_held(void);

/* Windows for order that are not in use. */
unsigned bench_windows_free(void);

/* PSP packets. */
struct bench_psp {
	uint32_t session;
	uint8_t flow;
	bool unnumbered; /* S = 0 */
	bool numbered; /* by `sequence`; otherwise by the next number of the flow */
	uint16_t sequence;
	uint8_t count;
	uint8_t table[PSP_COUNT_MAX * PSP_ENTRY_SIZE];
	uint8_t data[BENCH_PACKET_MAX];
	size_t size;
};

void psp_open(struct bench_psp *p, uint32_t session);
void psp_add(struct bench_psp *p, bool begin, bool end, const void *bytes, size_t size);

/* The parts of a burst on the session of the packet; the format is that of the channel. */
void psp_add_header(struct bench_psp *p, uint16_t sid);
void psp_add_trailer(struct bench_psp *p);

/* A packet in which a burst begins, also one of the stream on its first channel. */
void bench_open_burst(struct bench_psp *p, uint32_t session, uint16_t sid);
void bench_open_stream(struct bench_psp *p, unsigned stream);

/* A packet with a whole burst: the stream's next frame of `size` bytes. With a number of its own. */
void bench_packet(struct bench_psp *p, unsigned stream, size_t size);
void bench_packet_as(struct bench_psp *p, unsigned stream, size_t size, uint16_t number);

/* Writes the whole L2TPv3 packet. Returns its size. */
size_t psp_write(const struct bench_psp *p, uint8_t *out);

/* Sends it; a round may be needed when the port is full. The other handles all that comes of it, too. */
void psp_send(const struct bench_psp *p);
void bench_handle_packet(const struct bench_psp *p);

/* Sends an empty packet of a flow with this number. */
void bench_put_number(uint32_t session, uint8_t flow, uint16_t number);

/* Sends bytes as they are; guarded: they end where readable memory ends. */
void bench_inject(const void *frame, size_t size);
void bench_inject_guarded(const void *frame, size_t size);

/* Sends a burst in one PSP packet of flow 0; without a segment header on the first channel of a stream. */
void bench_burst(uint32_t session, uint16_t sid, const void *payload, size_t size);
void bench_plain(unsigned stream, const void *bytes, size_t size);

/* Sends a burst of a stream on its first channel. With `pointer` < 0 the segment has none; the number is the stream's
 * next one. */
#define BENCH_NO_POINTER (-1)
void bench_segment(unsigned stream, int pointer, const void *bytes, size_t size);
void bench_segment_as(unsigned stream, const struct segment_header *h, const void *bytes,
		      size_t size);

uint32_t bench_session(unsigned channel);

/* The Ethernet frame of a packet, without CRC: IPv4, UDP, from the modem's address. */
void bench_ethernet(unsigned stream, uint32_t serial, size_t size, uint8_t *out);

/* Writes the stream's next packet of `size` bytes as a MAC frame, as its modem sends it: encrypted with its keys by
 * turns, or in the clear, also where it has a key. Returns the size of the frame. */
size_t bench_mac(unsigned stream, size_t size, uint8_t *out);
size_t bench_mac_clear(unsigned stream, size_t size, uint8_t *out);

/* A frame of any kind around the `size` bytes of a PDU without CRC: adds CRC and, with h->encrypted, encrypts with the
 * generation 0 or 1 of the modem's key that h->key_sequence names. Returns its size; the other is in the clear. */
size_t bench_frame(unsigned modem, const struct docsis_up_header *h, const void *pdu, size_t size,
		   uint8_t *out);
size_t bench_clear(unsigned modem, enum docsis_kind kind, const void *pdu, size_t size,
		   uint8_t *out);

/* Sends bytes in a segment that begins with a frame, or in a burst, as the stream has it. */
void bench_send(unsigned stream, const void *bytes, size_t size);

/* The same, and all that comes of it; or in a segment in which no frame begins. */
void bench_handle(unsigned stream, const void *bytes, size_t size);
void bench_handle_rest(unsigned stream, const void *bytes, size_t size);

/* The stream's next `count` frames of `size` bytes, sent behind each other; one; one, and all that comes of it. */
void bench_put_many(unsigned stream, unsigned count, size_t size);
void bench_put(unsigned stream, size_t size);
void bench_whole(unsigned stream, size_t size);

/* Writes the stream's next frames of `size` bytes behind each other, as many as `most` bytes hold. Returns how many
 * bytes they are. */
size_t bench_fill(unsigned stream, size_t size, uint8_t *out, size_t most);

/* A fragment of the stream, number `sequence` of its frame, is the first, the last, both or none. */
#define FRAGMENT_FIRST 1
#define FRAGMENT_LAST 2
size_t bench_fragment(unsigned stream, unsigned sequence, int flags, const void *bytes, size_t size,
		      uint8_t *out);

/* Sends one. */
void bench_put_fragment(unsigned stream, unsigned sequence, int flags, const void *bytes,
			size_t size);

/* Sends a unit in fragments of `part` bytes from number 0 on, each in a segment or burst of its own; `between`, or
 * NULL, is called behind each. Returns how many they were. */
unsigned bench_put_unit(unsigned stream, const uint8_t *unit, size_t size, size_t part,
			void (*between)(void));

/* Runs the lists so many times; checks that all units add up. Time stands still. */
void bench_round(void);
void bench_rounds(unsigned n);

/* Rounds without time, until nothing moves; takes what comes out. The other does so after `ns`. */
void bench_settle(void);
void bench_after(uint64_t ns);

/* Takes at most `most` frames from the network port and checks them. Returns how many came. */
unsigned bench_take(unsigned most);

/* All packets of the stream that were made have come. */
void bench_complete(unsigned stream);
