/* SPDX-License-Identifier: BSD-3-Clause */
/* What counters and messages call each verdict, in the order of its enum. */
#include "test_main.h"

#include "wire/docsis_mac.h"
#include "wire/ip.h"
#include "wire/l2tpv3.h"
#include "wire/management.h"
#include "wire/map.h"
#include "wire/psp.h"
#include "wire/segment.h"
#include "wire/ucd.h"
#include "wire/uepi.h"

#define NAMES(function, type, ...)                                        \
	do {                                                              \
		static const char *const names[] = {__VA_ARGS__};         \
                                                                          \
		for (size_t i = 0; i < ARRAY_COUNT(names); i++)           \
			assert_string_equal(function((type)i), names[i]); \
	} while (0)

TEST(names_every_verdict) {
	NAMES(docsis_verdict_name, enum docsis_verdict, "ok", "truncated", "bad_hcs", "bad_ehdr",
	      "bad_length", "reserved");
	NAMES(frame_verdict_name, enum frame_verdict, "good", "runt", "vlan", "ipv4_header",
	      "ipv4_length", "ipv6_header", "ipv6_length", "ipv6_extensions", "arp_malformed");
	NAMES(l2tp_verdict_name, enum l2tp_verdict, "ok", "runt", "not_ip", "ip_header",
	      "ip_length", "ip_checksum", "fragment", "not_l2tp", "version", "truncated",
	      "control");
	NAMES(management_verdict_name, enum management_verdict, "ok", "truncated", "trailing",
	      "too_long", "bad_llc", "no_frame", "bad_hcs", "bad_crc", "unknown");
	NAMES(map_verdict_name, enum map_verdict, "ok", "bad_version", "truncated", "trailing",
	      "reserved", "probe", "bad_category", "too_many", "bad_back_off", "no_null",
	      "bad_null", "bad_start", "bad_order", "bad_iuc", "bad_behind", "too_long",
	      "bad_window", "unknown");
	NAMES(psp_verdict_name, enum psp_verdict, "ok", "truncated", "control", "extended",
	      "table_truncated", "segment_truncated", "trailing");
	NAMES(segment_verdict_name, enum segment_verdict, "ok", "truncated", "bad_hcs");
	NAMES(ucd_verdict_name, enum ucd_verdict, "ok", "bad_type", "truncated", "bad_length",
	      "repeated", "too_many", "reserved", "missing", "bad_value", "bad_band", "bad_burst",
	      "unknown");
	NAMES(uepi_verdict_name, enum uepi_verdict, "ok", "truncated", "bad_version", "bad_length");
}
