"""Which key of the plan is meant? The plan's keys in place of the names that `memory` gives its own arguments."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from types import MappingProxyType

_KEYS: Mapping[str, str] = MappingProxyType(
    {
        "sharding tensor": "memory.tensor_parallel",
        "sharding pipeline": "memory.pipeline_parallel",
        "sharding context": "memory.context_parallel",
        "sharding expert": "memory.expert_parallel",
        "sharding interleave": "memory.interleave",
        "sharding zero": "memory.zero_stage",
        "sharding sequence_parallel": "memory.sequence_parallel",
        "adapters rank": "memory.adapter_rank",
        "micro_batch": "memory.micro_batch",
        "effective": "memory.effective_batch",
        "precision is": "memory.precision is",
        "optimizer_step": "memory.optimizer_step",
        "compiled is": "memory.compiled is",
        "adapters is": "memory.adapter_rank is",
        "adapters are": "memory.adapter_rank is given, but adapters are",
        "padded": "memory.padded",
        "dropout": "memory.dropout",
        "seq_len": "training.seq_len",
        "n_gpus": "hardware.n_gpus",
        "n_params is": "model.n_params is",
    }
)
_NAMES = re.compile(rf"(?<![\w.'])(?:{'|'.join(map(re.escape, _KEYS))})(?![\w'])")


def by_keys(sentence: str) -> str:
    """The sentence with the plan's keys.

    >>> by_keys("seq_len is 3, which sharding context 2 does not divide: use 2")
    'training.seq_len is 3, which memory.context_parallel 2 does not divide: use 2'
    """
    return _NAMES.sub(lambda found: _KEYS[found.group()], sentence)


@contextmanager
def errors_by_keys() -> Iterator[None]:
    """Raise a `ValueError` from within with the plan's keys in its sentence, its type kept."""
    try:
        yield
    except ValueError as error:
        sentence = by_keys(str(error))
        if sentence == str(error):
            raise
        raise type(error)(sentence) from error
