# SPDX-License-Identifier: BSD-3-Clause
"""Tests the independent decoder's encryption with all vectors. Key sizes select the cipher."""

from pathlib import Path

import pytest
from cryptography.hazmat.decrepit.ciphers.algorithms import TripleDES
from cryptography.hazmat.primitives.ciphers import BlockCipherAlgorithm, Cipher
from cryptography.hazmat.primitives.ciphers.algorithms import AES
from cryptography.hazmat.primitives.ciphers.modes import ECB
from hypothesis import given
from hypothesis import strategies as st

from vcmts.witness import bpi
from vcmts.witness.crc import frame_check_sequence

VECTORS = Path(__file__).parents[2] / "vectors" / "bpi.txt"
HEADER, ADDRESSES = 6, 12  # sizes of a MAC header without elements, and of two MAC addresses
NO_CRC_YET = b"\xff" * 4  # the CRC field before the CRC is computed
LATE_START = 40  # where the encrypted region begins in the frames of LATE
# Numbers of DPDK's frames without CRC, without a cipher, and with a late start of the cipher.
NO_CRC, CLEAR, LATE = {8, 9, 12, 13}, {10, 11, 12, 13}, {7, 9}


def read_vectors() -> dict[str, bytes]:
    lines = (line for line in VECTORS.read_text().splitlines() if line and line[0] != "#")
    pairs = (line.split(":", 1) for line in lines)
    return {name: bytes.fromhex(text) for name, text in pairs}


ALL = read_vectors()
FRAMES = sorted(
    name.removesuffix("_clear") for name in ALL if name.endswith("_clear") and "_" in name[:-6]
)
# Name prefixes of vectors that are regions, without MAC header or addresses.
REGIONS = ("fips", "nist", "nist256", "des_rest", "des_whole")


def key_of(name: str) -> tuple[bytes, bytes]:
    """Key and IV of a vector."""
    prefix = name if f"{name}_iv" in ALL else name.rsplit("_", 1)[0]
    return ALL.get(f"{prefix}_key", ALL["des_key"]), ALL.get(f"{prefix}_iv", bytes(16))


def test_vectors_have_frames_of_all_ciphers() -> None:
    lengths = [len(key_of(name)[0]) for name in FRAMES if name not in REGIONS]
    assert {size: lengths.count(size) for size in set(lengths)} == {16: 15, 32: 8, 8: 2}


@pytest.mark.parametrize("name", REGIONS)
def test_published_regions_are_encrypted(name: str) -> None:
    key, iv = key_of(name)
    clear, sent = ALL[f"{name}_clear"], ALL[f"{name}_sent"]
    assert bpi.encrypt(clear, key, iv) == sent
    assert bpi.decrypt(sent, key, iv) == clear


@pytest.mark.parametrize("name", [name for name in FRAMES if name not in REGIONS])
def test_published_frames_are_encrypted(name: str) -> None:
    key, iv = key_of(name)
    number = int(name.rsplit("_", 1)[1]) if name.startswith("dpdk_") else 0
    frame, sent = ALL[f"{name}_clear"], ALL[f"{name}_sent"]
    assert frame[-4:] == NO_CRC_YET
    if number not in NO_CRC:
        frame = frame[:-4] + frame_check_sequence(frame[HEADER:-4])
    if number in CLEAR:
        assert frame == sent
        return
    start = LATE_START if number in LATE else HEADER + ADDRESSES
    assert frame[:start] + bpi.encrypt(frame[start:], key, iv) == sent
    assert sent[:start] + bpi.decrypt(sent[start:], key, iv) == frame


def encrypt_by_blocks(region: bytes, cipher: BlockCipherAlgorithm, block: int, iv: bytes) -> bytes:
    """CBC with residual block termination, made of single block encryptions."""
    out, previous = b"", iv
    for offset in range(0, len(region), block):
        encryptor = Cipher(cipher, ECB()).encryptor()
        part = region[offset : offset + block]
        if len(part) == block:
            previous = encryptor.update(bytes(a ^ b for a, b in zip(part, previous, strict=True)))
            out += previous
        else:
            stream = encryptor.update(previous)
            out += bytes(a ^ b for a, b in zip(part, stream, strict=False))
    return out


@given(st.binary(max_size=70), st.binary(min_size=32, max_size=32), st.sampled_from((8, 16, 32)))
def test_encryption_equals_single_blocks(region: bytes, secret: bytes, size: int) -> None:
    key, block = secret[:size], 8 if size == 8 else 16
    cipher = TripleDES(key * 3) if size == 8 else AES(key)
    iv = secret[::-1][:block]
    encrypted = bpi.encrypt(region, key, iv)
    assert encrypted == encrypt_by_blocks(region, cipher, block, iv)
    assert bpi.decrypt(encrypted, key, iv) == region
