# SPDX-License-Identifier: BSD-3-Clause
"""Parses the request of `vcmts size`: kinds of service groups with their rates."""

import re
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

import yaml

from vcmts.jsons import Json
from vcmts.paths import MistakeError
from vcmts.secret import yaml_error_text
from vcmts.yamls import unknown_key

OFDM, SC_QAM = 1.89, 0.04224  # Gbps per channel, as in the published configurations
MAX_CHANNELS = 256
MAX_GROUPS = 1_000_000
MAX_GBPS = 1000.0
CRYPTO = ("aes", "aes-qat", "none")
SPEC = re.compile(r"(?:(\d+)x)?(\d+ofdm(?:-\d+sc-qam)?)(?::([^/]+)(?:/([^/]+))?)?")
CHANNELS = re.compile(r"(\d+)ofdm(?:-(\d+)sc-qam)?")
RATE = re.compile(r"(\d+(?:\.\d+)?) ?([kMGT]?)bps")
FACTORS = {"": 1e-9, "k": 1e-6, "M": 1e-3, "G": 1.0, "T": 1e3}
FORM = "[COUNTx]<N>ofdm[-<M>sc-qam][:DOWNSTREAM[/UPSTREAM]], such as 24x6ofdm:8Gbps/1Gbps"


@dataclass(frozen=True)
class Groups:
    """A kind of service group. Rates are Gbps of Ethernet frames without CRC. Names of fields are
    keys of request files and of JSON answers."""

    ofdm: int
    sc_qam: int = 0
    count: int | None = None  # None: compute only how many a server carries
    downstream: float | None = None  # None: the maximum of core and channels
    upstream: float | None = None  # None: UPSTREAM_SHARE of the downstream
    mix: str = "imix"
    upstream_mix: str = "upstream-imix"
    crypto: str = "aes"
    modems: int = 300

    @property
    def channels(self) -> str:
        return f"{self.ofdm}ofdm" + (f"-{self.sc_qam}sc-qam" if self.sc_qam else "")

    @property
    def channel_rate(self) -> float:
        return self.ofdm * OFDM + self.sc_qam * SC_QAM

    @property
    def name(self) -> str:
        def rate(value: float | None, default: str) -> str:
            return default if value is None else f"{value:g}Gbps"

        down, up = rate(self.downstream, "max"), rate(self.upstream, "")
        return f"{self.channels}:{down}" + (f"/{up}" if up else "")


def rate(text: str, what: str) -> float:
    """Parses a rate with unit, or 0, to Gbps."""
    match = RATE.fullmatch("0bps" if text == "0" else text.strip())
    value = float(match[1]) * FACTORS[match[2]] if match else -1.0
    if not 0 <= value <= MAX_GBPS:
        raise MistakeError(
            f"{what}: found {text!r}, allowed: a rate such as 10Gbps or 500Mbps, up to 1 Tbps"
        )
    return value


def channels(text: str, what: str) -> tuple[int, int]:
    match = CHANNELS.fullmatch(text)
    ofdm, sc_qam = (int(match[1]), int(match[2] or 0)) if match else (0, 0)
    if not 1 <= ofdm + sc_qam <= MAX_CHANNELS:
        raise MistakeError(
            f"{what}: found {text!r}, allowed: channels such as 6ofdm or 2ofdm-32sc-qam, 1 to "
            f"{MAX_CHANNELS} of them"
        )
    return ofdm, sc_qam


def number(value: Any, what: str, least: int, most: int) -> int:
    try:
        found = int(str(value))
    except ValueError:
        found = least - 1
    if not least <= found <= most:
        raise MistakeError(f"{what}: found {value!r}, allowed: {least} to {most}")
    return found


def parse_groups(given: Json, common: Groups, what: str) -> Groups:
    """Makes a kind of service group from the keys of a file or option. `common` has defaults;
    `what` names the source in errors."""
    names = [f.name for f in fields(Groups) if f.name not in ("ofdm", "sc_qam")] + ["channels"]
    for key in given:
        if key not in names:
            raise MistakeError(f"{what}: {unknown_key(key, sorted(names))}")
    if "channels" not in given:
        raise MistakeError(f"{what}: channels: missing; needed: channels such as 6ofdm")
    ofdm, sc_qam = channels(str(given["channels"]), f"{what}: channels")
    changes: Json = {"ofdm": ofdm, "sc_qam": sc_qam}
    for key, most in (("count", MAX_GROUPS), ("modems", 65535)):
        if given.get(key) is not None:
            changes[key] = number(given[key], f"{what}: {key}", 1, most)
    for key in ("downstream", "upstream"):
        value = given.get(key)
        text = "max" if value is None else str(value)
        changes[key] = None if text == "max" else rate(text, f"{what}: {key}")
    for key in ("mix", "upstream_mix", "crypto"):
        if given.get(key) is not None:
            changes[key] = str(given[key])
    groups = replace(common, **changes)
    return check_groups(groups, what)


def check_groups(groups: Groups, what: str) -> Groups:
    if groups.crypto not in CRYPTO:
        raise MistakeError(f"{what}: crypto: found {groups.crypto!r}, allowed: {', '.join(CRYPTO)}")
    down = groups.downstream
    if down is not None and down > groups.channel_rate + 1e-9:
        raise MistakeError(
            f"{what}: found {down:g} Gbps downstream, but {groups.channels} carries "
            f"{groups.channel_rate:.2f} Gbps: request less, or more channels"
        )
    if down == 0:
        raise MistakeError(f"{what}: downstream: found 0, allowed: more than 0, or max")
    return groups


def from_option(text: str, common: Groups) -> list[Groups]:
    """Parses --groups: a short form, or the name of a file with a list of mappings."""
    match = SPEC.fullmatch(text)
    if match:
        keys = ("count", "channels", "downstream", "upstream")
        given = dict(zip(keys, match.groups(), strict=True))
        return [parse_groups(given, common, f"--groups {text}")]
    path = Path(text)
    if path.suffix not in (".yaml", ".yml", ".json"):
        raise MistakeError(f"--groups: found {text!r}, allowed: {FORM}, or a file .yaml or .json")
    try:
        found = yaml.safe_load(path.read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise MistakeError(f"{path}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise MistakeError(f"{path}: not YAML: invalid UTF-8 at byte {error.start}") from error
    except yaml.YAMLError as error:
        raise MistakeError(f"{path}: not YAML: {yaml_error_text(error)}") from error
    if not isinstance(found, list) or not found or not all(isinstance(i, dict) for i in found):
        raise MistakeError(
            f"{path}: not a list of service groups such as "
            "[{count: 24, channels: 6ofdm, downstream: 8Gbps, upstream: 1Gbps}]"
        )
    return [parse_groups(item, common, f"{path}: {index}") for index, item in enumerate(found, 1)]
