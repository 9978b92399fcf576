/* SPDX-License-Identifier: BSD-3-Clause */
#include "replay/replay_pools.h"

#include <sys/stat.h>

#include <pcap/pcap.h>
#include <rte_common.h>

#include "platform/pool.h"

#define PIECE 2048u /* bytes of a frame in a buffer of `packets` */
#define SPARE (2 * POOL_THREAD_BUFFERS) /* what a thread keeps for itself, and more */
#define COUNTED_MAX 65536u /* such a replay is long in any case */

/* Buffers for all its frames; 0: not known. Silent, as who reads the capture next says what is wrong with it. */
static unsigned capture_buffers(const char *name) {
	char error[PCAP_ERRBUF_SIZE];
	struct pcap_pkthdr *h;
	const u_char *data;
	struct stat file;
	unsigned n = 0;
	pcap_t *in;

	if (stat(name, &file) != 0 || !S_ISREG(file.st_mode))
		return 0;
	in = pcap_open_offline(name, error);
	if (in == NULL)
		return 0;
	while (n < COUNTED_MAX && pcap_next_ex(in, &h, &data) == 1)
		n += RTE_MAX(1u, (h->caplen + PIECE - 1) / PIECE);
	pcap_close(in);
	return n < COUNTED_MAX ? SPARE + n : 0;
}

struct pool_needs replay_pools_bound(const char *capture, bool upstream) {
	if (upstream)
		return (struct pool_needs){.packets = SPARE, .depi_frames = SPARE};
	return (struct pool_needs){
		.packets = capture_buffers(capture),
		.uepi = SPARE,
		.frames = SPARE,
		.pieces = SPARE,
	};
}
