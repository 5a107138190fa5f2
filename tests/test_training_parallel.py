from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from costkit import tables, training

tokens = st.floats(1e3, 1e9)


def efficiency_of(**changed: Any) -> training.ParallelEfficiency:
    """Twice the GPUs at one and a half times the throughput, with something changed."""
    usual: dict[str, Any] = {"n_gpus": 16, "throughput": 3.0, "reference_n_gpus": 8, "reference_throughput": 2.0}
    return training.parallel_efficiency(**{**usual, **changed})


def test_efficiency_is_throughput_per_gpu() -> None:
    """One and a half times the work on twice the GPUs is 75% of the speed per GPU, and a third dearer per token."""
    found = efficiency_of()
    assert [found.speedup, found.fraction, found.usd_per_token_ratio] == pytest.approx([1.5, 0.75, 4 / 3])


def test_sharding_may_make_more_gpus_cheaper() -> None:
    """llm-foundry's 70B runs at 118% of the speed per GPU on 64 H100s: the micro-batch grew from 2 to 8."""
    found = efficiency_of(n_gpus=64, throughput=64 * 1039, reference_n_gpus=32, reference_throughput=32 * 882)
    assert found.fraction == pytest.approx(1.18, abs=0.005)


@given(n_gpus=st.integers(1, 100_000), throughput=st.floats(1e-3, 1e9), times=st.floats(1e-3, 1e3))
def test_efficiency_has_no_unit(n_gpus: int, throughput: float, times: float) -> None:
    """Counting work in another unit changes nothing."""
    one = efficiency_of(n_gpus=n_gpus, throughput=throughput)
    other = efficiency_of(n_gpus=n_gpus, throughput=throughput * times, reference_throughput=2.0 * times)
    assert other.fraction == pytest.approx(one.fraction)


@pytest.mark.parametrize("name", ["n_gpus", "throughput", "reference_n_gpus", "reference_throughput"])
def test_efficiency_refuses_nothing(name: str) -> None:
    """No GPUs and no throughput are refused by name."""
    with pytest.raises(ValueError, match=f"^{name} must be "):
        efficiency_of(**{name: 0})


@pytest.mark.parametrize(
    ("loss", "printed", "half"),
    [(4.0, 0.27e6, 0.005e6), (3.0, 1.07e6, 0.005e6), (2.5, 2.5e6, 0.05e6), (2.0, 7.4e6, 0.05e6)],
)
def test_critical_batch_of_kaplan(loss: float, printed: float, half: float) -> None:
    """Kaplan's critical batch grows from 0.27M tokens at a loss of 4 to 7.4M at 2."""
    assert training.critical_batch_tokens(loss=loss) == pytest.approx(printed, abs=half)


def test_critical_batch_takes_arrays() -> None:
    """A falling loss gives a rising critical batch, of the same shape."""
    found = training.critical_batch_tokens(np.array([4.0, 3.0, 2.0]))
    assert found.shape == (3,)
    assert np.all(np.diff(found) > 0)


def test_the_critical_batch_doubles_both() -> None:
    """At the critical batch a run takes twice its fewest tokens and twice its fewest steps."""
    at = {"batch_tokens": 1e6, "critical_batch_tokens": 1e6}
    assert (training.tokens_factor(**at), training.steps_factor(**at)) == (2, 2)


@given(batch=tokens, critical=tokens)
def test_steps_and_tokens_trade(batch: float, critical: float) -> None:
    """(S / S_min - 1) (E / E_min - 1) = 1 at every batch."""
    at = {"batch_tokens": batch, "critical_batch_tokens": critical}
    assert (training.steps_factor(**at) - 1) * (training.tokens_factor(**at) - 1) == pytest.approx(1)


@given(batch=tokens, critical=tokens)
def test_tokens_are_steps_times_batch(batch: float, critical: float) -> None:
    """The tokens of a run are its steps times its batch, so both factors are in the ratio of the two training."""
    at = {"batch_tokens": batch, "critical_batch_tokens": critical}
    ratio = training.tokens_factor(**at) / training.steps_factor(**at)
    assert ratio == pytest.approx(batch / critical)


def test_a_batch_must_be_positive() -> None:
    """A batch of no tokens is refused by name."""
    with pytest.raises(ValueError, match=r"^batch_tokens must be "):
        training.tokens_factor(batch_tokens=0, critical_batch_tokens=1e6)


@pytest.mark.parametrize("loss", [0, -1, math.nan, "3"])
def test_a_loss_must_be_positive(loss: float) -> None:
    """A loss of zero, which no batch belongs to, is refused."""
    with pytest.raises(ValueError, match=r"^loss must be a positive, finite number of nats a token"):
        training.critical_batch_tokens(loss)


def test_an_unknown_law_offers_the_known() -> None:
    """A critical-batch law that the table does not have is answered with the nearest."""
    with pytest.raises(tables.UnknownName, match="kaplan-2020"):
        training.critical_batch_tokens(3.0, law="kaplan")
