"""What do published figures imply? The MFU behind GPU-hours, and what is odd about it."""

from __future__ import annotations

from dataclasses import dataclass

from costkit import tables
from costkit.training import suspicions
from costkit.training.formats import format_limit, number_format
from costkit.training.runs import flop as training_flop
from costkit.training.stated import FLOP_OVERCOUNT, STATED, Stated, Way, ways
from costkit.training.suspicions import Flag
from costkit.units import gpu_hours, percent, require_fraction, require_positive, require_whole, usd_rate

_VERDICTS = {
    "impossible": "These figures can't all be right",
    "check": "Something is odd about these figures",
    "plausible": "These figures are plausible",
}


@dataclass(frozen=True)
class Check:
    """The MFU that published figures imply, and a sentence for each thing that is odd about it."""

    mfu: float
    flags: tuple[str, ...]


@dataclass(frozen=True)
class Audit:
    """What published figures imply, and what is odd about them.

    `usd_per_gpu_hour` is the bill over the hours, None without a bill.
    """

    mfu: float
    flop: float
    gpu_hours: float
    usd_per_gpu_hour: float | None
    flags: tuple[Flag, ...]

    @property
    def verdict(self) -> str:
        """`impossible` where no run can have been so, `check` where anything is odd, else `plausible`."""
        kinds = {flag.kind for flag in self.flags}
        return "impossible" if "impossible" in kinds else "check" if kinds else "plausible"

    @property
    def headline(self) -> str:
        """The verdict in one sentence, with the MFU and the price that follow from the figures."""
        price = "" if self.usd_per_gpu_hour is None else f" at {usd_rate(self.usd_per_gpu_hour)} each"
        hours = f"{gpu_hours(self.gpu_hours)} GPU-hours{price}"
        return f"{_VERDICTS[self.verdict]}: {hours} imply an MFU of {percent(self.mfu)}."


def implied_mfu(*, flop: float, gpu: tables.Gpu | str, gpu_hours: float) -> Check:
    """The MFU that a published run implies, and what is odd about it.

    Above 70% no run has been seen, so one of the figures is wrong; 60% to 70% is rare; below 15% the hours
    usually cover more than the training run that the FLOP describe.

    >>> implied_mfu(flop=6 * 6.738e9 * 2e12, gpu="A100-SXM4-80GB", gpu_hours=184_320).flags
    ()
    >>> check = implied_mfu(flop=6 * 21e9 * 8.1e12, gpu="H800-SXM5-80GB", gpu_hours=172_800)
    >>> f"{check.mfu:.2f}", check.flags[0].split(":")[0]
    ('1.66', 'impossible')
    """
    require_positive(flop, "flop", "FLOP")
    require_positive(gpu_hours, "gpu_hours", "GPU-hours")
    stated = Stated(gpu=tables.gpu(gpu), flop=flop, ways=(Way(STATED, "the stated hours", gpu_hours),))
    return Check(mfu=stated.mfu, flags=tuple(map(str, suspicions.bounds(stated))))


def audit(  # noqa: PLR0913 - whatever gets published about a run is an argument
    *,
    n_params: float,
    n_tokens: float,
    gpu: tables.Gpu | str,
    n_active_params: float | None = None,
    gpu_hours: float | None = None,
    n_gpus: float | None = None,
    days: float | None = None,
    usd: float | None = None,
    usd_per_gpu_hour: float | None = None,
    gpus_per_node: int = tables.GPUS_PER_NODE,
    mfu_published: float | None = None,
    seq_len: float | None = None,
    kind: str = "decoder",
    pretrained: bool = False,
    precision: str = "bf16-mixed",
) -> Audit:
    """The MFU that figures of a run imply, and what each oddity would make of them if its suspicion were right.

    MFU = 6 N D / (GPU-hours x 3600 x dense 16-bit peak). Hours are `gpu_hours`, or `n_gpus` for `days`, or `usd` at
    `usd_per_gpu_hour`: one of these suffices, and of several the first counts while the others are held against it.

    Args:
        n_params: All parameters.
        n_tokens: Tokens that the model saw.
        gpu: The GPU or its name.
        n_active_params: Of a mixture of experts, those that one token passes through.
        gpu_hours: GPU-hours as printed.
        n_gpus: GPUs at work at the same time.
        days: Days from start to end.
        usd: The bill.
        usd_per_gpu_hour: The price of one GPU for one hour.
        gpus_per_node: GPUs of a node, to find a node's price that was taken for a GPU's.
        mfu_published: The MFU as printed, as a fraction.
        seq_len: Tokens of a sequence, to find attention that was counted.
        kind: `decoder`, `encoder` or `encoder-decoder`.
        pretrained: Whether the run went on from a trained model.
        precision: The number format of the matrix products: bounds hold against its dense peak.

    Raises:
        ValueError: No hours, a number that is not positive, a fraction above 1, a precision that the GPU lacks.
        UnknownName: No such GPU, kind or precision.

    >>> told = audit(n_params=7e9, n_tokens=1e12, gpu="H100-SXM5-80GB", n_gpus=256, days=4.25, usd=2.57e6)
    >>> f"{told.mfu:.2f}", told.verdict, [flag.kind for flag in told.flags]
    ('0.45', 'check', ['node price'])
    """
    active = n_params if n_active_params is None else n_active_params
    _check_sizes(n_params, active, gpus_per_node, mfu_published, seq_len)
    _check_given(n_gpus=(n_gpus, "GPUs"), days=(days, "days"), usd=(usd, "USD"))
    _check_given(usd_per_gpu_hour=(usd_per_gpu_hour, "USD per GPU-hour"))
    device, narrow = tables.gpu(gpu), number_format(precision)
    format_limit(device, narrow)
    stated = Stated(
        gpu=device,
        flop=training_flop(n_params=active, n_tokens=n_tokens),
        ways=ways(gpu_hours=gpu_hours, n_gpus=n_gpus, days=days, usd_paid=usd, usd_per_gpu_hour=usd_per_gpu_hour),
        n_params=active,
        n_tokens=n_tokens,
        usd=usd,
        usd_per_gpu_hour=usd_per_gpu_hour,
        gpus_per_node=gpus_per_node,
        mfu_published=mfu_published,
        seq_len=seq_len,
        kind=tables.lookup("kind of model", kind, dict.fromkeys(FLOP_OVERCOUNT, kind)),
        pretrained=pretrained,
        precision=narrow,
    )
    found = suspicions.flags(stated)
    return Audit(stated.mfu, stated.flop, stated.gpu_hours, stated.paid_usd_per_gpu_hour, found)


def _check_given(**given: tuple[float | None, str]) -> None:
    for name, (value, unit) in given.items():
        if value is not None:
            require_positive(value, name, unit)


def _check_sizes(
    n_params: float, active: float, gpus_per_node: int, mfu_published: float | None, seq_len: float | None
) -> None:
    _check_given(n_params=(n_params, "parameters"), n_active_params=(active, "parameters"), seq_len=(seq_len, "tokens"))
    require_whole(gpus_per_node, "gpus_per_node", "GPUs")
    if active > n_params:
        raise ValueError(f"n_active_params is {active:g}, more than all parameters, {n_params:g}.")
    if mfu_published is not None:
        require_fraction(mfu_published, "mfu_published")
        if mfu_published == 0:
            raise ValueError("mfu_published must be above 0; leave it out where no MFU is printed.")
