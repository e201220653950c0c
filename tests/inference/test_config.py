"""Judges in TOML: what is accepted, what is refused, and what a refusal says."""

from __future__ import annotations

import pytest

from tasks.errors import BadInput
from tasks.inference import INFERENCE, embedded, load_judges, parse_judge, resolve, stage_config
from tasks.stage import Ref

GOOD = """
[run]
seed = 7

[judges.gpt]
api = "openai"
model = "gpt-4o"
limits = { concurrency = 8, requests_per_minute = 500, budget = 20.0 }
decoding = { seed = 7 }
prices = { input = 2.5, output = 10.0 }

[judges.qwen]
api = "vllm"
model = "qwen"
serve = { path = "/models/qwen", tensor_parallel_size = 2, max_images = 8 }

[judges.mine]
api = "python"
entry_point = "package.module:answer"
"""


def test_a_file_names_judges(tmp_path):
    path = tmp_path / "judges.toml"
    path.write_text(GOOD)
    judges = load_judges(path)
    assert list(judges) == ["gpt", "qwen", "mine"]
    assert judges["gpt"].limits.budget == 20.0 and judges["gpt"].concurrency == 8
    assert judges["mine"].concurrency == 1
    assert list(resolve(["coin", "gpt"], judges)) == ["coin", "gpt"]


@pytest.mark.parametrize(
    ("table", "words"),
    [
        (
            {"api": "openai", "model": "m", "limits": {"concurency": 3}},
            ["limits.concurency", "did you mean 'concurrency'"],
        ),
        ({"api": "openai", "modle": "m"}, ["'modle'", "did you mean 'model'"]),
        ({"api": "vllm", "model": "m", "serve": {"max_image": 3}}, ["serve.max_image", "'max_images'"]),
        ({"api": "openia", "model": "m"}, ["api", "openai"]),
        ({"api": "openai", "model": "m", "limits": {"concurrency": 0}}, ["limits.concurrency"]),
        ({"api": "anthropic", "model": "m", "decoding": {"seed": 1}}, ["no parameter seed", "drop = ['seed']"]),
        ({"api": "openai", "model": "m", "limits": {"budget": 1}}, ["budget needs prices"]),
        ({"api": "vllm", "model": "m"}, ["base_url", "serve"]),
        ({"api": "openai", "model": "m", "base_url": "http://me:pw@h/v1"}, ["without user, password"]),
        ({"api": "python"}, ["entry_point"]),
        ({"api": "embedded", "model": "coins"}, ["coins", "always-success"]),
    ],
)
def test_a_fault_names_the_key_and_the_mend(table, words):
    with pytest.raises(BadInput) as caught:
        parse_judge("g", table)
    assert caught.value.exit_code == 2
    for word in ["[judges.g]", *words]:
        assert word in str(caught.value)


def test_an_opt_in_drop_is_accepted():
    spec = parse_judge("g", {"api": "anthropic", "model": "m", "decoding": {"seed": 1, "drop": ["seed"]}})
    assert spec.decoding.seed == 1


def test_files_that_are_no_toml_or_not_there(tmp_path):
    with pytest.raises(BadInput, match="cannot read"):
        load_judges(tmp_path / "none.toml")
    broken = tmp_path / "broken.toml"
    broken.write_text("[judges.g\napi = 1")
    with pytest.raises(BadInput, match=r"broken\.toml is not valid TOML.*line 1"):
        load_judges(broken)
    broken.write_text("[judges]\ncoin = 3")
    with pytest.raises(BadInput, match=r"\[judges.NAME\]"):
        load_judges(broken)


def test_an_unknown_judge_names_the_nearest():
    with pytest.raises(BadInput, match=r"no judge is called 'tile-raeder' .did you mean 'tile-reader'"):
        resolve(["tile-raeder"])


def test_an_embedded_name_cannot_be_taken():
    with pytest.raises(BadInput, match="embedded judge"):
        parse_judge("coin", {"api": "openai", "model": "m"})


def test_a_missing_key_is_named_and_a_present_one_is_nowhere(monkeypatch):
    spec = parse_judge("g", {"api": "openai", "model": "m"})
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with pytest.raises(BadInput, match=r"\$OPENAI_API_KEY, which is not set"):
        spec.api_key()
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    assert spec.api_key() == "sk-secret"
    assert "sk-secret" not in str(stage_config("g", spec)) + repr(spec)
    local = parse_judge("g", {"api": "openai", "model": "m", "base_url": "http://127.0.0.1:1/v1"})
    assert local.api_key() is None  # a server of one's own needs none unless api_key_env says so


def test_the_url_may_come_from_the_environment(monkeypatch):
    spec = parse_judge("g", {"api": "vllm", "model": "m", "base_url_env": "JUDGE_URL"})
    monkeypatch.delenv("JUDGE_URL", raising=False)
    with pytest.raises(BadInput, match=r"\$JUDGE_URL"):
        spec.url()
    monkeypatch.setenv("JUDGE_URL", "http://node7:8000/v1/")
    assert spec.url() == "http://node7:8000/v1"


def test_the_key_covers_what_decides_answers_and_nothing_else():
    release = {"release": Ref("release", "0" * 64)}

    def key(**table):
        return INFERENCE.key(stage_config("g", parse_judge("g", {"api": "openai", "model": "m"} | table)), release)

    assert key() == key(limits={"concurrency": 99, "budget": 3}, prices={"input": 1, "output": 2})
    assert key() == key(canaries=["order"]) == key(api_key_env="OTHER")
    different = [key(), key(model="n"), key(decoding={"temperature": 1}), key(replicates=2), key(structured=True)]
    different += [key(base_url="http://127.0.0.1:1"), key(logprobs=True), key(system="Be brief.")]
    assert len(set(different)) == len(different)
    assert INFERENCE.key(stage_config("a", embedded("coin")), release) != INFERENCE.key(
        stage_config("b", embedded("coin")), release
    )
