"""What does waiting for input cost? Step times or a GPU log, with the price and the length of a plan or of options."""

from __future__ import annotations

import dataclasses
from argparse import Namespace

from costkit import plan, training
from costkit.cli.amounts import plan_of, read
from costkit.cli.output import json_text, table
from costkit.plan.kinds import Number
from costkit.plan.schema import kind
from costkit.units import GIB, HOUR, duration, number, percent

_USD_PER_HOUR = Number("Price", "USD per hour", 1, 1e5, 1e-3, 1e9, "What an hour of the whole job is billed at.")
_WORK_H = Number("Length", "hours", 1, 1e4, 1e-3, 1e7, "How long the run takes.")
_TIMES = {"--step": "training.step_s", "--wait": "training.loader_wait_s"}
_GPU_HEADINGS = ("GPU", "samples", "kernels run", "idle samples", "mean power", "peak memory")


def stalled(arguments: Namespace) -> str:
    """The answer of `costkit stall`; a ValueError of one sentence where there is neither a log nor a step."""
    if arguments.log is not None and (arguments.step, arguments.wait) != (None, None):
        raise ValueError("give a log, or --step and --wait, not both")
    chosen = plan_of(arguments)
    timed = None if arguments.log is not None else _times(arguments, chosen)
    usd_per_hour, work_s = _price_and_length(arguments, chosen)
    if timed is not None:
        return _told(arguments, _stall(*timed, usd_per_hour, work_s), None)
    log = training.read_smi_log(arguments.log)
    return _told(arguments, training.stall_from_log(log, usd_per_hour=usd_per_hour, work_s=work_s), log)


def _times(arguments: Namespace, chosen: plan.Plan | None) -> tuple[float, float]:
    """The times of a step and of the wait in it; those that the plan measured where none are given."""
    own = (None, None) if chosen is None else (chosen.training.step_s, chosen.training.loader_wait_s)
    step_s, loader_wait_s = (
        measured if text is None else read(option, text, kind(key))
        for (option, key), text, measured in zip(_TIMES.items(), (arguments.step, arguments.wait), own, strict=True)
    )
    if step_s is None or loader_wait_s is None:
        raise ValueError(
            "give a log that nvidia-smi wrote, or --step and --wait, the seconds of a step and of the wait in it"
        )
    return step_s, loader_wait_s


def _stall(step_s: float, loader_wait_s: float, usd_per_hour: float | None, work_s: float | None) -> training.Stall:
    try:
        return training.stall(step_s=step_s, loader_wait_s=loader_wait_s, usd_per_hour=usd_per_hour, work_s=work_s)
    except ValueError as error:
        raise ValueError(str(error).replace("loader_wait_s", "--wait").replace("step_s", "--step")) from None


def _price_and_length(arguments: Namespace, chosen: plan.Plan | None) -> tuple[float | None, float | None]:
    """What an hour of the job costs and how many seconds it takes: as given, or the plan's; None where unknown."""
    usd_per_hour = work_s = None
    if arguments.usd_per_hour is not None:
        usd_per_hour = float(read("--usd-per-hour", arguments.usd_per_hour, _USD_PER_HOUR))
    elif chosen is not None:
        usd_per_hour = chosen.hardware.usd_per_gpu_hour * chosen.hardware.n_gpus
    if arguments.work_h is not None:
        work_s = float(read("--work-h", arguments.work_h, _WORK_H)) * HOUR
    elif chosen is not None:
        work_s = plan.page(chosen).final.computing.wall_s.mid
    return usd_per_hour, work_s


def _told(arguments: Namespace, found: training.Stall, log: training.SmiLog | None) -> str:
    if arguments.json:
        derived = {"sentence": found.sentence, "speedup": found.speedup, "saved_s": found.saved_s, "usd": found.usd}
        of_log = None if log is None else {**dataclasses.asdict(log), "start": log.start.isoformat()}
        return json_text({**derived, **dataclasses.asdict(found), "log": of_log})
    details = [] if log is None else [_span(log), _gpus(log, cut=arguments.file is None), *log.warnings]
    return "\n\n".join([found.sentence, *details]) + "\n"


def _span(log: training.SmiLog) -> str:
    every = duration(log.interval_s)
    return f"{log.name}: {duration(log.duration_s)} from {log.start:%Y-%m-%d %H:%M:%S}, a sample every {every}."


def _gpus(log: training.SmiLog, *, cut: bool) -> str:
    """A line a GPU, of the whole log."""
    cells = [
        (
            gpu.gpu,
            str(gpu.n_samples),
            percent(gpu.busy_fraction),
            percent(gpu.idle_fraction),
            "" if gpu.mean_watts is None else f"{number(gpu.mean_watts)} W",
            "" if gpu.peak_used_bytes is None else f"{number(gpu.peak_used_bytes / GIB)} GiB",
        )
        for gpu in log.gpus
    ]
    return table(_GPU_HEADINGS, cells, cut=cut)
