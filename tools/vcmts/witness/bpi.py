# SPDX-License-Identifier: BSD-3-Clause
"""BPI+ payload encryption by AES-128, AES-256 or DES: CBC with residual block termination (SEC).

Full blocks are chained as CBC. The r bytes that remain are XORed with the first r bytes of the
encryption of the last ciphertext block; a region shorter than one block uses the initialization
vector in its place. Both directions encrypt for the remainder.
"""

from collections.abc import Callable
from dataclasses import dataclass

from cryptography.hazmat.primitives.ciphers import BlockCipherAlgorithm, Cipher
from cryptography.hazmat.primitives.ciphers.algorithms import AES
from cryptography.hazmat.primitives.ciphers.modes import CBC, ECB

try:  # the module in newer versions of cryptography
    from cryptography.hazmat.decrepit.ciphers.algorithms import TripleDES
except ImportError:
    from cryptography.hazmat.primitives.ciphers.algorithms import TripleDES

CLEAR_BYTES = 12  # destination and source address are not encrypted


class BpiError(ValueError):
    """A key or initialization vector of the wrong size."""


@dataclass(frozen=True)
class Algorithm:
    name: str
    block: int
    key_sizes: tuple[int, ...]
    make: Callable[[bytes], BlockCipherAlgorithm]


def _single_des(key: bytes) -> BlockCipherAlgorithm:
    """DES is triple DES with three equal keys: encrypt, decrypt, encrypt."""
    return TripleDES(key * 3)


AES_CBC = Algorithm("AES", 16, (16, 32), AES)
DES_CBC = Algorithm("DES", 8, (8,), _single_des)


def select_algorithm(key: bytes) -> Algorithm:
    """Selects by key size: 8 bytes for DES, other sizes for AES."""
    return DES_CBC if len(key) in DES_CBC.key_sizes else AES_CBC


def counter_name(key: bytes) -> str:
    """The name of the key's cipher in names of counters."""
    return "des" if select_algorithm(key) is DES_CBC else f"aes_{8 * len(key)}"


def _checked(algorithm: Algorithm, key: bytes, iv: bytes) -> BlockCipherAlgorithm:
    if len(key) not in algorithm.key_sizes:
        raise BpiError(f"{algorithm.name} key of {len(key)} bytes, allowed {algorithm.key_sizes}")
    if len(iv) != algorithm.block:
        raise BpiError(f"{algorithm.name} IV of {len(iv)} bytes, must be {algorithm.block}")
    return algorithm.make(key)


def _residual(cipher: BlockCipherAlgorithm, previous: bytes, rest: bytes) -> bytes:
    encryptor = Cipher(cipher, ECB()).encryptor()
    stream = encryptor.update(previous) + encryptor.finalize()
    return bytes(a ^ b for a, b in zip(rest, stream, strict=False))


def encrypt(region: bytes, key: bytes, iv: bytes, algorithm: Algorithm | None = None) -> bytes:
    """Encrypts the region from Type/Len through the CRC; the size does not change."""
    algorithm = algorithm or select_algorithm(key)
    cipher = _checked(algorithm, key, iv)
    full = len(region) - len(region) % algorithm.block
    encryptor = Cipher(cipher, CBC(iv)).encryptor()
    chained = encryptor.update(region[:full]) + encryptor.finalize()
    previous = chained[-algorithm.block :] if chained else iv
    return chained + _residual(cipher, previous, region[full:])


def decrypt(region: bytes, key: bytes, iv: bytes, algorithm: Algorithm | None = None) -> bytes:
    algorithm = algorithm or select_algorithm(key)
    cipher = _checked(algorithm, key, iv)
    full = len(region) - len(region) % algorithm.block
    decryptor = Cipher(cipher, CBC(iv)).decryptor()
    clear = decryptor.update(region[:full]) + decryptor.finalize()
    previous = region[full - algorithm.block : full] if full else iv
    return clear + _residual(cipher, previous, region[full:])


def encrypt_pdu(pdu: bytes, key: bytes, iv: bytes, algorithm: Algorithm | None = None) -> bytes:
    """Encrypts a packet PDU with its CRC, except for the two addresses."""
    return pdu[:CLEAR_BYTES] + encrypt(pdu[CLEAR_BYTES:], key, iv, algorithm)


def decrypt_pdu(pdu: bytes, key: bytes, iv: bytes, algorithm: Algorithm | None = None) -> bytes:
    return pdu[:CLEAR_BYTES] + decrypt(pdu[CLEAR_BYTES:], key, iv, algorithm)
