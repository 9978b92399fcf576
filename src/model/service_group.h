/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a service group is: a YAML file or an item of a server's, loaded once, read-only afterwards.
 *
 * Everything here is plain data in the units of the field: rates in bits per second, times in
 * nanoseconds, sizes in bytes, addresses in network byte order. References between objects are
 * resolved by the loader to indices, so that no reader looks anything up by name again.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/grants/grants.h"

#define SG_MAX_CHANNELS 256
#define SG_MAX_MODEMS 65535
#define SG_MAX_FLOW_CACHE 4194304
#define SG_MAX_MODEM_ADDRESSES 64
#define SG_MAX_MODEM_FLOWS 32
#define SG_MAX_MODEM_FILTER_GROUPS 4
#define SG_MAX_RULES 4096 /* in one filter group or one modem's classifier list */
#define SG_MAX_SAID 0x3fff
#define SG_MAX_DSID 0xfffff
#define SG_MAX_SID 0x3ffe /* 0x3fff is broadcast */
#define SG_MAX_SID_CLUSTERS 8 /* of one service flow */
#define SG_MAX_UPSTREAM_CHANNELS 64

enum channel_type {
	CHANNEL_OFDM,
	CHANNEL_SC_QAM,
};

/* L2TPv3 pseudowire subtypes for DOCSIS frames from the core to the R-PHY device (R-DEPI). */
enum pseudowire {
	PSEUDOWIRE_PSP_LEGACY = 2,
	PSEUDOWIRE_PSP_DEPI = 4,
};

/* What stands between the PSP segment table and the first segment. */
enum psp_extra {
	PSP_EXTRA_NONE, /* nothing */
	PSP_EXTRA_COUNTER, /* two bytes: 0x00, then a 4-bit packet counter and the 4-bit profile */
	PSP_EXTRA_STATIC, /* two bytes: 0x00, then 0 and the 4-bit profile */
};

/* The modulation of an upstream channel, and with it the UEPI format of its bursts. */
enum upstream_type {
	UPSTREAM_SC_QAM,
	UPSTREAM_OFDMA,
};

/* What the sequence numbers of PSP count; R-UEPI's text could not be read. */
enum psp_numbering {
	PSP_NUMBERING_FLOW, /* the packets of each PSP flow of a session */
	PSP_NUMBERING_SESSION, /* all packets of a session */
};

enum cipher {
	CIPHER_NONE, /* CRC only, EN = 0 */
	CIPHER_AES_128,
	CIPHER_AES_256,
	CIPHER_DES, /* single, 56 bits */
	CIPHERS
};

#define CIPHER_MAX_KEY 32 /* bytes */
#define CIPHER_MAX_IV 16

/* Bytes of a key. */
static inline unsigned cipher_key_size(enum cipher cipher) {
	static const uint8_t sizes[CIPHERS] = {
		[CIPHER_AES_128] = 16, [CIPHER_AES_256] = 32, [CIPHER_DES] = 8};

	return sizes[cipher];
}

/* Bytes of an initialisation vector, which are those of a block. */
static inline unsigned cipher_iv_size(enum cipher cipher) {
	static const uint8_t sizes[CIPHERS] = {
		[CIPHER_AES_128] = 16, [CIPHER_AES_256] = 16, [CIPHER_DES] = 8};

	return sizes[cipher];
}

/* What encrypts and decrypts the frames of a group. */
enum crypto_choice {
	CRYPTO_IPSEC_MB, /* the library, called directly */
	CRYPTO_CRYPTODEV, /* a crypto device of DPDK */
};

enum rule_family {
	RULE_IPV4,
	RULE_IPV6,
	RULE_LLC,
};

enum filter_action {
	FILTER_PERMIT,
	FILTER_DENY,
};

/* How the downstream threads share the work, by the reference's names. */
enum downstream_layout {
	LAYOUT_1DS1T, /* upper and lower MAC in turn on one core */
	LAYOUT_1DS2T, /* upper and lower MAC on a core each */
};

/* Core configurations by name: N upstreams on T threads, N downstreams on T threads. */
enum thread_layout {
	LAYOUT_NONE, /* every core by its own key */
	LAYOUT_1US1T_1DS1T,
	LAYOUT_1US1T_1DS2T,
	LAYOUT_2US1T_1DS2T, /* the upstreams of two groups on one thread */
	LAYOUT_COMBINED, /* both directions of a group on one thread */
	LAYOUT_COMBINED2, /* both directions of two groups on one thread */
};

struct ip_address {
	uint8_t family; /* 4 or 6 */
	uint8_t bytes[16]; /* network order; IPv4 uses the first four */
};

struct ip_prefix {
	struct ip_address address;
	uint8_t length; /* bits; 0 matches everything of the family */
};

struct port_range {
	uint16_t low;
	uint16_t high;
};

/*
 * One match of a filter or classifier (MULPI, annex C.2.1, C.2.2): every part that is not given
 * matches everything.
 */
struct match {
	enum rule_family family;
	struct ip_prefix source; /* IPv4 and IPv6 */
	struct ip_prefix destination;
	bool has_protocol;
	uint8_t protocol; /* IP protocol, or the type of any IPv6 header of the packet */
	uint8_t tos; /* IPv4 TOS or IPv6 traffic class, after the mask */
	uint8_t tos_mask;
	struct port_range source_ports; /* 0..65535 where not given */
	struct port_range destination_ports;
	bool has_ethertype;
	uint16_t ethertype; /* LLC only */
};

struct filter_rule {
	struct match match;
	enum filter_action action;
};

/* Rules in order: the first that matches decides. */
struct filter_group {
	uint32_t id;
	struct filter_rule *rules;
	size_t rule_count;
};

struct classifier {
	struct match match;
	uint32_t flow; /* index into the modem's service_flows */
};

/* What keeps the queue of a service flow short. */
enum aqm {
	AQM_TAIL_DROP, /* its buffer alone */
	AQM_WRED,
	AQM_DOCSIS_PIE, /* RFC 8034 */
};

struct wred {
	uint32_t min_threshold; /* bytes of the average queue, from where on packets are dropped */
	uint32_t max_threshold; /* from where on all are */
	uint32_t max_probability; /* just below max_threshold, in 1/65536; 1..65536 */
	uint8_t weight; /* the average moves by 1/2^weight of the difference; 1..15 */
};

/* Downstream; the quality of service parameters are those of MULPI, annex C.2.2. */
struct service_flow {
	uint32_t id; /* SFID, unique in the service group */
	bool active; /* only active flows may be the target of a classifier */
	uint32_t bonding_group; /* index; where the file says nothing, the modem's */
	bool has_dsid;
	uint32_t dsid; /* given when the flow's bonding group holds two or more channels */
	uint8_t priority; /* traffic priority 0..7 */
	uint8_t weight; /* 1..255, among the modem's flows of this priority */
	uint64_t sustained_rate; /* bits per second; 0: no limit */
	uint32_t traffic_burst; /* bytes; of no meaning without a sustained rate */
	uint64_t peak_rate; /* bits per second, at least the sustained; 0: none */
	uint64_t reserved_rate; /* bits per second, at most the sustained; 0: none */
	uint16_t reserved_packet; /* assumed minimum packet size, bytes */
	uint32_t min_buffer; /* bytes that may wait in the flow's queue: in want of memory, */
	uint32_t buffer; /* in ordinary times, */
	uint32_t max_buffer; /* and with much memory free */
	enum aqm aqm;
	struct wred wred; /* of no meaning but for AQM_WRED */
	uint64_t latency_target_ns; /* of DOCSIS-PIE */
};

struct security_association {
	uint16_t said; /* 14 bits */
	enum cipher cipher;
	/* What is behind the bytes that the cipher takes is zero. */
	uint8_t key[CIPHER_MAX_KEY];
	uint8_t iv[CIPHER_MAX_IV];
	uint8_t key_sequence; /* 4 bits; its lowest bit is the toggle */
	/* The following generation of the key, of sequence key_sequence + 1, which modems may use already. */
	bool has_next_key;
	bool use_next_key; /* downstream, too */
	uint8_t next_key[CIPHER_MAX_KEY];
	uint8_t next_iv[CIPHER_MAX_IV];
};

#define ASSOCIATION_SEQUENCES 16 /* numbers of keys; after the last comes 0 */

/* The generation that downstream frames have. */
static inline const uint8_t *association_key(const struct security_association *sa) {
	return sa->use_next_key ? sa->next_key : sa->key;
}

static inline const uint8_t *association_iv(const struct security_association *sa) {
	return sa->use_next_key ? sa->next_iv : sa->iv;
}

static inline uint8_t association_sequence(const struct security_association *sa) {
	return (uint8_t)((sa->key_sequence + sa->use_next_key) % ASSOCIATION_SEQUENCES);
}

/* The SID of a cluster on one upstream channel. */
struct upstream_sid {
	uint32_t channel; /* index into upstream_channels */
	uint16_t sid; /* 14 bits, unique on the channel */
};

/* SIDs that a service flow uses alike, one a channel (MULPI, SID clusters). */
struct sid_cluster {
	uint8_t id; /* 0..7, as in the segment header */
	struct upstream_sid *sids;
	size_t sid_count;
};

struct upstream_service_flow {
	uint32_t id; /* SFID, unique in the service group, also among downstream flows */
	bool segment_header; /* continuous concatenation and fragmentation */
	struct sid_cluster *clusters;
	size_t cluster_count; /* without segment headers exactly one */
	struct flow_grants grants;
};

struct modem {
	uint8_t mac[6];
	struct ip_address *addresses; /* of its CPEs */
	size_t address_count;
	uint32_t cpe_limit, cpe_limit_ipv6; /* active addresses admitted (MULPI, TLV 35, 63) */
	uint32_t filter_groups[SG_MAX_MODEM_FILTER_GROUPS]; /* indices, in order of evaluation */
	size_t filter_group_count;
	uint32_t bonding_group; /* index; of its service flows where they say nothing */
	uint64_t aggregate_rate; /* bits per second of all its downstream flows; 0: no limit */
	uint32_t aggregate_burst; /* bytes; of no meaning without a rate */
	struct security_association security;
	/* the first is the primary: it takes what no classifier takes */
	struct service_flow *service_flows;
	size_t service_flow_count;
	struct classifier *classifiers; /* in order: the first that matches decides */
	size_t classifier_count;
	struct upstream_service_flow *upstream_flows;
	size_t upstream_flow_count;
};

struct channel {
	uint32_t id;
	enum channel_type type;
	uint64_t rate; /* bits per second */
	uint32_t session; /* L2TPv3 session ID, not 0 */
	enum pseudowire pseudowire;
	enum psp_extra psp_extra;
	uint8_t profile; /* 4 bits, in the extra bytes */
};

struct upstream_channel {
	uint32_t id;
	enum upstream_type type;
	uint64_t rate; /* bits per second */
	/* L2TPv3 session IDs, chosen by us, unique among all upstream sessions */
	uint32_t session; /* data */
	uint32_t request_session; /* bandwidth requests; 0: they are taken from the bursts */
	uint32_t ranging_session; /* 0: none */
	struct channel_grants grants;
};

struct bonding_group {
	uint32_t id;
	uint32_t *channels; /* indices */
	size_t channel_count;
};

/* Who tells the packets of a port apart that several groups have. */
enum steering {
	STEERING_AUTO, /* the card, as far as it can; else software */
	STEERING_OFF, /* software */
};

/* A port is whatever DPDK opens by this string: a PCI address or a virtual device with arguments. */
struct port_config {
	char *device;
	uint32_t queue_size; /* descriptors; 0 of a control port that the file does not have */
	/* What tells the group's frames from those of others on this device. */
	uint16_t vlan; /* 1..4094, of all frames in both directions; 0: they have no tag */
	bool has_mac;
	uint8_t mac[6]; /* destination, on the network port only */
	enum steering steering; /* of a port that groups share, auto where all of them say so */
};

#define RPHY_MTU_LEAST 1500

struct rphy_config {
	uint8_t core_mac[6];
	uint8_t rpd_mac[6];
	struct ip_address core_ip; /* both of one family */
	struct ip_address rpd_ip;
	uint32_t mtu; /* bytes of the IP packet, RPHY_MTU_LEAST..9000 */
	uint8_t dscp;
	uint8_t ttl;
	uint64_t flush_ns; /* a DEPI frame waits no longer than this for more segments */
	uint32_t max_segments; /* PSP segments in one DEPI frame, 1..255 */
};

/* What the file says of threads; the cores in thread_config are made of it. */
struct thread_request {
	enum thread_layout layout;
	uint16_t *cores; /* of the layout, in the order in which groups take them; each once */
	size_t core_count;
	bool downstream, main_core, upper_mac_core, lower_mac_core, upstream_core; /* are given */
};

struct thread_config {
	enum downstream_layout downstream;
	uint32_t main_core;
	uint32_t upper_mac_core;
	uint32_t lower_mac_core; /* used by 1ds2t only */
	uint32_t upstream_core; /* may be one of the downstream's: then they take turns */
	struct thread_request
		asked; /* for those who explain a placement; it decides nothing more */
};

struct upstream_config {
	bool verify_source; /* a packet's source address must belong to its modem */
	bool verify_crc; /* of decrypted frames */
	enum psp_numbering psp_numbering;
	uint64_t reorder_timeout_ns; /* a missing PSP packet or segment is waited for so long */
	uint64_t frame_timeout_ns; /* an incomplete frame or burst is kept so long */
	uint32_t held_by_modem; /* bytes of buffers that wait for the missing parts of a modem */
	uint32_t held; /* of all modems and bursts together */
	bool held_given; /* by the file; else groups of a server divide what is theirs together */
	bool scheduled; /* else requests are counted, and nobody grants */
	struct grants_config scheduler;
};

struct crypto_config {
	enum crypto_choice provider;
	char *device; /* what DPDK opens, of CRYPTO_CRYPTODEV; else NULL */
	bool generate_crc; /* downstream; false: four bytes of zero stand in its place */
};

struct service_group {
	char *name;
	uint32_t id;
	struct port_config network;
	struct port_config rphy_port;
	struct port_config control_port; /* towards the control plane; device NULL: none */
	uint32_t max_frame; /* bytes of an Ethernet frame with its CRC, 64..2000 */
	struct thread_config threads;
	struct rphy_config rphy;
	struct crypto_config crypto;
	uint64_t rate_limit; /* bits per second of the whole group; 0 = none */
	uint64_t cpe_timeout_ns; /* an address silent for one to two times this is not active */
	enum filter_action filter_default; /* for packets that match no rule of their groups */
	uint32_t flow_cache; /* records of flows seen last; where not given, by the modems */
	bool has_flow_cache;
	uint32_t max_queued; /* packets in all queues of the group together; 0: not given */
	uint32_t max_modems; /* at a time, while it is in service; 0: not given */
	struct channel *channels;
	size_t channel_count;
	struct upstream_config upstream;
	struct upstream_channel *upstream_channels;
	size_t upstream_channel_count; /* 0: no upstream */
	struct bonding_group *bonding_groups;
	size_t bonding_group_count;
	struct filter_group *filter_groups;
	size_t filter_group_count;
	struct modem *modems;
	size_t modem_count;
	void *arena; /* owns everything above */
};
