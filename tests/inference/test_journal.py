"""The journal: what has landed is there, whatever happens next."""

from __future__ import annotations

import asyncio
import errno
import os
import subprocess
import sys
import time

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from storage import Store, StoreError
from tasks.inference.journal import Journal


def write(store: Store, rows: list[dict], key: str = "k") -> None:
    async def go():
        async with Journal(store, key) as journal:
            await asyncio.gather(*(journal.append(row) for row in rows))

    asyncio.run(go())


def test_rows_come_back_in_order_over_several_runs(store):
    where = Store(store)
    write(where, [{"n": n} for n in range(50)])
    write(where, [{"n": n} for n in range(50, 60)])
    assert [row["n"] for row in Journal(where, "k").rows()] == list(range(60))


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(cut=st.integers(1, 400), text=st.text(max_size=20))
def test_a_torn_tail_costs_its_own_row_only(tmp_path, cut, text):
    where = Store(tmp_path / str(time.monotonic_ns()))
    write(where, [{"n": n, "text": text} for n in range(10)])
    name = next(name for name in where.files.list("journal/inference/k") if name.endswith(".jsonl"))
    path = f"journal/inference/k/{name}"
    data = where.files.read(path)
    where.files.write(path, data[:-cut])
    write(where, [{"n": 10}])
    left = [row["n"] for row in Journal(where, "k").rows()]
    whole = data[:-cut].count(b"\n")
    assert left == [*range(whole), 10]


def test_a_row_is_with_the_kernel_when_it_has_landed_and_on_disk_when_the_journal_closes(store, monkeypatch):
    synced = [0]
    real = os.fsync
    monkeypatch.setattr(os, "fsync", lambda handle: (real(handle), synced.append(os.fstat(handle).st_size)))

    async def go() -> int:
        async with Journal(Store(store), "k") as journal:
            for number in range(200):
                await journal.append({"n": number})
                await asyncio.sleep(0)
                assert [row["n"] for row in Journal(Store(store), "k").rows()][
                    -1
                ] == number  # as another process sees it
            return os.fstat(journal._file.fileno()).st_size

    assert asyncio.run(go()) == synced[-1] > 0
    assert len(synced) < 150  # many rows share a sync


def test_a_full_disk_is_an_error_and_keeps_what_landed(store, monkeypatch):
    where = Store(store)

    async def go():
        async with Journal(where, "k") as journal:
            await journal.append({"n": 0})

            class Full:
                def write(self, data):
                    os.write(real.fileno(), data[: len(data) // 2])
                    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

                def fileno(self):
                    return real.fileno()

                def close(self):
                    real.close()

            real, journal._file = journal._file, Full()
            results = await asyncio.gather(*(journal.append({"n": n}) for n in (1, 2)), return_exceptions=True)
            assert all(isinstance(result, StoreError) for result in results)
            await journal.append({"n": 3})

    with pytest.raises(StoreError, match=r"No space left.*received before is safe"):
        asyncio.run(go())
    write(where, [{"n": 4}])
    assert [row["n"] for row in Journal(where, "k").rows()] == [0, 4]


def test_a_sync_that_fails_is_an_error_at_the_latest_when_the_journal_closes(store, monkeypatch):
    def fail(handle):
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    async def go():
        async with Journal(Store(store), "k") as journal:
            await journal.append({"n": 0})
            monkeypatch.setattr(os, "fsync", fail)
            await journal.append({"n": 1})

    with pytest.raises(StoreError, match="Input/output error"):
        asyncio.run(go())


def test_a_second_process_waits_for_the_first_and_says_for_whom(store, capfd):
    holder = subprocess.Popen(
        [
            sys.executable,
            "-c",
            "import asyncio, sys\nfrom storage import Store\nfrom tasks.inference.journal import Journal\n"
            "async def go():\n    async with Journal(Store(sys.argv[1]), 'k') as j:\n        await j.append({'n': 0})\n"
            "        print('held', flush=True)\n        await asyncio.sleep(600)\n"
            "asyncio.run(go())",
            store,
        ],
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert holder.stdout.readline() == "held\n"

        async def second():
            async with Journal(Store(store), "k") as journal:
                await journal.append({"n": 1})

        async def both():
            waiting = asyncio.create_task(second())
            await asyncio.sleep(1)
            assert not waiting.done()
            holder.kill()  # the lock dies with its holder
            await asyncio.wait_for(waiting, 20)

        asyncio.run(both())
    finally:
        holder.kill()
        holder.wait()
    assert f"waiting for process {holder.pid}" in capfd.readouterr().err
    assert [row["n"] for row in Journal(Store(store), "k").rows()] == [0, 1]


def test_an_object_store_takes_batches_as_small_objects(s3):
    where = Store(s3)
    write(where, [{"n": n} for n in range(20)])
    write(where, [{"n": 20}])
    assert sorted(row["n"] for row in Journal(where, "k").rows()) == list(range(21))
    assert 2 <= len(where.files.list("journal/inference/k")) <= 21
