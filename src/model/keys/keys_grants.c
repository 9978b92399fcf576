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
	 HELP("time that a modem needs to process a MAP; on OFDMA channels plus a frame and a "
	      "symbol")},
	{.name = "cmts_processing", TIME(0, 10 * MILLISECOND),
	 AT(struct grants_config, cmts_processing), .fallback = "200 us",
	 HELP("time from when a MAP is due until it is on the wire, including delays of the "
	      "server")},
	{.name = "request_processing", TIME(1, 10 * MILLISECOND),
	 AT(struct grants_config, request_processing),
	 HELP("time from the end of a request until the R-PHY device forwards it (default: "
	      "two OFDMA frames, or 200 us on SC-QAM channels)")},
	{.name = "interleaver", TIME(0, 10 * MILLISECOND), AT(struct grants_config, interleaver),
	 .fallback = "111 us",
	 HELP("delay of the downstream channels that carry MAPs: interleaver and symbols")},
	{.name = "round_trip", TIME(0, 10 * MILLISECOND), AT(struct grants_config, round_trip),
	 .fallback = "80 us",
	 HELP("round trip time between the R-PHY device and the farthest modem, 10 us per km")},
	{.name = "transport", TIME(0, 10 * MILLISECOND), AT(struct grants_config, transport),
	 .fallback = "100 us",
	 HELP("one-way delay between the server and the R-PHY device")},
	{.name = "psp_flow", INTEGER(0, 7), AT(struct grants_config, psp_flow), .fallback = "1",
	 HELP("PSP flow of MAPs and UCDs in the sessions of downstream channels, with its own "
	      "sequence numbers; 0: that of data, so that they queue behind data")},
	{0},
};

const struct key physical_keys[] = {
	{.name = "frequency", INTEGER(1, UINT32_MAX), AT(struct upstream_physical, frequency),
	 .example = "30000000",
	 HELP("centre frequency of the channel in Hz, or that of subcarrier 0 of an OFDMA "
	      "channel; if given, the UCDs contain it")},
	{.name = "minislot_bytes", INTEGER(1, 4096), AT(struct upstream_physical, minislot_bytes),
	 .example = "48",
	 HELP("data bytes per minislot (default: by modulation or bits, else by the channel's "
	      "rate)")},
	{.name = "minislot_ticks", INTEGER(1, 128), AT(struct upstream_physical, minislot_ticks),
	 .fallback = "2", HELP("length of a minislot of an SC-QAM channel, in 6.25 us: 1, 2, "
			       "4, 8, 16, 32, 64 or 128")},
	{.name = "symbol_rate", INTEGER(1280, 5120), AT(struct upstream_physical, symbol_rate),
	 .fallback = "5120", HELP("symbol rate of an SC-QAM channel in ksym/s: 1280, 2560 or "
				  "5120")},
	{.name = "modulation", ENUM(modulations), AT(struct upstream_physical, modulation),
	 HELP("modulation of data bursts of an SC-QAM channel (default: by its rate)")},
	{.name = "burst_minislots", INTEGER(0, 255), AT(struct upstream_physical, burst_minislots),
	 .fallback = "1",
	 HELP("minislots per grant of an SC-QAM channel for preamble and guard time")},
	{.name = "frame_symbols", INTEGER(6, 36), AT(struct upstream_physical, frame_symbols),
	 .fallback = "6", HELP("K: symbols in an OFDMA frame; at 25 kHz at most 18")},
	{.name = "cyclic_prefix", INTEGER(96, 640), AT(struct upstream_physical, cyclic_prefix),
	 .fallback = "256", HELP("cyclic prefix of an OFDMA symbol, in samples of 102.4 MHz: "
				 "a multiple of 32")},
	{.name = "subcarrier_spacing", INTEGER(25, 50),
	 AT(struct upstream_physical, subcarrier_spacing), .fallback = "50",
	 HELP("subcarrier spacing of an OFDMA channel in kHz, 25 or 50: symbols of 40 us or "
	      "20 us")},
	{.name = "frame_minislots", INTEGER(1, 237), AT(struct upstream_physical, frame_minislots),
	 .fallback = "237", HELP("minislots per OFDMA frame, one per 400 kHz")},
	{.name = "bits", INTEGER(1, 12), AT(struct upstream_physical, bits),
	 .example = "8",
	 HELP("data bits per OFDMA subcarrier and symbol (default: by the channel's rate)")},
	{.name = "data_iuc", INTEGER(5, 13), AT(struct upstream_physical, data_iuc),
	 .fallback = "10",
	 HELP("interval usage code of data grants, 5, 6 or 9 to 13: the burst profile of "
	      "SC-QAM, data profile "
	      "of OFDMA")},
	{0},
};

const struct key contention_keys[] = {
	{.name = "request_minislots", INTEGER(1, 16),
	 AT(struct upstream_contention, request_minislots), .fallback = "1",
	 HELP("minislots per request opportunity")},
	{.name = "request_opportunities", INTEGER(1, 1024),
	 AT(struct upstream_contention, request_opportunities), .fallback = "8",
	 HELP("minimum number of request opportunities per MAP; unused minislots become "
	      "further ones")},
	{.name = "backoff_start", INTEGER(0, 15), AT(struct upstream_contention, backoff_start),
	 .fallback = "3", HELP("initial back-off window of modems, exponent of 2")},
	{.name = "backoff_end", INTEGER(0, 15), AT(struct upstream_contention, backoff_end),
	 .fallback = "10", HELP("largest back-off window, exponent of 2; at least backoff_start")},
	{0},
};

const struct key maintenance_keys[] = {
	{.name = "initial_interval", TIME(0, 2 * SECOND),
	 AT(struct upstream_maintenance, initial_interval), .fallback = "1 s",
	 HELP("time between two opportunities for initial maintenance; 0: none")},
	{.name = "initial_minislots", INTEGER(1, 4096),
	 AT(struct upstream_maintenance, initial_minislots), .example = "40",
	 HELP("minislots of an initial maintenance region (default: 200 us plus round_trip, "
	      "up to 500 us; or an OFDMA frame; or half of a MAP that has only one)")},
	{.name = "station_minislots", INTEGER(1, 1024),
	 AT(struct upstream_maintenance, station_minislots), .example = "16",
	 HELP("minislots of a station maintenance opportunity (default: 200 us; OFDMA: 16 "
	      "minislots)")},
	{.name = "backoff_start", INTEGER(0, 15), AT(struct upstream_maintenance, backoff_start),
	 .fallback = "0", HELP("initial back-off window of initial maintenance, exponent of 2")},
	{.name = "backoff_end", INTEGER(0, 15), AT(struct upstream_maintenance, backoff_end),
	 .fallback = "4", HELP("largest back-off window, exponent of 2; at least backoff_start")},
	{0},
};

/* clang-format on */
