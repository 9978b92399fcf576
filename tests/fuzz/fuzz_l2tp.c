/* SPDX-License-Identifier: BSD-3-Clause */
/* Fuzzes the parser of L2TPv3 packets from the R-PHY device. */
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "wire/bytes.h"
#include "wire/ip.h"
#include "wire/l2tpv3.h"

static void check_data(const uint8_t *frame, size_t length, const struct l2tp_data *data) {
	size_t address = ip_address_size(data->family);

	CHECK(data->family == 4 || data->family == 6);
	CHECK(data->payload >= frame && data->payload <= frame + length);
	CHECK(data->payload_size <= (size_t)(frame + length - data->payload));
	CHECK(data->destination_ip == data->source_ip + address);
	touch(data->source_ip, 2 * address);
	touch(data->payload, data->payload_size);
}

/* Behind a wrong IPv4 checksum nothing would be parsed: it is corrected. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
	uint8_t *frame = malloc(size > 0 ? size : 1);
	struct l2tp_data out;

	if (size > 0)
		memcpy(frame, data, size);

	enum l2tp_verdict verdict = l2tp_parse(frame, size, &out);

	if (verdict == L2TP_IP_CHECKSUM) {
		bool tagged = load_be16(frame + 12) == ETHERTYPE_VLAN;
		uint8_t *ip = frame + ETHERNET_HEADER + (tagged ? 4 : 0);

		store_be16(ip + 10, ipv4_checksum(ip, 4 * (size_t)(ip[0] & 0x0f)));
		verdict = l2tp_parse(frame, size, &out);
		CHECK(verdict != L2TP_IP_CHECKSUM);
	}
	if (verdict == L2TP_OK || verdict == L2TP_CONTROL)
		check_data(frame, size, &out);
	free(frame);
	return 0;
}
