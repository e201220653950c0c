"""The inference stage: one judge's answers to one release.

    inputs  {"release": an artifact with the tables items and images, "images" or "images.<shard>": more of its pictures}
    config  {"judge": name, "spec": JudgeSpec.model_dump(mode="json")}, and what makes it another asking (see below)
    writes  responses: one row a (uid, judge, replicate), all of them planned
            canaries: one row a canary that the judge's table asks for

It reads `items` and `images` and can read nothing else. Answers are in the journal as soon as they land, so that a run
that dies or stops costs at most what was in flight; the artifact is committed when every question has been asked. While
questions are pending nothing is committed, and the same command asks them alone. Questions that ended `api_error` are
asked again by whatever runs the stage again.

Nothing that was answered is ever dropped. To ask everything anew, give the asking a name of its own (`asking`): it has its
own journal and its own artifact. To ask again what failed in an asking that was committed all the same, name the retry
(`retried`): the same journal, another artifact.

A run that could not finish may still be looked at: with `snapshot` (the value of `journal_state`) in the configuration
the stage asks nothing and writes what there is, the rest as `pending`. The state is part of that artifact's key.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextlib
from collections.abc import AsyncIterator, Coroutine, Iterator
from typing import Any, TypeVar

from storage import Artifact, canonical_json
from storage.store import ArtifactWriter
from tasks.errors import BadInput, StageFailed
from tasks.inference import canaries
from tasks.inference.answered import answered_and_failed, journal_of
from tasks.inference.config import JudgeSpec
from tasks.inference.engine import Backend, Job, Reply, Stopped, ask_all, count, job_key, row_of
from tasks.inference.exam import AskedItem, asked_items, jobs, message_of
from tasks.inference.hosted import HostedBackend, check_sizes
from tasks.inference.journal import Journal, Row
from tasks.inference.local import LocalBackend
from tasks.inference.message import Pictures
from tasks.inference.progress import Progress
from tasks.inference.spending import SPENDING, pictures_of
from tasks.inference.vllm import served
from tasks.stage import Config, Inputs, Stage

BATCH_ROWS = 1000
T = TypeVar("T")


def stage_config(
    name: str,
    spec: JudgeSpec,
    snapshot: str | None = None,
    asking: str | None = None,
    retried: str | None = None,
) -> Config:
    """The stage's configuration for a judge. `asking` and `retried` are any words that were not used before."""
    config: Config = {"judge": name, "spec": spec.model_dump(mode="json")}
    given = {"snapshot": snapshot, "asking": asking, "retried": retried}
    return config | {name: value for name, value in given.items() if value}


def keyed(config: Config) -> Config:
    """What the key covers: the name, what decides the answers, which asking it is, and for a snapshot how far it had come."""
    spec = JudgeSpec.model_validate(config["spec"])
    kept = {"judge": config["judge"], "spec": spec.identity()}
    return kept | {name: config[name] for name in ("snapshot", "asking", "retried") if config.get(name)}


def run(inputs: Inputs, config: Config, writer: ArtifactWriter) -> None:
    release = inputs["release"]
    judge, spec = config["judge"], JudgeSpec.model_validate(config["spec"])
    journal = journal_of(writer.store, release.key, spec, config.get("asking"))
    with Pictures(release, *pictures_of(inputs)) as pictures:
        asked = asked_items(release, spec, pictures)
        found = [] if config.get("snapshot") else _wait(_infer(config, spec, release, journal, asked, pictures))
    if found:
        writer.add("canaries", found)
    for batch in _batches(rows_of(judge, spec, asked, journal)):
        writer.add("responses", batch)


INFERENCE = Stage("inference", 1, run, keyed, SPENDING)


async def _infer(
    config: Config,
    spec: JudgeSpec,
    release: Artifact,
    journal: Journal,
    asked: list[AskedItem],
    pictures: Pictures,
) -> list[Row]:
    """Ask everything that is missing; rows of the table `canaries`."""
    judge = config["judge"]
    found: list[Row] = []
    async with journal:
        answered, failed = answered_and_failed(journal)
        planned = list(jobs(asked, spec.replicates))
        missing = [job for job in planned if job_key(*job) not in answered]
        # What failed before may fail again: it waits for the others.
        missing.sort(key=lambda job: job_key(*job) in failed)
        progress = Progress(judge, len(planned), reused=len(planned) - len(missing))
        if not missing:
            return found
        check_sizes(spec, [item for item, _ in missing])
        progress.currency = spec.prices.currency if spec.prices else None
        servers = {row["server"] for row in answered.values() if row["server"]}
        async with open_backend(spec, progress) as backend:
            if isinstance(backend, HostedBackend):
                missing = await _first(backend, spec, journal, missing, pictures, progress, servers, failed)
                found = await _canaries(backend, spec, progress)
            stopped = await ask_all(backend, spec, journal, missing, pictures, progress, failed)
        if stopped is not None and stopped.culprit:
            item, replicate = next(job for job in missing if job[0].uid == stopped.culprit)
            await journal.append(row_of(item, replicate, Reply("api_error", error=str(stopped))))
            progress.failed += 1
    again = (
        "rerun RUN --from inference --only-failed"
        if config.get("asking")
        else f"infer {release.key[:12]} --judge {judge}"
    )
    resume = f"`worldaudit {again}` asks only what is missing"
    if stopped is not None:
        raise (BadInput if stopped.bad_input else StageFailed)(
            f"{judge}: {stopped}; {progress.reused + progress.done} of {progress.planned} answered, "
            f"{progress.failed} failed, {progress.pending} pending; answers are kept: {resume}"
        )
    if progress.failed > spec.limits.max_failed * progress.planned:
        raise StageFailed(
            f"{judge}: {progress.failed} of {progress.planned} requests failed, more than limits.max_failed = "
            f"{spec.limits.max_failed:g} allows; the others are kept: {resume}"
        )
    return found


async def _first(
    backend: HostedBackend,
    spec: JudgeSpec,
    journal: Journal,
    missing: list[tuple[AskedItem, int]],
    pictures: Pictures,
    progress: Progress,
    servers: set[str],
    failed: set[Job],
) -> list[tuple[AskedItem, int]]:
    """Preflight with the largest question that is missing and has not failed before; what is left to ask.

    Its answer is kept like any other. Where everything that is left has failed before there is nothing to learn so."""
    fresh = [job for job in missing if job_key(*job) not in failed]
    if not fresh:
        return missing
    largest = max(fresh, key=lambda job: (job[0].body_bytes, len(job[0].image_ids)))
    item, replicate = largest
    reply = await backend.preflight(item, message_of(item, pictures))
    if servers and reply.server not in servers:
        progress.say(
            f"{progress.judge}: warning: earlier answers came from {', '.join(sorted(servers))}, this one from "
            f"{reply.server}; the rows say which, and answers may differ"
        )
    await journal.append(row_of(item, replicate, reply))
    count(progress, spec, item, reply)
    return [job for job in missing if job is not largest]


async def _canaries(backend: HostedBackend, spec: JudgeSpec, progress: Progress) -> list[Row]:
    rows = []
    try:
        for result in await canaries.check(backend, spec):
            rows.append(result.row(progress.judge))
            verdict = {True: "passed", False: "WARNING, FAILED", None: "tells nothing"}[result.passed]
            progress.say(f"{progress.judge}: canary {result.canary}: {verdict}: {result.detail}")
    except Stopped as stopped:
        raise StageFailed(f"{progress.judge}: {stopped}") from stopped
    return rows


@contextlib.asynccontextmanager
async def open_backend(spec: JudgeSpec, progress: Progress) -> AsyncIterator[Backend]:
    """A judge, open for questions: in this process, behind a URL, or behind a server that is started for it."""
    if not spec.hosted:
        async with LocalBackend(spec) as local:
            yield local
    else:
        async with contextlib.AsyncExitStack() as stack:
            base = None
            if spec.serve:
                progress.say(f"{progress.judge}: starting a vLLM server for {spec.model}")
                base = (await stack.enter_async_context(served(spec))).url
            yield await stack.enter_async_context(HostedBackend(spec, base, progress))


def rows_of(judge: str, spec: JudgeSpec, asked: list[AskedItem], journal: Journal) -> Iterator[Row]:
    """One row a planned (question, replicate), in the order of the release: the answer, the failure, or `pending`."""
    found: dict[Job, Row] = {}
    for row in journal.rows():
        key = (row["uid"], row["replicate"], row["request_sha256"])
        if key not in found or found[key]["status"] == "api_error":
            found[key] = row
    for item, replicate in jobs(asked, spec.replicates):
        pending = {
            "uid": item.uid,
            "replicate": replicate,
            "status": "pending",
            "requested": canonical_json(item.requested),
            "request_sha256": item.sha256,
        }
        yield {"judge": judge} | found.get(job_key(item, replicate), pending)


def _batches(rows: Iterator[Row]) -> Iterator[list[Row]]:
    batch: list[Row] = []
    for row in rows:
        batch.append(row)
        if len(batch) == BATCH_ROWS:
            yield batch
            batch = []
    if batch:
        yield batch


def _wait(work: Coroutine[Any, Any, T]) -> T:
    """Run `work` in a loop of its own, even where the calling thread has one."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(work)
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        return pool.submit(asyncio.run, work).result()
