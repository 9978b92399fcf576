# SPDX-License-Identifier: BSD-3-Clause
"""A service group with one of everything that the witness tells apart, for its own tests."""

CONFIG = """
max_frame: 2000
rphy:
  core_mac: "02:00:00:00:00:01"
  rpd_mac: "02:00:00:00:00:02"
  core_ip: 192.168.1.1
  rpd_ip: 192.168.1.2
  mtu: 1.5 kB
  dscp: 4
  max_segments: 4
channels:
  - {id: 1, type: ofdm, rate: 1.89 Gbps, session: 0x00010001}
  - {id: 2, type: ofdm, rate: 1.89 Gbps, session: 0x00010002, psp_extra: static, profile: 5}
  - {id: 3, type: sc-qam, rate: 42.9 Mbps, session: 0x00010003, pseudowire: psp-legacy}
bonding_groups:
  - {id: 1, channels: [1, 2]}
  - {id: 2, channels: [3]}
modems:
  - mac: "02:01:00:00:00:01"
    addresses: [10.0.0.1, "2001:db8::1"]
    bonding_group: 1
    security:
      said: 0x0001
      cipher: aes-128
      key: 00010203040506070809101112131415
      iv: "101112131415161718191a1b1c1d1e1f"
      key_sequence: 3
    service_flows:
      - {id: 1, dsid: 0x00001, buffer: 512 kB}
      - {id: 2, dsid: 0x00002, priority: 3}
      - {id: 3, state: provisioned, dsid: 0x00003}
  - mac: "02:01:00:00:00:02"
    addresses: [10.0.0.2]
    bonding_group: 2
    security: {said: 0x0002, cipher: none, key_sequence: 2}
    service_flows: [{id: 10}, {id: 11}, {id: 12, priority: 5}]
"""
