from __future__ import annotations

import dataclasses
import functools
import importlib
import itertools
import json
import math
import re
import statistics
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from costkit import plan, spot, tables
from costkit.plan import Savings, buying
from costkit.plan.buying import Policies, Scenario
from costkit.units import DAY, GB, HOUR, MINUTE, YEAR, duration, percent, usd

GPUS, TOKENS, PRICE = "hardware.n_gpus", "data.n_tokens", "hardware.usd_per_gpu_hour"
DISCOUNT, PURCHASE, DEADLINE = "market.spot_discount_fraction", "market.purchase", "market.deadline_days"
SPOT_PRICE = "market.spot_usd_per_gpu_hour"
LIFE, BURST, LAW, WAIT = "market.node_life_h", "market.burst_nodes", "market.life_law", "market.capacity_wait_min"
NOTICES, NOTICE, ELASTIC = "market.notice_reliability_fraction", "market.notice_s", "market.elastic"
KEEPS, FAILURES, TRACE = "market.keeps_survivors", "market.failures_per_gpu_day", "market.trace"
HISTORY, ZONE, MEASURED = "market.price_history", "market.zone", "market.measured"
EVERY, WRITE, SIZE, RESTART = (
    f"training.{name}" for name in ("checkpoint_every_min", "checkpoint_write_min", "checkpoint_gb", "restart_min")
)
FILES = (TRACE, HISTORY)
STEP_S = 300
N_PATHS = 300
NOWHERE = Path()

Overrides = dict[str, object]
SITUATIONS: dict[str, tuple[str, Overrides]] = {
    **{name: (name, {}) for name in plan.names()},
    "one GPU": ("case-50k", {GPUS: 1}),
    "16384 GPUs": ("llama-3-8b", {GPUS: 16384, LIFE: 1000}),
    "no checkpoints": ("case-50k", {EVERY: math.inf}),
    "no checkpoints, short run": ("gpt2-124m-one-node", {EVERY: math.inf}),
    "no checkpoints but notices": ("case-50k", {EVERY: math.inf, NOTICES: 1.0}),
    "hopeless": ("case-50k", {LIFE: 0.1, DEADLINE: 30}),
    "seconds": ("case-50k", {LIFE: 0.002}),
    "seconds with notices": ("case-50k", {LIFE: 0.01, NOTICES: 1.0}),
    "on the edge": ("case-50k", {LIFE: 1.5}),
    "no discount": ("case-50k", {DISCOUNT: 0.0}),
    "dearer": ("case-50k", {DISCOUNT: -0.5}),
    "almost free": ("case-50k", {DISCOUNT: 0.999}),
    "bought on spot": ("case-50k", {PURCHASE: "spot"}),
    "reserved": ("case-50k", {PURCHASE: "commit_1y"}),
    "own spot price": ("case-50k", {PURCHASE: "commit_1y", SPOT_PRICE: 1.1}),
    "elastic": ("case-50k", {ELASTIC: True, LAW: "weibull"}),
    "survivors": ("case-50k", {KEEPS: True, BURST: 2.5}),
    "weibull": ("case-50k", {LAW: "weibull", "market.weibull_shape": 0.3}),
    "bathtub": ("case-50k", {LAW: "bathtub", "market.first_hour_free": True}),
    "no failures": ("case-50k", {FAILURES: 0.0}),
    "many failures": ("case-50k", {FAILURES: 1.0}),
    "nothing is lost": ("case-50k", {FAILURES: 0.0, LIFE: 1e6}),
    "deadline met": ("case-50k", {DEADLINE: 40}),
    "deadline missed": ("case-50k", {DEADLINE: 22}),
    "deadline shorter than the run": ("case-50k", {DEADLINE: 5}),
    "write longer than the interval": ("case-50k", {EVERY: 5, WRITE: 10}),
    "interval longer than the run": ("gpt2-124m-one-node", {EVERY: 1000}),
    "nothing to write": ("case-50k", {WRITE: 0}),
    "notices": ("case-50k", {NOTICES: 1.0}),
    "every loss on notice": ("case-50k", {NOTICES: 1.0, FAILURES: 0.0}),
    "notices too short": ("case-50k", {NOTICES: 1.0, NOTICE: 20}),
    "waits of a day": ("case-50k", {WAIT: 1440}),
    "long restarts": ("case-50k", {RESTART: 600}),
    "moved": ("case-50k", {"market.moved_fraction": 1.0}),
    "a minute": ("case-50k", {TOKENS: 1e6}),
    "own trace": ("case-50k", {TRACE: "market.csv"}),
    "public trace": ("case-50k", {TRACE: "market.json", DEADLINE: 25}),
    "priced trace": ("finetune-7b", {TRACE: "priced.json"}),
    "small trace": ("case-50k", {TRACE: "one.json"}),
    "short trace": ("case-50k", {TRACE: "short.csv"}),
    "one zone": ("case-50k", {HISTORY: "prices.csv"}),
    "named zone": ("case-50k", {HISTORY: "zones.csv", ZONE: "us-east-1b"}),
    "one price": ("case-50k", {HISTORY: "price.csv"}),
    "measured": ("case-50k", {MEASURED: "aws-02-15-2023/us-east-1a_v100_1", LAW: "weibull"}),
    "a provider's bucket": ("case-50k", {MEASURED: "azure 0-5% per hour"}),
}
every_situation = pytest.mark.parametrize("situation", SITUATIONS)


def counts(seed: int, n_days: int = 60) -> list[int]:
    """A market of four machines that are all there for about six hours, and then not all for about one."""
    rng = np.random.default_rng(seed)
    found: list[int] = []
    while len(found) * STEP_S < n_days * DAY:
        found += [4] * (1 + int(rng.exponential(6 * HOUR / STEP_S)))
        found += [int(rng.integers(0, 4))] * (1 + int(rng.exponential(HOUR / STEP_S)))
    return found[: int(n_days * DAY / STEP_S)]


def written(folder: Path) -> Path:
    """Files of markets and prices, in the forms that readers have."""
    seen, metadata = counts(1), {"gap_seconds": STEP_S}

    def rows(some: list[int]) -> str:
        return "time_s,available\n" + "".join(f"{STEP_S * i},{n}\n" for i, n in enumerate(some))

    def prices(*zones: str) -> str:
        moves = ((1, 2.5), (3, 5.0), (6, 2.0), (9, 2.0))
        cells = [f"{zone},{price},2026-01-{day:02d}T00:00:00Z\n" for zone in zones for day, price in moves]
        return "zone,usd_per_hour,timestamp\n" + "".join(cells)

    texts = {
        "market.csv": rows(seen),
        "short.csv": rows(seen[: int(3 * DAY / STEP_S)]),
        "always.csv": rows([4] * 10),
        "never.csv": rows([0] * 10),
        "broken.csv": "time_s,available\n0,four\n300,4\n",
        "market.json": json.dumps({"metadata": metadata, "data": seen}),
        "one.json": json.dumps({"metadata": metadata, "data": [min(n, 1) for n in seen]}),
        "priced.json": json.dumps(
            {"metadata": metadata, "data": seen, "prices": [1.0 + i // 288 % 2 / 2 for i in range(len(seen))]}
        ),
        "prices.csv": prices("us-east-1a"),
        "zones.csv": prices("us-east-1a", "us-east-1b"),
        "price.csv": "zone,usd_per_hour,timestamp\nus-east-1a,2.5,2026-01-01T00:00:00Z\n",
        "sentinel.csv": prices("us-east-1a").replace("5.0", "700.0"),
    }
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with files of markets and prices."""
    return written(tmp_path_factory.mktemp("markets"))


def asked(name: str, overrides: Overrides, folder: Path) -> plan.Plan:
    """A packaged plan with overrides, whose files lie in the folder."""
    there = {key: str(folder / str(value)) if key in FILES else value for key, value in overrides.items()}
    return plan.read(name, there)


class Answered:
    """What came of the situations, each computed once; without files of its own it is the same in every folder."""

    def __init__(self, make: Callable[[str, Path], Any]) -> None:
        self.make = functools.cache(make)

    def __call__(self, situation: str, folder: Path = NOWHERE) -> Any:
        """The one of that situation."""
        has_files = bool(set(FILES) & set(SITUATIONS[situation][1]))
        return self.make(situation, folder if has_files else NOWHERE)


_answer = Answered(lambda situation, folder: plan.savings(asked(*SITUATIONS[situation], folder)))
_decided = Answered(lambda situation, folder: buying.policies(answer(situation, folder)))
_seen = Answered(lambda situation, folder: buying.scenarios(answer(situation, folder)))


def answer(situation: str, folder: Path = NOWHERE) -> Savings:
    """The answer to one of the situations."""
    found: Savings = _answer(situation, folder)
    return found


def decided(situation: str, folder: Path = NOWHERE) -> Policies:
    """The policies of one of the situations."""
    found: Policies = _decided(situation, folder)
    return found


def seen(situation: str, folder: Path = NOWHERE) -> list[Scenario]:
    """The scenarios of one of the situations."""
    found: list[Scenario] = _seen(situation, folder)
    return found


def savings(overrides: Overrides | None = None, name: str = "case-50k") -> Savings:
    """The answer to a packaged plan with overrides."""
    return plan.savings(plan.read(name, overrides))


def drawn(found: Savings) -> spot.Outcomes:
    """The simulated runs on spot, where there are any."""
    assert found.outcomes is not None
    return found.outcomes


SENTENCE = r"[A-Z][^\n]*[^.\s]\."
WARNING = r"(?:[A-Z\d']|[a-z]+\.[a-z_]+ |[a-z\d-]+: )[^\n]*[^.\s][.?]"
NO_NUMBER = r"\bnan\b|\binf\b|None(?! of)|  |\(\)|, ,|\$-|\bunknown\b(?! here)"
SAID: dict[str, Callable[[Savings], str]] = {
    "headline": lambda found: found.headline,
    "where it goes": lambda found: found.where_it_goes,
    "how often": lambda found: found.how_often_to_save,
    "where it pays": lambda found: found.where_it_pays,
}


# What is said.


@every_situation
@pytest.mark.parametrize("name", SAID)
def test_what_is_said_of_spot_is_a_sentence(name: str, situation: str, folder: Path) -> None:
    """It is one line that starts with a capital, ends with a full stop, and holds no number that is none."""
    text = SAID[name](answer(situation, folder))
    assert re.fullmatch(SENTENCE, text)
    assert re.findall(NO_NUMBER, text) == []


@every_situation
def test_no_sentence_of_spot_tells_an_amount_without_end(situation: str, folder: Path) -> None:
    """A dollar, a day or an interval that is infinite is put into words."""
    found = answer(situation, folder)
    told = [*(say(found) for say in SAID.values()), *(text for _, text in found.facts), *found.warnings]
    assert [text for text in told if "unlimited" in text] == []


@every_situation
def test_warnings_and_facts_of_spot_hold_no_hole(situation: str, folder: Path) -> None:
    """Every key number has a text, every warning is a sentence, and none holds a number that is none."""
    found = answer(situation, folder)
    assert [text for text in found.warnings if not re.fullmatch(WARNING, text)] == []
    texts = [*(text for _, text in found.facts), *found.warnings]
    assert [text for text in texts if not text or re.search(NO_NUMBER, text)] == []


POLICED = [
    *("case-50k", "finetune-7b", "smollm3-3b", "torchtitan-8b", "llama-3-8b", "gpt2-124m-one-node"),
    *("hopeless", "elastic", "nothing is lost", "deadline met", "deadline missed", "deadline shorter than the run"),
    *("public trace", "priced trace", "short trace", "waits of a day", "a minute"),
]
every_policed = pytest.mark.parametrize("situation", POLICED)


@every_policed
def test_what_is_said_of_the_policies_is_a_sentence(situation: str, folder: Path) -> None:
    """Whatever came of them, it is one line without a number that is none."""
    text = decided(situation, folder).sentence
    assert re.fullmatch(SENTENCE, text)
    assert re.findall(f"{NO_NUMBER}|unlimited", text) == []


@every_situation
def test_a_span_has_the_unit_of_its_middle(situation: str, folder: Path) -> None:
    """The finish and its ends are told in one unit, be it minutes or years."""
    told = r"[\d.,e]+ (\w+) \([\d.,e]+ to (?:[\d.,e]+|never) (\w+)\)"
    assert [units for units in re.findall(told, answer(situation, folder).headline) if units[0] != units[1]] == []


# The numbers are those of the simulated runs.


@every_situation
def test_the_headline_holds_the_simulated_numbers(situation: str, folder: Path) -> None:
    """The mean bill with its percentiles, the finish, the mean bill on demand, and how many runs were simulated."""
    found = answer(situation, folder)
    if not found.finishes:
        assert "practically never finishes" in found.headline
        return
    runs, other = drawn(found), float(found.on_demand.usd.mean())
    low, high = np.percentile(runs.whole_usd, (5, 95), method="inverted_cdf").tolist()
    mid = float(runs.usd.mean())
    done = float(np.percentile(runs.wall_s, 50, method="inverted_cdf"))
    parts = [
        f"{percent(abs(1 - mid / other))} ",
        f"{usd(mid)} on average ({usd(low)} to {'no end' if math.isinf(high) else usd(high)}) instead of {usd(other)} ",
        f"done after {duration(done)} (",
        f"{runs.n_trials:,} simulated runs",
    ]
    assert [part for part in parts if part not in found.headline] == []


@every_situation
def test_the_saving_is_what_the_bills_say(situation: str, folder: Path) -> None:
    """It is one less the bill over the mean bill on demand, its ends the other way round."""
    found = answer(situation, folder)
    saving, bill, other = found.saving_fraction, found.usd, found.on_demand_usd
    ends = (saving.low, saving.mid, saving.high)
    assert ends == pytest.approx((1 - bill.high / other, 1 - bill.mid / other, 1 - bill.low / other))


@every_situation
def test_the_headline_says_which_is_cheaper(situation: str, folder: Path) -> None:
    """Where spot's middle is the cheaper it saves, else it costs more."""
    found = answer(situation, folder)
    if found.finishes:
        start = "Spot saves " if found.usd.mid <= found.on_demand_usd else "Spot costs "
        assert found.headline.startswith(start)


@every_situation
def test_probabilities_are_shares_of_the_runs(situation: str, folder: Path) -> None:
    """Paying more than on demand and missing the deadline are counted run by run."""
    found = answer(situation, folder)
    if found.outcomes is None:
        assert found.losing_fraction == 1.0
        return
    n = found.outcomes.n_trials
    dearer = (found.outcomes.usd > found.on_demand.usd[:n]) | ~found.outcomes.finished
    assert found.losing_fraction == pytest.approx(float(dearer.mean()))
    days = found.plan.market.deadline_days
    late = None if days is None else float((found.outcomes.wall_s > days * DAY).mean())
    assert found.late_fraction == late


@every_situation
def test_as_many_runs_on_demand_as_on_spot(situation: str, folder: Path) -> None:
    """Runs are compared one by one, so none lacks its partner."""
    found = answer(situation, folder)
    assert found.on_demand.n_trials >= found.n_trials


@every_situation
def test_every_run_on_demand_is_finished(situation: str, folder: Path) -> None:
    """A mean bill on demand is that of whole runs."""
    assert answer(situation, folder).on_demand.unfinished_fraction == 0


@every_situation
def test_the_parts_sum_to_the_mean_bill(situation: str, folder: Path) -> None:
    """Useful work, redo, writing, restarts, notices, waiting, storage and credits are all that is paid."""
    found = answer(situation, folder)
    parts = found.parts_usd()
    if found.outcomes is None or not found.outcomes.finished.any():
        assert parts == {}
        return
    runs = found.outcomes
    assert sum(parts.values()) == pytest.approx(float(runs.usd[runs.finished].mean()), rel=1e-9)
    assert {name for name, amount in parts.items() if amount < 0} <= {"first-hour credit"}


@every_situation
def test_the_shares_that_are_told_are_those_of_the_parts(situation: str, folder: Path) -> None:
    """Useful work first, then the three largest of the rest."""
    found = answer(situation, folder)
    parts = found.parts_usd()
    whole = sum(parts.values())
    for name in sorted(parts, key=lambda name: -parts[name])[:1]:
        assert percent(parts["useful work"] / whole) in found.where_it_goes
        assert name == "useful work" or f"{name} {percent(parts[name] / whole)}" in found.where_it_goes


@every_situation
def test_the_percentiles_rise(situation: str, folder: Path) -> None:
    """From the first to the 99th, both ways of buying; the 5th and the 95th are those of the headline."""
    found = answer(situation, folder)
    rows = found.rows()
    for name in ("spot_usd", "spot_wall_s", "on_demand_usd", "on_demand_wall_s"):
        column = [math.inf if row[name] is None else float(str(row[name])) for row in rows]
        assert column == sorted(column)
    at = {row["percentile"]: row["spot_usd"] for row in rows}
    if found.finishes:
        assert (at[5] or math.inf, at[95] or math.inf) == (found.usd.low, found.usd.high)


@every_situation
def test_the_answer_as_numbers_holds_nothing_infinite(situation: str, folder: Path) -> None:
    """What a program reads is finite or null, and the same as what is said."""
    found = answer(situation, folder)
    numbers = found.numbers()
    assert json.loads(json.dumps(numbers, allow_nan=False)) == numbers
    bill, saving, done = found.usd, found.saving_fraction, found.wall_s
    wanted = {
        "spot_usd": {"p5": bill.low, "mean": bill.mid, "p95": bill.high},
        "wall_s": {"p5": done.low, "p50": done.mid, "p95": done.high},
        "saving_fraction": {"at_p95": saving.low, "mean": saving.mid, "at_p5": saving.high},
        "on_demand": {"usd": found.on_demand_usd, "wall_s": found.on_demand.wall_range_s.mid},
    }
    finite = {
        name: {key: value if math.isfinite(value) else None for key, value in told.items()}
        for name, told in wanted.items()
    }
    assert {name: numbers[name] for name in wanted} == finite
    assert (numbers["n_trials"], numbers["parts_usd"]) == (found.n_trials, found.parts_usd())
    assert numbers["losses"] == (None if found.outcomes is None else float(found.outcomes.losses.mean()))


@pytest.mark.parametrize("situation", ["no checkpoints", "llama-2-7b", "hopeless", "seconds"])
def test_a_run_that_never_ends_has_no_bill(situation: str) -> None:
    """What was spent until a run was given up is no price of it, in the answer, its numbers and its percentiles."""
    found = answer(situation)
    assert (found.finishes, found.usd.mid) == (False, math.inf)
    assert {row["spot_usd"] for row in found.rows() if row["spot_wall_s"] is None} == {None}


@every_situation
def test_simulated_means_meet_their_closed_forms(situation: str, folder: Path) -> None:
    """On a market whose lives know no past they lie within four and a half standard errors."""
    assert [one for one in answer(situation, folder).checks() if abs(one.z_score) > 4.5] == []


def test_the_same_plan_gives_the_same_numbers_twice() -> None:
    """Nothing is left to chance between two calls."""
    first, second = drawn(savings({LAW: "weibull"})), drawn(savings({LAW: "weibull"}))
    assert np.array_equal(first.usd, second.usd)
    assert np.array_equal(first.wall_s, second.wall_s)


def test_plans_that_differ_in_price_see_the_same_losses() -> None:
    """Two plans differ by what was changed in them, not by luck."""
    assert np.array_equal(drawn(savings({DISCOUNT: 0.3})).preemptions, drawn(savings({DISCOUNT: 0.7})).preemptions)


def test_every_ending_is_met() -> None:
    """The situations hold runs that save, that lose and that never end."""
    endings = {
        "never" if not found.finishes else "saves" if found.saving_fraction.mid > 0 else "loses"
        for found in (answer(situation) for situation in ("case-50k", "dearer", "hopeless"))
    }
    assert endings == {"never", "saves", "loses"}


# The bill on demand, by hand.


def work_h(n_params: float = 3e9, n_tokens: float = 60e9, gpus: int = 32) -> float:
    """Hours of a run at the MFU of the case: 6 N D over the GPUs' rate."""
    return 6 * n_params * n_tokens / (gpus * 312e12 * 0.0696) / HOUR


def test_the_bill_on_demand_is_hours_times_price_and_what_failures_cost() -> None:
    """GPU hours times price times M e^(R/M) (e^((tau + delta)/M) - 1) / tau, for the best tau; within 0.5%."""
    M = 24 / (32 * 419 / (16384 * 54))
    write_h, restart_h = 36e9 / 1e9 / HOUR, (10 + 5) / 60
    tau = math.sqrt(2 * write_h * M)
    longer = M * math.exp(restart_h / M) * math.expm1((tau + write_h) / M) / tau
    assert savings().on_demand_usd == pytest.approx(32 * work_h() * 3.06 * longer, rel=0.005)


def test_without_failures_the_bill_on_demand_is_hours_times_price() -> None:
    """One checkpoint, that of the end, and its storage are all that comes on top."""
    found = savings({FAILURES: 0.0})
    stored, write_h = found.n_bytes / GB * 3 * 0.023 / (YEAR / 12 / HOUR), found.n_bytes / GB / HOUR
    assert found.on_demand_usd == pytest.approx((work_h() + write_h) * (32 * 3.06 + stored), rel=1e-9)


def test_goodput_is_not_applied() -> None:
    """The plan's share of paid hours is replaced by losses that are counted one by one, and a warning says so."""
    low, whole = (savings({"training.goodput_fraction": share}) for share in (0.5, 1.0))
    assert low.job == whole.job
    assert [any("goodput" in text for text in found.warnings) for found in (low, whole)] == [True, False]


# The market and the job, by hand.


@pytest.mark.parametrize(
    ("gpus", "per_node", "burst", "life_h"),
    [
        (32, 8, 1.0, 6.0),
        (32, 8, 2.5, 15.0),
        (32, 8, 4.0, 24.0),
        (33, 8, 1.0, 24 / 5),
        (1, 8, 1.0, 24.0),
        (32, 1, 2, 1.5),
    ],
)
def test_a_job_lives_as_long_as_its_nodes_let_it(gpus: int, per_node: int, burst: float, life_h: float) -> None:
    """A node's life times the nodes that one loss takes over all nodes, the last one perhaps in part."""
    found = savings({GPUS: gpus, "market.gpus_per_node": per_node, BURST: burst, EVERY: 10})
    assert found.market.mean_life_s / HOUR == pytest.approx(life_h)


def test_more_gpus_are_lost_more_often() -> None:
    """Twice the nodes live half as long, and failures come twice as often."""
    few, many = savings({GPUS: 32}).market, savings({GPUS: 64}).market
    ratios = (few.mean_life_s / many.mean_life_s, few.hardware_life_s / many.hardware_life_s)
    assert ratios == pytest.approx((2, 2))


@pytest.mark.parametrize(
    ("purchase", "discount", "on_spot", "on_demand"),
    [
        ("on_demand", 0.6, 97.92 * 0.4, 97.92),
        ("commit_3y", 0.25, 97.92 * 0.75, 97.92),
        ("spot", 0.6, 97.92, 97.92 / 0.4),
        ("on_demand", -1.0, 195.84, 97.92),
    ],
)
def test_prices_follow_from_the_plan_s_own(purchase: str, discount: float, on_spot: float, on_demand: float) -> None:
    """The plan's price is without the discount, or with it where it is bought on spot."""
    found = savings({PURCHASE: purchase, DISCOUNT: discount}).market
    assert (found.spot_usd_per_hour, found.on_demand_usd_per_hour) == pytest.approx((on_spot, on_demand))


@pytest.mark.parametrize(("purchase", "on_demand"), [("on_demand", 97.92), ("commit_1y", 97.92), ("spot", 97.92 / 0.4)])
def test_a_spot_price_of_the_plan_s_own_takes_the_place_of_the_discount(purchase: str, on_demand: float) -> None:
    """Dollars for one GPU and hour, times 32; what is paid otherwise stays as the discount has it."""
    found = savings({PURCHASE: purchase, SPOT_PRICE: 1.1}).market
    assert (found.spot_usd_per_hour, found.on_demand_usd_per_hour) == pytest.approx((32 * 1.1, on_demand))


def test_a_spot_price_gives_the_answer_of_its_discount() -> None:
    """$1.224 of $3.06 is the price less 60%."""
    bills = (found.usd for found in (savings({SPOT_PRICE: 1.224, DISCOUNT: 0.1}), answer("case-50k")))
    assert dataclasses.astuple(next(bills)) == pytest.approx(dataclasses.astuple(next(bills)))


def test_a_spot_price_ends_the_doubt_about_reserved_machines() -> None:
    """A discount off a reserved price is doubted, and the way out is named; a price of its own is not."""
    told = [[text for text in answer(name).warnings if SPOT_PRICE in text] for name in ("reserved", "own spot price")]
    assert [len(texts) for texts in told] == [1, 0]
    assert told[0][0].startswith("The discount is taken off the price reserved for a year: spot costs $1.22 per GPU")


def test_a_record_of_prices_comes_before_a_spot_price(folder: Path) -> None:
    """With both the record gives the price, and the other key is said to do nothing."""
    found = plan.savings(asked("case-50k", {HISTORY: "prices.csv", SPOT_PRICE: 1.1}, folder))
    assert found.market.spot_usd_per_hour == answer("one zone", folder).market.spot_usd_per_hour
    assert [text for text in found.warnings if SPOT_PRICE in text] == [
        f"{SPOT_PRICE} is not used: the price history takes its place."
    ]


@pytest.mark.parametrize("notice_s", [0, 30, 600])
def test_a_notice_that_nobody_acts_on_costs_nothing(notice_s: float) -> None:
    """The run works on until it is lost, so how long the notice is makes no difference."""
    found = savings({NOTICE: notice_s})
    assert (found.usd, found.wall_s) == (answer("case-50k").usd, answer("case-50k").wall_s)
    assert "notices" not in {name for name, amount in found.parts_usd().items() if amount}


@pytest.mark.parametrize(
    ("overrides", "share"),
    [
        ({}, 0.0),
        ({NOTICES: 0.8}, 0.8),
        ({NOTICES: 0.8, NOTICE: 46.0}, 0.8),
        ({NOTICES: 0.8, NOTICE: 45.9}, 0.0),
        ({NOTICES: 0.8, WRITE: 111 / 60}, 0.0),
        ({NOTICES: 0.8, WRITE: 110 / 60}, 0.8),
        ({NOTICES: 0.8, "market.notice_latency_s": 90}, 0.0),
        ({NOTICES: 0.8, SIZE: 1000}, 0.0),
    ],
)
def test_a_notice_helps_where_a_checkpoint_fits_into_it(overrides: Overrides, share: float) -> None:
    """36 s of writing and 10 s until it is seen fit into 46 s; with less, or more to write, nothing is saved."""
    assert savings(overrides).market.notice_success == share


def test_a_notice_that_saves_nothing_is_said_so() -> None:
    """Whoever acts on notices that are too short is told."""
    told = ["notices save nothing" in " ".join(answer(name).warnings) for name in ("notices", "notices too short")]
    assert told == [False, True]


@pytest.mark.parametrize(
    ("overrides", "usd_per_hour", "usd_per_restart"),
    [
        ({}, 36 * 3 * 0.023 / 730.5, 0.0),
        ({"market.moved_fraction": 0.5}, 36 * 3 * 0.023 / 730.5, 0.5 * 36 * 0.02),
        ({"market.kept_checkpoints": 0}, 0.0, 0.0),
        ({SIZE: 100.0, "market.storage_usd_per_gb_month": 0.1}, 100 * 3 * 0.1 / 730.5, 0.0),
        ({"market.moved_fraction": 1.0, "market.egress_usd_per_gb": 0.0}, 36 * 3 * 0.023 / 730.5, 0.0),
    ],
)
def test_storage_and_moves_cost_what_the_table_says(
    overrides: Overrides, usd_per_hour: float, usd_per_restart: float
) -> None:
    """S3 at $0.023 a GB and month and $0.02 a GB between regions, unless the plan has prices of its own."""
    found = savings(overrides).market.billing
    assert (found.usd_per_hour, found.usd_per_restart) == pytest.approx((usd_per_hour, usd_per_restart), rel=1e-3)


def test_hardware_fails_as_in_the_table_unless_the_plan_says_otherwise() -> None:
    """419 failures of 16,384 GPUs in 54 days; a rate of the plan's own; never at a rate of 0."""
    some: list[Overrides] = [{}, {FAILURES: 0.01}, {FAILURES: 0}]
    lives = [savings(one).market.hardware_life_s / DAY for one in some]
    assert lives == pytest.approx([16384 * 54 / 419 / 32, 100 / 32, math.inf])


@pytest.mark.parametrize(
    ("name", "overrides", "n_bytes"),
    [
        ("case-50k", {}, 3e9 * (4 + 8)),
        ("case-50k", {"memory.precision": "bf16-mixed"}, 3e9 * (4 + 8)),
        ("case-50k", {"memory.precision": "bf16"}, 3e9 * (2 + 4)),
        ("case-50k", {"memory.precision": "bf16", "memory.optimizer": "sgd-momentum"}, 3e9 * (2 + 2)),
        ("chinchilla-70b", {}, 70e9 * (2 + 4 + 8)),
        ("finetune-7b", {}, 6_738_415_616 * (4 + 8)),
        ("finetune-7b", {GPUS: 64}, 6_738_415_616 * (4 + 8)),
        ("finetune-7b", {"memory.optimizer": "lion"}, 6_738_415_616 * (4 + 4)),
        ("lora-7b-a100", {}, 32 * 2 * 8 * (4096 + 4096) * (4 + 8)),
        ("qlora-7b-t4", {}, 32 * 16 * (2 * (4096 + 4096) + 2 * (4096 + 1024)) * (4 + 8)),
    ],
)
def test_a_checkpoint_holds_weights_master_weights_and_state(name: str, overrides: Overrides, n_bytes: float) -> None:
    """Bytes a parameter of the whole model, however it is divided; of adapters what is trained, in FP32."""
    assert buying.checkpoint_bytes(plan.read(name, overrides)) == pytest.approx(n_bytes, rel=0.005)


def test_a_checkpoint_s_size_and_time_can_be_given() -> None:
    """A size of the plan's own over the rate of writing, or the minutes themselves."""
    sized, timed = savings({SIZE: 120.0, "training.checkpoint_gb_per_s": 4.0}), savings({WRITE: 3.0})
    assert (sized.n_bytes, sized.job.checkpoint_write_s) == (120 * GB, 30.0)
    assert timed.job.checkpoint_write_s == 3 * MINUTE


def test_the_job_is_the_plan_s() -> None:
    """Work at its MFU, the interval, the restart, and provisioning on top of each restart."""
    found = savings({RESTART: 20, "market.provision_min": 7})
    assert found.job.work_s == pytest.approx(work_h() * HOUR)
    assert (found.job.checkpoint_every_s, found.job.restart_s, found.restart_s) == (HOUR, 20 * MINUTE, 27 * MINUTE)


def test_active_parameters_decide_how_long_experts_take() -> None:
    """A mixture of experts computes with some of its weights and saves all of them."""
    found = savings({"model.architecture": "mixtral-8x7b"}, "finetune-7b")
    shape = found.plan.target_architecture
    assert shape is not None
    assert found.job.work_s == pytest.approx(6 * shape.n_active_params * 300e6 / (8 * 312e12 * 0.4))
    assert found.n_bytes == pytest.approx(12 * shape.n_params, rel=1e-6)


# How often to save.


@every_situation
def test_the_best_interval_costs_the_least_time(situation: str, folder: Path) -> None:
    """A little less and a little more of it take longer, and the flat zone holds it."""
    found = answer(situation, folder)
    best, zone = found.best_interval_s, found.flat_zone
    if not 0 < best < math.inf:
        return
    terms = {
        "mean_life_s": found.market.loss_life_s,
        "checkpoint_write_s": found.job.checkpoint_write_s,
        "notice_success": found.market.notice_success * found.market.preempted_fraction,
    }
    times = [float(spot.overhead(best * by, **terms)) for by in (0.8, 1.0, 1.25)]
    assert times[1] == min(times)
    assert zone.low_s < best < zone.high_s


@pytest.mark.parametrize("situation", ["interval longer than the run", "a minute"])
def test_an_interval_longer_than_the_run_costs_what_one_segment_does(situation: str) -> None:
    """Only the end is saved then: the loss that is told is that of the whole run in one piece."""
    found = answer(situation)
    told = re.search(r"costs ([\d.,]+)% more time", found.how_often_to_save)
    M, write_s, R = found.market.loss_life_s, found.job.checkpoint_write_s, found.restart_s
    one = M * math.exp(R / M) * math.expm1((found.job.work_s + write_s) / M)
    best = min(found.best_interval_s, found.job.work_s)
    least = found.job.work_s / best * M * math.exp(R / M) * math.expm1((best + write_s) / M)
    loss = float(told[1].replace(",", "")) / 100 if told else 0.0
    assert loss == pytest.approx(one / least - 1, abs=0.01)


def test_saving_as_often_as_is_best_is_cheaper() -> None:
    """The mean bill of simulated runs agrees with what is advised."""
    best = answer("case-50k").best_interval_s / MINUTE
    bills = [float(drawn(savings({EVERY: minutes})).usd.mean()) for minutes in (best / 5, best, 5 * best)]
    assert bills[1] == min(bills)


def test_spot_pays_from_the_break_even_life_on() -> None:
    """At that mean life, saved at the best interval, the bill is that on demand without its failures."""
    found = answer("case-50k")
    told = re.search(r"from a mean life of ([\d.]+) minutes on", found.where_it_pays)
    assert told
    at = savings({LIFE: 4 * float(told[1]) / 60, FAILURES: 0.0})
    then = savings({LIFE: 4 * float(told[1]) / 60, FAILURES: 0.0, EVERY: at.best_interval_s / MINUTE, NOTICE: 0})
    assert float(drawn(then).usd.mean()) == pytest.approx(then.on_demand_usd, rel=0.03)


@pytest.mark.parametrize(
    ("situation", "opening"),
    [
        ("case-50k", "Saved at the best interval and at 40% of the price on demand, spot is cheaper from"),
        ("reserved", "Saved at the best interval and at 40% of the price reserved for a year, spot is cheaper from"),
        ("weibull", "For memoryless lives and a run that stops at each interruption and at 40% of the price"),
        ("elastic", "For memoryless lives and a run that stops at each interruption and at 40% of the price"),
        ("no discount", "At 100% of the price on demand, spot is cheaper on no market."),
    ],
)
def test_where_it_pays_says_what_it_is_computed_for(situation: str, opening: str) -> None:
    """The plan's own market where that has a best interval, else one like it without memory."""
    assert answer(situation).where_it_pays.startswith(opening)


@pytest.mark.parametrize("situation", ["case-50k", "many failures", "notices", "interval longer than the run"])
def test_on_demand_is_saved_at_the_interval_that_is_best_there(situation: str) -> None:
    """That for hardware failures, or the end alone; half and twice as often cost more time there."""
    found = answer(situation)
    job, market = found.on_demand.job, found.market.on_demand()
    times = [
        spot.expected(dataclasses.replace(job, checkpoint_every_s=min(by * job.checkpoint_every_s, job.work_s)), market)
        for by in (0.5, 1.0, 2.0)
    ]
    wall_s = [one.wall_s.mean for one in times]
    assert wall_s[1] == min(wall_s)
    assert market.mean_life_s == math.inf


# Warnings.


@pytest.mark.parametrize(
    ("situation", "sentence"),
    [
        ("no checkpoints, short run", "No checkpoint is ever written"),
        ("interval longer than the run", "is longer than the run of"),
        ("write longer than the interval", "longer than the 5.00 minutes between two of them"),
        ("finetune-7b", "The goodput of 90% is not applied here"),
        ("dearer", "Spot is dearer than on demand here"),
        ("no discount", "Spot costs as much as on demand here"),
        ("seconds", "is the unit right?"),
        ("case-50k", "the plan's 24.0 hours is longer than any"),
        ("seconds", "nobody has published those of newer ones"),
        ("case-50k", "lost one by one here, the worst case"),
        ("own trace", "Lives and waits are those of market"),
        ("small trace", "It watched 1 of the 4 nodes"),
    ],
)
def test_what_must_be_known_of_a_market_is_a_warning(situation: str, sentence: str, folder: Path) -> None:
    """Each doubt has its sentence, once."""
    assert len([text for text in answer(situation, folder).warnings if sentence in text]) == 1


def test_without_checkpoints_the_headline_says_why_it_never_ends() -> None:
    """The guard-rail is in plain words."""
    assert answer("no checkpoints").headline.startswith("Without checkpoints this run practically never finishes")


@pytest.mark.parametrize(("name", "sentence"), [("sentinel.csv", "700"), ("price.csv", "one price only")])
def test_what_is_odd_about_a_price_history_is_a_warning(name: str, sentence: str, folder: Path) -> None:
    """A price that stands for none, and a single price, are named under the answer."""
    found = plan.savings(asked("case-50k", {HISTORY: name}, folder))
    assert [text for text in found.warnings if sentence in text] != []


# Recorded markets and prices.


@pytest.mark.parametrize("situation", ["own trace", "public trace"])
def test_a_recorded_market_takes_the_place_of_the_law(situation: str, folder: Path) -> None:
    """Lives and waits are those of its whole spells with all four nodes there, counted by hand."""
    groups = [(up, len(list(run))) for up, run in itertools.groupby(n >= 4 for n in counts(1))]
    ups, downs = ([n * STEP_S for is_up, n in groups[1:-1] if is_up == wanted] for wanted in (True, False))
    market = answer(situation, folder).market
    assert market.law.name == "joint"
    assert market.mean_life_s == pytest.approx(statistics.mean(ups), rel=0.03)
    assert market.capacity_wait_s == pytest.approx(statistics.mean(downs), rel=0.03)


def test_a_measured_market_gives_lives_bursts_and_waits() -> None:
    """Those of its row in the table stand in for the plan's own, and a warning says so."""
    found = answer("measured")
    (row,) = [one for one in tables.rows("spot_traces.csv") if one["name"] == found.plan.market.measured]
    life_h = float(row["mean_burst_nodes"]) / 4 / float(row["losses_per_node_hour"])
    assert found.market.mean_life_s / HOUR == pytest.approx(life_h, rel=1e-3)
    assert found.market.capacity_wait_s / HOUR == pytest.approx(float(row["mean_down_h"]), rel=1e-3)
    assert [text for text in found.warnings if "market.node_life_h, burst_nodes and capacity_wait_min are not" in text]


def test_a_bucket_stands_for_its_worst_end() -> None:
    """Five per cent an hour: a node is lost after -1 / ln(0.95) hours, one of four after a quarter of that."""
    found = answer("a provider's bucket")
    assert found.market.mean_life_s / HOUR == pytest.approx(-1 / math.log(0.95) / 4, rel=0.01)


def test_csv_and_json_of_one_market_give_one_answer(folder: Path) -> None:
    """The form of the file does not matter."""
    assert answer("own trace", folder).usd == answer("public trace", folder).usd


def test_a_job_of_more_nodes_than_were_watched_is_lost_more_often(folder: Path) -> None:
    """One machine stands for each of four, lost independently."""
    found = answer("small trace", folder)
    assert found.recorded is not None
    assert found.recorded.lives.mean_s is not None
    assert found.market.mean_life_s == pytest.approx(found.recorded.lives.mean_s / 4)


def test_a_file_that_is_written_anew_is_read_anew(tmp_path: Path) -> None:
    """What was computed before is not shown for what the file says now."""
    file = tmp_path / "mine.csv"
    rows = [f"{STEP_S * i},{n}\n" for i, n in enumerate(counts(2, 10))]
    file.write_text("time_s,available\n" + "".join(rows))
    before = savings({TRACE: str(file)}).market.mean_life_s
    file.write_text(
        "time_s,available\n"
        + "".join(row.replace(f"{STEP_S * i}", f"{2 * STEP_S * i}", 1) for i, row in enumerate(rows))
    )
    assert savings({TRACE: str(file)}).market.mean_life_s == pytest.approx(2 * before)


def test_a_record_of_prices_gives_the_price(folder: Path) -> None:
    """The mean over time of a machine of eight GPUs, (2 x 2.5 + 3 x 5 + 3 x 2) / 8 days, times four; no discount."""
    found = answer("one zone", folder)
    assert found.market.spot_usd_per_hour == pytest.approx(4 * (2 * 2.5 + 3 * 5.0 + 3 * 2.0) / 8)
    assert found.market.on_demand_usd_per_hour == pytest.approx(32 * 3.06)


def test_prices_that_move_spread_the_bill_and_keep_its_mean(folder: Path) -> None:
    """Who starts when decides more of the bill; on average it is that of the mean price."""
    moving = answer("one zone", folder)
    share = 1 - moving.market.spot_usd_per_hour / moving.market.on_demand_usd_per_hour
    still = drawn(savings({DISCOUNT: share}))
    assert float(drawn(moving).usd.mean()) == pytest.approx(float(still.usd.mean()), rel=0.01)
    assert float(drawn(moving).usd.std()) > 1.2 * float(still.usd.std())


def test_a_named_zone_is_the_one_that_counts(folder: Path) -> None:
    """Two zones of the same prices give the answer of one."""
    assert answer("named zone", folder).usd == answer("one zone", folder).usd


# Bad values.

REFUSED: dict[str, tuple[Overrides, str]] = {
    "burst": ({BURST: 5.0}, r"^market\.burst_nodes is 5, but 32 GPUs .* take 4: write 4 or less$"),
    "percentage": ({DISCOUNT: 60}, r"^market\.spot_discount_fraction .*write 0\.6$"),
    "all of the price": ({DISCOUNT: 1.0}, r"^market\.spot_discount_fraction must be from -1 to 0\.999"),
    "no life": ({LIFE: 0}, r"^market\.node_life_h must be from 0\.001 to 1e6 hours, not 0$"),
    "no interval": ({EVERY: 0}, r"^training\.checkpoint_every_min must be from 0\.01 "),
    "no number": ({LIFE: math.nan}, r"^market\.node_life_h .*not nan$"),
    "a notice of two": ({NOTICES: 2.0}, r"^market\.notice_reliability_fraction .*write 0\.02$"),
    "no spot price": ({SPOT_PRICE: 0}, r"^market\.spot_usd_per_gpu_hour must be from 0\.001 to 1,?000 USD.*not 0$"),
    "law": ({LAW: "weibul"}, r"^market\.life_law must be .*Did you mean 'weibull'"),
    "elastic survivors": (
        {ELASTIC: True, KEEPS: True},
        r"^market\.elastic and market\.keeps_survivors are both set.*leave one",
    ),
    "failures": (
        {FAILURES: 10.0},
        (
            r"^on demand too the run would practically never finish: hardware fails every 4\.50 minutes of the job.*:"
            r" check market\.failures_per_gpu_day, training\.restart_min and training\.checkpoint_write_min$"
        ),
    ),
    "no trace": ({TRACE: "none.csv"}, r"^market\.trace: no file '.*none\.csv'"),
    "no history": ({HISTORY: "none.csv"}, r"^market\.price_history: no file '.*none\.csv'"),
    "elastic trace": (
        {TRACE: "market.csv", ELASTIC: True},
        r"^market\.elastic and market\.trace are both set.*leave one",
    ),
    "elastic prices": (
        {HISTORY: "prices.csv", ELASTIC: True},
        r"^market\.elastic and market\.price_history are both set.*leave one",
    ),
    "never lost": ({TRACE: "always.csv"}, r"^market\.trace: "),
    "never there": ({TRACE: "never.csv"}, r"market\.trace"),
    "broken": ({TRACE: "broken.csv"}, r"'broken\.csv', line 2, column available: 'four'"),
    "prices for a trace": ({TRACE: "prices.csv"}, r"'prices\.csv' has no column for available"),
    "trace for prices": ({HISTORY: "market.csv"}, r"'market\.csv' has no column zone"),
    "no end": ({MEASURED: "aws >20% per month"}, r"^market\.measured is 'aws >20% per month', which has no upper end"),
    "no such market": ({MEASURED: "aws"}, r"^market\.measured names no measured market 'aws'"),
    "several zones": ({HISTORY: "zones.csv"}, r"^market\.price_history has the zones us-east-1a, us-east-1b: name one"),
    "unknown zone": ({HISTORY: "zones.csv", ZONE: "us-east-1c"}, r"market\.zone.*us-east-1c"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_no_market_can_be_is_one_sentence(case: str, folder: Path) -> None:
    """The error is one line that names the key, or the place in the file, and what can be."""
    overrides, sentence = REFUSED[case]
    with pytest.raises((ValueError, tables.UnknownName), match=sentence) as error:
        plan.savings(asked("case-50k", overrides, folder))
    assert re.findall(r"\n|0\.00\d+ days|\bn_nodes\b|mean_life_s", str(error.value)) == []


ELASTIC_WITH: dict[str, object] = {TRACE: "market.csv", HISTORY: "prices.csv", KEEPS: True}


@pytest.mark.parametrize("key", ELASTIC_WITH)
def test_what_an_elastic_run_cannot_have_is_refused_by_the_plan(key: str, folder: Path) -> None:
    """In whichever order the two are set, before anything is computed; each alone is a plan."""
    both = f"^market.elastic and {key} are both set, and a run that goes on with fewer nodes is simulated without"
    alone, elastic = asked("case-50k", {key: ELASTIC_WITH[key]}, folder), plan.read("case-50k", {ELASTIC: True})
    for one, missing in ((alone, {ELASTIC: True}), (elastic, {key: alone.value(key)})):
        with pytest.raises(plan.PlanError, match=both):
            plan.replace(one, missing)
    with pytest.raises(plan.PlanError, match=both):
        asked("case-50k", {ELASTIC: True, key: ELASTIC_WITH[key]}, folder)


def test_a_run_that_ends_on_demand_neither_is_an_error() -> None:
    """Restarts of days on 8,192 GPUs that fail every six hours end nowhere, and no bill is told for it."""
    with pytest.raises(ValueError, match="on demand too the run would practically never finish"):
        savings({RESTART: 2400}, "llama-3-8b")


# Saved and sent.


def test_a_plan_that_never_saves_survives_a_file_and_a_token(tmp_path: Path) -> None:
    """An interval of inf is written and read back as such."""
    mine = plan.read("case-50k", {EVERY: math.inf, DEADLINE: 30})
    again = [plan.read(mine.save(tmp_path / "mine.toml")), plan.read(mine.token())]
    assert [(one.training.checkpoint_every_min, one.market.deadline_days) for one in again] == [(math.inf, 30)] * 2
    assert {plan.savings(one).headline for one in again} == {plan.savings(mine).headline}


@pytest.mark.parametrize(("key", "name"), [(TRACE, "market.csv"), (HISTORY, "prices.csv")])
def test_a_saved_plan_finds_its_files(key: str, name: str, tmp_path: Path) -> None:
    """Relative to the folder that it is saved in, whichever that is, and the answer is the same."""
    written(tmp_path)
    (tmp_path / "plan.toml").write_text(case_text(key, name), encoding="utf-8")
    mine = plan.read(tmp_path / "plan.toml")
    (tmp_path / "deep" / "er").mkdir(parents=True)
    moved = plan.read(mine.save(tmp_path / "deep" / "er" / "mine.toml"))
    assert moved.value(key) == f"../../{name}"
    assert plan.savings(moved).usd == plan.savings(mine).usd


def case_text(key: str, name: str) -> str:
    """The default plan with a file of its own."""
    text = tables.path("plans/case-50k.toml").read_text(encoding="utf-8")
    section, short = key.split(".")
    return text.replace(f"[{section}]\n", f'[{section}]\n{short} = "{name}"\n')


def test_a_token_finds_its_files_in_the_current_folder(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A token is read with the paths of the folder where it is read."""
    (tmp_path / "plan.toml").write_text(case_text(TRACE, "market.csv"), encoding="utf-8")
    (tmp_path / "market.csv").write_text((folder / "market.csv").read_text())
    token = plan.read(tmp_path / "plan.toml").token()
    monkeypatch.chdir(folder)
    assert plan.savings(plan.read(token)).usd == answer("own trace", folder).usd


# What if the market were another?


def test_the_scenarios_are_these() -> None:
    """What is told, the plan itself, and one change at a time."""
    assert [one.name for one in seen("case-50k")] == [
        "as it is told",
        "this plan",
        "losing what is told",
        "best interval",
        "longest lives",
        "middle lives",
        "shortest lives",
        "a market that waits",
        "in bursts",
        "early losses",
        "notices acted on",
        "fewer nodes go on",
    ]


@pytest.mark.parametrize(
    ("situation", "absent"),
    [
        ("finetune-7b", {"as it is told", "losing what is told", "in bursts", "fewer nodes go on"}),
        ("elastic", {"early losses", "fewer nodes go on"}),
        ("notices", {"notices acted on"}),
        ("survivors", {"in bursts"}),
        ("own trace", {"in bursts", "a market that waits", "early losses", "notices acted on", "fewer nodes go on"}),
    ],
)
def test_a_scenario_that_changes_nothing_is_left_out(situation: str, absent: set[str], folder: Path) -> None:
    """What a plan does already, or cannot have, is no scenario."""
    names = [one.name for one in seen(situation, folder)]
    assert sorted(absent & set(names)) == []
    assert len(names) == len(set(names))


def test_what_is_told_is_the_arithmetic_of_the_case() -> None:
    """Two restarts of two hours each, at 32 GPUs times $3.06 less 60%."""
    told = seen("case-50k")[0]
    bill = (work_h() + 2 * 2) * 32 * 3.06 * 0.4
    assert (told.usd.low, told.usd.mid, told.usd.high) == pytest.approx((bill, bill, bill))
    assert told.wall_s.mid == pytest.approx((work_h() + 4) * HOUR)
    assert told.losses == 2
    assert told.saving_fraction == pytest.approx(1 - bill / (work_h() * 32 * 3.06))


def middle(column: str, keep: Callable[[dict[str, str]], bool]) -> float:
    """The median of a column of the markets that were watched."""
    return statistics.median(float(row[column]) for row in tables.rows("spot_traces.csv") if keep(dict(row)))


CHANGES: dict[str, Callable[[], Overrides]] = {
    "this plan": dict,
    "losing what is told": lambda: {EVERY: 240.0},
    "best interval": lambda: {EVERY: answer("case-50k").best_interval_s / MINUTE},
    "in bursts": lambda: {BURST: middle("mean_burst_nodes", lambda row: row["capacity"] == "4")},
    "a market that waits": lambda: {
        WAIT: 60 * middle("mean_down_h", lambda row: row["gpu"].startswith("V100") and bool(row["mean_down_h"]))
    },
    "early losses": lambda: {LAW: "weibull"},
    "notices acted on": lambda: {NOTICES: 1.0},
    "fewer nodes go on": lambda: {ELASTIC: True},
}


@pytest.mark.parametrize("name", CHANGES)
def test_a_scenario_is_the_plan_with_that_change(name: str) -> None:
    """Its bill, finish, losses and saving are those of the answer to the changed plan."""
    (told,) = [one for one in seen("case-50k") if one.name == name]
    found = savings(CHANGES[name]())
    assert (told.usd, told.wall_s) == (found.usd, found.wall_s)
    assert told.saving_fraction == found.saving_fraction.mid
    assert told.losses == pytest.approx(float(drawn(found).losses.mean()))


def test_scenarios_leave_the_plan_as_it_is() -> None:
    """Each starts from the plan, not from the one before."""
    before = answer("case-50k").plan
    buying.scenarios(answer("case-50k"))
    assert answer("case-50k").plan == before == plan.read("case-50k")


@pytest.mark.parametrize("situation", ["hopeless", "no checkpoints", "one zone"])
def test_scenarios_of_a_hard_plan_are_told(situation: str, folder: Path) -> None:
    """A run that never ends has scenarios too, some of which end."""
    found = seen(situation, folder)
    assert {"this plan", "best interval"} <= {one.name for one in found}
    assert [one.name for one in found if math.isnan(one.usd.mid)] == []


# Deadlines.


@every_policed
def test_the_best_policy_is_the_cheapest_that_is_late_no_more_often_than_on_demand(
    situation: str, folder: Path
) -> None:
    """None of those costs less on average; there is no best where on demand is late in most runs, or none was tried."""
    found = decided(situation, folder)
    if not found.outcomes:
        assert found.best is None
        return
    deadline_s, runs = found.deadline_s, answer(situation, folder).on_demand
    most_late = runs.late_fraction(deadline_s)
    assert found.on_demand.late_fraction == most_late
    assert (found.best is None) == (most_late >= 0.5)
    if found.best is not None:
        in_time = [one for one in found.outcomes if one.clearly_late_fraction <= most_late]
        assert found.best in in_time
        assert found.best.mean_usd == min(one.mean_usd for one in in_time)


@every_policed
def test_every_policy_is_tried_once(situation: str, folder: Path) -> None:
    """Spot alone, unless it never ends, and on demand alone beside those that change between them."""
    found = decided(situation, folder)
    names = [one.policy for one in found.outcomes]
    alone = [] if answer(situation, folder).outcomes is None else ["spot_only"]
    wanted = sorted(set(spot.POLICIES) - {"spot_only"} | set(alone)) if names else []
    assert sorted(names) == wanted


@every_policed
def test_spot_alone_and_on_demand_alone_are_those_of_the_simulation(situation: str, folder: Path) -> None:
    """Bill, finish, lateness and preemptions of every simulated run, hardware failures included."""
    found, own = decided(situation, folder), answer(situation, folder)
    runs = {"spot_only": own.outcomes, "on_demand": own.on_demand}
    for one in (one for one in found.outcomes if one.policy in runs):
        simulated = runs[one.policy]
        assert simulated is not None
        assert (one.n_runs, one.mean_usd) == (simulated.n_trials, float(simulated.usd.mean()))
        assert (one.mean_finish_s, one.mean_preemptions) == (
            float(simulated.wall_s.mean()),
            float(simulated.preemptions.mean()),
        )
        assert one.late_fraction == float((simulated.wall_s > found.deadline_s).mean())


@pytest.mark.parametrize("failures_per_gpu_day", [0.0, 5e-3])
def test_policies_that_never_leave_spot_are_spot_alone(failures_per_gpu_day: float) -> None:
    """Where machines stay for a century each finishes as the simulated run does: checkpoints and failures included."""
    quiet = {LIFE: 1e6, FAILURES: failures_per_gpu_day, DEADLINE: 60}
    found = buying.policies(plan.savings(plan.read("case-50k", quiet)))
    (alone,) = [one for one in found.outcomes if one.policy == "spot_only"]
    finishes = [one.mean_finish_s for one in found.outcomes if one.policy not in ("spot_only", "on_demand")]
    assert len(finishes) == len(found.outcomes) - 2
    assert finishes == pytest.approx([alone.mean_finish_s] * len(finishes), rel=1e-3)


@every_policed
def test_policies_that_were_not_tried_say_why(situation: str, folder: Path) -> None:
    """Where there are none the sentence is the reason."""
    found = decided(situation, folder)
    assert bool(found.outcomes) == (not found.why_not)
    assert found.outcomes or found.sentence == found.why_not


@pytest.mark.parametrize("situation", ["case-50k", "deadline met", "deadline missed", "finetune-7b"])
def test_machines_on_demand_cost_the_same_on_both_pages(situation: str) -> None:
    """The bill on demand that the policies are held against is the one of the headline."""
    (plain,) = [one for one in decided(situation).outcomes if one.policy == "on_demand"]
    assert (plain.mean_usd, plain.saving_fraction) == (answer(situation).on_demand_usd, 0)


@pytest.mark.parametrize("situation", ["case-50k", "deadline met", "deadline missed", "finetune-7b"])
def test_what_a_policy_saves_is_of_the_bill_on_demand_that_is_told(situation: str) -> None:
    """The per cent of each follow from its dollars and those of the headline; the best one's are in the sentence."""
    found, other = decided(situation), answer(situation).on_demand_usd
    saved = [one.saving_fraction for one in found.outcomes]
    assert saved == pytest.approx([1 - one.mean_usd / other for one in found.outcomes])
    assert found.best is not None
    assert f"{usd(found.best.mean_usd)} on average" in found.sentence
    told = f"{percent(1 - found.best.mean_usd / other)} less than on demand"
    assert (told in found.sentence) == (found.best.policy != "on_demand")


@pytest.mark.parametrize("situation", ["case-50k", "waits of a day"])
def test_a_replay_of_spot_alone_agrees_with_the_simulation(situation: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Paths in steps and renewals without agree on mean finish and bill within five per cent, where waits are long."""
    found = answer(situation)
    monkeypatch.setattr(importlib.import_module("costkit.plan.buying.policies"), "MIXED", ("spot_only",))
    on_paths = buying.policies(found).outcomes[-1]
    assert (on_paths.policy, on_paths.n_runs) == ("spot_only", N_PATHS)
    assert on_paths.mean_finish_s == pytest.approx(float(drawn(found).wall_s.mean()), rel=0.05)
    assert on_paths.mean_usd == pytest.approx(float(drawn(found).usd.mean()), rel=0.05)


def test_a_deadline_that_nobody_keeps_is_said_so() -> None:
    """There is no best policy then, and the sentence tells how long the run takes on demand."""
    found = decided("deadline shorter than the run")
    takes = duration(answer("deadline shorter than the run").on_demand.wall_range_s.mid)
    told = f"No way of buying keeps the deadline of 5.00 days: on demand too the run takes {takes}."
    assert (found.best, found.sentence) == (None, told)


@pytest.mark.parametrize(
    ("name", "overrides"), [("torchtitan-8b", {}), ("case-50k", {LIFE: 12, WAIT: 1440, DEADLINE: 300})]
)
def test_machines_that_outlive_many_changeovers_are_not_lost_too_often(name: str, overrides: Overrides) -> None:
    """A mean life of several changeovers is worth a policy, however far the deadline is."""
    found = buying.policies(savings(overrides, name))
    assert found.answer.market.mean_life_s > 3 * found.overhead_s
    assert "too often" not in found.sentence


@pytest.mark.parametrize(("later_s", "nobody"), [(-600, True), (600, False)])
def test_a_deadline_is_kept_where_most_runs_on_demand_keep_it(later_s: float, nobody: bool) -> None:
    """Ten minutes before the middle one is done nobody keeps it; ten minutes after that somebody does."""
    middle_s = answer("case-50k").on_demand.wall_range_s.mid
    found = buying.policies(savings({DEADLINE: (middle_s + later_s) / DAY}))
    assert (found.best is None, found.sentence.startswith("No way of buying keeps the deadline")) == (nobody, nobody)


def test_a_run_of_few_changeovers_has_nothing_to_decide() -> None:
    """Four of them, a restart and half an interval each, are longer than the run: that is said, and nothing tried."""
    found, ideal_s = decided("a minute"), answer("a minute").job.ideal_s
    assert found.overhead_s == answer("a minute").restart_s + answer("a minute").job.work_s / 2
    assert (ideal_s < 4 * found.overhead_s, found.outcomes, found.best) == (True, (), None)
    assert found.sentence == (
        f"The run of {duration(ideal_s)} is shorter than 4 changeovers of {duration(found.overhead_s)}: there is"
        " nothing to decide on the way."
    )


@pytest.mark.parametrize(("times", "is_tried"), [(3.9, False), (4.1, True)])
def test_four_changeovers_are_enough_to_decide(times: float, is_tried: bool) -> None:
    """A run just longer than them is tried, one just shorter is not."""
    restart_min = 60.0
    overhead_s = (restart_min + 5 + 30) * MINUTE
    hours = times * overhead_s / HOUR
    found = buying.policies(savings({TOKENS: 60e9 * hours / work_h(), RESTART: restart_min}))
    assert found.overhead_s == pytest.approx(overhead_s)
    assert bool(found.outcomes) == is_tried


@pytest.mark.parametrize(("share", "n_draws", "is_tried"), [(1.0, 1, True), (0.25, 3, True), (0.01, 4, False)])
def test_paths_that_are_too_short_are_drawn_longer(
    share: float, n_draws: int, is_tried: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Twice as long each time, until every policy is done on all of them; after four times that is said instead."""
    lengths: list[float] = []
    whole = spot.random_paths

    def shorter(**terms: Any) -> spot.Paths:
        lengths.append(terms["duration_s"])
        return whole(**{**terms, "duration_s": share * terms["duration_s"]})

    monkeypatch.setattr(spot, "random_paths", shorter)
    found = buying.policies(answer("case-50k"))
    assert lengths == pytest.approx([lengths[0] * 2**i for i in range(n_draws)])
    assert (bool(found.outcomes), "too long for these policies" in found.sentence) == (is_tried, not is_tried)


def test_a_plan_without_a_deadline_gets_one() -> None:
    """A tenth more than the undisturbed time, and two changeovers."""
    found = decided("case-50k")
    assert found.overhead_s == 45 * MINUTE
    assert found.deadline_s == pytest.approx(1.1 * answer("case-50k").job.ideal_s + 2 * 45 * MINUTE)


def test_a_recorded_market_is_replayed_from_every_start(folder: Path) -> None:
    """Of sixty days, each step from which the whole deadline was watched; two deadlines fit one after the other."""
    found = decided("public trace", folder)
    n_starts = int((60 - 25) * DAY / STEP_S) + 1
    mixed = [one for one in found.outcomes if one.policy not in ("spot_only", "on_demand")]
    assert ({one.n_runs for one in mixed}, found.windows) == ({n_starts}, 2)


def test_a_trace_shorter_than_the_deadline_tries_nothing(folder: Path) -> None:
    """It says how long was watched."""
    found = decided("short trace", folder)
    assert (found.outcomes, "short spans 3.00 days, less than the deadline" in found.sentence) == ((), True)


def test_nothing_is_decided_where_nothing_is_lost() -> None:
    """Spot that is next to never taken away is simply cheaper, alone or in any policy that starts on it."""
    found = decided("nothing is lost")
    assert found.best is not None
    assert found.best.policy in set(spot.POLICIES) - {"on_demand"}
    assert found.best.saving_fraction == pytest.approx(0.6, abs=0.005)


@pytest.mark.parametrize("name", plan.names())
def test_the_keys_of_the_answer_are_keys_of_a_plan(name: str) -> None:
    """What the answer is said to rest on can be listed, each once."""
    known = {one.key for one in plan.inputs(plan.read(name))} | set(plan.fields())
    assert [key for key in buying.KEYS if not any(one == key or one.startswith(f"{key}.") for one in known)] == []
