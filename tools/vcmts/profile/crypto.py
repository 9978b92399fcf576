# SPDX-License-Identifier: BSD-3-Clause
"""The cipher and the crypto provider of a written configuration, with their options."""

import argparse
import re
from collections.abc import Iterator
from dataclasses import dataclass

from vcmts.paths import MistakeError

# Ciphers by the ending of a profile's name; the reference has aes, des and none.
ENDINGS = {"aes": "aes-128", "aes256": "aes-256", "des": "des", "none": "none"}
CIPHERS = tuple(ENDINGS.values())
KEY_DIGITS = {"aes-128": 32, "aes-256": 64, "des": 16}
IV_DIGITS = {"aes-128": 32, "aes-256": 32, "des": 16}
DIRECT, DEVICES = "ipsec-mb", "cryptodev"
DEVICE = "crypto_aesni_mb0"
OPTIONS = ("cipher", "provider", "device")


@dataclass(frozen=True)
class Provider:
    """A crypto provider. The default one needs no line in the file."""

    name: str = DIRECT
    device: str | None = None  # of cryptodev

    def lines(self) -> Iterator[str]:
        if self.name != DIRECT:
            yield f'crypto: {{provider: {self.name}, device: "{self.device}"}}'


LIBRARY = Provider()


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the options without defaults, so that given() can tell which were given."""
    parser.add_argument(
        "--cipher", choices=CIPHERS, help="cipher of all modems (default: by the profile's name)"
    )
    parser.add_argument(
        "--provider",
        choices=(DIRECT, DEVICES),
        help=f"crypto provider: a library, or a DPDK crypto device (default: {DIRECT})",
    )
    parser.add_argument(
        "--device",
        metavar="NAME",
        help=f"crypto device: a PCI address, or driver and number (default: {DEVICE})",
    )


def given_options(arguments: argparse.Namespace) -> list[str]:
    """The options that were given, as words of a command line."""
    values = ((option, getattr(arguments, option)) for option in OPTIONS)
    return [
        word for option, value in values if value is not None for word in (f"--{option}", value)
    ]


def provider_of(arguments: argparse.Namespace) -> Provider:
    if arguments.provider == DEVICES:
        return Provider(DEVICES, arguments.device or DEVICE)
    if arguments.device is not None:
        raise MistakeError(f"--device: allowed only with --provider {DEVICES}")
    return LIBRARY


def name_ending(cipher: str) -> str:
    """The ending of a profile's name for a cipher."""
    return next(end for end, name in ENDINGS.items() if name == cipher)


def with_cipher(profile: str, cipher: str | None) -> str:
    """The name of the profile with another cipher; None: the unchanged name."""
    if cipher is None:
        return profile
    return re.sub(rf"cms_({'|'.join(ENDINGS)})(?=_2021$|$)", f"cms_{name_ending(cipher)}", profile)


def profile_of(arguments: argparse.Namespace) -> str:
    return with_cipher(arguments.profile, arguments.cipher)
