# SPDX-License-Identifier: BSD-3-Clause
"""Stubs of the programs: a data plane of known capacity and costs that answers immediately."""

import json
import sys
from pathlib import Path
from typing import Any

FACTS = {
    "name": "simulated",
    "channels": 6,
    "modems": 300,
    "mtu": 1500,
    "capacity": 10_000_000_000,
    "upstream_capacity": 4_000_000_000,
    "cores": [1],
}

PLANE = """#!{python}
import json, sys
if sys.argv[1] == "check":
    print({facts!r})
    sys.exit(0)
sys.exit("only check is simulated")
"""

# Refuses invalid mixes, as the real program does.
TRAFFIC = """#!{python}
import sys
mixes = [sys.argv[n + 1] for n, word in enumerate(sys.argv) if word in ("--mix", "--upstream-mix")]
for mix in mixes:
    if mix not in ("imix", "upstream-imix", "upstream-imix-70") and not mix.isdigit():
        print('vcmts-traffic: --mix: found "' + mix + '", allowed: sizes', file=sys.stderr)
        sys.exit(2)
"""

RINGS = """#!{python}
import json, os, signal, sys, time
how = {how!r}
print(json.dumps(dict(ready=True, transport="rings", host=dict(
    cpu="A core", tsc_hz=2e9, core_hz=3e9, huge_pages=False))), flush=True)

def latency(asked):
    if not asked["latency"]:
        return None
    keys = ("mean", "p50", "p90", "p99", "p99_9", "p99_99", "p99_999", "max")
    return dict(dict((key, 100.0 + n) for n, key in enumerate(keys)), histogram=[[100, 5]])

def direction(asked, bits, size, share, gaps):
    sent = round(bits / 8 / size * asked["seconds"])
    lost = sent - round(sent * share)
    return dict(sent=sent, proven=sent - lost, lost=lost, corrupted=0, seconds=asked["seconds"],
        sent_bytes=sent * size, gbps=(sent - lost) * size * 8e-9 / asked["seconds"],
        transmit_backpressure=0, descheduled=gaps, latency_us=latency(asked))

for number, line in enumerate(sys.stdin, 1):
    asked = json.loads(line)
    if number == how.get("dies"):
        sys.exit(print("no memory", file=sys.stderr) or 1)
    if number == how.get("interrupts"):
        os.kill(os.getppid(), signal.SIGINT)
        time.sleep(60)
    if asked["rate"] and asked["mix"] == how.get("refuses"):
        print(json.dumps(dict(error="mix: found it, allowed: another")), flush=True)
        continue
    total = asked["rate"] + asked["upstream_rate"]
    disturbed = number in how.get("disturbed", ()) or how.get("always")
    share = min(1.0, how["capacity"] / total) if not disturbed else 0.9
    gaps = dict(count=1, longest_us=1e6 * asked["seconds"]) if disturbed else dict(
        count=0, longest_us=0.0)
    answer = dict(trial=asked, workers=[dict(name="all", busy_share=0.5, descheduled=gaps)])
    answer["drops"] = dict(downstream=dict(flow_buffer_full=10**9)) if how.get("queues") else dict()
    for way, key, size in (("downstream", "rate", 1000), ("upstream", "upstream_rate", 250)):
        if asked[key]:
            answer[way] = direction(asked, asked[key], size, share, dict(count=0, longest_us=0.0))
    if how.get("pipeline"):
        answer["pipeline_latency_us"] = dict((way, latency(asked)) for way in answer
            if way in ("downstream", "upstream"))
    print(json.dumps(answer), flush=True)
"""

# Cycles are `how["cycles"]` by configuration and mix, or 1000; they grow a little with each run.
# Two threads carry `how["pair"]` Gbps.
BENCH = """#!{python}
import json, os, signal, sys, time
how = {how!r}

def option(name):
    return sys.argv[sys.argv.index(name) + 1]

def serve():
    lines = open(option("--config")).read().splitlines()
    name = [line for line in lines if line.startswith("name: ")][0][6:]
    if name in how.get("fails_to_start", ()):
        sys.exit(print("no memory", file=sys.stderr) or 1)
    print(json.dumps(dict(ready=True, configuration=name, memory=dict(total=96 * 2**20),
        host=dict(cpu="A core", tsc_hz=2e9, core_hz=3e9, huge_pages=False))), flush=True)
    for number, line in enumerate(sys.stdin):
        asked = json.loads(line)
        if number == how.get("interrupts"):
            os.kill(os.getppid(), signal.SIGINT)
            time.sleep(60)
        if number == how.get("dies"):
            sys.exit(print("no memory", file=sys.stderr) or 1)
        cycles = how.get("cycles", dict()).get(name + " " + asked["mix"], 1000.0) + number % 3
        core = float(option("--core")) if "--core" in sys.argv else 0
        begin = asked.get("begin_us", 0) + how.get("late", 0) * core
        result = dict(direction=asked["direction"], mix=asked["mix"], cycles_per_packet=cycles,
            core_cycles_per_packet=1.5 * cycles, crypto_bound_cycles=400.0,
            share_of_crypto_bound=400.0 / cycles, gbps_per_core=10.0 - how.get("loses", 0) * core,
            stages=dict(receive=20.0, classify=90.0 + number % 3, enqueue=30.0, schedule=80.0,
                encrypt_submit=20.0, encrypt_collect=480.0))
        if "--threads" in sys.argv:
            result["threads"] = int(option("--threads"))
            result["pair"] = dict(upper_mac=250.0, lower_mac=500.0, gbps=how.get("pair", 12.0))
        print(json.dumps(dict(trial=asked, begin_us=begin, end_us=begin + 1e6 * asked["seconds"],
            core_hz=3e9, result=result)), flush=True)

if "--requests" in sys.argv:
    sys.exit(serve())
cycles = 12.5 if "downstream" in sys.argv else 20.0
json.dump(dict(results=[dict(cycles_latency=cycles)]), open(option("--json"), "w"))
"""

# The result of all scenarios, and the costs of all cases.
UPSTREAM = """#!{python}
import json, sys
json.load(sys.stdin)
json.dump(dict(seconds=1.0, flows=[dict(latency_ms=dict(p50=2.5, p99=14.0))],
    use=dict(data_used=0.97)), sys.stdout)
"""
MAPS = """#!{python}
import json, sys
how = {how!r}
runs = int(sys.argv[sys.argv.index("--runs") + 1])
print("progress 1 2 half of it", file=sys.stderr, flush=True)
results = [dict(case=f"{{modems}} modems, 8 channels, 1 ms", core_cycles_per_request=90.0,
    share_of_core=modems / 1e5, values=[77.0 + modems / 300] * runs) for modems in (300, 3000)]
json.dump(dict(results=results), open(sys.argv[sys.argv.index("--json") + 1], "w"))
sys.exit(how.get("maps", 0))
"""


def write(folder: Path, facts: dict[str, Any] | None = None, **how: Any) -> Path:
    """Writes the programs to a build folder, and returns it. `how` is their behaviour: capacity in
    bit/s of both directions together, numbers of trials that fail, and others."""
    text = json.dumps(FACTS | (facts or {}))
    programs = {
        "src/vcmtsd": PLANE.format(python=sys.executable, facts=text),
        "traffic/vcmts-traffic": TRAFFIC.format(python=sys.executable),
        "bench/vcmts-bench-throughput": RINGS.format(python=sys.executable, how=how),
        "bench/vcmts-bench": BENCH.format(python=sys.executable, how=how),
        "bench/vcmts-bench-maps": MAPS.format(python=sys.executable, how=how),
        "bench/simulate/vcmts-simulate-upstream": UPSTREAM.format(python=sys.executable),
    }
    for name, text in programs.items():
        path = folder / "build" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        path.chmod(0o755)
    return folder / "build"
