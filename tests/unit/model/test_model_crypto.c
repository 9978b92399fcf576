/* SPDX-License-Identifier: BSD-3-Clause */
/* What encrypts: keys of each cipher, the provider of a group, and mistakes in both. */
#include "model/devices.h"
#include "test_main.h"

#include "test_model.h"

#define D16 "0011223344556677"
#define D32 D16 "8899aabbccddeeff"
#define D64 D32 D32
#define LINE_7 "sg.yaml:7: modems[0].security."

/* A group whose one modem has this association; the crypto of the group goes before it. */
#define WITH(security)                                       \
	SMALL_HEAD "modems:\n"                               \
		   "  - mac: \"02:01:00:00:00:01\"\n"        \
		   "    addresses: [10.0.0.1]\n"             \
		   "    bonding_group: 1\n"                  \
		   "    security: {said: 1, " security "}\n" \
		   "    service_flows: [{id: 1}]\n"

/* Each cipher takes its own bytes, and leaves zeros behind them. */
TEST(ciphers_have_keys_of_their_length) {
	static const struct {
		const char *text;
		enum cipher cipher;
		unsigned key, iv;
	} all[] = {
		{WITH("key: \"" D32 "\", iv: \"" D32 "\", next_key: \"" D32 "\", next_iv: \"" D32
		      "\""),
		 CIPHER_AES_128, 16, 16},
		{WITH("cipher: aes-256, key: \"" D64 "\", iv: \"" D32 "\", next_key: \"" D64
		      "\", next_iv: \"" D32 "\""),
		 CIPHER_AES_256, 32, 16},
		{WITH("cipher: des, key: \"" D16 "\", iv: \"" D16 "\", next_key: \"" D16
		      "\", next_iv: \"" D16 "\""),
		 CIPHER_DES, 8, 8},
	};
	static const uint8_t bytes[CIPHER_MAX_KEY] = {
		0x00, 0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88, 0x99, 0xaa,
		0xbb, 0xcc, 0xdd, 0xee, 0xff, 0x00, 0x11, 0x22, 0x33, 0x44, 0x55,
		0x66, 0x77, 0x88, 0x99, 0xaa, 0xbb, 0xcc, 0xdd, 0xee, 0xff};

	for (size_t i = 0; i < ARRAY_COUNT(all); i++) {
		uint8_t key[CIPHER_MAX_KEY] = {0}, iv[CIPHER_MAX_IV] = {0};
		struct loaded loaded = load_text(all[i].text);
		const struct security_association *sa = &loaded.sg.modems[0].security;

		assert_string_equal(loaded.said, "");
		assert_int_equal(sa->cipher, all[i].cipher);
		assert_int_equal(cipher_key_size(sa->cipher), all[i].key);
		assert_int_equal(cipher_iv_size(sa->cipher), all[i].iv);
		memcpy(key, bytes, all[i].key);
		memcpy(iv, bytes, all[i].iv);
		assert_memory_equal(sa->key, key, sizeof(key));
		assert_memory_equal(sa->next_key, key, sizeof(key));
		assert_memory_equal(sa->iv, iv, sizeof(iv));
		assert_memory_equal(sa->next_iv, iv, sizeof(iv));
		unload(&loaded);
	}
}

TEST(keys_of_another_length) {
	static const struct {
		const char *text, *line;
	} all[] = {
		{WITH("key: \"" D64 "\", iv: \"" D32 "\""),
		 LINE_7 "key: found 64 hexadecimal digits, allowed: 32 with cipher: aes-128\n"},
		{WITH("key: \"" D16 "\", iv: \"" D32 "\""),
		 LINE_7 "key: found 16 hexadecimal digits, allowed: 32 with cipher: aes-128\n"},
		{WITH("key: \"" D32 "\", iv: \"" D16 "\""),
		 LINE_7 "iv: found 16 hexadecimal digits, allowed: 32 with cipher: aes-128\n"},
		{WITH("cipher: aes-256, key: \"" D32 "\", iv: \"" D32 "\""),
		 LINE_7 "key: found 32 hexadecimal digits, allowed: 64 with cipher: aes-256\n"},
		{WITH("cipher: aes-256, key: \"" D64 "\", iv: \"" D16 "\""),
		 LINE_7 "iv: found 16 hexadecimal digits, allowed: 32 with cipher: aes-256\n"},
		{WITH("cipher: des, key: \"" D32 "\", iv: \"" D16 "\""),
		 LINE_7 "key: found 32 hexadecimal digits, allowed: 16 with cipher: des\n"},
		{WITH("cipher: des, key: \"" D16 "\", iv: \"" D32 "\""),
		 LINE_7 "iv: found 32 hexadecimal digits, allowed: 16 with cipher: des\n"},
		{WITH("cipher: des, key: \"" D16 "\", iv: \"" D16 "\", next_key: \"" D32
		      "\", next_iv: \"" D16 "\""),
		 LINE_7 "next_key: found 32 hexadecimal digits, allowed: 16 with cipher: des\n"},
		{WITH("cipher: aes-256, key: \"" D64 "\", iv: \"" D32 "\", next_key: \"" D64
		      "\", next_iv: \"" D16 "\""),
		 LINE_7 "next_iv: found 16 hexadecimal digits, allowed: 32 with cipher: aes-256\n"},
		{WITH("cipher: des, key: \"" D16 "\""),
		 LINE_7 "iv: found nothing, allowed: 16 hexadecimal digits, or cipher: none\n"},
		{WITH("cipher: aes-256, iv: \"" D32 "\""),
		 LINE_7 "key: found nothing, allowed: 64 hexadecimal digits, or cipher: none\n"},
		{WITH("cipher: aes-256, key: \"" D64 "\", iv: \"" D32 "\", next_iv: \"" D32 "\""),
		 LINE_7
		 "next_key: found nothing, allowed: 64 hexadecimal digits, beside next_iv\n"},
		{WITH("cipher: des, key: 00112233445566, iv: \"" D16 "\""), LINE_7
		 "key: found 14 hexadecimal digits, allowed: 32 (aes-128), 64 (aes-256) or 16 "
		 "(des) hexadecimal digits\n"},
		{WITH("cipher: des, key: \"" D16 "\", iv: 001122334455667g"),
		 LINE_7 "iv: found 16 characters, of which number 16 is no hexadecimal digit, "
			"allowed: 32 (aes) or 16 (des) hexadecimal "
			"digits\n"},
		{WITH("cipher: 3des"),
		 LINE_7 "cipher: found \"3des\", allowed: none, aes-128, aes-256 or des\n"},
	};

	for (size_t i = 0; i < ARRAY_COUNT(all); i++)
		expect_mistakes(all[i].text, 1, all[i].line);
}

/* Ciphers are values of an association as all others are. */
TEST(one_said_has_one_cipher) {
	expect_mistakes(WITH("cipher: des, key: \"" D16 "\", iv: \"" D16
			     "\"") "  - {mac: \"02:01:00:00:00:02\", addresses: [10.0.0.2], "
				   "bonding_group: 1,\n"
				   "     service_flows: [{id: 2}],\n"
				   "     security: {said: 1, key: \"" D16
				   "0000000000000000\", iv: \"" D16 "0000000000000000\"}}\n",
			1,
			"sg.yaml:11: modems[1].security.said: found \"1\", allowed: a said of its "
			"own, or the same keys, ivs, cipher and key_sequence as the modems that "
			"share it\n");
}

TEST(a_group_chooses_its_provider) {
	struct loaded loaded = load_text(SMALL);

	assert_int_equal(loaded.sg.crypto.provider,
			 crypto_has_library() ? CRYPTO_IPSEC_MB : CRYPTO_CRYPTODEV);
	assert_null(loaded.sg.crypto.device);
	assert_string_equal(crypto_serves(&loaded.sg.crypto),
			    crypto_has_library() ? "ipsec-mb" : "crypto_openssl0");
	assert_true(loaded.sg.crypto.generate_crc);
	unload(&loaded);
	loaded = load_text("crypto: {provider: cryptodev, device: \"0000:6b:01.0\"}\n" SMALL);
	assert_string_equal(loaded.said, "");
	assert_int_equal(loaded.sg.crypto.provider, CRYPTO_CRYPTODEV);
	assert_string_equal(loaded.sg.crypto.device, "0000:6b:01.0");
	assert_string_equal(crypto_serves(&loaded.sg.crypto), "0000:6b:01.0");
	unload(&loaded);
	loaded = load_text("crypto: {device: none, generate_crc: false}\n" SMALL);
	assert_string_equal(loaded.said, "");
	assert_null(loaded.sg.crypto.device);
	assert_false(loaded.sg.crypto.generate_crc);
	unload(&loaded);
}

/* A build without the library has a device by itself, and says so where the library is asked for. */
TEST(a_build_without_the_library) {
	struct loaded loaded = load_text("crypto: {provider: ipsec-mb}\n" SMALL);

	assert_string_equal(loaded.said,
			    crypto_has_library()
				    ? ""
				    : "sg.yaml:1: crypto.provider: found \"ipsec-mb\", allowed: "
				      "cryptodev, whose device is crypto_openssl0 where none is "
				      "given: this build is without intel-ipsec-mb\n");
	unload(&loaded);
	loaded = load_text("crypto: {provider: cryptodev}\n" SMALL);
	assert_true((loaded.said[0] == '\0') != crypto_has_library());
	unload(&loaded);
}

TEST(a_device_goes_with_cryptodev) {
	const unsigned first = crypto_has_library() ? 0 : 3; /* of no meaning without it */
	static const struct {
		const char *text, *line;
	} all[] = {
		{"crypto: {provider: cryptodev}\n" SMALL,
		 "sg.yaml:1: crypto.device: found nothing, allowed: a crypto device such as "
		 "crypto_aesni_mb0, with provider: cryptodev\n"},
		{"crypto: {provider: cryptodev,\n device: none}\n" SMALL,
		 "sg.yaml:2: crypto.device: found \"none\", allowed: a crypto device such as "
		 "crypto_aesni_mb0, with provider: cryptodev\n"},
		{"crypto: {device: crypto_aesni_mb0}\n" SMALL,
		 "sg.yaml:1: crypto.device: found \"crypto_aesni_mb0\", allowed: none without "
		 "provider: cryptodev\n"},
		{"crypto: {provider: qat, device: x}\n" SMALL,
		 "sg.yaml:1: crypto.provider: found \"qat\", allowed: ipsec-mb or cryptodev\n"},
		{"crypto: {provider: cryptodev, device: a b}\n" SMALL,
		 "sg.yaml:1: crypto.device: found \"a b\", allowed: a PCI address or virtual "
		 "device "
		 "of up to 255 characters without spaces\n"},
		{"crypto: {generate_crc: maybe}\n" SMALL,
		 "sg.yaml:1: crypto.generate_crc: found \"maybe\", allowed: true or false\n"},
		{"crypto: cryptodev\n" SMALL,
		 "sg.yaml:1: crypto: found \"cryptodev\", allowed: a map of keys\n"},
		{"crypto: {devices: x}\n" SMALL,
		 "sg.yaml:1: crypto.devices: found unknown key \"devices\", allowed: did you mean "
		 "\"device\"?\n"},
	};

	for (size_t i = first; i < ARRAY_COUNT(all); i++)
		expect_mistakes(all[i].text, 1, all[i].line);
}
