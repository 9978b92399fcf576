/* SPDX-License-Identifier: BSD-3-Clause */
/* Units of the configuration: exact values, whole texts, no overflow. */
#include "test.h"

#include <stdio.h>
#include <string.h>

#include "model/units.h"

typedef bool (*parse_number)(const char *text, uint64_t *value);

struct good {
	parse_number parse;
	const char *text;
	uint64_t value;
};

struct bad {
	parse_number parse;
	const char *text;
};

static const struct good good_numbers[] = {
	{units_parse_integer, "0", 0},
	{units_parse_integer, "18", 18},
	{units_parse_integer, "0x12", 18},
	{units_parse_integer, "0x00fF", 255},
	{units_parse_integer, "18446744073709551615", UINT64_MAX},
	{units_parse_integer, "0xffffffffffffffff", UINT64_MAX},
	{units_parse_size, "1500", 1500},
	{units_parse_size, "2000 B", 2000},
	{units_parse_size, "512 kB", 512000},
	{units_parse_size, "512kB", 512000},
	{units_parse_size, "512 k", 512000},
	{units_parse_size, "1.5 M", 1500000},
	{units_parse_size, "2 G", 2000000000},
	{units_parse_size, "1 Ki", 1024},
	{units_parse_size, "1.5 KiB", 1536},
	{units_parse_size, "64 MiB", 64u << 20},
	{units_parse_size, "1 GiB", 1u << 30},
	{units_parse_size, "0.001 kB", 1},
	{units_parse_rate, "1.89 Gbps", 1890000000},
	{units_parse_rate, "42.24 Mbps", 42240000},
	{units_parse_rate, "42.240000000 Mbps", 42240000},
	{units_parse_rate, "1 bps", 1},
	{units_parse_rate, "9.6kbps", 9600},
	{units_parse_rate, "1 Tbps", 1000000000000},
	{units_parse_rate, "18446744.073709551615 Tbps", UINT64_MAX},
	{units_parse_duration, "20 ms", 20000000},
	{units_parse_duration, "50 us", 50000},
	{units_parse_duration, "300 s", 300000000000},
	{units_parse_duration, "1 ns", 1},
	{units_parse_duration, "2 min", 120000000000},
	{units_parse_duration, "1.5 h", 5400000000000},
	{units_parse_duration, "0 s", 0},
};

static const struct bad bad_numbers[] = {
	{units_parse_integer, ""},
	{units_parse_integer, "0x"},
	{units_parse_integer, "-1"},
	{units_parse_integer, "+1"},
	{units_parse_integer, " 1"},
	{units_parse_integer, "1 "},
	{units_parse_integer, "010"},
	{units_parse_integer, "1a"},
	{units_parse_integer, "0x1g"},
	{units_parse_integer, "1_000"},
	{units_parse_integer, "0X1"},
	{units_parse_integer, "18446744073709551616"},
	{units_parse_integer, "0x10000000000000000"},
	{units_parse_size, ""},
	{units_parse_size, "B"},
	{units_parse_size, "1 "},
	{units_parse_size, "1  kB"},
	{units_parse_size, "1 KB"},
	{units_parse_size, "1 kb"},
	{units_parse_size, "0.5 B"},
	{units_parse_size, "0.3 KiB"},
	{units_parse_size, "0x10"},
	{units_parse_size, "18446744073709551616"},
	{units_parse_size, "18014398509481984 KiB"},
	{units_parse_rate, "1.89"},
	{units_parse_rate, "1.89 Gbsp"},
	{units_parse_rate, "1,89 Gbps"},
	{units_parse_rate, "1. Gbps"},
	{units_parse_rate, ".5 Gbps"},
	{units_parse_rate, "1.8.9 Gbps"},
	{units_parse_rate, "0.1 bps"},
	{units_parse_rate, "01 Gbps"},
	{units_parse_rate, "18446744.073709551616 Tbps"},
	{units_parse_rate, "0.00000000000000000001 Tbps"},
	{units_parse_duration, "5"},
	{units_parse_duration, "5 sec"},
	{units_parse_duration, "-5 s"},
	{units_parse_duration, "0.1 ns"},
	{units_parse_duration, "5124096 h"},
};

static void numbers_are_exact(void **state) {
	(void)state;
	for (size_t i = 0; i < ARRAY_COUNT(good_numbers); i++) {
		const struct good *row = &good_numbers[i];
		uint64_t value = 1234567;

		if (!row->parse(row->text, &value))
			fail_msg("\"%s\" was refused", row->text);
		assert_int_equal(value, row->value);
	}
}

static void bad_numbers_change_nothing(void **state) {
	(void)state;
	for (size_t i = 0; i < ARRAY_COUNT(bad_numbers); i++) {
		const struct bad *row = &bad_numbers[i];
		uint64_t value = 1234567;

		if (row->parse(row->text, &value))
			fail_msg("\"%s\" was taken", row->text);
		assert_int_equal(value, 1234567);
	}
}

static void mac_addresses(void **state) {
	static const char *const bad[] = {
		"",
		"02:00:00:00:00",
		"02:00:00:00:00:01:02",
		"02-00-00-00-00-01",
		"01:00:5e:00:00:01",
		"00:00:00:00:00:00",
		"ff:ff:ff:ff:ff:ff",
		"02:00:00:00:00:0g",
		"2:0:0:0:0:1",
		"02:00:00:00:00:0 ",
		"020000000001",
	};
	static const uint8_t expected[6] = {0x02, 0xaB, 0x00, 0x00, 0x00, 0x0f};
	uint8_t mac[6];
	char text[UNITS_TEXT_SIZE];

	(void)state;
	assert_true(units_parse_mac("02:aB:00:00:00:0f", mac));
	assert_memory_equal(mac, expected, 6);
	units_format_mac(mac, text);
	assert_string_equal(text, "02:ab:00:00:00:0f");
	for (size_t i = 0; i < ARRAY_COUNT(bad); i++) {
		if (units_parse_mac(bad[i], mac))
			fail_msg("\"%s\" was taken", bad[i]);
		assert_memory_equal(mac, expected, 6);
	}
}

static void addresses(void **state) {
	static const char *const bad[] = {
		"",
		"10.0.0",
		"10.0.0.256",
		"10.0.0.1/32",
		"010.0.0.1",
		"0.0.0.0",
		"224.0.0.1",
		"255.255.255.255",
		"::",
		"ff02::1",
		"2001:db8::g",
		"fe80::1%eth0",
		"10.0.0.1 ",
		"1:2:3:4:5:6:7:8:9",
	};
	static const uint8_t v6[16] = {0x20, 0x01, 0x0d, 0xb8, [15] = 1};
	struct ip_address address;

	(void)state;
	assert_true(units_parse_address("192.0.2.1", &address));
	assert_int_equal(address.family, 4);
	assert_memory_equal(address.bytes, ((uint8_t[16]){192, 0, 2, 1}), 16);
	assert_true(units_parse_address("2001:DB8::1", &address));
	assert_int_equal(address.family, 6);
	assert_memory_equal(address.bytes, v6, 16);
	for (size_t i = 0; i < ARRAY_COUNT(bad); i++) {
		if (units_parse_address(bad[i], &address))
			fail_msg("\"%s\" was taken", bad[i]);
		assert_memory_equal(address.bytes, v6, 16);
	}
}

static void prefixes(void **state) {
	static const char *const bad[] = {
		"",
		"10.0.0.0/33",
		"10.0.0.1/31",
		"10.0.0.0/",
		"/8",
		"10.0.0.0/-1",
		"10.0.0.0/0x8",
		"10.0.0.0/08",
		"2001:db8::/129",
		"2001:db8::1/127",
		"10.0.0.0/8/8",
		"10.0.0.0 /8",
	};
	struct ip_prefix prefix;

	(void)state;
	assert_true(units_parse_prefix("0.0.0.0/0", &prefix));
	assert_int_equal(prefix.address.family, 4);
	assert_int_equal(prefix.length, 0);
	assert_true(units_parse_prefix("192.0.2.1", &prefix));
	assert_int_equal(prefix.length, 32);
	assert_true(units_parse_prefix("2001:db8::1", &prefix));
	assert_int_equal(prefix.length, 128);
	assert_true(units_parse_prefix("2001:db8:8000::/33", &prefix));
	assert_int_equal(prefix.address.family, 6);
	assert_int_equal(prefix.length, 33);
	assert_int_equal(prefix.address.bytes[4], 0x80);
	for (size_t i = 0; i < ARRAY_COUNT(bad); i++) {
		if (units_parse_prefix(bad[i], &prefix))
			fail_msg("\"%s\" was taken", bad[i]);
		assert_int_equal(prefix.length, 33);
	}
}

static void ports(void **state) {
	static const char *const bad[] = {
		"", "-", "80-", "-80", "139-135", "65536", "0-65536", "80 - 90", "1-2-3", "http",
	};
	struct port_range range;

	(void)state;
	assert_true(units_parse_ports("80", &range));
	assert_int_equal(range.low, 80);
	assert_int_equal(range.high, 80);
	assert_true(units_parse_ports("0-65535", &range));
	assert_int_equal(range.low, 0);
	assert_int_equal(range.high, 65535);
	assert_true(units_parse_ports("65535", &range));
	assert_int_equal(range.low, 65535);
	assert_true(units_parse_ports("135-139", &range));
	for (size_t i = 0; i < ARRAY_COUNT(bad); i++) {
		if (units_parse_ports(bad[i], &range))
			fail_msg("\"%s\" was taken", bad[i]);
		assert_int_equal(range.low, 135);
		assert_int_equal(range.high, 139);
	}
}

static void protocols(void **state) {
	static const struct {
		const char *text;
		uint8_t value;
	} good[] = {
		{"icmp", 1}, {"igmp", 2},    {"tcp", 6}, {"udp", 17},  {"gre", 47},
		{"esp", 50}, {"icmpv6", 58}, {"0", 0},	 {"255", 255}, {"0x11", 17},
	};
	static const char *const bad[] = {"", "TCP", "sctpp", "256", "-1", "17 ", "ip"};
	uint8_t protocol;

	(void)state;
	for (size_t i = 0; i < ARRAY_COUNT(good); i++) {
		assert_true(units_parse_protocol(good[i].text, &protocol));
		assert_int_equal(protocol, good[i].value);
	}
	for (size_t i = 0; i < ARRAY_COUNT(bad); i++) {
		if (units_parse_protocol(bad[i], &protocol))
			fail_msg("\"%s\" was taken", bad[i]);
		assert_int_equal(protocol, 17);
	}
}

static void types_of_service(void **state) {
	static const char *const bad[] = {
		"", "/", "0xb8/", "/0xfc", "0xb9/0xfc", "0x00/0x00", "0x100", "0xb8/0x1fc", "1/2/3",
	};
	uint8_t tos, mask;

	(void)state;
	assert_true(units_parse_tos("0x20", &tos, &mask));
	assert_int_equal(tos, 0x20);
	assert_int_equal(mask, 0xff);
	assert_true(units_parse_tos("255/255", &tos, &mask));
	assert_int_equal(tos, 0xff);
	assert_true(units_parse_tos("184/252", &tos, &mask));
	assert_int_equal(tos, 0xb8);
	assert_true(units_parse_tos("0xb8/0xfc", &tos, &mask));
	for (size_t i = 0; i < ARRAY_COUNT(bad); i++) {
		if (units_parse_tos(bad[i], &tos, &mask))
			fail_msg("\"%s\" was taken", bad[i]);
		assert_int_equal(tos, 0xb8);
		assert_int_equal(mask, 0xfc);
	}
}

static void hexadecimal(void **state) {
	uint8_t bytes[2];

	(void)state;
	assert_true(units_parse_hex("0aFf", bytes, 2));
	assert_int_equal(bytes[0], 0x0a);
	assert_int_equal(bytes[1], 0xff);
	assert_true(units_parse_hex("0102", bytes, 2));
	assert_false(units_parse_hex("", bytes, 2));
	assert_false(units_parse_hex("010", bytes, 2));
	assert_false(units_parse_hex("010203", bytes, 2));
	assert_false(units_parse_hex("030g", bytes, 2));
	assert_false(units_parse_hex("0x03", bytes, 2));
	assert_int_equal(bytes[0], 1);
	assert_int_equal(bytes[1], 2);
}

struct formatted {
	void (*format)(uint64_t value, char text[UNITS_TEXT_SIZE]);
	parse_number parse;
	uint64_t value;
	const char *text;
};

static const struct formatted formatted[] = {
	{units_format_rate, units_parse_rate, 1890000000, "1.89 Gbps"},
	{units_format_rate, units_parse_rate, 42240000, "42.24 Mbps"},
	{units_format_rate, units_parse_rate, 999, "999 bps"},
	{units_format_rate, units_parse_rate, 1001, "1.001 kbps"},
	{units_format_rate, units_parse_rate, 0, "0 bps"},
	{units_format_rate, units_parse_rate, UINT64_MAX, "18446744.073709551615 Tbps"},
	{units_format_size, units_parse_size, 1500, "1.5 kB"},
	{units_format_size, units_parse_size, 512000, "512 kB"},
	{units_format_size, units_parse_size, UINT64_MAX, "18446744073.709551615 GB"},
	{units_format_duration, units_parse_duration, 50000, "50 us"},
	{units_format_duration, units_parse_duration, 300000000000, "5 min"},
	{units_format_duration, units_parse_duration, 100000000000, "100 s"},
	{units_format_duration, units_parse_duration, 90000000000, "90 s"},
	{units_format_duration, units_parse_duration, 86400000000000, "24 h"},
	{units_format_duration, units_parse_duration, 1, "1 ns"},
};

static void formats_are_read_back(void **state) {
	(void)state;
	for (size_t i = 0; i < ARRAY_COUNT(formatted); i++) {
		const struct formatted *row = &formatted[i];
		char text[UNITS_TEXT_SIZE];
		uint64_t value;

		row->format(row->value, text);
		assert_string_equal(text, row->text);
		assert_true(row->parse(text, &value));
		assert_int_equal(value, row->value);
	}
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_are_exact), cmocka_unit_test(bad_numbers_change_nothing),
		cmocka_unit_test(mac_addresses),     cmocka_unit_test(addresses),
		cmocka_unit_test(prefixes),	     cmocka_unit_test(ports),
		cmocka_unit_test(protocols),	     cmocka_unit_test(types_of_service),
		cmocka_unit_test(hexadecimal),	     cmocka_unit_test(formats_are_read_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
