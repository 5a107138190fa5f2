import csv
import dataclasses
import io
import json
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from costkit import plan, training, units
from costkit.units import HOUR, usd
from tests.commands import told

BARE = {"--n-params": "7B", "--n-tokens": "1T", "--gpu": "H100-SXM5-80GB"}
"""What an audit needs besides hours; 26,112 GPU-hours imply 45%."""
CALENDAR = {"--n-gpus": "256", "--days": "4.25"}
ANOMALIES = {
    "hours per trillion tokens": (
        "--n-params 236B --n-active-params 21B --n-tokens 8.1T --gpu H800-SXM5-80GB --gpu-hours 172,800",
        "166%",
        {"impossible", "per trillion"},
    ),
    "two numbers of hours": (
        "--n-params 179.52B --n-tokens 3.5T --gpu A100-SXM4-40GB --gpu-hours 7M --n-gpus 4096 --days 180",
        "48%",
        {"hours disagree"},
    ),
    "an encoder-decoder": (
        "--n-params 11B --n-tokens 1.03T --gpu TPU-v3 --gpu-hours 246,733 --kind encoder-decoder",
        "62%",
        {"encoder-decoder"},
    ),
    "less than what was steady": (
        "--n-params 540B --n-tokens 780B --gpu TPU-v4 --gpu-hours 8.4M --mfu 45.7%",
        "30%",
        {"goodput"},
    ),
    "a node's price": (
        "--n-params 7B --n-tokens 1T --gpu H100-SXM5-80GB --n-gpus 256 --days 4.25 --usd $2.57M",
        "45%",
        {"node price"},
    ),
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty current folder."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def said(capsys: pytest.CaptureFixture[str], *argv: str) -> Any:
    """The JSON that the command prints; a number that JSON has not is a failure."""
    text = told(capsys, *argv, "--json")
    return json.loads(text, parse_constant=lambda name: pytest.fail(f"{name} is no JSON"))


def line(options: dict[str, str]) -> list[str]:
    """Options as a command line has them."""
    return [part for option in options.items() for part in option]


def log_of(folder: Path, *busy: int) -> str:
    """A log of two GPUs, the second with nothing beside its utilisation; returns its name."""
    start = datetime.fromisoformat("2024-05-01T12:00:00")
    lines = ["timestamp, index, utilization.gpu [%], power.draw [W], memory.used [MiB]"]
    for i, percent in enumerate(busy):
        stamp = f"{start + timedelta(seconds=i):%Y/%m/%d %H:%M:%S}.000"
        lines += [f"{stamp}, 0, {percent} %, 300.50 W, 2048 MiB", f"{stamp}, 1, {percent} %, [N/A], [N/A]"]
    (folder / "gpus.csv").write_text("\n".join([*lines, ""]))
    return "gpus.csv"


@pytest.mark.parametrize("name", plan.names())
def test_a_page_begins_with_its_sentence(capsys: pytest.CaptureFixture[str], name: str) -> None:
    """Each plan that ships: the sentence, every key number, the bill, what moves it, the risk, and every warning."""
    answer = plan.page(plan.read(name))
    text = told(capsys, "page", "--plan", name)
    assert text.splitlines()[0] == answer.headline
    parts = [label for label, _ in answer.facts]
    parts += ["Whole ", answer.drivers, answer.risk, answer.rules_of_thumb, answer.programme, *answer.warnings]
    places = [text.find(part) for part in parts]
    assert (-1 in places, places) == (False, sorted(places))


def test_a_page_has_the_lines_of_the_bill_that_are_not_none(capsys: pytest.CaptureFixture[str]) -> None:
    """A planned line stands with its dollars, one of nothing is left out, and the whole is the bill."""
    settings = ("--set", "scope.data_usd=12,345")
    bill = told(capsys, "page", "--plan", "llama-3-8b", *settings).split("\n\n")[2].splitlines()
    answer = plan.page(plan.read("llama-3-8b", {"scope.data_usd": 12_345}))
    assert [row.split("  ")[0] for row in bill[1:-1]] == [one.name for one in answer.lines if one.is_planned]
    assert "Ablations" not in "".join(bill)
    assert bill[-1].split() == ["Whole", usd(answer.usd.low), usd(answer.usd.mid), usd(answer.usd.high)]


def test_page_json_is_the_whole_answer(capsys: pytest.CaptureFixture[str]) -> None:
    """Headline, key numbers, sentences, the numbers behind them, swings and bill at full precision."""
    answer = plan.page(plan.read("mpt-7b"))
    found = said(capsys, "page", "--plan", "mpt-7b")
    assert (found["headline"], found["facts"]) == (answer.headline, dict(answer.facts))
    assert {name: found[name] for name in answer.numbers()} == answer.numbers()
    assert found["swings"] == [dataclasses.asdict(swing) for swing in answer.swings]
    assert (found["rows"], found["warnings"]) == (answer.rows(), list(answer.warnings))
    assert (found["drivers"], found["risk"]) == (answer.drivers, answer.risk)


def test_page_json_of_a_run_that_never_ends_is_json(capsys: pytest.CaptureFixture[str]) -> None:
    """What is infinite is null in JSON and empty in CSV."""
    settings = ("--set", "market.purchase=spot", "--set", "market.node_life_h=0.001")
    found = said(capsys, "page", *settings)
    assert (found["usd"]["mid"], found["rows"][1]["usd_mid"]) == (None, None)
    assert "inf" not in told(capsys, "page", *settings, "--csv")


def test_page_csv_carries_the_bill(capsys: pytest.CaptureFixture[str]) -> None:
    """One row a line of the bill, those of nothing too, with its dollars as they are."""
    table = list(csv.DictReader(io.StringIO(told(capsys, "page", "--csv"))))
    rows = plan.page(plan.read("case-50k")).rows()
    assert [(row["line"], float(row["usd_mid"])) for row in table] == [(row["line"], row["usd_mid"]) for row in rows]


def test_page_takes_overrides(capsys: pytest.CaptureFixture[str]) -> None:
    """--set counts."""
    expected = plan.page(plan.read("llama-3-8b", {"hardware.n_gpus": 512})).headline
    assert told(capsys, "page", "--plan", "llama-3-8b", "--set", "hardware.n_gpus=512").splitlines()[0] == expected


@pytest.mark.parametrize("name", ANOMALIES)
def test_audit_finds_known_anomalies(capsys: pytest.CaptureFixture[str], name: str) -> None:
    """Figures as people type them: the MFU stands in the first line, and each suspicion is a line of its own."""
    options, mfu, kinds = ANOMALIES[name]
    headline, *lines = told(capsys, "audit", *options.split()).splitlines()
    assert headline.endswith(f"imply an MFU of {mfu}.")
    assert {text.partition(":")[0] for text in lines} - {"others"} == kinds


def test_audit_of_plausible_figures_is_short(capsys: pytest.CaptureFixture[str]) -> None:
    """Where nothing is odd and nothing was paid, there is nothing more to say than what others took."""
    first, *rest = told(capsys, "audit", *line({**BARE, **CALENDAR})).splitlines()
    assert first == "These figures are plausible: 26,100 GPU-hours imply an MFU of 45%."
    assert [text.partition(":")[0] for text in rest] == ["others"]


def test_audit_json_has_all_fields(capsys: pytest.CaptureFixture[str]) -> None:
    """The numbers are those of the Python function, and the figures that went in stand beside them."""
    found = said(capsys, "audit", *line({**BARE, **CALENDAR, "--usd": "$2.57M"}))
    figures: dict[str, Any] = {
        "n_params": 7e9,
        "n_tokens": 1e12,
        "gpu": BARE["--gpu"],
        "n_gpus": 256,
        "days": 4.25,
        "usd": 2.57e6,
    }
    mine = training.audit(**figures)
    assert found["figures"] == figures
    assert (found["headline"], found["verdict"]) == (mine.headline, mine.verdict)
    assert {name: found[name] for name in ("mfu", "flop", "gpu_hours", "usd_per_gpu_hour")} == {
        "mfu": mine.mfu,
        "flop": mine.flop,
        "gpu_hours": mine.gpu_hours,
        "usd_per_gpu_hour": mine.usd_per_gpu_hour,
    }
    assert found["flags"] == [dataclasses.asdict(flag) for flag in mine.flags]


@pytest.mark.parametrize(
    ("price", "of_gpu"),
    [("2.49", 2.49), ("$2.49/h", 2.49), ("2.49 per gpu", 2.49), ("98.32 per 8-GPU node", 12.29)],
)
def test_a_price_may_say_what_it_is_for(capsys: pytest.CaptureFixture[str], price: str, of_gpu: float) -> None:
    """A node's price is shared among its GPUs before anything is multiplied by it."""
    found = said(capsys, "audit", *line({**BARE, **CALENDAR, "--usd-per-gpu-hour": price}))
    assert found["figures"]["usd_per_gpu_hour"] == pytest.approx(of_gpu)


def test_audit_of_the_lesson_names_its_gap(capsys: pytest.CaptureFixture[str]) -> None:
    """$50,000 buy more hours than its GPUs had in its days, and the driver's counter is no MFU."""
    text = told(capsys, "audit", "--plan", "case-50k")
    assert text.splitlines()[0].endswith("13,800 GPU-hours at $3.62 each imply an MFU of 6.96%.")
    assert "hours disagree: the 16,300 GPU-hours that $50,000 buy at $3.06 are 1.18 times the 13,800 GPU-hours" in text
    assert "utilisation: the driver's 52% is how much of the time any kernel ran" in text
    assert "assumed: the plan has no published source for model size, tokens, precision" in text


@pytest.mark.parametrize(
    ("usd_paid", "kinds"),
    [("$79k", {"bill"}), ("$100k", {"hours disagree"}), ("$627k", {"node price"})],
    ids=["as it should be", "too much", "a node's"],
)
def test_a_bill_is_told_once(capsys: pytest.CaptureFixture[str], usd_paid: str, kinds: set[str]) -> None:
    """Beside the hours at their price where nothing is odd, else by the flag that says so already."""
    options = line({**BARE, **CALENDAR, "--usd": usd_paid, "--usd-per-gpu-hour": "3"})
    _, *lines = told(capsys, "audit", *options).splitlines()
    assert {text.partition(":")[0] for text in lines} - {"others"} == kinds


def test_hours_that_disagree_leave_the_bill_its_line(capsys: pytest.CaptureFixture[str]) -> None:
    """Where GPUs and days are at odds with the stated hours and the bill is not, both are told."""
    options = line({**BARE, **CALENDAR, "--gpu-hours": "20k", "--usd": "$60k", "--usd-per-gpu-hour": "3"})
    _, *lines = told(capsys, "audit", *options).splitlines()
    assert [text.partition(":")[0] for text in lines] == ["hours disagree", "bill", "others"]
    assert lines[1] == "bill: 20,000 GPU-hours at $3.00 are $60,000; what was paid is $60,000"


@pytest.mark.parametrize("name", ["llama-2-7b", "llama-3-1-405b", "llama-3-8b", "mpt-7b", "smollm3-3b"])
def test_audit_of_published_plans_raises_no_suspicion(capsys: pytest.CaptureFixture[str], name: str) -> None:
    """A plan that is a published run has its hours, and nothing is odd about them."""
    assert said(capsys, "audit", "--plan", name)["verdict"] == "plausible"


@pytest.mark.parametrize("name", [name for name in plan.names() if plan.page(plan.read(name)).truth])
def test_the_audit_and_the_page_know_the_same_hours(capsys: pytest.CaptureFixture[str], name: str) -> None:
    """What a published run took is the same in both, stated or from its GPUs and days."""
    truth = plan.page(plan.read(name)).truth
    assert truth is not None
    assert said(capsys, "audit", "--plan", name)["gpu_hours"] == pytest.approx(truth.gpu_hours)


def test_the_hours_of_a_case_come_before_those_of_its_run(capsys: pytest.CaptureFixture[str]) -> None:
    """What the plan's own case says counts first."""
    settings = ("--set", "case.published_gpu_hours=200k")
    assert said(capsys, "audit", "--plan", "llama-2-7b", *settings)["gpu_hours"] == 200_000
    assert said(capsys, "audit", "--plan", "llama-2-7b")["gpu_hours"] == 184_320


@pytest.mark.parametrize(
    ("given", "name", "value"),
    [
        (["--gpu-hours", "20k"], "gpu_hours", 20_000),
        (["--days", "9"], "gpu_hours", 440 * 9 * 24),
        (["--n-gpus", "220"], "gpu_hours", 220 * 9.5 * 24),
        (["--n-params", "13B"], "flop", 6 * 13e9 * 1e12),
        (["--n-tokens", "2T"], "flop", 6 * 6.65e9 * 2e12),
    ],
)
def test_options_win_over_the_plan(
    capsys: pytest.CaptureFixture[str], given: list[str], name: str, value: float
) -> None:
    """A figure on the command line takes the plan's place, and so do hours that follow from it."""
    assert said(capsys, "audit", "--plan", "mpt-7b", *given)[name] == pytest.approx(value)


def test_a_size_that_is_given_is_active(capsys: pytest.CaptureFixture[str]) -> None:
    """The plan's active parameters are those of its own model and no other's."""
    options = line({**BARE, **CALENDAR, "--n-active-params": "1B"})
    assert said(capsys, "audit", *options)["flop"] == pytest.approx(6e21)
    found = said(capsys, "audit", "--plan", "llama-2-7b", "--n-params", "1B")
    assert found["flop"] == pytest.approx(6 * 1e9 * 2e12)


@pytest.mark.parametrize(
    ("argv", "sentence"),
    [
        ([], "an audit needs --n-params, --n-tokens, --gpu and the hours (--gpu-hours, or --n-gpus and --days, or"),
        (line({"--n-params": "7B", "--gpu": "H100-SXM5-80GB", "--gpu-hours": "1k"}), "an audit needs --n-tokens, or"),
        (["--plan", "finetune-7b"], "an audit needs the hours (--gpu-hours, or --n-gpus and --days, or --usd and"),
        (line({**BARE, **CALENDAR, "--mfu": "45"}), "--mfu must be from 0.001 to 1 (fraction), not 45: it looks like"),
        (line({**BARE, "--n-tokens": "lots"}), "--n-tokens must be a number of tokens, not 'lots'"),
        (line({**BARE, "--n-params": "0"}), "--n-params must be from 1,000 to 1e15 parameters, not 0"),
        (line({**BARE, "--gpu-hours": "1e400"}), "--gpu-hours must be from 0.001 to 1e12 GPU-hours; the given number"),
        (line({**BARE, "--n-gpus": "2.5"}), "--n-gpus must be a whole number of GPUs, not 2.5"),
        (
            line({**BARE, "--usd-per-gpu-hour": "98.32 per node"}),
            "--usd-per-gpu-hour '98.32 per node' does not say how many GPUs a node has: write '98.32 per 8-GPU node'",
        ),
        (
            line({**BARE, "--usd-per-gpu-hour": "98.32 per furlong"}),
            "--usd-per-gpu-hour must be a number of USD per GPU-hour, not '98.32 per furlong'",
        ),
        (
            line({**BARE, "--usd-per-gpu-hour": "$98,320 per 8-GPU node"}),
            "--usd-per-gpu-hour must be from 0.001 to 1,000 USD per GPU-hour, not 12,290",
        ),
        (line({**BARE, "--usd-per-gpu-hour": "-3"}), "--usd-per-gpu-hour must be from 0.001 to 1,000 USD per GPU-hour"),
        (line({**BARE, **CALENDAR, "--gpu": "A100"}), "no GPU 'A100'. Did you mean 'A100-SXM4-80GB'?"),
        (line({**BARE, **CALENDAR, "--kind": "decodre"}), "no kind of model 'decodre'. Did you mean 'decoder'?"),
        (line({**BARE, **CALENDAR, "--precision": "fp9"}), "no precision 'fp9'."),
        (["--set", "hardware.n_gpus=64"], "--set changes a value of a plan: name one with --plan"),
        (["--plan", "case-50k", "--set", "hardware.n_gpu=64"], "Did you mean 'hardware.n_gpus'?"),
        (["--gpu-hour", "7"], "'--gpu-hour' is not understood here. Did you mean '--gpu-hours'?"),
    ],
)
def test_audit_refuses_in_one_sentence(
    folder: Path, capsys: pytest.CaptureFixture[str], argv: list[str], sentence: str
) -> None:
    """What is missing is named by its option, what is no amount by what one is, and nothing is written."""
    assert sentence in told(capsys, "audit", *argv, "-o", "a.txt", status=2)
    assert list(folder.iterdir()) == []


def test_stall_of_a_plan_has_its_price_and_length(capsys: pytest.CaptureFixture[str]) -> None:
    """The ceiling is that share of the plan's days, and of its GPUs' price for them."""
    chosen = plan.read("case-50k")
    mine = training.stall(step_s=1.25, loader_wait_s=0.225, usd_per_hour=32 * 3.06, work_s=plan.page(chosen).wall_s.mid)
    options = ("--step", "1.25", "--wait", "0.225", "--plan", "case-50k")
    assert told(capsys, "stall", *options) == f"{mine.sentence}\n"
    found = said(capsys, "stall", *options)
    assert {name: found[name] for name in ("waiting_fraction", "speedup", "saved_s", "usd", "log")} == {
        "waiting_fraction": mine.waiting_fraction,
        "speedup": mine.speedup,
        "saved_s": mine.saved_s,
        "usd": mine.usd,
        "log": None,
    }


def test_stall_takes_price_and_length_from_options(capsys: pytest.CaptureFixture[str]) -> None:
    """What is given wins over the plan; dollars may have their sign."""
    options = ("--step", "2", "--wait", "0.5", "--usd-per-hour", "$1,000", "--work-h", "100")
    found = said(capsys, "stall", *options)
    assert (found["saved_s"], found["usd"]) == (25 * HOUR, 25_000)
    assert said(capsys, "stall", *options, "--plan", "llama-2-7b") == found


def test_stall_without_a_price_is_a_speed(capsys: pytest.CaptureFixture[str]) -> None:
    """Step times alone tell how much faster the run can be."""
    assert "at most 1.33 times the speed" in told(capsys, "stall", "--step", "2", "--wait", "0.5")


def test_stall_takes_the_times_that_a_plan_measured(capsys: pytest.CaptureFixture[str]) -> None:
    """A plan with a measured step and wait needs no options."""
    measured = {"training.step_s": 2.0, "training.loader_wait_s": 0.5, "training.batch_tokens": 4e6}
    settings = [part for key, value in measured.items() for part in ("--set", f"{key}={value}")]
    expected = plan.page(plan.read("llama-2-7b", measured)).stall
    assert expected is not None
    assert told(capsys, "stall", "--plan", "llama-2-7b", *settings) == f"{expected.sentence}\n"


def test_stall_of_a_plan_that_never_ends_is_of_what_computes(capsys: pytest.CaptureFixture[str]) -> None:
    """Stops don't wait for input: half of the 18 days that compute, however long they take to come by."""
    settings = ("--set", "market.purchase=spot", "--set", "market.node_life_h=0.001")
    text = told(capsys, "stall", "--step", "2", "--wait", "1", "--plan", "case-50k", *settings)
    assert "at most $21,137 and 8.99 days of this run" in text


def test_stall_of_a_log_tells_each_gpu(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The sentence, what the log is, a line a GPU with what is known of it, and every warning."""
    name = log_of(folder, 100, 100, 0, 100)
    log = training.read_smi_log(name)
    sentence, about, table, *warnings = told(capsys, "stall", name).rstrip("\n").split("\n\n")
    assert sentence == training.stall_from_log(log).sentence
    assert about == "gpus.csv: 4.00 seconds from 2024-05-01 12:00:00, a sample every 1.00 seconds."
    assert [row.split() for row in table.splitlines()[1:]] == [
        ["0", "4", "75%", "25%", "300", "W", "2.00", "GiB"],
        ["1", "4", "75%", "25%"],
    ]
    assert warnings == list(log.warnings)


def test_stall_json_of_a_log_has_all_of_it(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The log's numbers stand in it, and what is not written down is null."""
    name = log_of(folder, 100, 100, 0, 100)
    found, log = said(capsys, "stall", name, "--plan", "case-50k"), training.read_smi_log(name)
    assert found["waiting_fraction"] == log.stalled_fraction == pytest.approx(0.25)
    assert (found["log"]["start"], found["log"]["gpus"][1]["mean_watts"]) == ("2024-05-01T12:00:00", None)
    assert [gpu["busy_fraction"] for gpu in found["log"]["gpus"]] == [gpu.busy_fraction for gpu in log.gpus]


@pytest.mark.parametrize(
    ("argv", "sentence"),
    [
        ([], "give a log that nvidia-smi wrote, or --step and --wait, the seconds of a step and of the wait in it"),
        (["--step", "1"], "give a log that nvidia-smi wrote, or --step and --wait"),
        (["--plan", "case-50k"], "give a log that nvidia-smi wrote, or --step and --wait"),
        (["--step", "1", "--wait", "2"], "--wait must be below --step (1 seconds), of which it is a part, not 2"),
        (["--step", "1.5", "--wait", "225"], "it looks like milliseconds, write 0.225"),
        (["--step", "0", "--wait", "0"], "--step must be from 1e-6 to 1e6 seconds, not 0"),
        (["--step", "fast", "--wait", "0"], "--step must be a number of seconds, not 'fast'"),
        (["--step", "1", "--wait", "-1"], "--wait must be from 0 to 1e6 seconds, not -1"),
        (["--step", "1", "--wait", "0", "--work-h", "0"], "--work-h must be from 0.001 to 1e7 hours, not 0"),
        (["--step", "1", "--wait", "0", "--usd-per-hour", "lots"], "--usd-per-hour must be a number of USD per hour"),
        (["--step", "1", "--wait", "0", "--set", "hardware.n_gpus=1"], "name one with --plan"),
        (["log.csv", "--step", "1"], "give a log, or --step and --wait, not both"),
        (["log.csv"], "There is no file 'log.csv'"),
    ],
)
def test_stall_refuses_in_one_sentence(
    folder: Path, capsys: pytest.CaptureFixture[str], argv: list[str], sentence: str
) -> None:
    """Neither a log nor a step, both, a wait that is no part of the step: one sentence in the options' own names."""
    assert sentence in told(capsys, "stall", *argv, "-o", "a.txt", status=2)
    assert list(folder.iterdir()) == []


def test_scores_tell_how_wrong_the_planner_is(capsys: pytest.CaptureFixture[str]) -> None:
    """The sentence, the factors of each group and planner, and every named anomaly."""
    text = told(capsys, "scores")
    assert text.splitlines()[0] == training.scores_sentence()
    ours = training.scores()[0]
    row = next(row for row in text.splitlines() if row.split()[:2] == [ours.group, ours.planner])
    assert row.split()[4:7] == [f"{factor:.2f}" for factor in (ours.median_factor, ours.p80_factor, ours.p90_factor)]
    assert [one.run.name for one in training.anomalous_runs() if one.run.name not in text] == []


def test_scores_json_has_every_score_and_run(capsys: pytest.CaptureFixture[str]) -> None:
    """Scores, those of recalled rows, and all rows as Python has them."""
    found = said(capsys, "scores")
    assert found["scores"] == [dataclasses.asdict(score) for score in training.scores()]
    assert found["recalled"] == [dataclasses.asdict(score) for score in training.scores(recalled=True)]
    assert [row["run"] for row in found["rows"]] == [one.run.name for one in training.scored()]
    assert [row["run"] for row in found["anomalies"]] == [one.run.name for one in training.anomalous_runs()]


def test_scores_csv_is_a_row_a_run(capsys: pytest.CaptureFixture[str]) -> None:
    """Each published run with what it implied, what was predicted with its band, and its source."""
    table = list(csv.DictReader(io.StringIO(told(capsys, "scores", "--csv"))))
    first, one = table[0], training.scored()[0]
    assert list(first) == [
        *("run", "group", "mfu", "predicted_low", "predicted_mid", "predicted_high"),
        *("hours_ratio", "inside", "anomaly", "basis", "source"),
    ]
    assert (len(table), first["run"], first["source"]) == (len(training.scored()), one.run.name, one.run.source)
    assert (float(first["hours_ratio"]), first["inside"]) == (one.hours_ratio, str(one.is_inside))


def test_keys_are_found_by_what_they_are_about(capsys: pytest.CaptureFixture[str]) -> None:
    """A reader who knows a word finds the keys that it is about."""
    found = told(capsys, "plan", "keys", "deadline")
    assert "market.deadline_days" in found
    assert "market.ends_by" in found
    assert "hardware.gpu " not in found


def test_every_key_is_listed(capsys: pytest.CaptureFixture[str]) -> None:
    """Without a word it is all of them."""
    assert {row["key"] for row in json.loads(told(capsys, "plan", "keys", "--json"))} == set(plan.fields())


def test_a_word_that_no_key_is_about_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    """One sentence, and where all of them stand."""
    assert "no key of a plan is about 'zeppelin'" in told(capsys, "plan", "keys", "zeppelin", status=2)


def test_audit_tells_what_others_took(capsys: pytest.CaptureFixture[str]) -> None:
    """A vendor's 102 hours are plausible, and about half of what published runs took: both are told."""
    argv = ("--n-params", "7B", "--n-tokens", "1T", "--gpu", "H100-SXM5-80GB", "--n-gpus", "256", "--days", "4.25")
    text = told(capsys, "audit", *argv)
    like = training.efficiency(gpu="H100-SXM5-80GB", n_params=7e9, n_gpus=256).mfu
    assert text.startswith("These figures are plausible")
    assert f"others: published runs like it reached {units.percent(like.low)} to {units.percent(like.high)}" in text
