/* SPDX-License-Identifier: BSD-3-Clause */
/* Parsers of configuration values. Decimal arithmetic is exact and checks for overflow. */
#include "model/units.h"

#include <arpa/inet.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define HOURS_OF_DAY 24

struct unit {
	const char *name;
	uint64_t factor;
};

/* clang-format off */

/* Each list ends with a NULL name. Formatting uses the first unit that does not exceed the value,
 * so the lists run from large to small, with the preferred spelling first. */
static const struct unit size_units[] = {
	{"GB", 1000000000},
	{"MB", 1000000},
	{"kB", 1000},
	{"B", 1},
	{"G", 1000000000},
	{"M", 1000000},
	{"k", 1000},
	{"Gi", 1u << 30},
	{"Mi", 1u << 20},
	{"Ki", 1u << 10},
	{"GiB", 1u << 30},
	{"MiB", 1u << 20},
	{"KiB", 1u << 10},
	{"", 1},
	{NULL, 0},
};

static const struct unit rate_units[] = {
	{"Tbps", 1000000000000},
	{"Gbps", 1000000000},
	{"Mbps", 1000000},
	{"kbps", 1000},
	{"bps", 1},
	{NULL, 0},
};

static const struct unit duration_units[] = {
	{"h", 3600000000000},
	{"min", 60000000000},
	{"s", 1000000000},
	{"ms", 1000000},
	{"us", 1000},
	{"ns", 1},
	{NULL, 0},
};

static const struct unit protocols[] = {
	{"icmp", 1},
	{"igmp", 2},
	{"tcp", 6},
	{"udp", 17},
	{"gre", 47},
	{"esp", 50},
	{"icmpv6", 58},
	{NULL, 0},
};

/* clang-format on */

static const struct unit *find_unit(const struct unit *units, const char *name) {
	while (units->name != NULL && strcmp(units->name, name) != 0)
		units++;
	return units->name != NULL ? units : NULL;
}

static bool is_digit(char c) {
	return c >= '0' && c <= '9';
}

static int hex_digit(char c) {
	if (is_digit(c))
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return -1;
}

static bool append_digit(uint64_t *value, unsigned int base, int digit) {
	return !__builtin_mul_overflow(*value, base, value) &&
	       !__builtin_add_overflow(*value, (uint64_t)digit, value);
}

static uint64_t greatest_common_divisor(uint64_t a, uint64_t b) {
	while (b != 0) {
		uint64_t rest = a % b;

		a = b;
		b = rest;
	}
	return a;
}

bool units_parse_integer(const char *text, uint64_t *value) {
	bool hexadecimal = text[0] == '0' && text[1] == 'x';
	const char *c = hexadecimal ? text + 2 : text;
	uint64_t number = 0;

	if (*c == '\0' || (!hexadecimal && text[0] == '0' && text[1] != '\0'))
		return false;
	for (; *c != '\0'; c++) {
		int digit = hex_digit(*c);

		if (digit < 0 || (!hexadecimal && digit > 9) ||
		    !append_digit(&number, hexadecimal ? 16 : 10, digit))
			return false;
	}
	*value = number;
	return true;
}

/* Scans digits with at most one decimal point as `mantissa` over `divisor`. Returns the rest, or
 * NULL. */
static const char *scan_decimal(const char *text, uint64_t *mantissa, uint64_t *divisor) {
	bool point = false;
	const char *c = text;

	*mantissa = 0;
	*divisor = 1;
	if (!is_digit(*c) || (c[0] == '0' && is_digit(c[1])))
		return NULL;
	for (; is_digit(*c) || (*c == '.' && !point); c++) {
		if (*c == '.') {
			point = true;
			if (!is_digit(c[1]))
				return NULL;
			continue;
		}
		if (!append_digit(mantissa, 10, *c - '0'))
			return NULL;
		if (point && __builtin_mul_overflow(*divisor, 10u, divisor))
			return NULL;
	}
	return c;
}

static bool parse_quantity(const char *text, const struct unit *units, uint64_t *value) {
	uint64_t mantissa, divisor, common, product;
	const char *rest = scan_decimal(text, &mantissa, &divisor);
	const struct unit *unit;

	if (rest == NULL)
		return false;
	if (*rest == ' ' && rest[1] != '\0')
		rest++;
	unit = find_unit(units, rest);
	if (unit == NULL)
		return false;
	common = greatest_common_divisor(unit->factor, divisor);
	divisor /= common;
	if (mantissa % divisor != 0)
		return false;
	if (__builtin_mul_overflow(mantissa / divisor, unit->factor / common, &product))
		return false;
	*value = product;
	return true;
}

bool units_parse_size(const char *text, uint64_t *bytes) {
	return parse_quantity(text, size_units, bytes);
}

bool units_parse_rate(const char *text, uint64_t *bits_per_second) {
	return parse_quantity(text, rate_units, bits_per_second);
}

bool units_parse_duration(const char *text, uint64_t *nanoseconds) {
	return parse_quantity(text, duration_units, nanoseconds);
}

bool units_parse_hex(const char *text, uint8_t *bytes, size_t size) {
	if (strlen(text) != 2 * size)
		return false;
	for (const char *c = text; *c != '\0'; c++) {
		if (hex_digit(*c) < 0)
			return false;
	}
	for (size_t i = 0; i < size; i++)
		bytes[i] = (uint8_t)(hex_digit(text[2 * i]) << 4 | hex_digit(text[2 * i + 1]));
	return true;
}

bool units_parse_mac(const char *text, uint8_t mac[6]) {
	static const uint8_t zero[6];
	char digits[13] = {0};
	uint8_t bytes[6];

	if (strlen(text) != 17)
		return false;
	for (size_t i = 0; i < 6; i++) {
		if (i < 5 && text[3 * i + 2] != ':')
			return false;
		memcpy(&digits[2 * i], &text[3 * i], 2);
	}
	if (!units_parse_hex(digits, bytes, sizeof(bytes)))
		return false;
	if ((bytes[0] & 1) != 0 || memcmp(bytes, zero, sizeof(zero)) == 0)
		return false;
	memcpy(mac, bytes, sizeof(bytes));
	return true;
}

static bool parse_any_address(const char *text, struct ip_address *address) {
	struct ip_address parsed = {0};

	if (inet_pton(AF_INET, text, parsed.bytes) == 1)
		parsed.family = 4;
	else if (inet_pton(AF_INET6, text, parsed.bytes) == 1)
		parsed.family = 6;
	else
		return false;
	*address = parsed;
	return true;
}

static bool is_unicast(const struct ip_address *address) {
	static const uint8_t zero[16];

	if (memcmp(address->bytes, zero, sizeof(zero)) == 0)
		return false;
	return address->family == 4 ? address->bytes[0] < 224 : address->bytes[0] != 0xff;
}

bool units_parse_address(const char *text, struct ip_address *address) {
	struct ip_address parsed;

	if (!parse_any_address(text, &parsed) || !is_unicast(&parsed))
		return false;
	*address = parsed;
	return true;
}

static bool host_bits_are_zero(const struct ip_prefix *prefix) {
	unsigned int bits = prefix->address.family == 4 ? 32 : 128;

	for (unsigned int bit = prefix->length; bit < bits; bit++) {
		if ((prefix->address.bytes[bit / 8] & 0x80u >> bit % 8) != 0)
			return false;
	}
	return true;
}

bool units_parse_prefix(const char *text, struct ip_prefix *prefix) {
	const char *slash = strchr(text, '/');
	size_t length = slash != NULL ? (size_t)(slash - text) : strlen(text);
	char address[INET6_ADDRSTRLEN];
	struct ip_prefix parsed;
	uint64_t bits, max;

	if (length >= sizeof(address))
		return false;
	memcpy(address, text, length);
	address[length] = '\0';
	if (!parse_any_address(address, &parsed.address))
		return false;
	max = parsed.address.family == 4 ? 32 : 128;
	bits = max;
	if (slash != NULL && (strchr(slash, 'x') != NULL || !units_parse_integer(slash + 1, &bits)))
		return false;
	if (bits > max)
		return false;
	parsed.length = (uint8_t)bits;
	if (!host_bits_are_zero(&parsed))
		return false;
	*prefix = parsed;
	return true;
}

/* Scans a whole number of at most `max` that ends at `separator` or with the text. Returns the
 * rest, or NULL. */
static const char *scan_part(const char *text, const char *separator, uint64_t max,
			     uint64_t *value) {
	size_t length = strcspn(text, separator);
	char part[24];

	if (length >= sizeof(part))
		return NULL;
	memcpy(part, text, length);
	part[length] = '\0';
	if (!units_parse_integer(part, value) || *value > max)
		return NULL;
	return text + length;
}

bool units_parse_ports(const char *text, struct port_range *ports) {
	uint64_t low, high;
	const char *rest = scan_part(text, "-", UINT16_MAX, &low);

	if (rest == NULL)
		return false;
	high = low;
	if (*rest == '-' && (!units_parse_integer(rest + 1, &high) || high > UINT16_MAX))
		return false;
	if (low > high)
		return false;
	ports->low = (uint16_t)low;
	ports->high = (uint16_t)high;
	return true;
}

bool units_parse_hours(const char *text, struct hours *hours) {
	uint64_t from, to;
	const char *rest = scan_part(text, "-", HOURS_OF_DAY - 1, &from);

	if (rest == NULL || *rest != '-' || !units_parse_integer(rest + 1, &to))
		return false;
	if (to < 1 || to > HOURS_OF_DAY || to == from)
		return false;
	hours->from = (uint8_t)from;
	hours->to = (uint8_t)to;
	return true;
}

bool units_parse_endpoint(const char *text) {
	const char *colon = strrchr(text, ':');
	uint64_t port;

	return colon != NULL && strlen(text) < UNITS_ENDPOINT_SIZE &&
	       strspn(text, "0123456789abcdefABCDEF.:[]") == strlen(text) &&
	       units_parse_integer(colon + 1, &port) && port <= UINT16_MAX;
}

bool units_parse_protocol(const char *text, uint8_t *protocol) {
	const struct unit *known = find_unit(protocols, text);
	uint64_t number;

	if (known != NULL)
		number = known->factor;
	else if (!units_parse_integer(text, &number) || number > UINT8_MAX)
		return false;
	*protocol = (uint8_t)number;
	return true;
}

bool units_parse_tos(const char *text, uint8_t *tos, uint8_t *mask) {
	uint64_t value, bits = UINT8_MAX;
	const char *rest = scan_part(text, "/", UINT8_MAX, &value);

	if (rest == NULL)
		return false;
	if (*rest == '/' && (!units_parse_integer(rest + 1, &bits) || bits > UINT8_MAX))
		return false;
	if (bits == 0 || (value & ~bits) != 0)
		return false;
	*tos = (uint8_t)value;
	*mask = (uint8_t)bits;
	return true;
}

static void format_quantity(uint64_t value, const struct unit *units, char *text) {
	char digits[UNITS_TEXT_SIZE];
	uint64_t rest, power;
	size_t length;

	/* thirds have no finite decimals, so hours and minutes are used for whole numbers only */
	while (units->factor > 1 &&
	       (units->factor > value || (units->factor % 3 == 0 && value % units->factor != 0)))
		units++;
	length = (size_t)snprintf(digits, sizeof(digits), "%" PRIu64, value / units->factor);
	rest = value % units->factor;
	if (rest != 0)
		digits[length++] = '.';
	for (power = units->factor / 10; rest != 0; power /= 10) {
		digits[length++] = (char)('0' + rest / power);
		rest %= power;
	}
	digits[length] = '\0';
	snprintf(text, UNITS_TEXT_SIZE, "%.25s %s", digits, units->name);
}

void units_format_size(uint64_t bytes, char text[UNITS_TEXT_SIZE]) {
	format_quantity(bytes, size_units, text);
}

void units_format_rate(uint64_t bits_per_second, char text[UNITS_TEXT_SIZE]) {
	format_quantity(bits_per_second, rate_units, text);
}

void units_format_duration(uint64_t nanoseconds, char text[UNITS_TEXT_SIZE]) {
	format_quantity(nanoseconds, duration_units, text);
}

void units_format_mac(const uint8_t mac[6], char text[UNITS_TEXT_SIZE]) {
	snprintf(text, UNITS_TEXT_SIZE, "%02x:%02x:%02x:%02x:%02x:%02x", mac[0], mac[1], mac[2],
		 mac[3], mac[4], mac[5]);
}
