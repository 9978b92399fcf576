# SPDX-License-Identifier: BSD-3-Clause
"""MAPs and UCDs written by src/wire: tshark decodes them without expert infos. Witness and src/wire
reject the same MAPs."""

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from vcmts.witness.docsis import decode_frame
from vcmts.witness.pcapfile import LINKTYPE_DOCSIS, records_of, write_pcap
from wireshark import messages
from wireshark.tshark import Tshark
from witness.map_format import BROADCAST, MapError
from witness.maps import read, write

# Channel, UCD count, alloc start, ack time, back-offs
HEAD = (9, 3, 0xFFFFFFF0, 0xFFFFFE00, 1, 4, 2, 10)
MAP_FIELDS = ["ucdcount", "numie", "cat", "allocstart", "acktime"]
MAP_FIELDS += ["rng_start", "rng_end", "data_start", "data_end", "sid", "iuc", "offset"]
STATUS_FIELDS = ["_ws.expert", "_ws.malformed", "docsis.hcs.status"]
VALID = {"_ws.expert": [], "_ws.malformed": [], "docsis.hcs.status": ["1"]}
# SID, IUC, offset
ELEMENTS = [
    (BROADCAST, 3, 0),
    (BROADCAST, 1, 40),
    (100, 5, 52),
    (101, 6, 53),
    (102, 10, 300),
    (103, 4, 2000),
    (0, 13, 2010),
    (0, 7, 4096),
    (104, 6, 4096),
    (105, 8, 4096),
]


def decode(
    tshark: Tshark, pcap: Path, frames: list[bytes], prefix: str, *fields: str
) -> list[dict[str, list[int]]]:
    """The numbers of each field. The frames must have a correct HCS and no expert infos."""
    write_pcap(pcap, records_of(frames), LINKTYPE_DOCSIS)
    rows = tshark.fields(pcap, *STATUS_FIELDS, *(f"{prefix}.{name}" for name in fields))
    assert [{name: row[name] for name in STATUS_FIELDS} for row in rows] == [VALID] * len(frames)
    return [{name: [int(v, 0) for v in row[f"{prefix}.{name}"]] for name in fields} for row in rows]


def transpose(elements: list[tuple[int, int, int]]) -> list[list[int]]:
    """The SIDs, IUCs and offsets of the elements."""
    return [[element[i] for element in elements] for i in range(3)]


def test_tshark_decodes_maps(tshark: Tshark, pcap: Path) -> None:
    full = {1: 240, 5: 490}  # elements of the largest MAP of a version
    cases = []
    for version in (1, 5):
        cases += [(version, ELEMENTS), (version, [(0, 7, 0)])]
        grants = [(1 + i, 10, 8 * i) for i in range(full[version] - 1)]
        cases.append((version, [*grants, (0, 7, 4095)]))
    frames = [messages.map_frame(version, HEAD, elements) for version, elements in cases]
    rows = decode(tshark, pcap, frames, "docsis_map", *MAP_FIELDS)
    for (version, elements), row in zip(cases, rows, strict=True):
        values = [HEAD[1], len(elements), 0, *HEAD[2:]]
        expected = {name: [value] for name, value in zip(MAP_FIELDS, values, strict=False)}
        expected |= dict(zip(("sid", "iuc", "offset"), transpose(elements), strict=True))
        expected["cat"] = [0] if version == 5 else []
        assert row == expected


def test_tshark_decodes_sc_qam_ucd(tshark: Tshark, pcap: Path) -> None:
    ucd = messages.Ucd(2, channel=7, count=200, ticks=4, downstream=12)
    ucd.add(messages.FIELD, 1, 32)
    ucd.add(messages.FIELD, 2, 36_800_000)
    for byte in range(128):
        ucd.add(messages.PREAMBLE, byte)
    fields = {
        1: "modtype", 2: "diffenc", 3: "preamble_len", 4: "preamble_off", 5: "fec",
        6: "fec_codeword", 7: "scrambler_seed", 8: "maxburst", 9: "guardtime", 10: "last_cw_len",
        11: "scrambleronoff", 12: "rsintdepth", 13: "rsintblock", 14: "preambletype",
    }  # fmt: skip
    bursts = {
        iuc: [4, 2, 104, 16 * iuc, 5, 100, 0x152, 0, 22, 2, 1, 1, 1536, 2]
        for iuc in (1, 3, 4, 9, 10)
    }
    for iuc, values in bursts.items():
        ucd.add(messages.BURST, 5, iuc)
        for number, value in zip(fields, values, strict=True):
            ucd.add(messages.BURST_FIELD, number, value)
    names = [f"burst.{name}" for name in fields.values()]
    [row] = decode(
        tshark, pcap, [ucd.frame()], "docsis_ucd",
        "confcngcnt", "mslotsize", "symrate", "freq", "iuc", *names,
    )  # fmt: skip
    assert row["confcngcnt"] == [200]
    assert row["mslotsize"] == [4]
    assert row["symrate"] == [5120]
    assert row["freq"] == [36_800_000]
    assert row["iuc"] == list(bursts)
    for i, name in enumerate(names):
        assert row[name] == [values[i] for values in bursts.values()]


def ofdma_ucd() -> messages.Ucd:
    """1,880 subcarriers of 50 kHz in frames of six symbols."""
    ucd = messages.Ucd(51, channel=9, count=4, downstream=33)
    ucd.add(messages.SNAPSHOT, 0x89ABCDEF, 9, 0x01020304)
    for number, value in ((24, 0x0104), (26, 6), (27, 3), (28, 2), (29, 104_800_000)):
        ucd.add(messages.FIELD, number, value)
    ucd.add(messages.FIELD, 32, 6)
    ucd.add(messages.FIELD, 33, 0x654321)
    ucd.add(messages.EXCLUDED, 0, 83)
    ucd.add(messages.EXCLUDED, 1964, 2047)
    ucd.add(messages.UNUSED, 84, 91)
    ucd.add(messages.BURST, 23, 3)
    ucd.add(messages.BURST_FIELD, 19, 64)
    ucd.add(messages.BURST_FIELD, 22, 0x4004)
    ucd.add(messages.BURST, 23, 4)
    ucd.add(messages.BURST_FIELD, 20, 128)
    for iuc in (5, 6, 9, 10, 11, 12, 13):
        ucd.add(messages.BURST, 23, iuc)
        ucd.add(messages.RUN, iuc - 1, 1, 200)
        ucd.add(messages.RUN, 4, 2, 35)
    return ucd


def test_tshark_decodes_ofdma_ucd(tshark: Tshark, pcap: Path) -> None:
    single = {
        "confcngcnt": 4, "ofdma_cyclic_prefix_size": 6, "ofdma_rolloff_period_size": 3,
        "subc_spacing": 2, "cent_freq_subc0": 104_800_000, "symb_ofdma_frame": 6,
        "ofdma_timestamp_snapshot_reserved": 0,
        "ofdma_timestamp_snapshot_d30timestamp": 0x89ABCDEF,
        "ofdma_timestamp_snapshot_4msbits_of_div20": 9,
        "ofdma_timestamp_snapshot_minislot_count": 0x01020304,
        "burst.subc_init_rang": 64, "burst.subc_fine_rang": 128,
    }  # fmt: skip
    data = [5, 6, 9, 10, 11, 12, 13]
    lists = {
        "iuc": [3, 4, *data],
        "subc_range": [83, 1964 << 16 | 2047, 84 << 16 | 91],
        "burst.ofma_prof_mod_order": [n for iuc in data for n in (iuc - 1, 4)],
        "burst.ofma_prof_pilot_pattern": [1, 2] * len(data),
        "burst.ofma_prof_add_minislots": [199, 34] * len(data),
        "type": [24, 25, 26, 27, 28, 29, 30, 31, 32, 33] + [23] * 9,
    }
    [row] = decode(tshark, pcap, [ofdma_ucd().frame()], "docsis_ucd", *single, *lists)
    assert row == {name: [value] for name, value in single.items()} | lists


def test_invalid_messages_are_not_written() -> None:
    assert messages.map_frame(1, HEAD, ELEMENTS)
    assert not messages.map_frame(2, HEAD, ELEMENTS)
    assert not messages.map_frame(1, HEAD, ELEMENTS[1:])
    assert not messages.map_frame(1, HEAD, [*ELEMENTS[:3], (16384, 6, 53), (0, 7, 60)])
    assert not messages.map_frame(5, (*HEAD[:7], 16), ELEMENTS)
    invalid = ofdma_ucd()
    invalid.add(messages.FIELD, 28, 3)
    assert ofdma_ucd().frame()
    assert not invalid.frame()


@given(st.sampled_from([1, 5]), st.lists(st.tuples(st.integers(0, 31), st.binary(max_size=3))))
def test_witness_and_c_reject_the_same_maps(version: int, changes: list[tuple[int, bytes]]) -> None:
    """A MAP with changed bytes: both accept it, or both reject it."""
    body = bytearray(decode_frame(messages.map_frame(version, HEAD, ELEMENTS)).pdu[20:-4])
    for i, change in changes:
        body[i : i + len(change)] = change
    try:
        rewritten = write(read(bytes(body), version))
    except MapError:
        assert messages.map_verdict(version, bytes(body)) != 0
    else:
        assert messages.map_verdict(version, bytes(body)) == 0
        assert sorted(rewritten) == sorted(body)
