import json
import math
import os
import tomllib
import zlib
from base64 import urlsafe_b64encode
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from costkit import architectures, plan, tables

MINIMAL = """\
# my plan
[model]
n_params = 1e9  # small

[data]
n_tokens = 20e9

[hardware]
gpu = "A100-SXM4-80GB"
n_gpus = 8
usd_per_gpu_hour = 2.0

[training]
budget_usd = 1_000  # all there is
mfu = 0.4
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty current folder, so that no test writes anywhere else."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def mine(folder: Path) -> Path:
    """A plan file of one's own."""
    path = folder / "mine.toml"
    path.write_text(MINIMAL)
    return path


def sentence_for(what: object, overrides: dict[str, Any] | None = None) -> str:
    """The one sentence that reading this gives."""
    with pytest.raises((ValueError, LookupError)) as caught:
        plan.read(what, overrides)  # type: ignore[arg-type]
    text = str(caught.value)
    assert "\n" not in text
    assert len(text) < 400
    return text


def with_line(section: str, line: str) -> str:
    """The minimal plan with one more line."""
    return MINIMAL.replace(f"[{section}]\n", f"[{section}]\n{line}\n")


@pytest.mark.parametrize("name", plan.names())
def test_packaged_plan_reads_and_says_what_it_is(name: str) -> None:
    """Every packaged plan is valid, has a title, and is named as its file."""
    read = plan.read(name)
    assert (read.name, bool(read.title)) == (name, True)


@pytest.mark.parametrize("name", plan.names())
def test_packaged_plan_names_known_sources(name: str) -> None:
    """Every source of a packaged plan is a row of sources.csv, and published values have a source."""
    for key, entry in plan.read(name).sources.items():
        assert tables.source(entry.source).key == entry.source, key


@pytest.mark.parametrize("name", plan.names())
def test_packaged_plan_is_explained(name: str) -> None:
    """Every packaged plan has comments for the person who copies it."""
    text = tables.path(f"plans/{name}.toml").read_text(encoding="utf-8")
    assert text.startswith("# ")
    assert text.count("#") >= 5


@pytest.mark.parametrize("name", [name for name in plan.names() if plan.read(name).case.published_run])
def test_a_plan_of_a_published_run_is_that_run(name: str) -> None:
    """What such a plan trains, and on which GPU, is what its row of the published runs says, and it gives no MFU."""
    read = plan.read(name)
    run = tables.published_run(read.case.published_run or "")
    assert (read.hardware.gpu, read.training.seq_len, read.data.n_tokens) == (run.gpu, run.seq_len, run.n_tokens)
    assert read.model.n_params == pytest.approx(run.n_params, rel=0.01)
    assert (read.training.mfu, read.training.goodput_fraction) == (None, None)


def test_llama_plan_counts_its_architecture() -> None:
    """A plan that names an architecture takes its exact parameter count."""
    assert plan.read("llama-2-7b").model.n_params == architectures.named("llama-2-7b").n_params


def test_read_takes_name_path_text_and_token(mine: Path) -> None:
    """A plan is the same whether read by path, by the path's text, or by its token."""
    read = plan.read(mine)
    assert read.name == "mine"
    assert plan.read("mine.toml") == read == plan.read(str(mine)) == plan.read(read.token()) == plan.read(read)


def test_packaged_name_wins_over_a_folder_of_that_name(folder: Path) -> None:
    """A folder called case-50k in the current directory does not hide the packaged plan."""
    (folder / "case-50k").mkdir()
    assert plan.read("case-50k").name == "case-50k"


def test_defaults_are_those_of_the_schema(mine: Path) -> None:
    """What a file leaves out has the schema's default: unlimited data, the Besiroglu law, goodput of published runs."""
    read = plan.read(mine)
    assert (read.data.unique_tokens, read.training.law, read.training.goodput_fraction) == (
        math.inf,
        "besiroglu-2024",
        None,
    )


def test_integers_may_be_written_with_a_point(mine: Path) -> None:
    """n_gpus = 32.0 is the whole number 32."""
    assert repr(plan.read(mine, {"hardware.n_gpus": 32.0}).hardware.n_gpus) == "32"


def test_numpy_numbers_are_numbers(mine: Path) -> None:
    """A sweep may pass numpy scalars."""
    changed = plan.read(mine, {"hardware.n_gpus": np.int64(64), "data.n_tokens": np.float64(1e12)})
    assert (changed.hardware.n_gpus, changed.data.n_tokens) == (64, 1e12)


def test_runs_are_relative_to_the_plan_file(folder: Path) -> None:
    """data.runs is found beside the plan, wherever the current folder is, also after an override."""
    (folder / "sub").mkdir()
    (folder / "sub" / "runs.csv").write_text("params,tokens,loss\n")
    path = folder / "sub" / "mine.toml"
    path.write_text(with_line("data", 'runs = "runs.csv"'))
    changed = plan.read(path, {"training.law": "own-runs"})
    assert changed.runs_path == folder / "sub" / "runs.csv"


def test_config_json_gives_the_size(folder: Path) -> None:
    """model.architecture may be the path of a Hugging Face config.json beside the plan."""
    config = {
        "model_type": "llama",
        "hidden_size": 4096,
        "intermediate_size": 11008,
        "num_hidden_layers": 32,
        "num_attention_heads": 32,
        "vocab_size": 32000,
    }
    (folder / "config.json").write_text(json.dumps(config))
    (folder / "mine.toml").write_text(MINIMAL.replace("n_params = 1e9", 'architecture = "config.json"'))
    assert plan.read("mine.toml").model.n_params == 6_738_415_616


@pytest.mark.parametrize(
    ("key", "value", "sentence"),
    [
        ("data.n_tokens", "15e12", "data.n_tokens must be a number of tokens, not text: write 15e12 without quotes"),
        ("data.n_tokens", "15T", "data.n_tokens must be a number of tokens, not the text '15T': write 15e12"),
        ("data.n_tokens", "lots", "data.n_tokens must be a number of tokens, not the text 'lots'"),
        ("data.n_tokens", 0, "data.n_tokens must be from 1,000 to 1e18 tokens, not 0"),
        ("data.n_tokens", -1e9, "data.n_tokens must be from 1,000 to 1e18 tokens, not -1e9"),
        ("data.n_tokens", math.nan, "data.n_tokens must be from 1,000 to 1e18 tokens, not nan"),
        ("data.n_tokens", math.inf, "data.n_tokens must be from 1,000 to 1e18 tokens, not inf"),
        ("data.n_tokens", 10**400, "data.n_tokens must be from 1,000 to 1e18 tokens; the given number is too large"),
        ("data.n_tokens", True, "data.n_tokens must be a number of tokens, not true"),
        ("data.n_tokens", [1e9], "data.n_tokens must be a number of tokens, not a list"),
        ("hardware.n_gpus", 32.5, "hardware.n_gpus must be a whole number of GPUs, not 32.5"),
        ("training.mfu", 45, "it looks like a percentage, write 0.45"),
        ("hardware.n_gpus", None, "hardware.n_gpus is missing: give the GPUs"),
        ("market.ends_by", "next week", "market.ends_by must be a day such as 2027-02-01, not 'next week'"),
        ("market.ends_by", "2027-02-01", "market.ends_by is a day: give market.starts_on as well"),
        ("training.loader_wait_s", 0.1, "training.loader_wait_s is a part of a step: give training.step_s as well"),
        ("training.batch_tokens", 1e11, "data.n_tokens is 60.0B, less than one batch of 100B tokens"),
        ("training.spare_fraction", 0.1, "training.goodput_fraction and training.spare_fraction are both set"),
        ("scope.ablations_fraction", 45, "it looks like a percentage, write 0.45"),
        ("case.published_run", "Llama 2 7b", "no published run 'Llama 2 7b'. Did you mean 'Llama 2 7B'?"),
        ("hardware.usd_per_gpu_hour", 32.77, "as the price of a node of 8 it is $4.10 each; write 4.096"),
        ("hardware.gpu", "A100-80", "hardware.gpu names no GPU 'A100-80'. Did you mean 'A100-SXM4-80GB'?"),
        ("hardware.gpu", 100, "hardware.gpu names no GPU 100."),
        ("training.law", "besiroglu", "training.law names no law 'besiroglu'. Did you mean 'besiroglu-2024'?"),
        ("training.law", "own-runs", "training.law is 'own-runs', but data.runs names no CSV of runs"),
        ("model.architecture", "lama-2-7b", "no architecture 'lama-2-7b'. Did you mean 'llama-2-7b'?"),
        ("model.architecture", "no/config.json", "model.architecture: cannot read 'no/config.json'"),
        ("memory.precision", "bf16mixed", "Did you mean 'bf16-mixed'?"),
        ("case.tf32_enabled", "yes", "case.tf32_enabled must be true or false (without quotes), not 'yes'"),
        ("title", 3, "title must be text in quotes, not 3"),
        ("title", "x" * 1000, "title must be at most 200 characters long, not 1000"),
        ("hardware.n_gpu", 8, "no key 'hardware.n_gpu' in a plan. Did you mean 'hardware.n_gpus'?"),
        ("n_gpus", 8, "no key 'n_gpus' in a plan. It is 'hardware.n_gpus'."),
        ("training.usd_per_gpu_hour", 8, "It is 'hardware.usd_per_gpu_hour'."),
    ],
)
def test_wrong_value_is_refused_with_the_way_out(key: str, value: object, sentence: str) -> None:
    """A wrong value or key gives one sentence: the key, what was given, what is allowed, the nearest right answer."""
    assert sentence in sentence_for("case-50k", {key: value})


def test_gpu_without_the_precision_is_refused() -> None:
    """A V100 has no BF16, and the sentence names the precisions that it has."""
    sentence = sentence_for("llama-2-7b", {"hardware.gpu": "V100-SXM2-32GB"})
    assert sentence == (
        "memory.precision is 'bf16-mixed', which V100-SXM2-32GB does not have: use one of 'fp32', 'fp16-mixed'"
    )


def test_size_must_fit_the_architecture() -> None:
    """A plan that gives both a size and an architecture of another size is refused."""
    both = {"model.architecture": "llama-2-7b", "model.n_params": 8e9}
    assert "has 6,738,415,616 parameters: leave one of the two out" in sentence_for("case-50k", both)


def test_price_with_a_source_is_believed(folder: Path) -> None:
    """A dear price passes where the plan says whose price it is."""
    text = MINIMAL.replace("usd_per_gpu_hour = 2.0", "usd_per_gpu_hour = 40.0")
    (folder / "mine.toml").write_text(f'{text}[sources]\n"hardware.usd_per_gpu_hour" = {{ source = "our invoice" }}\n')
    assert plan.read("mine.toml").hardware.usd_per_gpu_hour == 40


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"", "is empty"),
        (b"  \n\n", "is empty"),
        (b"\x00\x01\x02" * 99, "is a binary file"),
        ("[model]\nn = 1 # caf\xe9".encode("latin-1"), "is not UTF-8 text"),
        (b"[model\nn_params = 1", "is not valid TOML"),
        (b"[model]\nn_params = 1\n\n]", "line 4"),
        (b"x = " + b"[" * 100_000, "nested too deeply"),
        (b"x = " + b"9" * 5_000, "is not valid TOML"),
        (b"[model]\nn_params = 1e9", "section [data] is missing"),
        (b"model = 3", "model must be a section, [model], not 3"),
        (with_line("data", "unique_tokens = 1e400").encode(), "data.unique_tokens must be from 1,000 to 1e18 tokens"),
        (MINIMAL.replace("20e9", '"15e12"').encode(), "write 15e12 without quotes"),
        (MINIMAL.replace("n_gpus", "n_gpu").encode(), "2 problems"),
        (b'[sources]\n"hardware.n_gpu" = {}\n' + MINIMAL.encode(), "[sources] names 'hardware.n_gpu'"),
        (b'[sources]\n"hardware.n_gpus" = { basis = "sure" }\n' + MINIMAL.encode(), "must be measured, published or"),
        (b"surprise = 3\n" + MINIMAL.encode(), "no key 'surprise' in a plan."),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_broken_file_is_refused_and_left_alone(folder: Path, content: bytes, sentence: str) -> None:
    """A plan file that is no plan gives one sentence, and the file stays as it was."""
    path = folder / "broken.toml"
    path.write_bytes(content)
    if sentence == "2 problems":
        sentence = "(1 more to correct after this one.)"
    assert sentence in sentence_for(path)
    assert (path.read_bytes(), list(folder.iterdir())) == (content, [path])


def test_file_of_100_mb_is_not_read(folder: Path) -> None:
    """A huge file is refused by its size, before anything of it is read."""
    path = folder / "huge.toml"
    with path.open("wb") as file:
        file.truncate(100_000_000)
    assert "has 100.0 MB; a plan is a short text file of at most 1 MB" in sentence_for(path)


def test_folder_missing_file_and_pipe_are_refused(folder: Path) -> None:
    """A folder, a file that is not there, and a named pipe each get their sentence; the pipe is not waited for."""
    os.mkfifo(folder / "pipe.toml")
    assert "is a folder, not a plan file" in sentence_for(folder)
    assert "no such file or directory" in sentence_for("nowhere.toml")
    assert "is not a regular file" in sentence_for("pipe.toml")


@pytest.mark.parametrize("name", ["case-50", "", "x" * 10_000, "a\0b", "<script>alert(1)</script>"])
def test_unknown_name_is_a_lookup_error(folder: Path, name: str) -> None:
    """An unknown plan name raises UnknownName, whatever is in it."""
    assert "costkit plan list" in sentence_for(name) or "cannot read the plan" in sentence_for(name)
    assert list(folder.iterdir()) == []


def test_windows_text_reads(folder: Path) -> None:
    """A byte-order mark and carriage returns, as Windows editors write them, are no obstacle."""
    (folder / "mine.toml").write_bytes(b"\xef\xbb\xbf" + MINIMAL.replace("\n", "\r\n").encode())
    assert plan.read("mine.toml").model.n_params == 1e9


def test_override_of_the_size_drops_the_architecture() -> None:
    """Setting model.n_params alone means a size without a shape."""
    changed = plan.read("llama-2-7b", {"model.n_params": 13e9})
    assert (changed.model.architecture, changed.model.n_params) == ("", 13e9)


def test_override_of_the_architecture_drops_the_size() -> None:
    """Setting model.architecture alone takes that architecture's exact count."""
    changed = plan.read("case-50k", {"model.architecture": "llama-2-7b"})
    assert changed.model.n_params == 6_738_415_616


def test_overridden_value_loses_its_source() -> None:
    """The source of the old value is not quoted for the new one, and that of an equal value stays."""
    changed = plan.read("case-50k", {"hardware.n_gpus": 64, "hardware.usd_per_gpu_hour": 3.06})
    assert "hardware.n_gpus" not in changed.sources
    assert "hardware.usd_per_gpu_hour" in changed.sources


def test_override_leaves_the_plan_as_it_was() -> None:
    """Plans are values: changing one makes another."""
    case = plan.read("case-50k")
    plan.replace(case, {"hardware.n_gpus": 64})
    assert case.hardware.n_gpus == 32


def test_optional_value_can_be_unset() -> None:
    """None takes an optional value out of the plan."""
    set_once = plan.read("case-50k", {"training.target_loss": 2.5})
    assert plan.replace(set_once, {"training.target_loss": None}).training.target_loss is None


@pytest.mark.parametrize(
    ("text", "key", "value"),
    [
        ("hardware.n_gpus=64", "hardware.n_gpus", 64),
        ("data.n_tokens = 15e12", "data.n_tokens", 15e12),
        ("data.n_tokens=1_000_000", "data.n_tokens", 1e6),
        ("data.unique_tokens=inf", "data.unique_tokens", math.inf),
        ("case.tf32_enabled=true", "case.tf32_enabled", True),
        ("hardware.gpu=H100-SXM5-80GB", "hardware.gpu", "H100-SXM5-80GB"),
        ("title=a = b", "title", "a = b"),
        ("training.budget_usd=$250k", "training.budget_usd", 250e3),
        ("training.budget_usd=$1,500,000", "training.budget_usd", 1.5e6),
        ("training.mfu=45%", "training.mfu", 0.45),
        ("data.n_tokens=15T", "data.n_tokens", 15e12),
        ("data.n_tokens=1.4 trillion tokens", "data.n_tokens", 1.4e12),
        ("data.unique_tokens=unlimited", "data.unique_tokens", math.inf),
        ("data.inference_tokens=none", "data.inference_tokens", 0),
        ("training.target_loss=none", "training.target_loss", None),
        ("case.tf32_enabled=no", "case.tf32_enabled", False),
        ("training.target_loss=", "training.target_loss", None),
    ],
)
def test_override_text_is_typed_by_the_schema(text: str, key: str, value: object) -> None:
    """On the command line a value is text, and the schema says what it means."""
    assert plan.parse_overrides([text]) == {key: value}


@pytest.mark.parametrize(
    ("texts", "sentence"),
    [
        (["hardware.n_gpus"], "an override is written key=value"),
        (["=3"], "an override is written key=value"),
        (["hardware.n_gpu=64"], "Did you mean 'hardware.n_gpus'?"),
        (["hardware.n_gpus=64", "hardware.n_gpus=65"], "hardware.n_gpus is set twice"),
        (["data.n_tokens=45%"], "write the number without %"),
        (["data.n_tokens=$3"], "write 3, without the sign"),
        (["data.n_tokens=lots"], "data.n_tokens must be a number of tokens, not 'lots'"),
        (["case.tf32_enabled=perhaps"], "case.tf32_enabled must be true or false"),
        (["hardware.n_gpus="], "hardware.n_gpus must be a whole number of GPUs"),
    ],
)
def test_override_text_that_means_nothing_is_refused(texts: list[str], sentence: str) -> None:
    """A mistyped override gets one sentence with the way out."""
    with pytest.raises(plan.PlanError, match=r"^[^\n]+$") as caught:
        plan.parse_overrides(texts)
    assert sentence in str(caught.value)


@pytest.mark.parametrize("text", ["1e400", "-1e400", "9" * 400 + "T"])
def test_1e400_is_not_unlimited(text: str) -> None:
    """A number that overflows is refused even where inf is allowed."""
    overrides = plan.parse_overrides([f"data.unique_tokens={text}"])
    assert "the given number is too large" in sentence_for("case-50k", overrides)


def test_a_bare_percentage_on_the_command_line_is_asked_about() -> None:
    """--set training.mfu=45 has no label that says %, so it is refused with what it probably means."""
    overrides = plan.parse_overrides(["training.mfu=45"])
    assert "it looks like a percentage, write 0.45" in sentence_for("case-50k", overrides)


@pytest.mark.parametrize(
    ("value", "what"),
    [("5", "5"), ("0", "0"), ("true", "true"), ("[1]", "a list"), ("{a = 1}", "a section of its own")],
)
def test_an_architecture_is_text(folder: Path, value: str, what: str) -> None:
    """Anything else is refused as such, not looked up, and its size is not called missing."""
    (folder / "mine.toml").write_text(MINIMAL.replace("n_params = 1e9", f"architecture = {value}"))
    assert sentence_for("mine.toml") == f"mine.toml: model.architecture must be text in quotes, not {what}"


def test_a_typo_comes_before_what_it_makes_missing(folder: Path) -> None:
    """Of several errors the unknown key is told first: it is often why another one is missing."""
    (folder / "mine.toml").write_text(MINIMAL.replace("[model]", "[modell]"))
    assert sentence_for("mine.toml") == (
        "mine.toml: no key 'modell' in a plan. Did you mean the section [model]? (1 more to correct after this one.)"
    )


@pytest.mark.parametrize("law", ["besiroglu-2024", "own-runs"])
def test_runs_that_are_not_there_are_refused_under_any_law(folder: Path, law: str) -> None:
    """A plan that names a missing CSV is refused when it is read, not in the chapter that would use it."""
    (folder / "mine.toml").write_text(with_line("data", 'runs = "runs.csv"'))
    sentence = sentence_for("mine.toml", None if law == "besiroglu-2024" else {"training.law": law})
    assert "data.runs: no file 'runs.csv' (a path is relative to the plan file)" in sentence


values = st.fixed_dictionaries(
    {},
    optional={
        "title": st.text(st.characters(codec="utf-8", min_codepoint=32), max_size=200),
        "model.n_params": st.floats(1e3, 1e15),
        "data.n_tokens": st.floats(1e3, 1e18),
        "data.unique_tokens": st.floats(1e3, 1e18) | st.just(math.inf),
        "hardware.n_gpus": st.integers(1, 10_000_000),
        "training.mfu": st.floats(0.001, 1),
        "training.target_loss": st.none() | st.floats(0.01, 20),
        "memory.optimizer": st.sampled_from(["adamw", "lion"]),
        "case.tf32_enabled": st.none() | st.booleans(),
    },
)


@given(values)
def test_token_round_trip(overrides: dict[str, Any]) -> None:
    """A plan's token reads back as the same plan, bit for bit, in one line."""
    changed = plan.read("case-50k", overrides)
    assert plan.read(changed.token()) == changed
    assert "\n" not in changed.token()


def test_token_survives_being_wrapped() -> None:
    """A mail program that breaks the line does no harm."""
    token = plan.read("llama-2-7b").token()
    assert plan.read(f"  {token[:40]}\n {token[40:90]}\r\n{token[90:]} ") == plan.read("llama-2-7b")


def token_of(content: bytes) -> str:
    """A well-formed token with any content."""
    return "costkit:v1:" + urlsafe_b64encode(zlib.compress(content)).decode()


@pytest.mark.parametrize(
    ("token", "sentence"),
    [
        ("costkit:v2:eNqrVg", "reads tokens that start with costkit:v1:"),
        ("costkit:v1:", "damaged or cut short"),
        ("costkit:v1:????", "damaged or cut short"),
        ("costkit:v1:eNqrVg", "damaged or cut short"),
        ("costkit:v1:\u00e9", "damaged or cut short"),
        (plan.read("case-50k").token()[:-9], "damaged or cut short"),
        (token_of(b"[1, 2]"), "does not hold a plan"),
        (token_of(b"[" * 100_000), "damaged or cut short"),
        (token_of(b" " * 50_000_000), "damaged or cut short"),
        (token_of(b'{"model": {"n_params": NaN}}'), "section [data] is missing"),
        (token_of(b'{"modell": {}}'), "section [model] is missing"),
    ],
    ids=range(11),
)
def test_damaged_token_is_refused(token: str, sentence: str) -> None:
    """A token that is cut short, altered, of another version, or a bomb gives one sentence."""
    assert sentence in sentence_for(token) or "more to correct" in sentence_for(token)


def test_save_of_an_unchanged_plan_is_the_same_file(folder: Path) -> None:
    """Reading and saving changes no byte: comments, order and spelling of numbers stay."""
    for name in plan.names():
        copy = plan.read(name).save(folder / f"{name}.toml")
        assert copy.read_bytes() == tables.path(f"plans/{name}.toml").read_bytes()


def test_save_changes_only_what_differs(mine: Path) -> None:
    """One changed value is one changed line, and its comment stays."""
    plan.read(mine, {"training.budget_usd": 2_000}).save(mine)
    old = MINIMAL.splitlines()
    differing = [(was, now) for was, now in zip(old, mine.read_text().splitlines(), strict=True) if was != now]
    assert differing == [("budget_usd = 1_000  # all there is", "budget_usd = 2000  # all there is")]


def test_save_adds_what_is_new_and_removes_what_is_gone(mine: Path) -> None:
    """A new section and key appear with their unit as a comment; a value that was unset disappears."""
    changed = plan.read(mine, {"memory.precision": "fp32", "training.target_loss": 2.5, "title": "mine"})
    changed.save(mine)
    assert "target_loss = 2.5 # nats per token" in mine.read_text()
    assert plan.read(mine) == changed
    plan.replace(changed, {"training.target_loss": None}).save(mine)
    assert "target_loss" not in mine.read_text()


def test_save_keeps_a_default_that_the_file_states(folder: Path) -> None:
    """A value that is set back to the default is written, not dropped, where the file had it."""
    (folder / "a.toml").write_text(with_line("training", "goodput_fraction = 0.9  # last month"))
    plan.read("a.toml", {"training.goodput_fraction": 1.0}).save("a.toml")
    assert "goodput_fraction = 1  # last month" in (folder / "a.toml").read_text()


@given(values)
def test_saved_plan_reads_back(overrides: dict[str, Any]) -> None:
    """Any valid plan survives being written and read, with its origin's comments or without."""
    import tempfile

    with tempfile.TemporaryDirectory() as name:
        for changed in (plan.read("case-50k", overrides), plan.read(plan.read("torchtitan-8b", overrides).token())):
            path = changed.save(Path(name) / "saved.toml")
            assert plan.read(path) == changed


def test_save_writes_numbers_as_people_do(folder: Path) -> None:
    """A large number is written 7.2e10, not 72000000000.0."""
    plan.read(plan.read("case-50k", {"model.n_params": 72e9}).token()).save("a.toml")
    assert "n_params = 7.2e10" in (folder / "a.toml").read_text()


def test_save_elsewhere_keeps_pointing_at_the_runs(folder: Path) -> None:
    """A relative data.runs is rewritten for the folder that the plan is saved in."""
    (folder / "runs.csv").write_text("params,tokens,loss\n")
    (folder / "a.toml").write_text(with_line("data", 'runs = "runs.csv"'))
    (folder / "sub").mkdir()
    saved = plan.read("a.toml").save(folder / "sub" / "b.toml")
    assert plan.read(saved).data.runs == "../runs.csv"


def test_failed_save_leaves_the_old_file(mine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """When the disk fails while renaming, the old file stands and no temporary one is left."""

    def fail(*_: Path) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", fail)
    with pytest.raises(plan.PlanError, match=r"cannot save the plan as .*: no space left on device"):
        plan.read(mine, {"hardware.n_gpus": 64}).save(mine)
    assert (mine.read_text(), list(mine.parent.iterdir())) == (MINIMAL, [mine])


def test_save_refuses_folders_and_devices(folder: Path) -> None:
    """Nothing but a regular file is ever replaced."""
    case = plan.read("case-50k")
    for target, why in (
        (folder, "it is a folder"),
        (Path("/dev/null"), "not a regular file"),
        ("no/a.toml", "no folder"),
    ):
        with pytest.raises(plan.PlanError, match=why):
            case.save(target)
    assert list(folder.iterdir()) == []


def test_html_in_a_title_is_text(tmp_path: Path) -> None:
    """Markup in a plan's texts is kept as text in the file."""
    changed = plan.read("case-50k", {"title": "<b>&", "name": "<script>"})
    assert plan.read(changed.save(tmp_path / "a.toml")).title == "<b>&"


@pytest.mark.parametrize("key", plan.fields())
def test_field_is_documented(key: str) -> None:
    """Every key has a label and a meaning, numbers have a unit and a usual range, choices have choices."""
    field = plan.fields()[key]
    assert field.label
    assert field.help.endswith(".")
    if field.kind in ("int", "float"):
        assert field.unit
        assert field.low is not None
        assert field.high is not None
        assert field.least is not None
        assert field.most is not None
        assert field.least <= field.low < field.high <= field.most
    if field.kind == "choice":
        assert len(field.choices) > 1


@pytest.mark.parametrize("key", [key for key, field in plan.fields().items() if field.default not in (None, "")])
def test_default_is_allowed(key: str) -> None:
    """A default passes the check of its own field."""
    default = plan.fields()[key].default
    assert plan.read("llama-2-7b", {key: default}).value(key) == default


def test_inputs_say_where_each_value_comes_from() -> None:
    """A stated source, an assumption of the plan and a default are told apart."""
    rows = {row.key: row for row in plan.inputs(plan.read("llama-2-7b", {"hardware.n_gpus": 512}))}
    assert rows["data.n_tokens"].basis == "published"
    assert rows["data.n_tokens"].source.startswith("Touvron et al.")
    assert (rows["hardware.n_gpus"].basis, rows["hardware.n_gpus"].source) == ("assumed", "this plan")
    assert rows["data.unique_tokens"].source == "costkit's default"


def test_equal_plans_are_equal_and_hash_alike(mine: Path) -> None:
    """Where a plan was read from makes no difference to what it is."""
    read = plan.read(mine)
    assert hash(read) == hash(plan.read(read.token()))
    assert read != plan.read(mine, {"hardware.n_gpus": 9})


def test_plans_of_different_runs_are_different(folder: Path) -> None:
    """The same text in two folders names two files of runs, whose laws differ: the plans are not equal."""
    plans = []
    for name in ("one", "other"):
        (folder / name).mkdir()
        (folder / name / "runs.csv").write_text("params,tokens,loss\n1e9,2e10,2.5\n")
        text = tables.path("plans/case-50k.toml").read_text(encoding="utf-8")
        (folder / name / "mine.toml").write_text(text.replace("[data]", '[data]\nruns = "runs.csv"'))
        plans.append(plan.read(folder / name / "mine.toml"))
    assert (plans[0] == plans[1], plans[0] == plan.read(folder / "one" / "mine.toml")) == (False, True)


def test_toml_of_packaged_plans_states_units_only_in_keys() -> None:
    """Values are plain numbers: no packaged plan has a number as text."""
    for name in plan.names():
        data = tomllib.loads(tables.path(f"plans/{name}.toml").read_text(encoding="utf-8"))
        assert not any(isinstance(value, str) and value[:1].isdigit() for value in data["training"].values())


def test_an_override_names_files_of_the_current_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A relative path in an override is of the folder it was typed in, not of the packaged plan's."""
    (tmp_path / "runs.csv").write_bytes(tables.path("example_runs.csv").read_bytes())
    monkeypatch.chdir(tmp_path)
    assert plan.read("case-50k", {"data.runs": "runs.csv"}).runs_path == tmp_path / "runs.csv"


@pytest.mark.parametrize(
    ("text", "usd_per_gpu_hour"),
    [("24 per 8-GPU node", 3.0), ("$2.49/gpu", 2.49), ("24 an instance of 8", 3.0), ("2.49", 2.49)],
)
def test_a_price_says_what_it_is_for(text: str, usd_per_gpu_hour: float) -> None:
    """A node's or an instance's price is divided among its GPUs."""
    overrides = plan.parse_overrides([f"hardware.usd_per_gpu_hour={text}"])
    assert plan.read("case-50k", overrides).hardware.usd_per_gpu_hour == usd_per_gpu_hour


def test_a_node_s_price_without_its_gpus_is_asked_about() -> None:
    """How many GPUs a node has is never guessed."""
    with pytest.raises(
        ValueError, match=r"hardware\.usd_per_gpu_hour '24 per node' does not say how many GPUs a node has: write"
    ):
        plan.parse_overrides(["hardware.usd_per_gpu_hour=24 per node"])


def test_two_rates_in_a_file_are_refused(folder: Path) -> None:
    """A plan file that gives an MFU and a measured rate is asked which one counts."""
    (folder / "mine.toml").write_text(with_line("training", "tokens_per_s_per_gpu = 900"))
    with pytest.raises(plan.PlanError, match=r"training\.mfu and training\.tokens_per_s_per_gpu are both set"):
        plan.read("mine.toml")


def test_a_measured_rate_takes_the_mfu_s_place() -> None:
    """An override that measures replaces what the plan assumed."""
    changed = plan.read("case-50k", {"training.tokens_per_s_per_gpu": 900.0})
    assert (changed.training.mfu, changed.training.tokens_per_s_per_gpu) == (None, 900.0)


def test_an_mfu_that_is_left_out_is_listed_as_that_of_others() -> None:
    """The inputs name what published runs fill in, and how far they differ."""
    rows = {row.key: row for row in plan.inputs(plan.read("llama-3-8b"))}
    mfu, goodput = rows["training.mfu"], rows["training.goodput_fraction"]
    assert (mfu.basis, goodput.basis) == ("published", "published")
    assert "published runs" in mfu.source
    assert " to " in mfu.note
