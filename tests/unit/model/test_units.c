/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests units.c: parsers and formatters of configuration values, with exact results and without overflow. */
#include "test_main.h"

#include "model/units.h"

/* Wraps the parsers in one function type. */
#define PARSER(kind)                                              \
	static bool parse_##kind(const char *text, void *value) { \
		return units_parse_##kind(text, value);           \
	}
PARSER(integer)
PARSER(size)
PARSER(rate)
PARSER(duration)
PARSER(mac)
PARSER(address)
PARSER(prefix)
PARSER(ports)
PARSER(hours)
PARSER(protocol)

static bool parse_endpoint(const char *text, void *value) {
	return units_parse_endpoint(text);
}

static bool parse_tos(const char *text, void *value) {
	uint8_t *pair = value;

	return units_parse_tos(text, &pair[0], &pair[1]);
}

static bool parse_hex(const char *text, void *value) {
	return units_parse_hex(text, value, 2);
}

#define IS(type, ...) &(const type){__VA_ARGS__}, sizeof(type)
#define NUMBER(n) IS(uint64_t, n)
#define BYTES(...) (const uint8_t[]){__VA_ARGS__}, sizeof((const uint8_t[]){__VA_ARGS__})

static const struct {
	bool (*parse)(const char *text, void *value);
	const char *text;
	const void *value;
	size_t size;
} valid[] = {
	{parse_integer, "0", NUMBER(0)},
	{parse_integer, "18", NUMBER(18)},
	{parse_integer, "0x12", NUMBER(18)},
	{parse_integer, "0x00fF", NUMBER(255)},
	{parse_integer, "18446744073709551615", NUMBER(UINT64_MAX)},
	{parse_integer, "0xffffffffffffffff", NUMBER(UINT64_MAX)},
	{parse_size, "1500", NUMBER(1500)},
	{parse_size, "2000 B", NUMBER(2000)},
	{parse_size, "512 kB", NUMBER(512000)},
	{parse_size, "512kB", NUMBER(512000)},
	{parse_size, "512 k", NUMBER(512000)},
	{parse_size, "1.5 M", NUMBER(1500000)},
	{parse_size, "2 G", NUMBER(2000000000)},
	{parse_size, "1 Ki", NUMBER(1024)},
	{parse_size, "1.5 KiB", NUMBER(1536)},
	{parse_size, "64 MiB", NUMBER(64u << 20)},
	{parse_size, "1 GiB", NUMBER(1u << 30)},
	{parse_size, "0.001 kB", NUMBER(1)},
	{parse_rate, "1.89 Gbps", NUMBER(1890000000)},
	{parse_rate, "42.24 Mbps", NUMBER(42240000)},
	{parse_rate, "42.240000000 Mbps", NUMBER(42240000)},
	{parse_rate, "1 bps", NUMBER(1)},
	{parse_rate, "9.6kbps", NUMBER(9600)},
	{parse_rate, "1 Tbps", NUMBER(1000000000000)},
	{parse_rate, "18446744.073709551615 Tbps", NUMBER(UINT64_MAX)},
	{parse_duration, "20 ms", NUMBER(20000000)},
	{parse_duration, "50 us", NUMBER(50000)},
	{parse_duration, "300 s", NUMBER(300000000000)},
	{parse_duration, "1 ns", NUMBER(1)},
	{parse_duration, "2 min", NUMBER(120000000000)},
	{parse_duration, "1.5 h", NUMBER(5400000000000)},
	{parse_duration, "0 s", NUMBER(0)},
	{parse_mac, "02:aB:00:00:00:0f", BYTES(0x02, 0xab, 0, 0, 0, 0x0f)},
	{parse_address, "192.0.2.1", IS(struct ip_address, 4, {192, 0, 2, 1})},
	{parse_address, "2001:DB8::1",
	 IS(struct ip_address, 6, {0x20, 0x01, 0x0d, 0xb8, [15] = 1})},
	{parse_prefix, "0.0.0.0/0", IS(struct ip_prefix, {4, {0}}, 0)},
	{parse_prefix, "192.0.2.1", IS(struct ip_prefix, {4, {192, 0, 2, 1}}, 32)},
	{parse_prefix, "::1", IS(struct ip_prefix, {6, {[15] = 1}}, 128)},
	{parse_prefix, "2001:db8:8000::/33",
	 IS(struct ip_prefix, {6, {0x20, 0x01, 0x0d, 0xb8, 0x80}}, 33)},
	{parse_ports, "80", IS(struct port_range, 80, 80)},
	{parse_ports, "0-65535", IS(struct port_range, 0, 65535)},
	{parse_ports, "65535", IS(struct port_range, 65535, 65535)},
	{parse_ports, "135-139", IS(struct port_range, 135, 139)},
	{parse_protocol, "icmp", BYTES(1)},
	{parse_protocol, "igmp", BYTES(2)},
	{parse_protocol, "tcp", BYTES(6)},
	{parse_protocol, "udp", BYTES(17)},
	{parse_protocol, "gre", BYTES(47)},
	{parse_protocol, "esp", BYTES(50)},
	{parse_protocol, "icmpv6", BYTES(58)},
	{parse_protocol, "0", BYTES(0)},
	{parse_protocol, "255", BYTES(255)},
	{parse_protocol, "0x11", BYTES(17)},
	{parse_tos, "0x20", BYTES(0x20, 0xff)},
	{parse_tos, "255/255", BYTES(0xff, 0xff)},
	{parse_tos, "184/252", BYTES(0xb8, 0xfc)},
	{parse_tos, "0xb8/0xfc", BYTES(0xb8, 0xfc)},
	{parse_hex, "0aFf", BYTES(0x0a, 0xff)},
	{parse_hex, "0102", BYTES(1, 2)},
	{parse_hours, "22-6", IS(struct hours, 22, 6)},
	{parse_hours, "0-24", IS(struct hours, 0, 24)},
	{parse_hours, "23-24", IS(struct hours, 23, 24)},
	{parse_endpoint, "127.0.0.1:9464", NULL, 0},
	{parse_endpoint, "[::1]:0", NULL, 0},
	{parse_endpoint, ":65535", NULL, 0},
};

TEST(valid_texts_are_parsed_exactly) {
	for (size_t i = 0; i < ARRAY_COUNT(valid); i++) {
		uint8_t value[32] = {0};

		if (!valid[i].parse(valid[i].text, value))
			fail_msg("\"%s\" was rejected", valid[i].text);
		if (valid[i].size > 0)
			assert_memory_equal(value, valid[i].value, valid[i].size);
	}
}

static const struct {
	bool (*parse)(const char *text, void *value);
	const char *texts[20]; /* up to NULL */
} invalid[] = {
	{parse_integer,
	 {"", "0x", "-1", "+1", " 1", "1 ", "010", "1a", "0x1g", "1_000", "0X1",
	  "18446744073709551616", "0x10000000000000000"}},
	{parse_size,
	 {"", "B", "1 ", "1  kB", "1 KB", "1 kb", "0.5 B", "0.3 KiB", "0x10",
	  "18446744073709551616", "18014398509481984 KiB"}},
	{parse_rate,
	 {"1.89", "1.89 Gbsp", "1,89 Gbps", "1. Gbps", ".5 Gbps", "1.8.9 Gbps", "0.1 bps",
	  "01 Gbps", "18446744.073709551616 Tbps", "0.00000000000000000001 Tbps"}},
	{parse_duration, {"5", "5 sec", "-5 s", "0.1 ns", "5124096 h"}},
	{parse_mac,
	 {"", "02:00:00:00:00", "02:00:00:00:00:01:02", "02-00-00-00-00-01", "01:00:5e:00:00:01",
	  "00:00:00:00:00:00", "ff:ff:ff:ff:ff:ff", "02:00:00:00:00:0g", "2:0:0:0:0:1",
	  "02:00:00:00:00:0 ", "020000000001"}},
	{parse_address,
	 {"", "10.0.0", "10.0.0.256", "10.0.0.1/32", "010.0.0.1", "0.0.0.0", "224.0.0.1",
	  "255.255.255.255", "::", "ff02::1", "2001:db8::g", "fe80::1%eth0", "10.0.0.1 ",
	  "1:2:3:4:5:6:7:8:9"}},
	{parse_prefix,
	 {"", "10.0.0.0/33", "10.0.0.1/31", "10.0.0.0/", "/8", "10.0.0.0/-1", "10.0.0.0/0x8",
	  "10.0.0.0/08", "2001:db8::/129", "2001:db8::1/127", "10.0.0.0/8/8", "10.0.0.0 /8"}},
	{parse_ports,
	 {"", "-", "80-", "-80", "139-135", "65536", "0-65536", "80 - 90", "1-2-3", "http"}},
	{parse_protocol, {"", "TCP", "sctpp", "256", "-1", "17 ", "ip"}},
	{parse_tos,
	 {"", "/", "0xb8/", "/0xfc", "0xb9/0xfc", "0x00/0x00", "0x100", "0xb8/0x1fc", "1/2/3"}},
	{parse_hex, {"", "010", "010203", "030g", "0x03"}},
	{parse_hours,
	 {"", "-", "7", "7-", "-7", "24-3", "7-25", "7-07", "3-3", "7-23 ", "7 - 23", "a-b",
	  "1-2-3", "5-0", "-1-3", "7-23h"}},
	{parse_endpoint,
	 {"", "127.0.0.1", ":", "127.0.0.1:", "host:9464", ":65536", "1.2.3.4:9 ", "1.2.3.4:x",
	  "1.2.3.4:-1", "1.2.3.4:0123"}},
};

TEST(invalid_texts_are_rejected_without_effect) {
	for (size_t i = 0; i < ARRAY_COUNT(invalid); i++) {
		for (const char *const *text = invalid[i].texts; *text != NULL; text++) {
			uint8_t value[32] = {0x5a, 0xa5}, before[32] = {0x5a, 0xa5};

			if (invalid[i].parse(*text, value))
				fail_msg("\"%s\" was accepted", *text);
			assert_memory_equal(value, before, sizeof(before));
		}
	}
}

static const struct {
	void (*format)(uint64_t value, char text[UNITS_TEXT_SIZE]);
	bool (*parse)(const char *text, void *value);
	uint64_t value;
	const char *text;
} formatted[] = {
	{units_format_rate, parse_rate, 1890000000, "1.89 Gbps"},
	{units_format_rate, parse_rate, 42240000, "42.24 Mbps"},
	{units_format_rate, parse_rate, 999, "999 bps"},
	{units_format_rate, parse_rate, 1001, "1.001 kbps"},
	{units_format_rate, parse_rate, 0, "0 bps"},
	{units_format_rate, parse_rate, UINT64_MAX, "18446744.073709551615 Tbps"},
	{units_format_size, parse_size, 1500, "1.5 kB"},
	{units_format_size, parse_size, 512000, "512 kB"},
	{units_format_size, parse_size, UINT64_MAX, "18446744073.709551615 GB"},
	{units_format_duration, parse_duration, 50000, "50 us"},
	{units_format_duration, parse_duration, 300000000000, "5 min"},
	{units_format_duration, parse_duration, 100000000000, "100 s"},
	{units_format_duration, parse_duration, 90000000000, "90 s"},
	{units_format_duration, parse_duration, 86400000000000, "24 h"},
	{units_format_duration, parse_duration, 1, "1 ns"},
};

TEST(formatted_values_parse_back) {
	char mac[UNITS_TEXT_SIZE];

	for (size_t i = 0; i < ARRAY_COUNT(formatted); i++) {
		char text[UNITS_TEXT_SIZE];
		uint64_t value;

		formatted[i].format(formatted[i].value, text);
		assert_string_equal(text, formatted[i].text);
		assert_true(formatted[i].parse(text, &value));
		assert_int_equal(value, formatted[i].value);
	}
	units_format_mac((const uint8_t[]){0x02, 0xab, 0, 0, 0, 0x0f}, mac);
	assert_string_equal(mac, "02:ab:00:00:00:0f");
}
