# SPDX-License-Identifier: BSD-3-Clause
"""Configurations of small service groups for tests: CONFIG with all kinds of downstream channels,
flows and modems, UPSTREAM with those of the upstream."""

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

# Three modems: with two keys and bonding, without privacy, and pre-3.0 with a key. max_queued is
# low, as a replay spends most of its time initializing buffers.
UPSTREAM = """
max_queued: 512
upstream: {verify_crc: true, frame_timeout: 500 ms}
ports: {control: {device: net_null0}}
rphy: {core_ip: 192.168.1.1, rpd_ip: 192.168.1.2}
channels: [{id: 1, type: ofdm, rate: 1.89 Gbps, session: 0x00010001}]
bonding_groups: [{id: 1, channels: [1]}]
upstream_channels:
  - {id: 1, type: sc-qam, rate: 30.72 Mbps, session: 0x00020001, ranging_session: 0x00020021}
  - {id: 2, type: ofdma, rate: 600 Mbps, session: 0x00020002, request_session: 0x00020012}
modems:
  - mac: "02:01:00:00:00:01"
    addresses: [10.0.0.1, "2001:db8::1"]
    bonding_group: 1
    security:
      said: 1
      key: 00010203040506070809101112131415
      iv: "101112131415161718191a1b1c1d1e1f"
      key_sequence: 15
      next_key: 202122232425262728292a2b2c2d2e2f
      next_iv: 303132333435363738393a3b3c3d3e3f
    service_flows: [{id: 1}]
    upstream_service_flows:
      - id: 101
        sid_clusters:
          - {id: 0, sids: [{channel: 1, sid: 1}, {channel: 2, sid: 1}]}
          - {id: 2, sids: [{channel: 1, sid: 2}, {channel: 2, sid: 2}]}
      - {id: 102, sid_clusters: [{id: 0, sids: [{channel: 2, sid: 3}]}]}
  - mac: "02:01:00:00:00:02"
    addresses: [10.0.0.2, "2001:db8::2"]
    bonding_group: 1
    security: {said: 2, cipher: none}
    service_flows: [{id: 2}]
    upstream_service_flows:
      - {id: 201, segment_header: false, sid_clusters: [{id: 0, sids: [{channel: 1, sid: 10}]}]}
      - {id: 202, sid_clusters: [{id: 1, sids: [{channel: 1, sid: 11}]}]}
  - mac: "02:01:00:00:00:03"
    addresses: [10.0.0.3]
    bonding_group: 1
    security:
      said: 3
      key: 404142434445464748494a4b4c4d4e4f
      iv: "505152535455565758595a5b5c5d5e5f"
      key_sequence: 2
    service_flows: [{id: 3}]
    upstream_service_flows:
      - {id: 301, segment_header: false, sid_clusters: [{id: 0, sids: [{channel: 1, sid: 20}]}]}
"""
