"""What is odd about published figures of a run, and what would they be if a suspicion were right?

- By arithmetic alone: a suspicion is a ratio that a known mistake leaves behind. It proves nothing.
- Bounds on MFU are those that caught every anomaly among published runs; no published run exceeds 70% of a dense peak.
- Prices are held against our quotes of that GPU. Where we have none, a price raises no suspicion.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from costkit import tables
from costkit.training.cases import attention_ratio
from costkit.training.formats import HALVES, format_limit
from costkit.training.learning import HIGHEST_MFU
from costkit.training.prices import node_reading
from costkit.training.stated import BILL, FLOP_OVERCOUNT, Stated, Way
from costkit.units import TFLOP, TRILLION, count, gpu_hours, number, percent, usd, usd_rate

HIGH_MFU, LOW_MFU = 0.60, 0.15
PLAUSIBLE_PER_TRILLION = (0.10, 0.60)
SPARSE_OVER_DENSE = 2
HFU_OVER_MFU = 4 / 3
"""Recomputing the whole forward pass makes four passes' worth of FLOP of three (Korthikanti et al. 2022)."""
GOODPUT_SHORTFALL = 0.75
NEAR_HFU, NEAR_HALF, NEAR_DOUBLE, NEAR_NODE, NEAR_ATTENTION = 0.10, 0.10, 0.05, 0.15, 0.03
FAR_QUOTE, NEAR_QUOTE = 2.5, 1.05
"""A flag asks, so it comes sooner than what refuses a plan, `prices.FAR`, and only where the other reading fits."""
LEAST_ATTENTION_GAP = 1.15


@dataclass(frozen=True)
class Flag:
    """One oddity: its kind in a word or two, and what it is, by how much, and what the figures would be if it were so.

    Kinds: `impossible`, `check`, `low`; `number format`, `sparse peak`, `fp8`, `fp8 peak`; `per trillion`,
    `fine-tune`, `encoder-decoder`; `hours disagree`, `node price`; `hfu`, `attention`, `goodput`. `way` is the way to
    the hours that is held against the first one, as `Way.name` has it, and empty where it is about none.
    """

    kind: str
    text: str
    way: str = ""

    def __str__(self) -> str:
        return f"{self.kind}: {self.text}"


def flags(stated: Stated) -> tuple[Flag, ...]:
    """Everything that is odd about the figures, an MFU beyond the bounds first."""
    looks = (bounds, _per_trillion, _encoder_decoder, _hours_disagree, _node_price, _published)
    found = [flag for look in looks for flag in look(stated)]
    return (*found, *_fine_tune(stated, {flag.kind for flag in found}))


def bounds(stated: Stated) -> Iterator[Flag]:
    """An MFU beyond what published runs reach, above or below."""
    if stated.bounded_mfu > HIGHEST_MFU:
        yield from _impossible(stated)
    elif stated.bounded_mfu > HIGH_MFU:
        why = "is more than nearly all published runs reach; are all the GPU-hours counted?"
        yield Flag("check", f"{_implied(stated, stated.precision)} {why}")
    else:
        yield from _low(stated)


def _implied(stated: Stated, precision: str) -> str:
    name = "16-bit" if precision in HALVES else precision.upper()
    peak = f"{number(format_limit(stated.gpu, precision) / TFLOP)} TFLOP/s"
    return f"{percent(stated.share_of_peak(precision))} of the dense {name} peak of {stated.gpu.name}, {peak},"


def _impossible(stated: Stated) -> Iterator[Flag]:
    share = stated.bounded_mfu
    why = f"is above {percent(HIGHEST_MFU)}, which no published run exceeds"
    where = "check the GPU-hours, the GPU, and whether the FLOP include another model's"
    least = gpu_hours(stated.gpu_hours * share / HIGHEST_MFU)
    yield Flag(
        "impossible",
        f"{_implied(stated, stated.precision)} {why}; {where}; at {percent(HIGHEST_MFU)} they take {least} GPU-hours",
    )
    if stated.precision == "fp32":
        yield from _number_format(stated)
    elif share / SPARSE_OVER_DENSE <= HIGH_MFU and _has_sparse_peak(stated.gpu):
        half = f"half of it, {percent(share / SPARSE_OVER_DENSE)}, would be plausible"
        yield Flag("sparse peak", f"{half}; FLOP counted from a sparse peak are double, and hours planned with it half")
    of_fp8 = stated.share_of_peak("fp8") if "fp8" in stated.gpu.peak_flop_per_s else share
    if of_fp8 < share and of_fp8 <= HIGHEST_MFU:
        yield Flag("fp8", f"a run in FP8 may pass this bound; of the FP8 peak it is {percent(of_fp8)}")


def _number_format(stated: Stated) -> Iterator[Flag]:
    """FP32 that is faster than FP32: its matrix products ran in another format."""
    shares = {"16-bit": stated.mfu}
    if "tf32" in stated.gpu.peak_flop_per_s:
        shares = {"TF32": stated.share_of_peak("tf32"), **shares}
    told = ", ".join(f"of the {name} peak it is {percent(share)}" for name, share in shares.items())
    if stated.mfu <= HIGHEST_MFU:
        yield Flag("number format", f"matrix products in a faster format than FP32 would explain it: {told}")


def _low(stated: Stated) -> Iterator[Flag]:
    """Little of the 16-bit peak, or of the run's own where that is lower: FP8 raises the peak more than the speed."""
    precision = max(stated.precision, "bf16", key=stated.share_of_peak)
    share = stated.share_of_peak(precision)
    if share < LOW_MFU:
        why = "is less than most published runs reach; the GPU-hours may cover more than this run"
        which = "a teacher's passes, other stages, failed attempts"
        least, all_of_them = (gpu_hours(hours) for hours in (stated.gpu_hours * share / LOW_MFU, stated.gpu_hours))
        rest = f"at {percent(LOW_MFU)} it takes {least} of the {all_of_them} GPU-hours"
        yield Flag("low", f"{_implied(stated, precision)} {why}: {which}; {rest}")


def _per_trillion(stated: Stated) -> Iterator[Flag]:
    """Hours per trillion tokens, taken for the hours of a run on several trillion."""
    trillions = (stated.n_tokens or 0.0) / TRILLION
    if stated.bounded_mfu <= HIGHEST_MFU or trillions <= 2:
        return
    low, high = PLAUSIBLE_PER_TRILLION
    if low <= stated.bounded_mfu / trillions <= high:
        whole, mfu = gpu_hours(stated.gpu_hours * trillions), percent(stated.mfu / trillions)
        why = f"the hours may be per trillion tokens: {number(trillions)} times as many, {whole} GPU-hours, imply {mfu}"
        yield Flag("per trillion", why)


def _encoder_decoder(stated: Stated) -> Iterator[Flag]:
    over = FLOP_OVERCOUNT[stated.kind]
    if over > 1:
        half = percent(stated.mfu / over)
        why = "6ND counts an encoder-decoder about double, as each half of its weights sees part of the tokens"
        yield Flag("encoder-decoder", f"{why}: {percent(stated.mfu)} is about {half}")


def _fine_tune(stated: Stated, kinds: set[str]) -> Iterator[Flag]:
    """FLOP that include a base model's, told by the caller or as what is left when nothing else explains the MFU."""
    explained = kinds & {"number format", "sparse peak", "fp8", "per trillion", "hours disagree", "node price"}
    if stated.n_tokens is None or "impossible" not in kinds or (explained and not stated.pretrained):
        return
    at_most = count(stated.n_tokens * HIGHEST_MFU / stated.bounded_mfu)
    why = "the FLOP may include pre-training of the base model, and the hours only a later stage"
    tokens = f"these hours train at most {at_most} of the {count(stated.n_tokens)} tokens"
    yield Flag("fine-tune", f"{why}: at {percent(HIGHEST_MFU)} {tokens}")


def _hours_disagree(stated: Stated) -> Iterator[Flag]:
    """Two ways to the hours that lead to different ones, but for a bill that is off by a node."""
    first, *others = stated.ways
    for way in others:
        ratio = way.gpu_hours / first.gpu_hours
        if abs(ratio - 1) <= way.tolerance or (way.name == BILL and _node_ratio(stated, ratio)):
            continue
        told = f"{way.text} are {number(ratio)} times {first.text}"
        mfu = f"they imply {percent(stated.mfu / ratio)} and not {percent(stated.mfu)}"
        yield Flag("hours disagree", f"{told}: {mfu}; {_why_hours(stated, way, ratio)}", way.name)


def _why_hours(stated: Stated, way: Way, ratio: float) -> str:
    if _node_ratio(stated, ratio):
        return f"the smaller may be hours of nodes with {stated.gpus_per_node} GPUs"
    if way.name == BILL:
        return "a discount, idle hours or a part of the run make such a gap"
    return "a ramp, spares, calendar days or a part of the run make such a gap"


def _node_ratio(stated: Stated, ratio: float) -> bool:
    """Whether two figures differ by about the GPUs of a node."""
    per_node = stated.gpus_per_node
    return per_node > 1 and abs(max(ratio, 1 / ratio) / per_node - 1) <= NEAR_NODE


def _node_price(stated: Stated) -> Iterator[Flag]:
    """A price of a node taken for a GPU's, or a GPU's for a node's: at most one flag."""
    ways = {way.name: way for way in stated.ways}
    if BILL in ways and len(ways) > 1 and _node_ratio(stated, ways[BILL].gpu_hours / stated.gpu_hours):
        yield _node_bill(stated, ways[BILL])
    else:
        yield from _node_quote(stated)


def _node_bill(stated: Stated, bill: Way) -> Flag:
    ratio, per_node = bill.gpu_hours / stated.gpu_hours, stated.gpus_per_node
    paid, price = stated.usd or 0.0, stated.usd_per_gpu_hour or 0.0
    told = f"{bill.text} are {number(ratio)} times {stated.ways[0].text}"
    if ratio > 1:
        either = f"at the price of a GPU the bill is {usd(paid / per_node)}"
        other = f"if the hours are of nodes, they imply {percent(stated.mfu / per_node)}"
    else:
        either = f"as the price of a node it is {usd_rate(price / per_node)} a GPU-hour"
        other = f"if it is a GPU's, the bill is {usd(paid * per_node)}"
    return Flag("node price", f"{told}, about a node of {per_node}: {either}; {other}", bill.name)


def _node_quote(stated: Stated) -> Iterator[Flag]:
    price, per_node = stated.usd_per_gpu_hour or stated.paid_usd_per_gpu_hour, stated.gpus_per_node
    quotes = tables.quotes(stated.gpu.name) if stated.gpu.name in tables.gpus() else []
    if price is None or not quotes or per_node == 1:
        return
    asked = [quote.usd_per_gpu_hour for quote in quotes]
    low, high = min(asked), max(asked)
    hours_are_too_few = stated.ways[0].name == BILL and stated.bounded_mfu > HIGHEST_MFU
    far = 1.0 if hours_are_too_few else FAR_QUOTE
    reading = node_reading(price, low=low, high=high, gpus_per_node=per_node, far=far, near=NEAR_QUOTE)
    if reading is not None and (reading < price or not hours_are_too_few):
        quotes_told = f"our quotes of {stated.gpu.name}, {usd_rate(low)} to {usd_rate(high)}"
        told = f"{usd_rate(price)} a GPU-hour lies outside {quotes_told}"
        a_node = f"if it is the price of a node of {per_node}, a GPU's is"
        a_share = f"if a GPU's price was divided by the {per_node} of a node, it is"
        what = a_node if reading < price else a_share
        yield Flag("node price", f"{told}; {what} {usd_rate(reading)}{_with_price(stated, reading / price)}")


def _with_price(stated: Stated, factor: float) -> str:
    """What follows from a price that is so many times the stated one."""
    if stated.usd is None:
        return ""
    if stated.ways[0].name == BILL:
        true_hours = stated.gpu_hours / factor
        return f", which buys {gpu_hours(true_hours)} GPU-hours at an MFU of {percent(stated.mfu * factor)}"
    return f", and the bill {usd(stated.usd * factor)}"


def _published(stated: Stated) -> Iterator[Flag]:
    """A published MFU that is not the implied one, by a ratio with a known cause."""
    if stated.mfu_published is None:
        return
    ratio = stated.mfu_published / stated.mfu
    told = f"the published {percent(stated.mfu_published)} is {number(ratio)} times the implied {percent(stated.mfu)}"
    yield from _other_peak(stated, ratio, told)
    if abs(ratio / HFU_OVER_MFU - 1) <= NEAR_HFU:
        without = percent(stated.mfu_published / HFU_OVER_MFU)
        yield Flag("hfu", f"{told}; if it counts a recomputed forward pass, it is HFU, and the MFU is {without}")
    yield from _attention(stated, ratio, told)
    if 1 / ratio < GOODPUT_SHORTFALL:
        why = "stops, a ramp, spares or calendar days take the rest of the hours"
        ideal = f"{gpu_hours(stated.gpu_hours / ratio)} GPU-hours train"
        yield Flag("goodput", f"{told}; if both are right, goodput is {percent(1 / ratio)}: {ideal}, and {why}")


def _other_peak(stated: Stated, ratio: float, told: str) -> Iterator[Flag]:
    """A published MFU that is half of the implied one, or double."""
    double = percent(SPARSE_OVER_DENSE * (stated.mfu_published or 0.0))
    if abs(ratio * SPARSE_OVER_DENSE - 1) <= NEAR_HALF:
        if stated.precision == "fp8":
            yield Flag("fp8 peak", f"{told}; counted against the FP8 peak, it is {double} of the 16-bit one")
        elif _has_sparse_peak(stated.gpu):
            yield Flag("sparse peak", f"{told}; counted against the sparse peak, it is {double} of the dense one")
    elif abs(ratio / SPARSE_OVER_DENSE - 1) <= NEAR_DOUBLE and _has_sparse_peak(stated.gpu):
        half = percent((stated.mfu_published or 0.0) / SPARSE_OVER_DENSE)
        yield Flag("sparse peak", f"{told}; if its FLOP were counted from the sparse peak, it is {half}")


def _has_sparse_peak(gpu: tables.Gpu) -> bool:
    """Whether the maker prints a sparse peak: NVIDIA since TF32, AMD since FP8."""
    return gpu.vendor in ("NVIDIA", "AMD") and ("tf32" if gpu.vendor == "NVIDIA" else "fp8") in gpu.peak_flop_per_s


def _attention(stated: Stated, ratio: float, told: str) -> Iterator[Flag]:
    if stated.seq_len is None or stated.n_params is None or ratio < LEAST_ATTENTION_GAP:
        return
    for causal, scores in ((False, "all scores"), (True, "the scores that are not masked")):
        counted = attention_ratio(stated.n_params, stated.seq_len, causal=causal)
        if abs(ratio / counted - 1) <= NEAR_ATTENTION:
            flop = f"with {scores} of {stated.seq_len:,.0f} tokens the FLOP are {number(counted)} times 6ND"
            yield Flag("attention", f"{told}; {flop}, which makes {percent(stated.mfu * counted)}")
            return
