# SPDX-License-Identifier: BSD-3-Clause
"""Tests ciphers, crypto providers and devices of profiles, by profile name or options."""

import argparse
import io
from pathlib import Path
from typing import Any

import pytest

from vcmts import cli, configuration, yamls
from vcmts.bench import all as bench_all
from vcmts.paths import MistakeError
from vcmts.profile import crypto
from vcmts.profile.group import write_profile
from vcmts.witness.config import SIZES, parse_config


def profile_text(name: str) -> str:
    out = io.StringIO()
    write_profile(name, out)
    return out.getvalue()


def parse(*argv: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    configuration.add_arguments(parser)
    return parser.parse_args(argv)


def write_config(folder: Path, *argv: str) -> dict[str, Any]:
    path = configuration.configuration_file(parse(*argv), folder)
    document: dict[str, Any] = yamls.safe_load(path.read_text())
    return document


@pytest.mark.parametrize(("ending", "cipher"), crypto.ENDINGS.items())
def test_profile_name_sets_cipher(ending: str, cipher: str) -> None:
    """The independent decoder reads the file. Keys have the length for the cipher, and differ."""
    text = profile_text(f"1ofdm-0sc-qam_5cms_{ending}")
    config, document = parse_config(text), yamls.safe_load(text)
    assert {modem["security"]["cipher"] for modem in document["modems"]} == {cipher}
    assert "crypto" not in document
    secrets = {
        value
        for modem in config.modems
        for value in (modem.security.key, modem.security.iv, modem.security.next_key)
    }
    if cipher == "none":
        assert secrets == {None, b""}
        return
    assert len(secrets) == 15
    assert {len(value or b"") for value in secrets} == set(SIZES[cipher])


@pytest.mark.parametrize(
    ("name", "cipher", "other"),
    [
        ("6ofdm-0sc-qam_300cms_aes", "des", "6ofdm-0sc-qam_300cms_des"),
        ("6ofdm-0sc-qam_300cms_aes_2021", "aes-256", "6ofdm-0sc-qam_300cms_aes256_2021"),
        ("6ofdm-0sc-qam_300cms_aes256", "aes-128", "6ofdm-0sc-qam_300cms_aes"),
        ("6ofdm-0sc-qam_300cms_none", "aes-128", "6ofdm-0sc-qam_300cms_aes"),
        ("6ofdm-0sc-qam_300cms_des", None, "6ofdm-0sc-qam_300cms_des"),
        ("6ofdm-0sc-qam_300cms_rot13", "des", "6ofdm-0sc-qam_300cms_rot13"),
    ],
)
def test_cipher_option_renames_profile(name: str, cipher: str | None, other: str) -> None:
    assert crypto.with_cipher(name, cipher) == other


@pytest.mark.parametrize("groups", ["1", "3"])
def test_options_set_provider_and_device(groups: str, tmp_path: Path) -> None:
    argv = ("--profile", "1ofdm-0sc-qam_2cms_aes", "--groups", groups)
    assert "crypto" not in write_config(tmp_path, *argv, "--provider", "ipsec-mb")
    config = write_config(tmp_path, *argv, "--provider", "cryptodev", "--cipher", "des")
    assert config["crypto"] == {"provider": "cryptodev", "device": "crypto_aesni_mb0"}
    assert config["name"] == "1ofdm-0sc-qam_2cms_des"
    other = ("--provider", "cryptodev", "--device", "0000:6b:01.0")
    assert write_config(tmp_path, *argv, *other)["crypto"]["device"] == "0000:6b:01.0"


def test_options_without_effect_are_refused(tmp_path: Path) -> None:
    with pytest.raises(MistakeError, match="--device: allowed only with --provider cryptodev"):
        write_config(tmp_path, "--device", "crypto_aesni_mb0")
    for option, value in (("--cipher", "des"), ("--provider", "ipsec-mb"), ("--device", "x")):
        with pytest.raises(MistakeError, match=rf"{option}: not allowed with --config"):
            write_config(tmp_path, "--config", "sg.yaml", option, value)


def test_bench_all_passes_options_on() -> None:
    parser = argparse.ArgumentParser()
    bench_all.add_arguments(parser)
    options = ["--cipher", "des", "--provider", "cryptodev"]
    arguments = parser.parse_args(options)
    assert bench_all.step_arguments("pipeline", arguments)[-4:] == options
    assert "--cipher" not in bench_all.step_arguments("scheduler", arguments)


def test_show_prints_crypto_settings(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    name, path = "1ofdm-0sc-qam_2cms_des", tmp_path / "sg.yaml"
    device = ("--provider", "cryptodev", "--device", "crypto_openssl0")
    assert cli.main(["profile", name, *device, "-o", str(path)]) == 0
    assert cli.main(["show", str(path)]) == 0
    out = capsys.readouterr().out
    assert "2 x des" in out and "cryptodev crypto_openssl0" in out
    path.write_text(profile_text(name) + "crypto: {generate_crc: false}\n")
    assert cli.main(["show", str(path)]) == 0
    assert "ipsec-mb, downstream without CRC" in capsys.readouterr().out
    assert cli.main(["profile", name, "--groups", "2", *device, "-o", str(path)]) == 0
    assert cli.main(["show", str(path)]) == 0
    assert "encryption: des by crypto_openssl0 (group 1, 2)\n" in capsys.readouterr().out
