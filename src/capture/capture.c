/* SPDX-License-Identifier: BSD-3-Clause */
#include "capture/capture.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#define NS_PER_S 1000000000ull

/* libpcap does not name every link type. */
static void refuse_link(const char *name, int link) {
	const char *known = pcap_datalink_val_to_name(link);
	char number[32];

	snprintf(number, sizeof(number), "link type %d", link);
	fprintf(stderr, "%s: found a capture of %s, allowed: Ethernet\n", name,
		known != NULL ? known : number);
}

pcap_t *capture_open(const char *name) {
	char error[PCAP_ERRBUF_SIZE];
	pcap_t *in =
		pcap_open_offline_with_tstamp_precision(name, PCAP_TSTAMP_PRECISION_NANO, error);

	if (in == NULL) {
		/* libpcap names the file only where it could not open it. */
		bool named = strncmp(error, name, strlen(name)) == 0;

		fprintf(stderr, "%s%s%s\n", named ? "" : name, named ? "" : ": ", error);
		return NULL;
	}
	if (pcap_datalink(in) != DLT_EN10MB) {
		refuse_link(name, pcap_datalink(in));
		pcap_close(in);
		return NULL;
	}
	return in;
}

int capture_next(pcap_t *in, const char *name, struct capture_packet *p) {
	struct pcap_pkthdr *h;
	int ret = pcap_next_ex(in, &h, &p->data);

	if (ret == PCAP_ERROR_BREAK)
		return 0;
	if (ret != 1) {
		fprintf(stderr, "%s: %s; what comes before is replayed\n", name, pcap_geterr(in));
		return -1;
	}
	/* The file's seconds are unsigned; libpcap returns them signed. */
	p->time = (uint64_t)(uint32_t)h->ts.tv_sec * NS_PER_S + (uint64_t)h->ts.tv_usec;
	p->size = h->caplen;
	p->wire_size = h->len;
	return 1;
}

int capture_create(struct capture_writer *w, const char *name) {
	w->name = name;
	w->format = pcap_open_dead_with_tstamp_precision(DLT_EN10MB, CAPTURE_FRAME_MAX,
							 PCAP_TSTAMP_PRECISION_NANO);
	w->out = w->format ? pcap_dump_open(w->format, name) : NULL;
	if (w->out != NULL)
		return 0;
	fprintf(stderr, "%s\n", w->format ? pcap_geterr(w->format) : "no memory");
	return -1;
}

void capture_write(struct capture_writer *w, uint64_t time, const uint8_t *data, uint32_t size) {
	struct pcap_pkthdr h = {
		/* The file is opened with PCAP_TSTAMP_PRECISION_NANO, so that tv_usec carries nanoseconds. */
		.ts = {(time_t)(time / NS_PER_S), (suseconds_t)(time % NS_PER_S)},
		.caplen = size,
		.len = size,
	};

	pcap_dump((u_char *)w->out, &h, data);
}

int capture_finish(struct capture_writer *w) {
	int ret = 0;

	if (w->out != NULL) {
		if (pcap_dump_flush(w->out) != 0 || ferror(pcap_dump_file(w->out))) {
			fprintf(stderr, "%s: cannot be written whole\n", w->name);
			ret = -1;
		}
		pcap_dump_close(w->out);
	}
	if (w->format != NULL)
		pcap_close(w->format);
	*w = (struct capture_writer){0};
	return ret;
}

bool capture_same(const char *a, const char *b) {
	struct stat x, y;

	return stat(a, &x) == 0 && stat(b, &y) == 0 && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}
