/* SPDX-License-Identifier: BSD-3-Clause */
/* The keys of what encrypts: a modem's security association, and who does it for the group. */
#include "model/key_rows.h"

/* One row a key, to be read as a table. */
/* clang-format off */

const struct choice cipher_choices[] = {
	{"none", CIPHER_NONE},
	{"aes-128", CIPHER_AES_128},
	{"aes-256", CIPHER_AES_256},
	{"des", CIPHER_DES},
	{NULL, 0},
};
const struct choice cipher_key_lengths[] = {
	{"32 (aes-128)", 16},
	{"64 (aes-256)", 32},
	{"16 (des)", 8},
	{NULL, 0},
};
const struct choice cipher_iv_lengths[] = {
	{"32 (aes)", 16},
	{"16 (des)", 8},
	{NULL, 0},
};
static const struct choice providers[] = {
	{"ipsec-mb", CRYPTO_IPSEC_MB},
	{"cryptodev", CRYPTO_CRYPTODEV},
	{NULL, 0},
};

#define SECRET(member, lengths)                                                                    \
	.kind = KIND_HEX, AT(struct security_association, member), .choices = (lengths)

const struct key security_keys[] = {
	{.name = "said", .required = true, INTEGER(1, SG_MAX_SAID),
	 AT(struct security_association, said), .example = "0x0001",
	 HELP("security association ID; modems may share one with all of its values")},
	{.name = "cipher", ENUM(cipher_choices), AT(struct security_association, cipher),
	 .fallback = "aes-128",
	 HELP("none sends frames in the clear; des has 56 bits, and is for modems before DOCSIS 3.0")},
	{.name = "key", SECRET(key, cipher_key_lengths),
	 HELP("traffic encryption key, as long as the cipher asks; needed unless it is none")},
	{.name = "iv", SECRET(iv, cipher_iv_lengths),
	 HELP("initialisation vector, as long as a block of the cipher; needed unless it is none")},
	{.name = "key_sequence", INTEGER(0, 15), AT(struct security_association, key_sequence),
	 .fallback = "0", HELP("sequence number of the key; its lowest bit is the toggle")},
	{.name = "next_key", SECRET(next_key, cipher_key_lengths),
	 .flag = offsetof(struct security_association, has_next_key),
	 HELP("the following key, of sequence number key_sequence + 1 (after 15 comes 0), that the "
	      "modem may use already")},
	{.name = "next_iv", SECRET(next_iv, cipher_iv_lengths),
	 HELP("initialisation vector of next_key; needed beside it, and only there")},
	{.name = "use_next_key", BOOL, AT(struct security_association, use_next_key),
	 .fallback = "false", HELP("whether downstream frames have next_key; only beside it")},
	{0},
};

const struct key crypto_keys[] = {
	{.name = "provider", ENUM(providers), AT(struct crypto_config, provider),
	 .fallback = "ipsec-mb",
	 HELP("who encrypts and decrypts: the library intel-ipsec-mb, called directly, or a crypto "
	      "device of DPDK")},
	{.name = "device", .kind = KIND_DEVICE, AT(struct crypto_config, device),
	 .fallback = CRYPTO_NO_DEVICE, .example = "crypto_aesni_mb0",
	 HELP("the device of cryptodev: a PCI address, or a driver's name and a number; needed "
	      "beside it, and only there; none: no device. Groups that name the same one share it")},
	{.name = "generate_crc", BOOL, AT(struct crypto_config, generate_crc), .fallback = "true",
	 HELP("downstream; false leaves four bytes of zero where the CRC would be, to measure what it "
	      "costs: modems drop such frames")},
	{0},
};
/* clang-format on */

const char *cipher_name(enum cipher cipher) {
	const struct choice *choice = cipher_choices;

	while (choice->value != cipher)
		choice++;
	return choice->name;
}
