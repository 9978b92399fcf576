# SPDX-License-Identifier: BSD-3-Clause
"""Tests that fault tests cover all calls that can fail, except those listed with a reason."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[3]
SYSTEM = (
    "malloc|calloc|realloc|reallocarray|aligned_alloc|posix_memalign|strdup|strndup|asprintf"
    "|vasprintf|fopen|fdopen|open|opendir|open_memstream|fmemopen|fopencookie|mmap|pthread_create"
    "|eventfd|epoll_create1|timerfd_create|pipe2|socket|accept4"
)

EXCLUDED = {
    "once, at the start, before there are control methods": """
        rte_eal_init rte_eal_remote_launch rte_eal_mp_wait_lcore rte_eal_iova_mode
        rte_eal_get_runtime_dir rte_malloc_heap_create rte_malloc_heap_get_socket
        rte_mbuf_dynfield_register rte_telemetry_register_cmd rte_lcore_register_usage_cb
        rte_dev_event_callback_register rte_openlog_stream rte_log_set_level rte_log_get_level
        rte_rcu_qsbr_init rte_rcu_qsbr_get_memsize rte_rcu_qsbr_thread_register rte_lcore_cpuset
        rte_socket_count rte_socket_id_by_idx fopencookie vasprintf opendir socket""",
    "devices, their pools and threads: made before the first fault of a test is counted": """
        rte_dev_probe rte_cryptodev_configure rte_cryptodev_queue_pair_setup rte_cryptodev_start
        rte_cryptodev_get_sec_ctx rte_cryptodev_sym_capability_get rte_security_capability_get
        rte_cryptodev_sym_session_pool_create rte_mempool_create_empty rte_mempool_populate_default
        rte_mempool_populate_iova rte_mempool_set_ops_byname rte_pktmbuf_pool_create
        rte_kvargs_parse rte_malloc rte_malloc_socket rte_malloc_heap_memory_add
        rte_eth_add_rx_callback rte_eth_dev_rx_intr_ctl_q mmap pthread_create
        epoll_create1 eventfd fopen""",
    "of net_ring, which only tests and replays use": "rte_eth_from_rings",
    "for a text or file of a request, which gets an error or a shorter text": "asprintf fmemopen",
    "for a client, which gets an error or is disconnected": "accept4",
    "by devargs that were parsed before, to unplug": """
        rte_devargs_parse rte_eal_hotplug_remove rte_dev_remove rte_dev_devargs""",
    "fails for a missing port, and its caller then uses a safe default": """
        rte_eth_dev_info_get rte_eth_dev_get_port_by_name rte_eth_dev_get_name_by_port
        rte_eth_dev_is_valid_port rte_eth_dev_is_removed rte_eth_dev_socket_id rte_eth_stats_get
        rte_eth_link_get_nowait rte_eth_get_monitor_addr rte_eth_dev_rx_intr_enable
        rte_eth_dev_rx_intr_disable rte_cryptodev_get_dev_id rte_cryptodev_is_valid_dev
        rte_cryptodev_sym_get_private_session_size rte_security_session_get_size""",
    "for a packet, which is dropped with a reason": """
        rte_pktmbuf_alloc rte_pktmbuf_alloc_bulk rte_mbuf_raw_alloc rte_mempool_get_bulk
        rte_pktmbuf_copy rte_pktmbuf_append rte_pktmbuf_linearize rte_pktmbuf_adj rte_pktmbuf_trim
        rte_pktmbuf_chain rte_pktmbuf_attach rte_eth_rx_burst rte_eth_tx_burst
        rte_cryptodev_enqueue_burst rte_cryptodev_dequeue_burst rte_security_attach_session
        rte_crypto_op_attach_sym_session rte_ring_enqueue_burst rte_ring_sp_enqueue_burst
        rte_ring_sp_enqueue_elem rte_ring_sc_dequeue rte_ring_sc_dequeue_burst
        rte_ring_sc_dequeue_burst_elem rte_ring_dequeue rte_mempool_put_bulk""",
    "of DPDK's telemetry, not of the control socket": r"rte_tel_data_\w+",
    "frees or releases": r"""
        rte_\w+_(free|free_seg|free_bulk|close|stop|destroy|cleanup|unregister|reset)
        rte_free rte_eth_remove_rx_callback rte_hash_del_key rte_\w+_callback_unregister
        rte_kvargs_free rte_acl_free rte_malloc_heap_memory_remove""",
    "reads or computes": r"""
        rte_(rdtsc|rdtsc_precise|get_tsc_hz|version|strerror|pause|panic|prefetch0|raw_cksum)
        rte_(align\w+|cpu_to_\w+|be_to_cpu_\w+|hash_crc\w*|net_crc_calc|format_printf)
        rte_(delay_us_sleep|power_monitor|cpu_get_flag_enabled|lcore_id|log_cur_msg_loglevel)
        rte_spinlock_\w+ rte_rcu_qsbr_(thread_online|thread_offline|start|check|quiescent)
        rte_hash_(count|lookup\w*|iterate) rte_acl_classify rte_ring_(count|empty|free_count)
        rte_mempool_(avail_count|in_use_count|obj_iter) rte_malloc_get_socket_stats
        rte_pktmbuf_(mtod|mtod_offset|data_len|pkt_len|headroom|tailroom|lastseg|read|init|pool_init)
        rte_mbuf_refcnt_update rte_crypto_op_ctod_offset rte_bus_name rte_dev_bus rte_dev_name
        rte_ether_format_addr rte_epoll_wait rte_kvargs_process rte_cryptodev_info_get
        rte_cryptodev_sym_capability_check_cipher""",
}


def called_functions() -> dict[str, str]:
    """Returns functions that can fail, with a file that calls each."""
    result: dict[str, str] = {}
    name = re.compile(rf"(?<![\w.>])(rte_\w+|{SYSTEM})\(")
    for path in sorted((ROOT / "src").rglob("*.c")):
        text = re.sub(r"/\*.*?\*/|//[^\n]*", "", path.read_text(), flags=re.DOTALL)
        result |= dict.fromkeys(name.findall(text), str(path.relative_to(ROOT)))
    return result


def wrapped_functions() -> set[str]:
    """Functions that the linker wraps for fault tests. Inline ones fail by their pools."""
    text = (ROOT / "tests/unit/server/meson.build").read_text()
    names = set(re.findall(r"'(\w+)'", text.split("faults_calls = [")[1].split("]")[0]))
    card = re.findall(r"--wrap=(rte_flow_\w+)", text)
    return {n.removesuffix("64") for n in names} | set(card) | {"rte_crypto_op_bulk_alloc"}


def test_failing_calls_are_wrapped_or_excluded() -> None:
    excluded = re.compile("|".join(" ".join(EXCLUDED.values()).split()))
    missing = {
        name: path
        for name, path in called_functions().items()
        if name not in wrapped_functions() and not excluded.fullmatch(name)
    }
    assert missing == {}, "wrap them in tests/unit/server/kit/faults.c, or add them to EXCLUDED"


def test_excluded_calls_exist() -> None:
    names = called_functions()
    for pattern in " ".join(EXCLUDED.values()).split():
        assert any(re.fullmatch(pattern, name) for name in names), pattern
    assert not {n for n in wrapped_functions() if n.startswith("rte_")} - names.keys()
