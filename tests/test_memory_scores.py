import statistics
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from costkit import memory, tables
from costkit.memory import Score, bands, scorecard
from costkit.plan.fitting import words
from costkit.units import Range

SCORES = memory.scores()
SOURCES = ("tracked_memory.csv", "measured_phase_peaks.csv", "measured_memory.csv")
METRICS_OF_A_ROW = {"tracked_memory.csv": 2, "measured_phase_peaks.csv": 5, "measured_memory.csv": 1}
T4_METRICS = ("allocated", "allocated, forward", "allocated, backward", "allocated, step")
STAND_INS = ("answerdotai-fsdp-qlora", "litgpt", "nanotron", "qwen-readme", "torchtune")
RECOMPUTED = [
    row
    for row in tables.rows("memory_overheads.csv")
    if row["basis"] == "computed" and row["n_rows"] and row["kind"] != "imbalance"
]


def scored(source: str, *metrics: str) -> list[Score]:
    """The scored rows of a source, of some metrics or of all."""
    return [one for one in SCORES if one.source == source and one.is_scored and (not metrics or one.metric in metrics)]


def run(name: str, **about: Any) -> Score:
    """A run of our own making."""
    plain = {"model": name, "stack": "fsdp2", "scored_as": "fsdp2", "metric": "reserved", "status": "ok"}
    return Score(
        **{"id": name, "source": "torchtitan", "measured_bytes": None, "case": "fsdp2 eager", **plain, **about}
    )


def absolute_errors(listed: list[Score]) -> list[float]:
    """How far off each is, either way."""
    return [abs(one.error_fraction) for one in listed]


def test_pytorch_tracker_is_met() -> None:
    """Live bytes are within 0.2% of PyTorch's own tracker at every one of its 96 peaks."""
    errors = absolute_errors(scored("pytorch-memory-tracker", "live, backward", "live, step"))
    assert (len(errors), max(errors) <= 0.002) == (96, True)


def test_megatron_is_met_from_6_billion_parameters_on() -> None:
    """Allocated bytes of the last rank are within 6% of Megatron-LM's runs of 6.5B parameters and more."""
    rows = {row["id"]: float(row["n_params"] or 0) for row in tables.rows("measured_memory.csv")}
    errors = absolute_errors([one for one in scored("megatron-lm", "allocated-last-rank") if rows[one.id] >= 6.5e9])
    assert (len(errors), max(errors) <= 0.06) == (3, True)


@pytest.mark.parametrize("metric", T4_METRICS)
def test_adapters_on_a_t4_are_met(metric: str) -> None:
    """Allocated bytes of LoRA and QLoRA are within 3% of each of the 34 runs on a T4, phase by phase."""
    errors = absolute_errors(scored("fitcheck", metric))
    assert (len(errors), max(errors) <= 0.03) == (34, True)


@pytest.mark.parametrize(("stack", "n_rows"), [("fsdp2", 21), ("simplefsdp", 10)])
def test_torchtitan_is_met_on_average(stack: str, n_rows: int) -> None:
    """Reserved bytes of torchtitan's dense runs have a mean absolute error within 12%."""
    errors = absolute_errors([one for one in scored("torchtitan", "reserved") if one.stack == stack])
    assert (len(errors), statistics.fmean(errors) <= 0.12) == (n_rows, True)


def test_no_verdict_is_wrong() -> None:
    """No run that failed is said to fit, and none that ran is said not to."""
    assert memory.wrong_verdicts() == []


def test_a_wrong_verdict_is_found() -> None:
    """A run out of memory that is said to fit, and one that ran and is said not to, are both wrong."""
    failed = run("a", status="OOM", verdict="fits")
    ran = run("b", status="ok", verdict="does not fit")
    unsure = run("c", status="OOM", verdict="uncertain")
    assert memory.wrong_verdicts([failed, ran, unsure]) == [failed, ran]


def test_runs_that_failed_have_verdicts() -> None:
    """Two runs out of memory are described well enough for a verdict, and 284 that ran: so much none wrong means."""
    counts = Counter(one.status for one in SCORES if one.verdict)
    assert (counts["OOM"], counts["ok"] + counts["fits"]) == (2, 284)


def test_every_row_is_answered_for() -> None:
    """Each row has an error, a verdict, or the reason why it has neither."""
    assert [one.id for one in SCORES if not (one.is_scored or one.verdict or one.unscored)] == []


def test_every_row_is_there() -> None:
    """The scores hold each row of the three tables once for each metric, so nothing is dropped without a word."""
    expected = sum(len(tables.rows(name)) * METRICS_OF_A_ROW[name] for name in SOURCES)
    assert len({(one.id, one.metric) for one in SCORES}) == len(SCORES) == expected


def test_what_is_not_scored_has_no_error() -> None:
    """Asking for the error of a row without an estimate says why there is none."""
    row = next(one for one in SCORES if one.unscored)
    with pytest.raises(ValueError, match=f"^{row.id} has no error: "):
        _ = row.error_fraction


def test_summaries_count_every_scored_row() -> None:
    """The groups of the summary hold each scored row once."""
    assert sum(one.n for one in memory.summaries()) == sum(one.is_scored for one in SCORES)


def test_a_summary_names_its_worst_row() -> None:
    """No row of a group is further off than the one that is named."""
    for one in memory.summaries():
        group = [row for row in scored(one.source, one.metric) if row.stack == one.stack]
        assert abs(one.worst.error_fraction) == max(absolute_errors(group))


@pytest.mark.parametrize("row", RECOMPUTED, ids=lambda row: f"{row['kind']} {row['case']}")
def test_the_bands_follow_from_the_scores(row: dict[str, str]) -> None:
    """Each computed band is that of the scored rows, to three digits; that of allocated bytes has 1 as its middle."""
    kind = row["kind"].split()[0]
    if "spread" in row["kind"]:
        spread, n = scorecard.measured_spreads()[kind, row["case"]]
        low, mid, high = 1.0, 1.0, round(spread, 3)
    else:
        band, n = scorecard.measured_bands()[kind, row["case"]]
        low, mid, high = (round(value, 3) for value in (band.low, band.mid, band.high))
    if kind == "allocated" and "spread" not in row["kind"]:
        low, mid, high = min(low, 1.0), 1.0, max(high, 1.0)
    assert (float(row["low"]), float(row["mid"]), float(row["high"]), int(row["n_rows"])) == (low, mid, high, n)


def test_every_measured_band_is_in_the_table() -> None:
    """No case that the scores give a band is left without one."""
    measured = {(f"{kind} over estimate", case) for kind, case in scorecard.measured_bands()}
    assert measured <= {(row["kind"], row["case"]) for row in RECOMPUTED}


def test_no_band_enters_its_own_measurement(monkeypatch: pytest.MonkeyPatch) -> None:
    """With every band ten times as high the scores give the same bands: estimates are taken before them."""
    as_they_are = scorecard.measured_bands()
    monkeypatch.setattr(bands, "band", lambda *_, **__: Range(10.0, 10.0, 10.0))
    assert scorecard.measured_bands(memory.scores.__wrapped__()) == as_they_are


@pytest.mark.parametrize("stack", memory.STACKS)
@pytest.mark.parametrize("attention", memory.ATTENTION)
def test_every_case_has_its_bands(stack: str, attention: str) -> None:
    """Whatever is asked, the table has a row for it, of allocated and of reserved bytes."""
    for compiled, tensor in ((False, 1), (True, 1), (False, 2)):
        case = bands.case_of(stack, attention=attention, compiled=compiled, tensor=tensor)
        assert all(bands.band(kind, case=case).low > 0 for kind in ("allocated", "reserved"))


def test_a_held_out_error_knows_nothing_of_its_own_model() -> None:
    """Two runs of one model half as large again as estimated, one of another that is twice: each by the other's."""
    one, same = (run(name, model="a", measured_bytes=1.5e9, raw_bytes=1e9) for name in ("1", "2"))
    other = run("3", model="b", measured_bytes=2e9, raw_bytes=1e9)
    found = scorecard.held_out_errors([one, same, other])
    assert [found[score] for score in (one, same, other)] == pytest.approx([1 / 3, 1 / 3, -0.25])


def test_a_model_alone_has_no_held_out_error() -> None:
    """Nothing is left to take a band from."""
    assert scorecard.held_out_errors([run("1", measured_bytes=1e9, raw_bytes=1e9)]) == {}


def test_held_out_errors_are_not_smaller() -> None:
    """What was fitted without a model meets it less well, over all runs that have others beside them."""
    held_out = scorecard.held_out_errors()
    own = statistics.fmean(abs(score.error_fraction) for score in held_out)
    assert statistics.fmean(map(abs, held_out.values())) >= own > 0


def test_what_is_not_scored_is_counted() -> None:
    """Each reason with its runs, which with the rest make up all of them."""
    counted = sum(n for _, n in memory.unscored())
    assert (counted > 0, counted + sum(one.is_scored or bool(one.verdict) for one in SCORES)) == (True, len(SCORES))


def test_every_miss_has_a_reason() -> None:
    """No run that is missed by more than 15% is left without a sentence on why, as far as that is known."""
    assert [(score.id, score.metric) for score, why in memory.misses(0.15) if not why] == []


def test_misses_are_the_scored_runs_beyond() -> None:
    """Each scored run that is further off is listed once, the worst first."""
    listed = [score for score, _ in memory.misses(0.15)]
    assert {id(score) for score in listed} == {id(one) for one in SCORES if one.is_scored and _is_far(one)}
    assert absolute_errors(listed) == sorted(absolute_errors(listed), reverse=True)


def _is_far(score: Score) -> bool:
    return abs(score.error_fraction) > 0.15


def test_every_reason_is_one_of_a_miss() -> None:
    """A reason that no longer explains any run is taken out of the table."""
    given = {why for _, why in memory.misses(0.15)}
    assert [row["why"] for row in tables.rows("memory_misses.csv") if row["why"] not in given] == []


def test_a_miss_without_a_reason_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the table has no row for a run its reason is empty, so that the check above can fail."""
    monkeypatch.setattr(tables, "rows", lambda _: [])
    assert {why for _, why in memory.misses(0.15)} == {""}


def test_no_run_is_missed_by_all_of_it() -> None:
    """Nothing is off by its own size: such an error is one of units or of a part that was left out."""
    assert [score.id for score, _ in memory.misses(1.0)] == []


def test_the_readme_says_the_errors_as_they_are() -> None:
    """Each figure of its section on memory, recomputed: neither better nor worse than the scores."""
    text = " ".join((Path(__file__).parents[1] / "README.md").read_text(encoding="utf-8").split())
    n_params = {row["id"]: float(row["n_params"] or 0) for row in tables.rows("measured_memory.csv")}
    tracker = absolute_errors(scored("pytorch-memory-tracker"))
    t4 = max(max(absolute_errors(scored("fitcheck", name))) for name in T4_METRICS)
    megatron = [one for one in scored("megatron-lm") if n_params[one.id] >= 6.5e9]
    assert len(megatron) == 3
    small = [one for one in scored("megatron-lm") if n_params[one.id] < 6.5e9]
    fsdp2 = [one for one in scored("torchtitan", "reserved") if one.stack == "fsdp2"]
    torchtitan = statistics.fmean(absolute_errors(fsdp2))
    held_out = [one for one in memory.summaries() if (one.source, one.stack) == ("torchtitan", "fsdp2")]
    assert held_out[0].n_held_out == 3
    stand_ins = [one.mean_absolute_error for one in memory.summaries() if one.source in STAND_INS]
    said = [
        f"The {len(tracker)} peaks of PyTorch's own tracker are met within {max(tracker):.1%}",
        f"the T4 fine-tunes within {t4:.1%} of what they allocated",
        f"three runs of a 7B model within {max(absolute_errors(megatron)):.0%}",
        f"its {len(small)} runs of smaller ones within {max(absolute_errors(small)):.0%}",
        f"what torchtitan's FSDP2 runs reserved on average within {torchtitan:.0%}",
        f"with their own held out they are missed by {held_out[0].held_out_error:.0%} on average",
        f"are missed by {min(stand_ins):.0%} to {max(stand_ins):.0%} on average",
    ]
    assert [sentence for sentence in said if sentence not in text] == []


def test_what_is_said_to_be_unscored_is() -> None:
    """Warnings and README name what no run scores: it stays so, or the words change."""
    scored_ids = {one.id for one in SCORES if one.is_scored}
    rows = [row for row in tables.rows("measured_memory.csv") if row["id"] in scored_ids]
    optimizers = {row["optimizer"] or "adamw" for row in (*rows, *tables.rows("tracked_memory.csv"))}
    experts = [row["id"] for row in rows if int(row["expert_parallel"] or 1) > 1 or "moe" in row["family"]]
    offloaded = [row["id"] for row in rows if row["offload"]]
    piped = [row["id"] for row in rows if row["stack"] == "fsdp2" and int(row["pipeline_parallel"] or 1) > 1]
    full = {row["gpu"] for row in rows if row["source"] == "fitcheck" and row["adapters"] in ("", "none")}
    assert optimizers == set(words.SCORED_OPTIMIZERS)
    assert (experts, offloaded, piped, full) == ([], [], [], set())
