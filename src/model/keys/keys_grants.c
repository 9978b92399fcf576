/* SPDX-License-Identifier: BSD-3-Clause */
/* The keys of the upstream scheduler: of the group, and of an upstream channel. */
#include "model/keys/key_macros.h"
#include "model/service_group.h"

/* One entry per key, laid out as a table. */
/* clang-format off */

static const struct choice modulations[] = {
	{"qpsk", 2}, {"8-qam", 3}, {"16-qam", 4}, {"32-qam", 5}, {"64-qam", 6}, {NULL, 0},
};
const struct key grants_keys[] = {
	{.name = "map_interval", TIME(500 * MICROSECOND, 20 * MILLISECOND),
	 AT(struct grants_config, map_interval), .fallback = "2 ms",
	 HELP("time that a MAP describes, rounded to whole OFDMA frames or minislots")},
	{.name = "ucd_interval", TIME(10 * MILLISECOND, 2 * SECOND),
	 AT(struct grants_config, ucd_interval), .fallback = "1 s",
	 HELP("time between two UCDs of a channel")},
	{.name = "modem_processing", TIME(200 * MICROSECOND, 10 * MILLISECOND),
	 AT(struct grants_config, modem_processing), .fallback = "600 us",
	 HELP("time that a modem takes for a MAP; on OFDMA channels a frame and a symbol more")},
	{.name = "cmts_processing", TIME(0, 10 * MILLISECOND),
	 AT(struct grants_config, cmts_processing), .fallback = "200 us",
	 HELP("time from when a MAP is due until it is on the wire, with what makes it late")},
	{.name = "request_processing", TIME(1, 10 * MILLISECOND),
	 AT(struct grants_config, request_processing),
	 HELP("time from the end of a request until the R-PHY device sends it on; where not given two "
	      "OFDMA frames, or 200 us on SC-QAM channels")},
	{.name = "interleaver", TIME(0, 10 * MILLISECOND), AT(struct grants_config, interleaver),
	 .fallback = "111 us",
	 HELP("delay of the downstream channels that carry MAPs: interleaver and symbols")},
	{.name = "round_trip", TIME(0, 10 * MILLISECOND), AT(struct grants_config, round_trip),
	 .fallback = "80 us",
	 HELP("round trip between R-PHY device and the farthest modem, 10 us a km")},
	{.name = "transport", TIME(0, 10 * MILLISECOND), AT(struct grants_config, transport),
	 .fallback = "100 us",
	 HELP("time that a packet takes between here and the R-PHY device, one way")},
	{.name = "psp_flow", INTEGER(0, 7), AT(struct grants_config, psp_flow), .fallback = "1",
	 HELP("PSP flow of MAPs and UCDs in the sessions of downstream channels, with sequence numbers of "
	      "its own; 0: that of data, behind which they wait then")},
	{0},
};

const struct key physical_keys[] = {
	{.name = "frequency", INTEGER(1, UINT32_MAX), AT(struct upstream_physical, frequency),
	 .example = "30000000",
	 HELP("Hz: the centre of the channel, or subcarrier 0 of an OFDMA channel; told by its UCDs "
	      "where given")},
	{.name = "minislot_bytes", INTEGER(1, 4096), AT(struct upstream_physical, minislot_bytes),
	 .example = "48",
	 HELP("data in a minislot; where not given by modulation or bits, else by the channel's rate")},
	{.name = "minislot_ticks", INTEGER(1, 128), AT(struct upstream_physical, minislot_ticks),
	 .fallback = "2", HELP("length of a minislot of an SC-QAM channel, in 6.25 us: 1, 2, 4, 8, 16, 32, 64 or 128")},
	{.name = "symbol_rate", INTEGER(1280, 5120), AT(struct upstream_physical, symbol_rate),
	 .fallback = "5120", HELP("thousand symbols a second of an SC-QAM channel: 1280, 2560 or 5120")},
	{.name = "modulation", ENUM(modulations), AT(struct upstream_physical, modulation),
	 HELP("of data bursts of an SC-QAM channel; where not given by its rate")},
	{.name = "burst_minislots", INTEGER(0, 255), AT(struct upstream_physical, burst_minislots),
	 .fallback = "1",
	 HELP("minislots of each grant of an SC-QAM channel that preamble and guard time take")},
	{.name = "frame_symbols", INTEGER(6, 36), AT(struct upstream_physical, frame_symbols),
	 .fallback = "6", HELP("K: symbols in an OFDMA frame; at 25 kHz at most 18")},
	{.name = "cyclic_prefix", INTEGER(96, 640), AT(struct upstream_physical, cyclic_prefix),
	 .fallback = "256", HELP("cyclic prefix of an OFDMA symbol, in samples of 102.4 MHz: a multiple of 32")},
	{.name = "subcarrier_spacing", INTEGER(25, 50),
	 AT(struct upstream_physical, subcarrier_spacing), .fallback = "50",
	 HELP("kHz, 25 or 50: symbols of an OFDMA channel are 40 us long, or 20 us")},
	{.name = "frame_minislots", INTEGER(1, 237), AT(struct upstream_physical, frame_minislots),
	 .fallback = "237", HELP("minislots in an OFDMA frame, one for each 400 kHz")},
	{.name = "bits", INTEGER(1, 12), AT(struct upstream_physical, bits),
	 .example = "8",
	 HELP("bits of data of an OFDMA subcarrier in a symbol; where not given by the channel's rate")},
	{.name = "data_iuc", INTEGER(5, 13), AT(struct upstream_physical, data_iuc),
	 .fallback = "10",
	 HELP("interval usage code of data grants, 5, 6 or 9 to 13: the burst profile of SC-QAM, data profile "
	      "of OFDMA")},
	{0},
};

const struct key contention_keys[] = {
	{.name = "request_minislots", INTEGER(1, 16),
	 AT(struct upstream_contention, request_minislots), .fallback = "1",
	 HELP("minislots of one request opportunity")},
	{.name = "request_opportunities", INTEGER(1, 1024),
	 AT(struct upstream_contention, request_opportunities), .fallback = "8",
	 HELP("request opportunities in each MAP, at least: unused minislots become some, too")},
	{.name = "backoff_start", INTEGER(0, 15), AT(struct upstream_contention, backoff_start),
	 .fallback = "3", HELP("exponent of 2 of the back-off window that modems begin with")},
	{.name = "backoff_end", INTEGER(0, 15), AT(struct upstream_contention, backoff_end),
	 .fallback = "10", HELP("and of the largest; at least backoff_start")},
	{0},
};

const struct key maintenance_keys[] = {
	{.name = "initial_interval", TIME(0, 2 * SECOND),
	 AT(struct upstream_maintenance, initial_interval), .fallback = "1 s",
	 HELP("time between two opportunities for initial maintenance; 0: none")},
	{.name = "initial_minislots", INTEGER(1, 4096),
	 AT(struct upstream_maintenance, initial_minislots), .example = "40",
	 HELP("minislots of initial maintenance; where not given 200 us and round_trip, up to 500 us, or "
	      "an OFDMA frame, or half of a MAP that has but one")},
	{.name = "station_minislots", INTEGER(1, 1024),
	 AT(struct upstream_maintenance, station_minislots), .example = "16",
	 HELP("minislots of station maintenance of a modem; where not given 200 us, or 16 of OFDMA")},
	{.name = "backoff_start", INTEGER(0, 15), AT(struct upstream_maintenance, backoff_start),
	 .fallback = "0", HELP("exponent of 2 of the back-off window of initial maintenance")},
	{.name = "backoff_end", INTEGER(0, 15), AT(struct upstream_maintenance, backoff_end),
	 .fallback = "4", HELP("and of the largest; at least backoff_start")},
	{0},
};

/* clang-format on */
