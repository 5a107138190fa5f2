from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from costkit import tables, training
from costkit.training import Run, Scaled, scale
from costkit.units import DAY, HOUR, Range

A100, H100 = "A100-SXM4-80GB", "H100-SXM5-80GB"
BATCH, SEQUENCE, CRITICAL = 2e6, 4096, 4e6
counts = st.integers(1, 100_000)
fleets = st.lists(counts, min_size=2, max_size=8)
criticals = st.just(math.inf) | st.floats(1e4, 1e9)


def reference(n_gpus: int = 64) -> Run:
    """A run of 7B on 100B tokens on so many A100s."""
    return training.run(flop=4.2e21, gpu=A100, n_gpus=n_gpus, usd_per_gpu_hour=2, mfu=0.4)


def scaled(n_gpus: list[int], of: int = 64, /, **changed: Any) -> list[Scaled]:
    """That run on other numbers of GPUs, with something changed."""
    usual: dict[str, Any] = {
        "reference_n_gpus": of,
        "usd_per_gpu_hour": 2,
        "batch_tokens": BATCH,
        "least_tokens_per_gpu": SEQUENCE,
    }
    return training.scale_out(reference(of), n_gpus=n_gpus, **{**usual, **changed})


def ends(value: Range) -> list[float]:
    """Low, mid and high."""
    return [value.low, value.mid, value.high]


def point(hours: float, usd: float, *, slack: float = 1.0) -> Scaled:
    """A run that takes so long and costs so much, and up to `slack` times as long."""
    wall_s = Range(hours * HOUR, hours * HOUR, slack * hours * HOUR)
    return Scaled(8, 1.0, BATCH, 1.0, Range.exact(1.0), wall_s, Range.exact(usd))


points = st.lists(st.builds(point, st.integers(1, 20).map(float), st.integers(1, 20).map(float)), max_size=12)


# What more GPUs cost.


def test_weak_scaling_holds_what_was_measured() -> None:
    """The 91% of its speed per GPU that llm-foundry's 7B kept from 8 to 512 H100s, six doublings, is in the range."""
    found = training.weak_scaling()
    assert found.low < 0.91 ** (1 / 6) < found.high


def test_a_doubling_loses_a_few_percent() -> None:
    """After a doubling of GPUs more than 95% of each GPU's throughput is left, and never more than all of it."""
    found = training.weak_scaling()
    assert 0.95 < found.low < found.mid < found.high <= 1


def benchmark(n_gpus: int, tokens_per_s_per_gpu: float, **changed: str) -> dict[str, str]:
    """A row of measured throughput, with something changed."""
    row = next(row for row in tables.rows("measured_throughput.csv") if row["checkpointing"] == "none")
    return {**row, "n_gpus": str(n_gpus), "tokens_per_s_per_gpu": str(tokens_per_s_per_gpu), **changed}


@pytest.fixture
def measured(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[list[dict[str, str]]], Range]]:
    """Weak scaling of other rows than the table's."""

    def weak_scaling_of(rows: list[dict[str, str]]) -> Range:
        monkeypatch.setattr(tables, "rows", {"measured_throughput.csv": rows}.__getitem__)
        training.weak_scaling.cache_clear()
        return training.weak_scaling()

    yield weak_scaling_of
    monkeypatch.undo()
    training.weak_scaling.cache_clear()


@pytest.mark.parametrize("kind", ["model", "gpu", "micro_batch", "grad_accumulation", "precision_printed", "seq_len"])
def test_only_equal_work_is_compared(kind: str, measured: Callable[[list[dict[str, str]]], Range]) -> None:
    """A row of another model, micro-batch or accumulation changes nothing about what a doubling leaves."""
    same = [benchmark(8 * 2**k, 1000 * 0.97**k) for k in range(4)]
    found = measured([*same, benchmark(128, 2000, **{kind: "7"})])
    assert ends(found) == pytest.approx([0.97, 0.97, 0.97])


def test_recomputation_is_left_out(measured: Callable[[list[dict[str, str]]], Range]) -> None:
    """Rows with recomputation, whose work is another, have no part in it."""
    same = [benchmark(8 * 2**k, 1000 * 0.97**k) for k in range(4)]
    recomputed = [benchmark(8 * 2**k, 1000 * 0.5**k, checkpointing="full", model="other") for k in range(4)]
    assert ends(measured([*same, *recomputed])) == pytest.approx([0.97, 0.97, 0.97])


def test_weak_scaling_is_of_the_runs_that_its_docstring_names() -> None:
    """Seven lines of up to 512 GPUs, and one that rises: the high end is cut at 1."""
    lines = list(scale.equal_work())
    slopes = [np.polyfit(x, y, 1)[0] for x, y in lines]
    assert (len(lines), max(2**at for x, _ in lines for at in x)) == (7, 512)
    assert sum(slope > 0 for slope in slopes) == 1
    assert training.weak_scaling().high == 1


@given(of=counts, critical=criticals)
def test_the_same_count_is_the_same_run(of: int, critical: float) -> None:
    """On as many GPUs as before a run takes the same hours, time and dollars, with nothing lost."""
    (same,) = scaled([of], of, batch_tokens=of * SEQUENCE, critical_batch_tokens=critical)
    run = reference(of)
    assert (same.n_gpus, same.efficiency_fraction, same.tokens_ratio) == (of, 1, 1)
    for ours, theirs in ((same.gpu_hours, run.gpu_hours), (same.wall_s, run.wall_s), (same.usd, run.usd)):
        assert ends(ours) == pytest.approx(ends(theirs))


@given(fleet=fleets, of=counts)
def test_more_gpus_are_never_slower(fleet: list[int], of: int) -> None:
    """While any batch is as good, each further GPU shortens the run, at every end of its range."""
    found = scaled(sorted(set(fleet)), of)
    for fewer, more in itertools.pairwise(found):
        assert all(after < before for before, after in zip(ends(fewer.wall_s), ends(more.wall_s), strict=True))


@given(fleet=fleets, of=counts, critical=criticals)
def test_more_gpus_are_never_cheaper(fleet: list[int], of: int, critical: float) -> None:
    """With both taxes or one, a run on more GPUs costs as much or more, at every end of its range."""
    found = scaled(sorted(fleet), of, critical_batch_tokens=critical)
    for fewer, more in itertools.pairwise(found):
        assert all(after >= before * (1 - 1e-12) for before, after in zip(ends(fewer.usd), ends(more.usd), strict=True))


@given(n_gpus=counts, of=counts, critical=criticals)
def test_dollars_and_time_follow_from_hours(n_gpus: int, of: int, critical: float) -> None:
    """The bill is hours times price, and the time hours over GPUs, at each end; low <= mid <= high."""
    (found,) = scaled([n_gpus], of, critical_batch_tokens=critical)
    assert ends(found.usd) == pytest.approx([2 * hours for hours in ends(found.gpu_hours)])
    assert ends(found.wall_s) == pytest.approx([hours * HOUR / n_gpus for hours in ends(found.gpu_hours)])
    assert ends(found.gpu_hours) == sorted(ends(found.gpu_hours))


def test_a_doubling_costs_what_weak_scaling_says() -> None:
    """On twice the GPUs the run takes 1 / w of the hours, and 1 / 2w of the time."""
    (found,) = scaled([128])
    kept, run = training.weak_scaling(), reference()
    assert found.efficiency_fraction == pytest.approx(kept.mid)
    assert ends(found.gpu_hours) == pytest.approx([run.gpu_hours.mid / end for end in (kept.high, kept.mid, kept.low)])
    assert found.wall_s.mid == pytest.approx(run.wall_s.mid / (2 * kept.mid))


@given(n_gpus=st.integers(1, 8), of=st.integers(1, 8))
def test_one_node_has_no_tax(n_gpus: int, of: int) -> None:
    """Up to eight GPUs nothing crosses the network: the run takes the same hours on each number of them."""
    (found,) = scaled([n_gpus], of)
    assert found.efficiency_fraction == 1
    assert ends(found.gpu_hours) == pytest.approx(ends(reference(of).gpu_hours))


def test_there_and_back_is_the_same_run() -> None:
    """What is lost from 64 to 512 GPUs is won from 512 to 64."""
    there, back = scaled([512])[0], scaled([64], 512)[0]
    assert there.efficiency_fraction * back.efficiency_fraction == pytest.approx(1)


@given(n_gpus=counts)
def test_the_batch_grows_only_past_a_sequence_for_each_gpu(n_gpus: int) -> None:
    """Where a sequence for each GPU is no more than the batch, the batch and its tokens stay; past that both grow."""
    (found,) = scaled([n_gpus], critical_batch_tokens=CRITICAL)
    if n_gpus * SEQUENCE <= BATCH:
        assert (found.batch_tokens, found.tokens_ratio) == (BATCH, 1)
    else:
        assert found.batch_tokens == n_gpus * SEQUENCE
        assert found.tokens_ratio > 1


def test_at_the_critical_batch_tokens_have_grown_as_papers_say() -> None:
    """From half the critical batch to twice of it, a run needs 3 / 1.5 times the tokens."""
    (found,) = scaled([2048], least_tokens_per_gpu=4096, batch_tokens=2**21, critical_batch_tokens=2**22)
    assert found.batch_tokens == 2**23
    assert found.tokens_ratio == pytest.approx(2)


def test_any_batch_is_as_good_without_a_critical_one() -> None:
    """Without a critical batch more GPUs need no more tokens, however large the batch."""
    (found,) = scaled([100_000])
    assert (found.batch_tokens, found.tokens_ratio) == (100_000 * SEQUENCE, 1)


def test_a_reference_that_waits_goes_on_waiting() -> None:
    """A run that takes twice the time of its paid hours does so on other numbers of GPUs too."""
    run = reference()
    waiting = Run(run.gpu_hours, run.wall_s.times(2), run.usd, run.mfu)
    (found,) = training.scale_out(
        waiting,
        reference_n_gpus=64,
        n_gpus=[256],
        usd_per_gpu_hour=2,
        batch_tokens=BATCH,
        least_tokens_per_gpu=SEQUENCE,
    )
    (without,) = scaled([256])
    assert ends(found.wall_s) == pytest.approx([2 * end for end in ends(without.wall_s)])
    assert found.usd == without.usd


@pytest.mark.parametrize(
    "name", ["reference_n_gpus", "usd_per_gpu_hour", "batch_tokens", "least_tokens_per_gpu", "critical_batch_tokens"]
)
@pytest.mark.parametrize("wrong", [0, -1, math.nan])
def test_scaling_refuses_nonsense(name: str, wrong: float) -> None:
    """What is no positive number is named."""
    with pytest.raises(ValueError, match=f"^{name} must be a positive, finite number of "):
        scaled([128], **{name: wrong})


def test_no_gpus_are_refused() -> None:
    """A run on no GPUs is none."""
    with pytest.raises(ValueError, match=r"^n_gpus must be a positive, finite number of GPUs, not 0\.$"):
        scaled([64, 0])


# The points to choose from.


def test_past_the_critical_batch_more_gpus_may_only_cost() -> None:
    """With a batch far past the critical one, more GPUs are slower and dearer."""
    fewer, more = scaled([65_536, 131_072], critical_batch_tokens=1e5)
    assert more.wall_s.mid > fewer.wall_s.mid
    assert more.usd.mid > fewer.usd.mid


@given(found=points, deadline=st.integers(1, 25))
def test_the_cheapest_in_time_is_the_cheapest_in_time(found: list[Scaled], deadline: int) -> None:
    """Of the points that are done by then, none costs less; None where none is."""
    best = training.cheapest_by(found, deadline_s=deadline * HOUR)
    in_time = [one.usd.mid for one in found if one.wall_s.high <= deadline * HOUR]
    assert (best.usd.mid if best else None) == min(in_time, default=None)


def test_in_time_means_at_the_upper_end() -> None:
    """A cheap run that may be late is not taken while a sure one is there."""
    may_be_late, sure = point(5, 100.0, slack=3), point(8, 200.0, slack=1.1)
    assert training.cheapest_by([may_be_late, sure], deadline_s=10 * HOUR) == sure
    assert training.cheapest_by([may_be_late], deadline_s=10 * HOUR) is None


def test_a_tight_deadline_takes_more_gpus() -> None:
    """What takes two days on 64 GPUs is done in one on 256."""
    found = scaled([64, 128, 256])
    days = reference().wall_s.mid / DAY
    best = training.cheapest_by(found, deadline_s=days / 3 * DAY)
    assert best is not None
    assert best.n_gpus == 256


# The same run on each GPU.


ABOUT: dict[str, Any] = {"flop": 6 * 8e9 * 1e12, "n_params": 8e9, "n_gpus": 256}


@pytest.mark.parametrize("precision", ["bf16-mixed", "fp16-mixed", "fp8-mixed", "tf32", "fp32"])
def test_gpus_come_cheapest_first(precision: str) -> None:
    """The list is in the order of the dollars in the middle."""
    found = [one.run.usd.mid for one in training.compare(**ABOUT, precision=precision)]
    assert found == sorted(found)
    assert len(found) > 1


@pytest.mark.parametrize(("precision", "peak"), [("bf16-mixed", "bf16"), ("fp8-mixed", "fp8"), ("tf32", "tf32")])
def test_only_gpus_with_the_format_are_compared(precision: str, peak: str) -> None:
    """Every GPU with quotes and a peak in that very format is there, and no other."""
    names = {one.gpu.name for one in training.compare(**ABOUT, precision=precision)}
    assert names == {
        name for name, gpu in tables.gpus().items() if training.quoted(name) and peak in gpu.peak_flop_per_s
    }


def test_a_chip_without_bf16_is_not_offered_for_it() -> None:
    """A V100 is compared in FP16 and not in BF16, a TPU the other way round."""
    halves = {
        precision: {one.gpu.name for one in training.compare(**ABOUT, precision=precision)}
        for precision in ("bf16-mixed", "fp16-mixed")
    }
    assert {"V100-SXM2-16GB"} == {"V100-SXM2-16GB", "TPU-v4"} & halves["fp16-mixed"]
    assert {"TPU-v4"} == {"V100-SXM2-16GB", "TPU-v4"} & halves["bf16-mixed"]


def test_a_gpu_that_nobody_quotes_is_left_out() -> None:
    """Without a price there is no bill to compare."""
    assert [one.gpu.name for one in training.compare(**ABOUT, gpus=["H800-SXM5-80GB", H100])] == [H100]


def test_an_unknown_precision_is_refused() -> None:
    """A number format that nobody has is answered with the nearest, not with an empty list."""
    with pytest.raises(tables.UnknownName, match="fp8-mixed"):
        training.compare(**ABOUT, precision="fp8mixed")


def test_each_gpu_has_its_price_and_its_efficiency() -> None:
    """A row is the run at the middle of the GPU's quotes and at the MFU of published runs on its chip."""
    for one in training.compare(**ABOUT, purchase="spot", left_out=["meta"]):
        name = one.gpu.name
        about = training.efficiency(gpu=name, n_params=8e9, n_gpus=256, left_out=["meta"])
        assert (one.usd_per_gpu_hour, one.efficiency) == (training.quoted(name, purchase="spot"), about)
        assert one.run == training.run(
            flop=ABOUT["flop"], gpu=name, n_gpus=256, usd_per_gpu_hour=one.usd_per_gpu_hour.mid, mfu=about.mfu
        )


def benchmarks(architecture: str, n_params: float) -> list[float]:
    """The MFU of benchmarks on a chip, of models of about a size and sequences of at most 8,192 tokens."""
    return [
        float(row["mfu"])
        for row in tables.rows("measured_throughput.csv")
        if row["mfu"]
        and tables.gpu(row["gpu"]).architecture == architecture
        and n_params / 1.15 <= float(row["n_params"]) <= 1.15 * n_params
        and int(row["seq_len"]) <= 8192
    ]


@pytest.mark.parametrize(("gpu", "n_params"), [(A100, 6.65e9), (A100, 1.316e9), (H100, 2.65e9), (H100, 64.9e9)])
def test_a_tuned_mfu_is_that_of_benchmarks_of_such_a_size(gpu: str, n_params: float) -> None:
    """Low and high are the extremes of benchmarks of that size on the same chip, mid among them."""
    device = tables.gpu(gpu)
    found, measured = training.tuned_mfu(gpu=device, n_params=n_params), benchmarks(device.architecture, n_params)
    assert found is not None
    assert (found.low, found.high) == (min(measured), max(measured))
    assert sum(mfu <= found.mid for mfu in measured) >= len(measured) / 2 <= sum(mfu >= found.mid for mfu in measured)


@pytest.mark.parametrize(("gpu", "n_params"), [("B200-SXM-180GB", 7e9), ("MI300X", 7e9), (H100, 1e13), (A100, 1e6)])
def test_without_benchmarks_there_is_no_tuned_mfu(gpu: str, n_params: float) -> None:
    """A chip or a size that nobody benchmarked has none."""
    assert training.tuned_mfu(gpu=tables.gpu(gpu), n_params=n_params) is None


@pytest.mark.parametrize("gpu", [A100, H100])
def test_whole_runs_fall_short_of_tuned_benchmarks(gpu: str) -> None:
    """A run of 7B on many GPUs reaches less than the middle of the benchmarks of such a size."""
    (one,) = training.compare(flop=6 * 7e9 * 1e12, n_params=7e9, n_gpus=512, gpus=[gpu])
    assert one.tuned is not None
    assert one.efficiency.mfu.mid < one.tuned.mid
