/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads and writes capture files of Ethernet frames. Times are in nanoseconds since 1970. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <pcap/pcap.h>

#define CAPTURE_FRAME_MAX 65535

struct capture_packet {
	uint64_t time; /* ns */
	const uint8_t *data; /* valid until the next read */
	uint32_t size; /* captured bytes */
	uint32_t wire_size; /* bytes of the original frame */
};

struct capture_writer {
	const char *name;
	pcap_t *format;
	pcap_dumper_t *out;
};

/* Opens a capture of Ethernet frames, pcap or pcapng. Prints a message and returns NULL on an error. */
pcap_t *capture_open(const char *name);

/* Reads the next packet. Returns 1 with a packet, 0 at the end, -1 after a message about a broken record. */
int capture_next(pcap_t *in, const char *name, struct capture_packet *p);

/* Creates a capture file with times in ns. `name` must outlive the writer. Returns 0, or -1 after a message. */
int capture_create(struct capture_writer *w, const char *name);

/* Writes a frame of at most CAPTURE_FRAME_MAX bytes. */
void capture_write(struct capture_writer *w, uint64_t time, const uint8_t *data, uint32_t size);

/* Closes the capture; does nothing for a zeroed writer. Returns 0, or -1 after a message when a write failed. */
int capture_finish(struct capture_writer *w);

/* Whether both names refer to one existing file. */
bool capture_same(const char *a, const char *b);
