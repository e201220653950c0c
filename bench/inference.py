"""How fast and how lean a hosted judge is asked, against the bare client in the same run.

    python bench/inference.py [--requests 2000] [--rounds 3] [--items 10000]

A server in a process of its own reads each request, waits 50 ms and says Yes. Both sides encode the same 200 KB pictures
for every request and keep 64 in flight. The bare client is aiohttp with base64 and orjson in a bare loop: nothing is kept,
nothing is checked. Ours is the whole stage: messages, digests, rates, deadline, journal synced to disk, Parquet. The ratio
compares how fast requests go through, as the server sees it, from the first to the last; "with opening" also counts reading
and checking the release before and writing the table after.
"""

from __future__ import annotations

import argparse
import asyncio
import base64
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from pathlib import Path

import aiohttp
import numpy as np
import orjson

from storage import Store, digest
from tasks.inference import INFERENCE, parse_judge, stage_config
from tasks.stage import Ref, produce

IN_FLIGHT = 64
LATENCY_MS = 50
SIDE = 258  # noise does not compress: 258 * 258 * 3 bytes make 200 KB
SERVER = Path(__file__).resolve().parent.parent / "tests" / "inference" / "scripted_server.py"


def pictures(count: int, seed: int) -> list[dict]:
    import io

    from PIL import Image

    draw = np.random.default_rng(seed)
    found = []
    for _ in range(count):
        out = io.BytesIO()
        Image.fromarray(draw.integers(0, 256, (SIDE, SIDE, 3), dtype=np.uint8)).save(out, "PNG", compress_level=1)
        data = out.getvalue()
        found.append({"image_id": digest(data), "width": SIDE, "height": SIDE, "png": data, "png_sha256": digest(data)})
    return found


def release(location: str, images: list[dict], items: int, name: str) -> Ref:
    """`items` items over the pictures in turn."""
    writer = Store(location).writer("release", digest(f"{name} {items}"))
    for start in range(0, len(images), 50):
        writer.add("images", images[start : start + 50])
    writer.add(
        "items",
        [
            {
                "uid": f"C.bench.s{number:06d}",
                "task": "C",
                "prompt": f"Number {number}: does the agent reach the goal? Answer with ONLY: Yes or No.",
                "image_ids": [images[number % len(images)]["image_id"]],
                "answer_format": "yes_no",
                "max_tokens": 16,
            }
            for number in range(items)
        ],
    )
    writer.commit(1, {"name": name}, {})
    return Ref("release", writer.key)


def rate(url: str, requests: int) -> float:
    """Requests a second as the server saw them."""
    with urllib.request.urlopen(url.replace("/v1", "/stats")) as response:
        told = orjson.loads(response.read())
    assert told["requests"] == requests, told
    return requests / told["seconds"]


async def bare(url: str, images: list[dict], requests: int) -> float:
    """CPU milliseconds a request of the client library alone."""
    numbers = iter(range(requests))
    connector = aiohttp.TCPConnector(limit=IN_FLIGHT)
    async with aiohttp.ClientSession(connector=connector, headers={"Content-Type": "application/json"}) as session:

        async def worker() -> None:
            for number in numbers:
                png = images[number % len(images)]["png"]
                picture = {"url": "data:image/png;base64," + base64.b64encode(png).decode()}
                content = [{"type": "image_url", "image_url": picture}, {"type": "text", "text": "Yes or No?"}]
                body = {"model": "m", "messages": [{"role": "user", "content": content}], "max_tokens": 16}
                async with session.post(f"{url}/chat/completions", data=orjson.dumps(body)) as response:
                    orjson.loads(await response.read())

        used = time.process_time()
        await asyncio.gather(*(worker() for _ in range(IN_FLIGHT)))
        return (time.process_time() - used) / requests * 1000


def spec_for(url: str):
    return parse_judge("bench", {"api": "openai", "model": "m", "base_url": url, "limits": {"concurrency": IN_FLIGHT}})


def ours(url: str, images: list[dict], requests: int, name: str) -> tuple[float, float]:
    """(requests a second, CPU milliseconds a request) of the stage, from opening the release to the committed table."""
    with tempfile.TemporaryDirectory(prefix="worldaudit-bench-") as location:
        ref = release(location, images, requests, name)
        started, used = time.perf_counter(), time.process_time()
        produce(location, INFERENCE, "bench", stage_config("bench", spec_for(url)), {"release": ref})
        return requests / (time.perf_counter() - started), (time.process_time() - used) / requests * 1000


def resident_mb() -> float:
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20


def memory(url: str, images: list[dict], items: int) -> list[float]:
    """Resident memory in MB, twice a second, while the stage asks `items` questions."""
    with tempfile.TemporaryDirectory(prefix="worldaudit-bench-") as location:
        ref = release(location, images, items, "memory")
        samples: list[float] = []
        done = threading.Event()

        def watch() -> None:
            while not done.wait(0.5):
                samples.append(resident_mb())

        watcher = threading.Thread(target=watch)
        watcher.start()
        produce(location, INFERENCE, "bench", stage_config("bench", spec_for(url)), {"release": ref})
        done.set()
        watcher.join()
        return samples


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--requests", type=int, default=2000, help="a round")
    options.add_argument("--rounds", type=int, default=3)
    options.add_argument("--items", type=int, default=10_000, help="for the memory part; 0 leaves it out")
    asked = options.parse_args()
    server = subprocess.Popen([sys.executable, str(SERVER), "0", str(LATENCY_MS)], stdout=subprocess.PIPE, text=True)
    try:
        assert server.stdout is not None
        url = f"http://127.0.0.1:{server.stdout.readline().strip()}/v1"
        images = pictures(200, 1)
        size = statistics.mean(len(entry["png"]) for entry in images)
        print(
            f"{asked.requests} requests a round, {size / 1000:.0f} KB a picture, {LATENCY_MS} ms, {IN_FLIGHT} in flight"
        )
        asyncio.run(bare(url, images, 200))
        rate(url, 200)
        ratios = []
        for number in range(asked.rounds):
            library_ms = asyncio.run(bare(url, images, asked.requests))
            library = rate(url, asked.requests)
            opened, stage_ms = ours(url, images, asked.requests, f"round {number}")
            stage = rate(url, asked.requests)
            ratios.append(stage / library)
            print(
                f"  round {number + 1}: bare aiohttp {library:.0f}/s ({library_ms:.1f} ms CPU a request), the stage "
                f"{stage:.0f}/s ({stage_ms:.1f} ms; with opening {opened:.0f}/s), ratio {ratios[-1]:.2f}"
            )
        print(f"ratio to the bare client: median {statistics.median(ratios):.2f} (aim: 0.80)")
        if asked.items:
            samples = memory(url, images, asked.items)
            tenth = max(1, len(samples) // 10)
            early, late = statistics.median(samples[tenth : 2 * tenth]), statistics.median(samples[-2 * tenth : -tenth])
            print(
                f"memory over {asked.items} items: {early:.0f} MB after a tenth, {late:.0f} MB at nine tenths, "
                f"peak {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB"
            )
    finally:
        server.terminate()
        server.wait()


if __name__ == "__main__":
    main()
