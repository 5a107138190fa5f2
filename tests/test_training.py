import math
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from costkit import tables, training
from costkit.units import DAY, HOUR, TFLOP

GPU = "A100-SXM4-80GB"
positive = st.floats(1e-3, 1e30)
fraction = st.floats(1e-3, 1.0)


def test_flop_of_chinchilla_is_6nd() -> None:
    """70B parameters on 1.4T tokens are 5.88e23 FLOP, 2% above the paper's rounded 5.76e23."""
    assert training.flop(n_params=70e9, n_tokens=1.4e12) == pytest.approx(5.88e23, rel=1e-12)


def test_flop_takes_arrays() -> None:
    """A sweep over sizes gives an array of the same shape."""
    n_params = np.array([1e9, 2e9])
    assert training.flop(n_params=n_params, n_tokens=np.array([1e10, 1e10])).tolist() == [6e19, 1.2e20]


@pytest.mark.parametrize("wrong", [0, -1e9, math.nan, math.inf, "15e12", True])
def test_flop_refuses_what_is_no_size(wrong: float) -> None:
    """Zero, negative, nan, infinite, text and truth values are refused with a sentence that names the argument."""
    with pytest.raises(ValueError, match=r"^n_params must be "):
        training.flop(n_params=wrong, n_tokens=1e10)


def test_case_takes_eighteen_days() -> None:
    """The default case's MFU was chosen so that its run takes the 18 days that were published."""
    run = training.run(flop=1.08e21, gpu=GPU, n_gpus=32, usd_per_gpu_hour=3.06, mfu=0.0696)
    assert run.wall_s.mid / DAY == pytest.approx(18, abs=0.05)


def test_bill_of_given_hours_is_exact() -> None:
    """32 GPUs for 18 days at $3.06 are $42,301.44, not the $42,577 that was printed."""
    hours = 32 * 18 * 24
    flop = hours * HOUR * 312 * TFLOP * 0.4
    run = training.run(flop=flop, gpu=GPU, n_gpus=32, usd_per_gpu_hour=3.06, mfu=0.4)
    assert round(run.usd.mid, 2) == 42301.44


def test_goodput_lengthens_and_never_shortens() -> None:
    """At half goodput the same model takes twice the GPU-hours, days and dollars."""
    full = training.run(flop=1e21, gpu=GPU, n_gpus=8, usd_per_gpu_hour=2, mfu=0.4)
    half = training.run(flop=1e21, gpu=GPU, n_gpus=8, usd_per_gpu_hour=2, mfu=0.4, goodput_fraction=0.5)
    ratios = [half.gpu_hours.mid / full.gpu_hours.mid, half.wall_s.mid / full.wall_s.mid, half.usd.mid / full.usd.mid]
    assert ratios == pytest.approx([2, 2, 2])


@given(flop=st.floats(1e15, 1e27), mfu=fraction, goodput=fraction, price=st.floats(0.01, 100))
def test_budget_flop_undoes_run(flop: float, mfu: float, goodput: float, price: float) -> None:
    """The compute that a run's dollars buy is the compute of the run."""
    about = {"gpu": GPU, "usd_per_gpu_hour": price, "mfu": mfu, "goodput_fraction": goodput}
    run = training.run(flop=flop, n_gpus=8, **about)  # type: ignore[arg-type]
    assert training.budget_flop(usd=run.usd.mid, **about) == pytest.approx(flop, rel=1e-9)  # type: ignore[arg-type]


@given(flop=st.floats(1e15, 1e27), mfu=fraction)
def test_implied_mfu_undoes_run(flop: float, mfu: float) -> None:
    """The MFU implied by a run's GPU-hours is the MFU that the run was planned with."""
    run = training.run(flop=flop, gpu=GPU, n_gpus=8, usd_per_gpu_hour=2, mfu=mfu)
    assert training.implied_mfu(flop=flop, gpu=GPU, gpu_hours=run.gpu_hours.mid).mfu == pytest.approx(mfu, rel=1e-9)


def test_mfu_counts_against_fp16_where_there_is_no_bf16() -> None:
    """On a V100, which has no BF16, the basis is its dense FP16 peak."""
    gpu = tables.gpu("V100-SXM2-32GB")
    check = training.implied_mfu(flop=125 * TFLOP * HOUR * 0.3, gpu=gpu, gpu_hours=1)
    assert check.mfu == pytest.approx(0.3)


@pytest.mark.parametrize(
    ("n_params", "n_tokens", "gpu_hours", "printed"),
    [
        (6.7e9, 1e12, 82_432, 0.43),
        (65.2e9, 1.4e12, 1_022_362, 0.48),
        (6.738e9, 2e12, 184_320, 0.39),
    ],
    ids=["LLaMA 7B", "LLaMA 65B", "Llama 2 7B"],
)
def test_implied_mfu_of_published_runs(n_params: float, n_tokens: float, gpu_hours: float, printed: float) -> None:
    """GPU-hours of the LLaMA papers imply MFUs between 39% and 48%, without a flag."""
    flop = training.flop(n_params=n_params, n_tokens=n_tokens)
    check = training.implied_mfu(flop=flop, gpu=GPU, gpu_hours=gpu_hours)
    assert (round(check.mfu, 2), check.flags) == (printed, ())


def test_impossible_hours_are_flagged() -> None:
    """DeepSeek-V2's hours per trillion tokens, taken for the whole run, imply 166% and are called impossible."""
    check = training.implied_mfu(flop=6 * 21e9 * 8.1e12, gpu="H800-SXM5-80GB", gpu_hours=172_800)
    assert (round(check.mfu, 2), check.flags[0].startswith("impossible: 166%")) == (1.66, True)


def test_an_mfu_that_is_double_a_plausible_one_suspects_the_sparse_peak() -> None:
    """FLOP counted from the sparse peak are twice the true ones, and the flag says so."""
    flags = training.implied_mfu(flop=0.9 * 312 * TFLOP * HOUR, gpu=GPU, gpu_hours=1).flags
    assert any(flag.startswith("sparse peak: half of it, 45%") for flag in flags)


@pytest.mark.parametrize(("mfu", "flag"), [(0.65, "check"), (0.1, "low"), (0.4, None)])
def test_unusual_mfu_is_flagged(mfu: float, flag: str | None) -> None:
    """60% to 70% asks for a check, below 15% is called low, and what is usual has no flag."""
    flags = training.implied_mfu(flop=mfu * 312 * TFLOP * HOUR, gpu=GPU, gpu_hours=1).flags
    assert [text.split(":")[0] for text in flags] == ([flag] if flag else [])


def run_with(**changed: object) -> Callable[[], object]:
    """A call of run with something changed."""
    usual: dict[str, object] = {"flop": 1e21, "gpu": GPU, "n_gpus": 8, "usd_per_gpu_hour": 2.0, "mfu": 0.4}
    return lambda: training.run(**{**usual, **changed})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("changed", "sentence"),
    [
        ({"mfu": None}, "give mfu"),
        ({"mfu": 45}, "it looks like a percentage, write 0.45"),
        ({"mfu": math.nan}, "mfu must be a fraction above 0 and at most 1, not nan"),
        ({"mfu": 0}, "mfu must be a fraction above 0 and at most 1, not 0"),
        ({"goodput_fraction": 1.2}, "goodput_fraction must be a fraction"),
        ({"flop": math.inf}, "flop must be a positive, finite number of FLOP, not inf"),
        ({"n_gpus": 0}, "n_gpus must be a positive, finite number of GPUs, not 0"),
        ({"usd_per_gpu_hour": -1}, "usd_per_gpu_hour must be a positive, finite number of USD per GPU-hour, not -1"),
    ],
)
def test_run_refuses_nonsense(changed: dict[str, object], sentence: str) -> None:
    """Each wrong argument of a run is named, with what is allowed."""
    with pytest.raises(ValueError, match=sentence):
        run_with(**changed)()


def test_unknown_gpu_lists_near_names() -> None:
    """A GPU that the table does not have raises UnknownName with the nearest one."""
    with pytest.raises(tables.UnknownName, match="A100-SXM4-80GB"):
        run_with(gpu="A100-80")()
