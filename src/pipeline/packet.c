/* SPDX-License-Identifier: BSD-3-Clause */
#include "pipeline/packet.h"

#include <rte_errno.h>

int packet_meta_offset = -1;

int packet_meta_register(void) {
	static const struct rte_mbuf_dynfield field = {
		.name = "vcmts_packet_meta",
		.size = sizeof(struct packet_meta),
		.align = PACKET_META_ALIGN,
	};
	int offset = rte_mbuf_dynfield_register(&field);

	if (offset < 0)
		return -rte_errno;
	packet_meta_offset = offset;
	return 0;
}
