/* SPDX-License-Identifier: BSD-3-Clause */
/* The keys of a service group that concern its server, ports, threads and crypto, and the keys of a
 * server file. */
#include <string.h>

#include "model/devices.h"
#include "model/keys/key_macros.h"
#include "model/server_config.h"

/* One entry per key, laid out as a table. */
/* clang-format off */

static const struct choice downstream_layouts[] = {
	{"1ds1t", LAYOUT_1DS1T},
	{"1ds2t", LAYOUT_1DS2T},
	{NULL, 0},
};
static const struct choice thread_layouts[] = {
	{"1us1t_1ds1t", LAYOUT_1US1T_1DS1T},
	{"1us1t_1ds2t", LAYOUT_1US1T_1DS2T},
	{"2us1t_1ds2t", LAYOUT_2US1T_1DS2T},
	{"combined", LAYOUT_COMBINED},
	{"combined2", LAYOUT_COMBINED2},
	{NULL, 0},
};

static const struct choice steering_modes[] = {
	{"auto", STEERING_AUTO},
	{"off", STEERING_OFF},
	{NULL, 0},
};

static const struct choice providers[] = {
	{CRYPTO_LIBRARY, CRYPTO_IPSEC_MB},
	{"cryptodev", CRYPTO_CRYPTODEV},
	{NULL, 0},
};

#define PORT_KEYS(device_default)                                                                  \
	{.name = "device", .kind = KIND_DEVICE, AT(struct port_config, device),                    \
	 .fallback = (device_default), .example = "0000:3b:00.0",                                  \
	 HELP("DPDK device: a PCI address, or a virtual device with its arguments; groups "       \
	      "with the same device share it")},                                                  \
	{.name = "queue_size", INTEGER(64, 32768), AT(struct port_config, queue_size),             \
	 .fallback = "4096", HELP("descriptors of each queue")},                                   \
	{.name = "vlan", INTEGER(1, 4094), AT(struct port_config, vlan), .example = "100",         \
	 HELP("VLAN ID of the group's frames (default: untagged)")},                   \
	{.name = "steering", ENUM(steering_modes), AT(struct port_config, steering),               \
	 .fallback = "auto",                                                                       \
	 HELP("distribution of packets of a shared port: auto: NIC flow rules steer "             \
	      "packets to queues of the groups, as far as the NIC supports them; off: "           \
	      "software distributes all packets. off in one group applies to the port")}

static const struct key network_port_keys[] = {
	PORT_KEYS("net_memif0,role=server,id=0,socket-abstract=no,"
		  "socket=/run/vcmts/network.sock"),
	{.name = "mac", .kind = KIND_MAC, AT(struct port_config, mac),
	 .flag = offsetof(struct port_config, has_mac),
	 .example = "02:00:00:00:01:01",
	 HELP("destination MAC address of the group's frames on a shared port (default: "
	      "subscriber addresses identify the group)")},
	{0},
};

static const struct key rphy_port_keys[] = {
	PORT_KEYS("net_memif1,role=server,id=1,socket-abstract=no,"
		  "socket=/run/vcmts/rphy.sock"),
	{0},
};

static const struct key control_port_keys[] = {
	{.name = "device", .required = true, .kind = KIND_DEVICE, AT(struct port_config, device),
	 .example = "net_tap0,iface=control",
	 HELP("DPDK device: a PCI address, or a virtual device with its arguments")},
	{.name = "queue_size", INTEGER(64, 32768), AT(struct port_config, queue_size),
	 .fallback = "512", HELP("descriptors of each queue")},
	{0},
};

/* The ports are maps inside `ports`, which has no struct of its own. */
const struct key ports_keys[] = {
	{.name = "network", MAP_AT(struct service_group, network, network_port_keys),
	 .merged = true, HELP("the port towards the core network: plain IP packets")},
	{.name = "rphy", MAP_AT(struct service_group, rphy_port, rphy_port_keys), .merged = true,
	 HELP("the port towards the R-PHY device: DEPI and UEPI")},
	{.name = "control", .optional = true, .merged = true,
	 MAP_AT(struct service_group, control_port, control_port_keys),
	 HELP("the port towards the control plane, for MAC management messages of the modems "
	      "(default: none; the messages are dropped)")},
	{0},
};

#ifndef VCMTS_NO_IPSEC_MB
#define PROVIDER CRYPTO_LIBRARY
#else
#define PROVIDER "cryptodev" /* without a device: crypto_default_device() */
#endif

const struct key crypto_keys[] = {
	{.name = "provider", ENUM(providers), AT(struct crypto_config, provider),
	 .fallback = PROVIDER,
	 HELP("crypto provider: the library intel-ipsec-mb, called directly, or a DPDK crypto "
	      "device")},
	{.name = "device", .kind = KIND_DEVICE, AT(struct crypto_config, device),
	 .fallback = CRYPTO_NO_DEVICE, .example = "crypto_aesni_mb0",
	 HELP("the device of provider: cryptodev: a PCI address, or a driver's name with a "
	      "number; required with cryptodev, and allowed only there; none: no device. "
	      "Groups with the same device share it")},
	{.name = "generate_crc", BOOL, AT(struct crypto_config, generate_crc), .fallback = "true",
	 HELP("generate the Ethernet CRC downstream; false sends four zero bytes instead, to "
	      "measure the cost of the CRC: modems drop such frames")},
	{0},
};
#define CORE(member) INTEGER(0, KEYS_MAX_CORE), AT(struct thread_config, member),                  \
	.flag = offsetof(struct thread_config, requested.member)

const struct key threads_keys[] = {
	{.name = "layout", ENUM(thread_layouts), AT(struct thread_config, requested.layout),
	 HELP("named core configuration; its threads get the cores of the list in order: the "
	      "upstreams of one or two groups on one thread, the downstream of a group on one "
	      "or two; combined: both directions of one group on one thread, combined2: of "
	      "two groups. A thread whose core has its own key gets none from the list")},
	{.name = "cores", .kind = KIND_CORES, .offset = offsetof(struct thread_config, requested.cores),
	 .size = sizeof(uint16_t), COUNT(struct thread_config, requested.core_count), .min = 0,
	 .max = KEYS_MAX_CORE, .example = "1-15,17",
	 HELP("the cores of the layout; groups with a common list get its cores in the order "
	      "of the groups: upper MAC, lower MAC, upstream")},
	{.name = "downstream", ENUM(downstream_layouts), AT(struct thread_config, downstream),
	 .flag = offsetof(struct thread_config, requested.downstream), .fallback = "1ds1t",
	 HELP("1ds1t: upper and lower MAC on one core; 1ds2t: on separate cores")},
	{.name = "main_core", CORE(main_core), .fallback = "0",
	 HELP("core of the management thread, one for the whole server")},
	{.name = "upper_mac_core", CORE(upper_mac_core), .fallback = "1",
	 HELP("core of the upper MAC, in 1ds1t also of the lower MAC")},
	{.name = "lower_mac_core", CORE(lower_mac_core), .fallback = "0",
	 HELP("core of the lower MAC; used by 1ds2t only")},
	{.name = "upstream_core", CORE(upstream_core), .fallback = "1",
	 HELP("core of the upstream; may be one of the downstream's, which then runs both")},
	{0},
};

const struct key group_file_key = {
	.name = "file", .kind = KIND_PATH, .size = sizeof(char *), .example = "sg1.yaml",
	HELP("a service group's own file, relative to the folder of this one; keys next to it "
	     "take precedence over those of the file"),
};

const struct key server_name_key = {
	.name = "name", .kind = KIND_NAME, .size = sizeof(char *),
	HELP("name of the server"),
};

const struct key server_max_groups_key = {
	.name = "max_groups", INTEGER(1, SERVER_MAX_GROUPS), .size = sizeof(uint32_t),
	.example = "32",
	HELP("maximum number of service groups at a time, for groups that are added while the "
	     "server runs; the start allocates memory for as many groups of the largest size "
	     "in the list (default: the number in the list)"),
};

static const struct key group_item = {
	.kind = KIND_MAP, .size = sizeof(struct service_group), HELP("a service group"),
};

const struct key server_groups_key = {
	.name = "service_groups", .kind = KIND_LIST, .min = 1, .max = SERVER_MAX_GROUPS,
	.item = &group_item,
	HELP("the service groups of a server, each with the keys of a group. Keys next to "
	     "this list are defaults for all groups: ports, threads, rphy, crypto and "
	     "upstream are merged key by key, all others as a whole"),
};
/* clang-format on */

_Static_assert(SERVER_MAX_GROUPS == 64, "the documentation states this limit");

void keys_of_item(struct key *table) {
	size_t used = 0;

	table[used++] = group_file_key;
	for (const struct key *key = service_group_keys; key->name != NULL; key++)
		table[used++] = *key;
	table[used] = (struct key){0};
}

void keys_of_all_groups(struct key *table) {
	size_t used = 0;

	for (const struct key *key = service_group_keys; key->name != NULL; key++) {
		if (strcmp(key->name, "name") != 0 && strcmp(key->name, "service_group") != 0)
			table[used++] = *key;
	}
	table[used] = (struct key){0};
}

void keys_of_server(struct key *table) {
	size_t used = 1;

	table[0] = server_name_key;
	keys_of_all_groups(&table[1]);
	while (table[used].name != NULL)
		used++;
	table[used++] = server_max_groups_key;
	table[used++] = server_power_key;
	table[used++] = server_metrics_key;
	table[used++] = server_needs_version_key;
	table[used++] = server_groups_key;
	table[used] = (struct key){0};
}
