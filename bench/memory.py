"""Peak memory of generating an exam of 100, 400 and 1,600 groups.

    python -m bench.memory [--groups 100 400 1600]

Each size runs in a process of its own, one shard after another, rollouts to answers: five configurations of MiniGrid, Tasks
A, C and D of Scale-2's shape. What is printed is the process's own peak (VmHWM). The baseline is the first size.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

CONFIGURATIONS = {
    "doorkey-8x8": "MiniGrid-DoorKey-8x8-v0",
    "doorkey-16x16": "MiniGrid-DoorKey-16x16-v0",
    "keycorridor-s4r3": "MiniGrid-KeyCorridorS4R3-v0",
    "keycorridor-s5r3": "MiniGrid-KeyCorridorS5R3-v0",
    "redbluedoors-8x8": "MiniGrid-RedBlueDoors-8x8-v0",
}
RUN = """
import re, sys
from pathlib import Path
from tests.conftest import generate
generate(sys.argv[1], profile=sys.argv[2])
print(int(re.search(r"VmHWM:\\s+(\\d+)", Path("/proc/self/status").read_text())[1]) / 1024)
"""


def profile(groups: int) -> str:
    """A profile of `groups` groups in equal parts."""
    each = groups // len(CONFIGURATIONS)
    text = 'world = "minigrid"\nprompts = "minigrid-v1"\nbalance = true\n'
    for number, (shard, env_id) in enumerate(CONFIGURATIONS.items()):
        text += (
            f'\n[shards.{shard}]\nenv = "{shard.partition("-")[0]}"\nenv_id = "{env_id}"\ngroups = {each}\n'
            f"first = {100000 * number}\nA = {{ groups = 8, items = 80 }}\n"
            f'C = {{ groups = {each}, probes = false, framings = ["neu"], split = false }}\n'
            f'D = {{ references = {each // 5}, queries = {each - each // 5}, presentations = [["clean", "neu"]] }}\n'
        )
    return text


def peak(groups: int) -> float:
    """Megabytes."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "profile.toml"
        path.write_text(profile(groups))
        command = [sys.executable, "-c", RUN, str(Path(folder) / "store"), str(path)]
        return float(subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()[-1])


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--groups", type=int, nargs="+", default=[100, 400, 1600])
    base = None
    for groups in arguments.parse_args().groups:
        megabytes = peak(groups)
        base = base or megabytes
        print(f"{groups:>6,} groups  peak {megabytes:6.0f} MB  {megabytes / base:.2f}x", flush=True)


if __name__ == "__main__":
    main()
