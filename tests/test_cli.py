import csv
import io
import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from costkit import plan, report, tables
from costkit.cli import main

COMMANDS = ("report", "plan", "frontier", "fit", "gpus", "laws", "quotes", "sources", "notebooks")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty current folder, so that no test writes anywhere else."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def told(capsys: pytest.CaptureFixture[str], *argv: str, status: int = 0) -> str:
    """What the command prints on standard output; with another status, its sentence on standard error."""
    assert main(argv) == status
    out, err = capsys.readouterr()
    if status == 0:
        assert err == ""
        return out
    assert (out, err.count("\n")) == ("", 1)
    assert err.startswith("costkit: ")
    return err.removeprefix("costkit: ").strip()


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
        (["plan", "zzz"], "Known: list, show, token, save."),
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
    assert "no space left" in told(capsys, "frontier", "-o", "a.csv", status=1)
    assert ((folder / "a.csv").read_text(), list(folder.iterdir())) == ("old", [folder / "a.csv"])


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
    ],
)
def test_fit_refuses_what_is_no_set_of_runs(
    folder: Path, capsys: pytest.CaptureFixture[str], content: str, sentence: str
) -> None:
    """A missing column, a text cell, too few or identical runs give one sentence."""
    (folder / "runs.csv").write_text(content)
    assert sentence in told(capsys, "fit", "runs.csv", status=2)
    assert (folder / "runs.csv").read_text() == content


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


def test_interrupt_is_quiet() -> None:
    """Ctrl-C ends a long fit with status 130 and no traceback."""
    code = (
        "import sys; from costkit import plan; from costkit.cli import main;"
        "plan.sizing.read_runs = lambda path: (print('started', flush=True), __import__('time').sleep(60));"
        "sys.exit(main(['fit', 'runs.csv']))"
    )
    running = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert running.stdout is not None
    running.stdout.readline()
    time.sleep(0.1)
    running.send_signal(signal.SIGINT)
    _, err = running.communicate(timeout=30)
    assert (running.returncode, err) == (130, "")
