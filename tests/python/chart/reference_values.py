# SPDX-License-Identifier: BSD-3-Clause
"""Values of the reference's charts, by their documented keys, with 28 service groups."""

from typing import Any

Json = dict[str, Any]


def group(number: int, **over: object) -> Json:
    socket = number // 14
    values: Json = {
        "service_group_config": "",
        "cpu_socket_id": socket,
        "hpg_sz": "1Gi",
        "core_config": "1us1t_1ds2t",
        "template_config": "vcmts-us1t_ds2t.cfg",
        "socket_mem": "0,768" if socket else "768,0",
        "socket_lim": "0,896" if socket else "896,0",
        "hpg_alloc_sz": "1024Mi",
        "num_lcores_required": 4,
        "vcmtsd_image": "registry.example.net/vcmts-d:21.10.0",
        "latency": "yes",
        "cycles": "yes",
        "app_stats": "yes",
        "us_sched_enabled": "false",
        "us_sched_id": number // 2,
        "sg_id": number,
        "num_ofdm": 6,
        "num_subs": 300,
        "cm_crypto": "aes",
        "aes_key_size": 16,
        "crc": "yes",
        "qat": "yes" if number % 14 < 7 else "no",
        "power_mgmt": "pm_off",
        "tls_port": 8100 + number,
        "pf_index": number // 7,
    }
    return {key: value for key, value in (values | over).items() if value is not None}


def item_lines(values: Json, indent: str) -> list[str]:
    lines = [f"{key}: {value}".rstrip() for key, value in values.items()]
    return [f"{indent}{'- ' if number == 0 else '  '}{line}" for number, line in enumerate(lines)]


def vcmtsd(*groups: Json, replicas: object = None) -> str:
    listed = groups or tuple(group(number) for number in range(28))
    lines = ["topology:", f"  vcmts_replicas: {len(listed) if replicas is None else replicas}"]
    lines += ["  vcmts_pods:"]
    for values in listed:
        lines += item_lines(values, "  ")
    return "\n".join(lines) + "\n"


PKTGEN = """\
serviceAccount: cmk-serviceaccount
images:
  vcmts_pktgen: vcmts-pktgen:21.10.0
topology:
  pktgen_replicas: 1
  pktgen_pods:
  - pktgen_id: 0
    num_sockets: 2
    cpu_socket_id: 0
    hpg_sz: 1Gi
    ports:
    - port_0:
      traffic_type: imix2
      num_ofdm: 6
      num_subs: 300
      net_pktgen: 05:02.0
    - port_1:
      traffic_type: imix2
      num_ofdm: 6
      num_subs: 300
      net_pktgen: 05:02.1
"""
