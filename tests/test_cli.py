import csv
import io
import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from costkit import plan, report, scaling, tables
from costkit.cli import main
from tests.commands import told

COMMANDS = (
    *("report", "plan", "page", "frontier", "memory", "spot", "audit", "stall", "scores", "fit"),
    *("gpus", "laws", "quotes", "sources", "notebooks"),
)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty current folder, so that no test writes anywhere else."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("argv", [[], ["--help"], *([command, "--help"] for command in COMMANDS)])
def test_help_is_given(capsys: pytest.CaptureFixture[str], argv: list[str]) -> None:
    """The command alone and every --help print how it is used, and succeed."""
    assert main(argv) == 0
    assert "usage: costkit" in capsys.readouterr().out


def test_help_names_every_command(capsys: pytest.CaptureFixture[str]) -> None:
    """The overview lists all commands and gives examples."""
    text = told(capsys, "--help")
    assert [command for command in COMMANDS if f"\n    {command}" not in text] == []
    assert "examples:" in text


def test_version_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    """--version says the name and a number."""
    assert told(capsys, "--version").startswith("costkit ")


def test_help_loads_nothing_heavy() -> None:
    """`costkit --help` does not wait for numpy, pydantic or anything behind them."""
    code = (
        "import sys; from costkit.cli import main; main(['--help']);"
        "print(*{'numpy', 'pydantic', 'scipy', 'matplotlib', 'pandas'} & set(sys.modules), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stderr.strip() == ""


@pytest.mark.parametrize(
    ("argv", "sentence"),
    [
        (["reprot"], "no command 'reprot'. Did you mean 'report'?"),
        (["plan", "shwo"], "no command 'shwo'. Did you mean 'show'?"),
        (["plan", "zzz"], "Known: list, keys, show, token, save."),
        (["plan"], "the following arguments are required: COMMAND"),
        (["frontier", "--plna", "case-50k"], "'--plna' is not understood here. Did you mean '--plan'?"),
        (["gpus", "--jsn"], "'--jsn' is not understood here. Did you mean '--json'?"),
        (["gpus", "--json", "--csv"], "not allowed with argument"),
        (["fit"], "the following arguments are required: RUNS.csv"),
        (["fit", "runs.csv", "--bootstrap", "many"], "invalid int value: 'many'"),
        (["plan", "save", "case-50k"], "the following arguments are required: -o/--out"),
        (["frontier", "case-50k"], "'case-50k' is not understood here."),
    ],
)
def test_usage_error_is_one_sentence(capsys: pytest.CaptureFixture[str], argv: list[str], sentence: str) -> None:
    """A mistyped command or option exits with 2, and the sentence names the nearest right one."""
    assert sentence in told(capsys, *argv, status=2)


def test_plan_list_names_them_all(capsys: pytest.CaptureFixture[str]) -> None:
    """Every packaged plan is a line with its title."""
    lines = told(capsys, "plan", "list").splitlines()[1:]
    assert [line.split()[0] for line in lines] == list(plan.names())


@pytest.mark.parametrize("text", ["refit-240", '"refit-240"', "'refit-240'"])
def test_a_text_may_keep_the_quotes_of_a_plan_file(text: str, capsys: pytest.CaptureFixture[str]) -> None:
    """A value copied with its quotes means the same."""
    token = told(capsys, "plan", "token", "case-50k", "--set", f"training.law={text}").strip()
    assert plan.read(token).training.law == "refit-240"


def test_plan_show_prints_values_units_and_sources(capsys: pytest.CaptureFixture[str]) -> None:
    """A plan is shown with the overridden value in force."""
    text = told(capsys, "plan", "show", "case-50k", "--set", "hardware.n_gpus=64")
    assert "hardware.n_gpus" in text
    assert " 64 " in text


def test_plan_show_json_has_full_values(capsys: pytest.CaptureFixture[str]) -> None:
    """JSON carries the numbers themselves, and null for unlimited."""
    rows = {row["key"]: row["value"] for row in json.loads(told(capsys, "plan", "show", "llama-2-7b", "--json"))}
    assert (rows["model.n_params"], rows["data.unique_tokens"]) == (6_738_415_616, None)


def test_plan_token_reads_back(capsys: pytest.CaptureFixture[str]) -> None:
    """The printed token is the plan."""
    token = told(capsys, "plan", "token", "llama-2-7b", "--set", "hardware.n_gpus=64").strip()
    assert plan.read(token) == plan.read("llama-2-7b", {"hardware.n_gpus": 64})


def test_plan_save_writes_the_file(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The saved file has the override and the original's comments."""
    assert told(capsys, "plan", "save", "case-50k", "--set", "training.budget_usd=9e4", "-o", "a.toml") == "a.toml\n"
    assert plan.read("a.toml").training.budget_usd == 90_000
    assert "# The default plan of every notebook" in (folder / "a.toml").read_text()


@pytest.mark.parametrize(
    ("argv", "sentence"),
    [
        (["plan", "show", "case-50"], "Did you mean 'case-50k'?"),
        (["plan", "show", "."], "is a folder"),
        (["plan", "show", "--set", "hardware.n_gpu=64"], "Did you mean 'hardware.n_gpus'?"),
        (["plan", "show", "--set", "hardware.n_gpus=0"], "must be from 1 to 1e7 GPUs, not 0"),
        (["plan", "show", "--set", "training.mfu=nan"], "not nan"),
        (["plan", "show", "--set", "data.n_tokens=1e400"], "the given number is too large"),
        (["plan", "show", "--set", "training.law=chinchila"], "training.law names no law 'chinchila'."),
        (["frontier", "--plan", "costkit:v1:abc"], "damaged or cut short"),
        (["frontier", "--set", "training.budget_usd=0.001"], "must be from 0.01 to 1e12 USD, not 0.001"),
        (["plan", "save", "case-50k", "-o", "."], "it is a folder"),
        (["plan", "save", "case-50k", "-o", "no/a.toml"], "there is no folder 'no'"),
        (["frontier", "-o", "."], "it is a folder"),
        (["quotes", "--gpu", "A100"], "no GPU 'A100'."),
        (["quotes", "--purchase", "rent"], "no purchase 'rent'."),
        (["fit", "none.csv"], "none.csv"),
        (["report", "--plan", "case-50"], "Did you mean 'case-50k'?"),
        (["report", "99_nothing", "-o", "out"], "no notebook '99_nothing'."),
        (["plan", "show", "~no-such-user/a.toml"], "there is no home folder for '~no-such-user/a.toml'"),
        (["plan", "save", "-o", "~no-such-user/a.toml"], "there is no home folder for '~no-such-user/a.toml'"),
        (["frontier", "-o", "~no-such-user/a.txt"], "there is no home folder for '~no-such-user/a.txt'"),
        (["report", "01", "-o", "~no-such-user/out"], "there is no home folder for '~no-such-user/out'"),
        (["fit", "~no-such-user/runs.csv"], "there is no home folder for '~no-such-user/runs.csv'"),
        (["plan", "show", "--set", "data.runs=~no-such-user/a"], "data.runs: there is no home folder for"),
        (["plan", "save", "-o", ""], "give the name of a file to write, not an empty one"),
        (["gpus", "-o", ""], "give the name of a file to write, not an empty one"),
        (["gpus", "-o", "no/"], "it is a folder"),
        (["gpus", "-o", "/dev/null"], "it is not a regular file"),
        (["report", "-o", ""], "--out needs the name of a folder, not an empty one"),
        (["gpus", "--replace"], "--replace is about a file: give its name with -o"),
        (["fit", "/dev/zero"], "'/dev/zero' is not a regular file"),
        (["page", "--plan", "case-50"], "Did you mean 'case-50k'?"),
        (["audit", "--plan", "case-50"], "Did you mean 'case-50k'?"),
        (["stall", "--step", "2", "--wait", "1", "--plan", "case-50"], "Did you mean 'case-50k'?"),
        (["stall", "/dev/zero"], "'/dev/zero' is not a regular file"),
        (["stall", "~no-such-user/log.csv"], "there is no home folder for '~no-such-user/log.csv'"),
    ],
)
def test_bad_input_is_one_sentence_and_leaves_no_file(
    folder: Path, capsys: pytest.CaptureFixture[str], argv: list[str], sentence: str
) -> None:
    """Wrong input exits with 2 and one sentence, and nothing is written."""
    assert sentence in told(capsys, *argv, status=2)
    assert list(folder.iterdir()) == []


def test_frontier_prints_the_answer_first(capsys: pytest.CaptureFixture[str]) -> None:
    """The first line is the sentence of the panel."""
    answer = plan.frontier(plan.read("case-50k"))
    assert told(capsys, "frontier").splitlines()[0] == answer.headline


def test_frontier_json_and_csv_carry_the_rows(capsys: pytest.CaptureFixture[str]) -> None:
    """Both hold every quantity at full precision."""
    rows = plan.frontier(plan.read("llama-2-7b")).rows()
    found = json.loads(told(capsys, "frontier", "--plan", "llama-2-7b", "--json"))
    assert [row["quantity"] for row in found["rows"]] == [row["quantity"] for row in rows]
    table = list(csv.DictReader(io.StringIO(told(capsys, "frontier", "--plan", "llama-2-7b", "--csv"))))
    assert [float(row["value"]) for row in table if row["value"]] == [
        row["value"] for row in rows if row["value"] != ""
    ]


def test_memory_prints_the_answer_first(capsys: pytest.CaptureFixture[str]) -> None:
    """The sentence of the panel, then every key number, then every warning."""
    answer = plan.footprint(plan.read("case-50k"))
    text = told(capsys, "memory")
    assert text.splitlines()[0] == answer.headline
    places = [text.find(part) for part in (*(label for label, _ in answer.facts), *answer.warnings)]
    assert (-1 in places, places) == (False, sorted(places))


def test_memory_json_carries_the_whole_answer(capsys: pytest.CaptureFixture[str]) -> None:
    """Headline, key numbers, warnings and each part of each phase at full precision."""
    answer = plan.footprint(plan.read("qlora-7b-t4"))
    found = json.loads(told(capsys, "memory", "--plan", "qlora-7b-t4", "--json"))
    assert (found["headline"], found["facts"]) == (answer.headline, dict(answer.facts))
    assert (found["warnings"], found["rows"]) == (list(answer.warnings), answer.rows())


def test_memory_csv_carries_the_rows(capsys: pytest.CaptureFixture[str]) -> None:
    """One line for each part of each phase, with its bytes as they are."""
    table = list(csv.DictReader(io.StringIO(told(capsys, "memory", "--plan", "torchtitan-8b", "--csv"))))
    rows = plan.footprint(plan.read("torchtitan-8b")).rows()
    assert [(row["phase"], row["part"], float(row["bytes"])) for row in table] == [
        (row["phase"], row["part"], row["bytes"]) for row in rows
    ]


def test_memory_takes_overrides(capsys: pytest.CaptureFixture[str]) -> None:
    """--set may be given again, and all of them count."""
    options = ("--plan", "finetune-7b", "--set", "memory.micro_batch=4", "--set", "memory.precision=bf16")
    expected = plan.footprint(plan.read("finetune-7b", {"memory.micro_batch": 4, "memory.precision": "bf16"}))
    assert told(capsys, "memory", *options).splitlines()[0] == expected.headline


def test_memory_reads_a_token(capsys: pytest.CaptureFixture[str]) -> None:
    """A plan that came in a message is as good as a name."""
    token = plan.read("finetune-7b", {"memory.micro_batch": 4}).token()
    assert "with 4 sequences of" in told(capsys, "memory", "--plan", token)


@pytest.mark.parametrize("name", plan.names())
def test_memory_answers_every_plan(capsys: pytest.CaptureFixture[str], name: str) -> None:
    """Each plan that ships has an answer that ends with its sentence's full stop."""
    assert told(capsys, "memory", "--plan", name).splitlines()[0].endswith(".")


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        (["memory.micro_batch=0"], "memory.micro_batch must be from 1 to 1e6 sequences, not 0"),
        (["memory.microbatch=2"], "Did you mean 'memory.micro_batch'?"),
        (["memory.precision=fp4"], "memory.precision must be fp32, tf32, "),
        (["hardware.gpu=V100-SXM2-16GB", "memory.precision=bf16-mixed"], "V100-SXM2-16GB does not have"),
        (["memory.tensor_parallel=3"], "use a multiple of 3"),
        (["memory.effective_batch=33"], "use 32 or 64"),
        (["model.architecture=gpt2", "training.seq_len=4096"], "use at most 1,024 tokens"),
        (["memory.allocated_ratio=9"], "allocated_ratio"),
        (["memory.compiled=perhaps"], "memory.compiled"),
    ],
)
def test_memory_refuses_in_one_sentence(
    folder: Path, capsys: pytest.CaptureFixture[str], settings: list[str], sentence: str
) -> None:
    """What no plan may say, and what can't be together, exits with 2, and no file is written."""
    options = [part for setting in settings for part in ("--set", setting)]
    assert sentence in told(capsys, "memory", *options, "-o", "a.txt", status=2)
    assert list(folder.iterdir()) == []


def test_memory_takes_the_peak_of_a_run(capsys: pytest.CaptureFixture[str]) -> None:
    """The answer is that of the plan with the ratios, and a peak that can't be is one sentence."""
    said = json.loads(told(capsys, "memory", "--plan", "finetune-7b", "--measured-reserved", "18.5", "--json"))
    mine = plan.fitting.measured(plan.read("finetune-7b"), reserved_gib=18.5)
    assert said["device_bytes"]["mid"] == pytest.approx(plan.footprint(mine).budget.device_bytes.mid)
    refused = told(capsys, "memory", "--plan", "finetune-7b", "--measured-reserved", "185", status=2)
    assert "185, more than the 79.1 GiB that A100-SXM4-80GB offers" in refused


def test_memory_tells_parts_and_ways(capsys: pytest.CaptureFixture[str]) -> None:
    """As text: bytes by part and phase, when the peak is, and what would make it fit."""
    text = told(capsys, "memory", "--plan", "finetune-7b", "--set", "memory.micro_batch=64")
    parts = ("optimizer state", "recompute", "The peak is at the loss", "The cheapest way to fit among those listed")
    assert [part for part in parts if part not in text] == []


def test_memory_output_file_is_whole(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """-o writes the same text to a file and leaves nothing beside it."""
    text = told(capsys, "memory", "--csv")
    assert told(capsys, "memory", "--csv", "-o", "a.csv") == ""
    assert ((folder / "a.csv").read_text(), list(folder.iterdir())) == (text, [folder / "a.csv"])


def test_spot_prints_the_answer_first(capsys: pytest.CaptureFixture[str]) -> None:
    """The sentence of the panel, every key number, where the money goes, then every warning."""
    answer = plan.savings(plan.read("case-50k"))
    text = told(capsys, "spot")
    assert text.splitlines()[0] == answer.headline
    parts = (*(label for label, _ in answer.facts), "useful work", answer.how_often_to_save, answer.where_it_pays)
    places = [text.find(part) for part in (*parts, *answer.warnings)]
    assert (-1 in places, places) == (False, sorted(places))


def test_spot_json_carries_the_whole_answer(capsys: pytest.CaptureFixture[str]) -> None:
    """Headline, key numbers, warnings, the numbers behind them and the percentiles at full precision."""
    answer = plan.savings(plan.read("finetune-7b"))
    found = json.loads(told(capsys, "spot", "--plan", "finetune-7b", "--json"))
    assert (found["headline"], found["facts"]) == (answer.headline, dict(answer.facts))
    assert (found["warnings"], found["rows"]) == (list(answer.warnings), answer.rows())
    assert {name: found[name] for name in answer.numbers()} == answer.numbers()


def test_spot_json_of_a_run_that_never_ends_is_json(capsys: pytest.CaptureFixture[str]) -> None:
    """What is infinite is null, which every program reads."""
    text = told(capsys, "spot", "--set", "training.checkpoint_every_min=inf", "--json")
    found = json.loads(text, parse_constant=lambda name: pytest.fail(f"{name} is no JSON"))
    assert found["spot_usd"] == {"p5": None, "mean": None, "p95": None}
    assert (found["wall_s"]["p50"], found["saving_fraction"]["mean"], found["losing_fraction"]) == (None, None, 1.0)


def test_spot_csv_carries_the_rows(capsys: pytest.CaptureFixture[str]) -> None:
    """One line a percentile, with its dollars and seconds as they are."""
    table = list(csv.DictReader(io.StringIO(told(capsys, "spot", "--csv"))))
    rows = plan.savings(plan.read("case-50k")).rows()
    assert [{key: float(value) for key, value in row.items()} for row in table] == rows


def test_spot_takes_overrides_and_tokens(capsys: pytest.CaptureFixture[str]) -> None:
    """--set may be given again, all of them count, and a token is as good as a name."""
    options = ("--set", "market.node_life_h=12", "--set", "market.deadline_days=25")
    changed = plan.read("case-50k", {"market.node_life_h": 12, "market.deadline_days": 25})
    headline = plan.savings(changed).headline
    assert told(capsys, "spot", *options).splitlines()[0] == headline
    assert told(capsys, "spot", "--plan", changed.token()).splitlines()[0] == headline


@pytest.mark.parametrize("name", plan.names())
def test_spot_answers_every_plan(capsys: pytest.CaptureFixture[str], name: str) -> None:
    """Each plan that ships has an answer that ends with its sentence's full stop."""
    assert told(capsys, "spot", "--plan", name).splitlines()[0].endswith(".")


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        (["market.spot_discount_fraction=60"], "it looks like a percentage, write 0.6"),
        (["market.spot_discount_fraction=1.0"], "market.spot_discount_fraction must be from -1 to 0.999"),
        (["market.node_life_h=0"], "market.node_life_h must be from 0.001 to 1e6 hours, not 0"),
        (["market.node_lfe_h=6"], "Did you mean 'market.node_life_h'?"),
        (["market.burst_nodes=5"], "market.burst_nodes is 5, but 32 GPUs with 8 to a node take 4: write 4 or less"),
        (
            ["market.elastic=true", "market.keeps_survivors=true"],
            "market.elastic and market.keeps_survivors are both set",
        ),
        (["market.trace=none.csv"], "market.trace: no file 'none.csv'"),
        (["market.price_history=none.csv"], "market.price_history: no file 'none.csv'"),
        (
            ["market.failures_per_gpu_day=10"],
            "on demand too the run would practically never finish: hardware fails every",
        ),
        (["training.checkpoint_every_min=0"], "training.checkpoint_every_min must be from 0.01"),
        (["training.checkpoint_every_min=often"], "training.checkpoint_every_min must be a number of minutes"),
    ],
)
def test_spot_refuses_in_one_sentence(
    folder: Path, capsys: pytest.CaptureFixture[str], settings: list[str], sentence: str
) -> None:
    """What no plan may say, and what can't be together, exits with 2, and no file is written."""
    options = [part for setting in settings for part in ("--set", setting)]
    assert sentence in told(capsys, "spot", *options, "-o", "a.txt", status=2)
    assert list(folder.iterdir()) == []


def test_spot_reads_a_trace_of_the_current_folder(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The path of a record is that of the folder in which the command is given."""
    rows = "".join(f"{3600 * hour},{4 if hour % 7 else 0}\n" for hour in range(200))
    (folder / "mine.csv").write_text("time_s,available\n" + rows)
    assert "Lives and waits are those of mine, on average 6.00 hours" in told(
        capsys, "spot", "--set", "market.trace=mine.csv"
    )


def test_frontier_output_file_is_whole(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """-o writes the same text to a file and leaves nothing beside it."""
    text = told(capsys, "frontier", "--csv")
    assert told(capsys, "frontier", "--csv", "-o", "a.csv") == ""
    assert ((folder / "a.csv").read_text(), list(folder.iterdir())) == (text, [folder / "a.csv"])


def test_failed_write_keeps_the_old_file(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A disk that fails while writing costs neither the old file nor a stray one, and exits with 1."""
    (folder / "a.csv").write_text("old")

    def fail(*_: Path) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", fail)
    assert told(capsys, "frontier", "-o", "a.csv", "--replace", status=1) == "a.csv: no space left on device"
    assert ((folder / "a.csv").read_text(), list(folder.iterdir())) == ("old", [folder / "a.csv"])


@pytest.mark.parametrize(
    "argv",
    [
        ["frontier"],
        ["frontier", "--plan", "a.toml"],
        ["memory"],
        ["plan", "show"],
        ["plan", "list"],
        ["plan", "save"],
        ["page", "--csv"],
        ["audit", "--plan", "case-50k"],
        ["stall", "--step", "2", "--wait", "1"],
        ["scores", "--csv"],
        ["gpus"],
        ["laws", "--csv"],
        ["quotes", "--json"],
        ["sources"],
        ["fit", str(tables.path("example_runs.csv"))],
    ],
)
def test_no_file_is_written_over_unless_asked(
    folder: Path, capsys: pytest.CaptureFixture[str], argv: list[str]
) -> None:
    """Every -o refuses a file that exists, the plan itself among them, and writes over it with --replace."""
    old = plan.read("case-50k").save(folder / "a.toml").read_text()
    sentence = told(capsys, *argv, "-o", "a.toml", status=2)
    assert sentence == "'a.toml' exists already: give --replace to write over it, or choose another name"
    assert (folder / "a.toml").read_text() == old
    told(capsys, *argv, "-o", "a.toml", "--replace")
    assert (argv == ["plan", "save"]) == ((folder / "a.toml").read_text() == old)
    assert list(folder.iterdir()) == [folder / "a.toml"]


def test_an_existing_file_is_refused_before_the_work(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody waits for a fit whose answer cannot be written."""
    (folder / "a.txt").touch()
    monkeypatch.delattr(plan.sizing, "read_runs")
    assert "exists already" in told(capsys, "fit", "runs.csv", "-o", "a.txt", status=2)


@pytest.mark.parametrize("argv", [["gpus", "-o", "loop"], ["plan", "save", "-o", "loop"], ["gpus", "-o", "loop/a.txt"]])
def test_links_in_a_circle_are_no_place_to_write(
    folder: Path, capsys: pytest.CaptureFixture[str], argv: list[str]
) -> None:
    """A link that leads back to itself is one sentence, and stays."""
    (folder / "loop").symlink_to("loop")
    assert "is a link that leads back to itself" in told(capsys, *argv, status=2)
    assert [path.name for path in folder.iterdir()] == ["loop"]


def test_a_link_is_followed(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A link to a file stays a link, and the file behind it is written."""
    (folder / "link").symlink_to("behind.txt")
    told(capsys, "gpus", "-o", "link")
    assert (folder / "link").is_symlink()
    assert (folder / "behind.txt").read_text() == told(capsys, "gpus")


def test_fit_finds_the_law_behind_the_example(capsys: pytest.CaptureFixture[str]) -> None:
    """The example runs come from the default law with noise, and the fit finds its exponents within their range."""
    path = str(tables.path("example_runs.csv"))
    found = json.loads(told(capsys, "fit", path, "--bootstrap", "50", "--hold-out", "0.2", "--json"))
    assert found["low_80"]["alpha"] < 0.3478 < found["high_80"]["alpha"]
    assert (found["n_runs"], found["n_bootstrap"], found["hold_out"]["n_held_out"]) == (48, 50, 10)


def test_fit_prints_coefficients_and_hold_out(capsys: pytest.CaptureFixture[str]) -> None:
    """The text names the form, the coefficients, what was left out, and how well the largest runs are predicted."""
    path = str(tables.path("example_runs.csv"))
    text = told(capsys, "fit", path, "--drop-highest", "5", "--hold-out", "0.2")
    assert "43 runs" in text
    assert "5 of the highest loss left out" in text
    assert "Held out: the 9 runs of most compute" in text


def test_fit_ends_with_what_it_is_for(capsys: pytest.CaptureFixture[str]) -> None:
    """The last line is one sentence: exponent with error, tokens per parameter with the band of refits, hold-out."""
    path = str(tables.path("example_runs.csv"))
    options = ("--drop-highest", "1", "--bootstrap", "20", "--hold-out", "0.2")
    last = told(capsys, "fit", path, *options).splitlines()[-1]
    assert re.fullmatch(
        r"The best size grows as compute to the power 0\.5\d+ ± 0\.0\d+; at 1\.00e21 FLOP, the most of these runs, it "
        r"takes 21\.7 tokens per parameter \(middle 80% of refits: \S+ to \S+\), and the held-out runs were off by "
        r"0\.535%\.",
        last,
    )
    facts = json.loads(told(capsys, "fit", path, *options, "--json"))
    assert facts["tokens_per_param_low_80"] < facts["tokens_per_param"] < facts["tokens_per_param_high_80"]
    assert "refits" not in told(capsys, "fit", path).splitlines()[-1]


def test_fit_counts_the_runs_before_the_time(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A hold-out that leaves too few runs is refused before anything is fitted, with how many it takes."""
    monkeypatch.delattr(scaling, "fit")
    options = ("--drop-highest", "39", "--bootstrap", "100000", "--hold-out", "0.2")
    sentence = told(capsys, "fit", str(tables.path("example_runs.csv")), *options, status=2)
    assert sentence == (
        "--hold-out 0.2 of 9 runs leaves 7 to fit, and a fit needs 8: it takes 10 runs, or hold out less"
    )


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ("params,loss\n1e9,2\n", "no column tokens (or flop)"),
        ("params,tokens,loss\n1e9,2e10,low\n", "run 1, column loss: 'low' is not a positive number"),
        (
            "params,tokens,loss\n1e9,2e10,2.5\n2e9,2e10,2.4\n",
            "2 runs, 2 of them different, can't determine five coefficients",
        ),
        ("params,tokens,loss\n" + "1e9,2e10,2.5\n" * 20, "20 runs, 1 of them different"),
        ("params,tokens,loss\n" + "1e9,2e10,2.5\n" * 10_001, "has 10,001 runs; a law is fitted to 10,000 at most"),
        ("params,tokens,loss\n1e9,2e10," + "x" * 9_000 + "\n", "run 1, column loss: '" + "x" * 40 + "...' is not"),
        ("params,tokens,loss\n7,2e10,2.5\n", "run 1, column params: 7 parameters, but a run has from 100 to 1e+17"),
        ("params,D,loss\n1e9,1e300,2.5\n", "run 1, column D: 1e+300 tokens, but a run has from 1000 to 1e+20"),
        ("params,flop,loss\n1e-9,1e300,2.5\n", "run 1, column params: 1e-09 parameters"),
        ("params,flop,loss\n1e9,1e300,2.5\n", "run 1, column flop: 1.667e+290 tokens"),
        ("params,tokens,loss\n1e9,2e10,2.5\n1e9,2e10,250\n", "run 2, column loss: 250 nats per token"),
    ],
)
def test_fit_refuses_what_is_no_set_of_runs(
    folder: Path, capsys: pytest.CaptureFixture[str], content: str, sentence: str
) -> None:
    """A missing column, a text cell, too few or identical runs give one sentence."""
    (folder / "runs.csv").write_text(content)
    assert sentence in told(capsys, "fit", "runs.csv", status=2)
    assert (folder / "runs.csv").read_text() == content


def test_fit_does_not_wait_for_a_pipe(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A named pipe is refused, not read."""
    os.mkfifo(folder / "runs.csv")
    assert "is not a regular file" in told(capsys, "fit", "runs.csv", status=2)


def test_a_comment_may_be_indented(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Lines that start with # are comments, with spaces before it and whatever quotes after it."""
    text = tables.path("example_runs.csv").read_text(encoding="utf-8")
    (folder / "runs.csv").write_text(f'  # mine, "not yours\n{text}\t# the end\n')
    assert told(capsys, "fit", "runs.csv") == told(capsys, "fit", str(tables.path("example_runs.csv")))


@pytest.mark.parametrize(
    "option", [["--bootstrap", "-1"], ["--seed", "-1"], ["--drop-highest", "99"], ["--hold-out", "2"]]
)
def test_fit_refuses_impossible_options(capsys: pytest.CaptureFixture[str], option: list[str]) -> None:
    """Counts and shares outside what is possible are refused."""
    told(capsys, "fit", str(tables.path("example_runs.csv")), *option, status=2)


@pytest.mark.parametrize("command", ["gpus", "laws", "quotes", "sources"])
def test_table_prints_as_text_json_and_csv(capsys: pytest.CaptureFixture[str], command: str) -> None:
    """The three forms have the same rows, and text lines never end in spaces."""
    text = told(capsys, command).splitlines()
    rows = json.loads(told(capsys, command, "--json"))
    table = list(csv.DictReader(io.StringIO(told(capsys, command, "--csv"))))
    assert len(text) - 1 == len(rows) == len(table) > 5
    assert [line for line in text if line != line.rstrip()] == []


def test_gpus_are_in_gib_and_tflop(capsys: pytest.CaptureFixture[str]) -> None:
    """An A100 has 80 GiB and 312 TFLOP/s of dense BF16."""
    rows = {row["name"]: row for row in json.loads(told(capsys, "gpus", "--json"))}
    assert (rows["A100-SXM4-80GB"]["memory_gib"], rows["A100-SXM4-80GB"]["bf16_tflop_per_s"]) == (80, 312)


def test_quotes_can_be_filtered(capsys: pytest.CaptureFixture[str]) -> None:
    """Only what was asked for is listed."""
    rows = json.loads(told(capsys, "quotes", "--gpu", "H100-SXM5-80GB", "--purchase", "spot", "--json"))
    assert {(row["gpu"], row["purchase"]) for row in rows} == {("H100-SXM5-80GB", "spot")}


def test_report_passes_typed_overrides_on(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The report gets the plan as given, overrides as numbers, and prints the paths that it wrote."""
    calls = []

    def render(notebook: Path, **options: object) -> list[Path]:
        calls.append((notebook, options))
        return [folder / "a.html"]

    notebook = folder / "a.ipynb"
    notebook.write_text("{}")
    monkeypatch.setattr(report, "render", render, raising=False)
    printed = told(capsys, "report", str(notebook), "--set", "hardware.n_gpus=64", "-o", "out", "--pdf")
    assert printed == f"{folder / 'a.html'}\n"
    options = {"plan": "case-50k", "overrides": {"hardware.n_gpus": 64.0}, "out_dir": Path("out"), "pdf": True}
    assert calls == [(notebook, options)]


def test_failed_report_exits_with_1(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A notebook that fails is a failure, not wrong input."""

    def render(*_: Path, **__: object) -> list[Path]:
        raise report.ReportError("a stopped at cell 3: division by zero.")

    (folder / "a.ipynb").write_text("{}")
    monkeypatch.setattr(report, "render", render, raising=False)
    assert told(capsys, "report", "a.ipynb", status=1) == "a stopped at cell 3: division by zero."


@pytest.mark.parametrize(("same", "status"), [(True, 0), (False, 1)])
def test_notebooks_check_fails_where_outputs_differ(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, same: bool, status: int
) -> None:
    """--check writes nothing and exits with 1 where a stored notebook would change."""
    monkeypatch.setattr(report, "normalise", lambda *_, **__: same, raising=False)
    assert main(["notebooks", "01", "--check"]) == status
    assert capsys.readouterr().out.startswith("01: ")


@pytest.mark.parametrize("fault", [KeyError("gpu"), IndexError("tuple index out of range"), TypeError("no")])
def test_a_fault_of_ours_is_not_the_reader_s(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, fault: Exception
) -> None:
    """A slip inside a command is raised as it is, with its traceback, and never told as wrong input."""

    def fail(**_: object) -> list[tables.Quote]:
        raise fault

    monkeypatch.setattr(tables, "quotes", fail)
    with pytest.raises(type(fault)) as raised:
        main(["quotes"])
    assert (raised.value is fault, capsys.readouterr()) == (True, ("", ""))


def test_closed_pipe_is_quiet() -> None:
    """`costkit quotes | head -1` prints one line and no traceback."""
    done = subprocess.run(
        ["bash", "-c", f"'{sys.executable}' -m costkit quotes --csv | head -1; exit ${{PIPESTATUS[0]}}"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.stdout.count("\n"), done.stderr) == (1, "")


@pytest.mark.parametrize(
    ("redirection", "status", "err"),
    [
        (">&-", 0, ""),
        ("<&- >&-", 0, ""),
        ("> /dev/full", 1, "costkit: no space left on device\n"),
        ("--wrong 2>&-", 2, ""),
        ("--wrong >&- 2>&-", 2, ""),
    ],
)
def test_a_closed_or_full_stream_is_no_fault(redirection: str, status: int, err: str) -> None:
    """Whatever standard output and error are, the exit status is right and no traceback is shown."""
    command = f"'{sys.executable}' -m costkit gpus {redirection}"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (status, "", err)


def test_what_the_terminal_cannot_show_is_replaced() -> None:
    """A title that the encoding lacks is printed with question marks."""
    command = [sys.executable, "-m", "costkit", "plan", "show", "--set", "title=to the 🚀"]
    done = subprocess.run(
        command, capture_output=True, text=True, check=True, env={**os.environ, "PYTHONIOENCODING": "ascii"}
    )
    assert done.stdout.splitlines()[0] == "to the ?"


def test_nothing_that_is_read_steers_the_terminal(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Colours and bells are question marks in an answer and in a sentence; programs and files get them as they are."""
    mine, out = tmp_path / "mine.csv", tmp_path / "out.csv"
    row = "id,kind,inputs,published\na\x1b[31m\x07,peak_tflop_per_s,gpu=T4; precision=fp16,65\n"
    mine.write_text(row, encoding="utf-8")
    assert "a\x1b[31m\x07" in told(capsys, "claims", str(mine), "--csv")
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    assert "a?[31m?" in told(capsys, "claims", str(mine))
    assert told(capsys, "claims", str(mine), "--csv", "-o", str(out)) == ""
    assert "a\x1b[31m\x07" in out.read_text(encoding="utf-8")
    mine.write_text(row.replace("fp16", "fp17"), encoding="utf-8")
    assert "'a?[31m?'" in told(capsys, "claims", str(mine), status=2)


def test_a_fault_of_ours_exits_with_1_and_its_traceback() -> None:
    """A slip inside a command is Python's to print."""
    code = "import sys; from costkit import cli, tables; del tables.quotes; sys.exit(cli.main(['quotes']))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr.splitlines()[-1].partition(":")[0]) == (1, "AttributeError")


@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_ends_quietly(number: signal.Signals, status: int) -> None:
    """Ctrl-C or SIGTERM ends a long fit with the shell's status and no traceback, also from a background shell."""
    code = (
        "import signal, sys; signal.signal(signal.SIGINT, signal.default_int_handler);"
        "from costkit import plan; from costkit.cli import main;"
        "plan.sizing.read_runs = lambda path: (print('started', flush=True), __import__('time').sleep(60));"
        "sys.exit(main(['fit', 'runs.csv']))"
    )
    running = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert running.stdout is not None
    running.stdout.readline()
    time.sleep(0.1)
    running.send_signal(number)
    _, err = running.communicate(timeout=30)
    assert (running.returncode, err) == (status, "")


@pytest.mark.slow
def test_a_report_that_is_ended_leaves_nothing(folder: Path) -> None:
    """SIGTERM in the middle of a report takes its hidden folder and its kernel's files away."""
    (folder / "tmp").mkdir()
    command = [sys.executable, "-m", "costkit", "report", "01", "-o", "out"]
    root = str(Path(__file__).parents[1])
    environment = {**os.environ, "TMPDIR": str(folder / "tmp"), "PYTHONPATH": root}
    running = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    until = time.monotonic() + 60
    while running.poll() is None and time.monotonic() < until and not list(folder.glob("tmp/costkit-kernel-*/*")):
        time.sleep(0.05)
    time.sleep(0.5)
    running.terminate()
    assert running.wait(timeout=60) == 143
    assert [path.name for path in folder.rglob("*")] == ["tmp"]
