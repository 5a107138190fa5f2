"""What can and can't be asked of `costkit.memory`, and what a budget says where things meet."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from costkit import architectures, memory
from costkit.memory import Adapters, Sharding

llama = architectures.named("llama-2-7b")
run = memory.budget(llama, micro_batch=1, seq_len=1024)


@pytest.mark.parametrize(
    ("measured", "sentence"),
    [
        (
            {"allocated_bytes": 1.2 * run.peak_bytes, "reserved_bytes": run.peak_bytes},
            "allocated_bytes is .* more than",
        ),
        ({"reserved_bytes": 1.5 * run.peak_bytes, "device_bytes": run.peak_bytes}, "reserved_bytes is .* more than"),
    ],
)
def test_a_part_is_not_more_than_the_whole(measured: dict[str, Any], sentence: str) -> None:
    """Peaks that contradict each other are refused with both of them named."""
    with pytest.raises(ValueError, match=sentence):
        memory.calibrate(run, **measured)


def test_what_was_not_measured_moves_along() -> None:
    """A measured allocated peak moves what is reserved by as much, and keeps the width of its band."""
    moved = run.calibrated(memory.calibrate(run, allocated_bytes=1.3 * run.peak_bytes))
    assert moved.reserved_bytes.mid == pytest.approx(1.3 * run.reserved_bytes.mid)
    assert moved.reserved_bytes.high / moved.reserved_bytes.mid == pytest.approx(
        run.reserved_bytes.high / run.reserved_bytes.mid
    )


@pytest.mark.parametrize(
    ("details", "sentence"),
    [
        ({"sharding": Sharding(data=16, expert=16)}, "has no experts"),
        ({"sharding": 8}, r"sharding is 8; it must be memory.Sharding\(...\)"),
        ({"adapters": "lora"}, "adapters is 'lora'; it must be memory.Adapters"),
        ({"stack": "fsdp2", "compiled": "no"}, "compiled is 'no'; it must be True or False"),
        ({"padded": 1}, "padded is 1; it must be True or False"),
    ],
)
def test_a_wrong_kind_of_value_is_refused(details: dict[str, Any], sentence: str) -> None:
    """What is no value of its kind gets a sentence with what it must be."""
    with pytest.raises(ValueError, match=sentence):
        memory.budget(llama, micro_batch=1, seq_len=1024, **details)


def test_a_mistyped_keyword_gets_its_nearest_name() -> None:
    """A keyword that no request has is named with the one that was meant."""
    with pytest.raises(LookupError, match="Did you mean 'checkpointing'"):
        memory.budget(llama, micro_batch=1, seq_len=1024, checkpoint="full")


def test_an_architecture_may_be_named() -> None:
    """A name of the architectures table stands for its shape."""
    assert memory.budget("llama-2-7b", micro_batch=1, seq_len=1024) == run


def test_whole_numbers_of_numpy_are_whole_numbers() -> None:
    """A sweep over a numpy array works as one over a list."""
    lengths = np.array([512, 1024])
    found = memory.fit_map(llama, gpu="H200-SXM-141GB", micro_batches=[1], seq_lens=lengths)
    assert found.verdict(1, 512) == run.verdict("H200-SXM-141GB")


@pytest.mark.parametrize("axis", ["micro_batches", "seq_lens"])
def test_a_map_without_an_axis_is_refused(axis: str) -> None:
    """An empty list makes no map."""
    axes: dict[str, list[int]] = {"micro_batches": [1], "seq_lens": [512]} | {axis: []}
    with pytest.raises(ValueError, match=f"{axis} is empty"):
        memory.fit_map(llama, gpu="T4", precision="fp16-mixed", **axes)


def test_a_point_off_the_map_is_refused() -> None:
    """A verdict is only there for the points that were asked for."""
    found = memory.fit_map(llama, gpu="T4", micro_batches=[1], seq_lens=[512], precision="fp16-mixed")
    with pytest.raises(ValueError, match="micro_batch 5 is not on the map; it has 1"):
        found.verdict(5, 512)


@pytest.mark.parametrize("n_gpus", [0, 7, 12])
def test_gpus_that_the_degrees_do_not_make_up_are_refused(n_gpus: int) -> None:
    """With a data degree the GPUs are counted, without one they must be a multiple."""
    with pytest.raises(ValueError, match=r"n_gpus is"):
        Sharding(tensor=2, data=3).check_world(n_gpus)


def test_a_target_counts_once() -> None:
    """The two spellings of a matrix are one target."""
    assert Adapters(targets=("q", "q_proj")).targets == ("q",)


@pytest.mark.parametrize("checkpointing", ["selective", "full"])
def test_autocast_casts_every_weight_until_the_forward_pass_ends(checkpointing: str) -> None:
    """The 16-bit copies are all there at the loss, whatever is recomputed later."""
    found = memory.budget(llama, micro_batch=1, seq_len=512, checkpointing=checkpointing)
    none = memory.budget(llama, micro_batch=1, seq_len=512)
    copies = [one.fullest.phase_parts["forward"]["weight copies"] for one in (found, none)]
    assert copies[0] == pytest.approx(copies[1])


def test_gathered_weights_are_let_go_behind_the_backward_pass() -> None:
    """FSDP2 that keeps weights gathered has them at the loss, and none at the optimizer's step."""
    keeps = memory.budget("llama-3-8b", micro_batch=1, seq_len=8192, stack="fsdp2", sharding=Sharding(data=8, zero=2))
    lets_go = memory.budget("llama-3-8b", micro_batch=1, seq_len=8192, stack="fsdp2", sharding=Sharding(data=8))
    assert keeps.phases["step"] == lets_go.phases["step"]
    assert keeps.phases["loss"] > lets_go.phases["loss"]


def test_fp8_saves_no_weights_gradients_or_states() -> None:
    """What lives at the optimizer's step is at least what 16-bit mixed precision has there."""
    fp8, bf16 = (
        memory.budget("llama-3-8b", micro_batch=1, seq_len=2048, stack="megatron", precision=precision).phases["step"]
        for precision in ("fp8-mixed", "bf16-mixed")
    )
    assert fp8 >= bf16


def test_a_sentence_names_the_nearest_degree() -> None:
    """A tensor degree that does not divide the heads comes with one that does."""
    with pytest.raises(ValueError, match="does not divide the 32 attention heads of llama-2-7b: use 4"):
        memory.budget(llama, micro_batch=1, seq_len=512, sharding=Sharding(tensor=6))
