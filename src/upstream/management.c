/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A MAC management message is an Ethernet frame with a length field and an LLC header (MULPI, MAC
 * management message header): that is what the control port gets.
 */
#include "upstream/management.h"

#include <rte_ethdev.h>

#include "upstream/upstream.h"
#include "wire/crc32.h"

void us_management(struct upstream *u, struct rte_mbuf *m) {
	if (!ethernet_crc_good(rte_pktmbuf_mtod(m, const uint8_t *), m->data_len)) {
		drop(&u->counters, m, DROP_MANAGEMENT_CRC);
		return;
	}
	rte_pktmbuf_trim(m, ETHERNET_CRC_SIZE);
	if (u->r.control_port == US_NO_PORT)
		drop(&u->counters, m, DROP_NO_CONTROL_PORT);
	else if (rte_eth_tx_burst(u->r.control_port, 0, &m, 1) == 1)
		count(&u->counters, COUNTER_MANAGEMENT, 1);
	else
		drop(&u->counters, m, DROP_CONTROL_FULL);
}
