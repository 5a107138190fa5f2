"""What does a memory budget cost, and how near is it, beside llm-analysis 0.2.2 and fitcheck-llm 0.3.1?

Every run of the measured table that we score is put to both, as kindly as their arguments allow:

- llm-analysis has two matrices in a feed-forward block, so a gated one is told as 1.5 times its width, which makes the
  number of parameters right, as its own files of LLaMA shapes do. That widens what is kept for the backward pass too;
  "true widths" tells it the ratio of the widths as it is. It counts neither overhead nor workspaces, so its one number
  stands against every metric.
- fitcheck-llm counts the CUDA context and fragmentation: its total stands against what the device holds, and what is
  left without them against what PyTorch has allocated.
- A run one of them has no words for is counted with the reason; one that raises, as refused. Each is told the memory of
  the run's own GPU.
- One call of theirs also looks for the largest micro-batch, so ours is timed with that too.

Whose runs they are matters: the T4 runs are fitcheck-llm's own, and its overheads and our bands come from such runs, as
our bands do from torchtitan's and Megatron-LM's. Nobody is fitted to the others. The packages live in an environment of
their own, made once under `build/`; llm-analysis without what it requires, which is too old for the other and only
there to read shapes from a hub.
"""

from __future__ import annotations

import json
import statistics
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from benchmarks.elsewhere import output, python_with
from benchmarks.row import row
from costkit import architectures, memory, tables
from costkit.memory import Score
from costkit.units import GIB

LLM_ANALYSIS, FITCHECK = "llm-analysis 0.2.2", "fitcheck-llm 0.3.1"
TOLD = {LLM_ANALYSIS: (LLM_ANALYSIS, f"{LLM_ANALYSIS}, true widths"), FITCHECK: (FITCHECK,)}
INSTALLS = (("fitcheck-llm==0.3.1", "fire==0.7.1"), ("--no-deps", "llm-analysis==0.2.2"))
SHAPE = ("n_layers", "hidden", "n_heads", "n_kv_heads", "head_dim", "ffn")
UNGATED = ("gpt2", "gpt-neox", "chinchilla")
OF_A_PHASE = ("forward", "backward", "step")

MODEL, GPU, TURNS = "llama-3.2-1b", "A100-SXM4-80GB", 200
MICRO_BATCH, SEQ_LEN, CHECKPOINTING = 4, 2048, "full"
MICRO_BATCHES, SEQ_LENS = range(1, 51), range(128, 51 * 128, 128)

OTHER = """
import json, statistics, sys, time
from fitcheck import GpuSpec, ModelConfig, TrainingConfig, estimate, get_gpu
from llm_analysis import analysis, config
from llm_analysis.logger import logger
logger.setLevel("CRITICAL")

def llm_analysis(run, is_true_width=False):
    ffn = run["ffn"] * (1.5 if run["gated"] else 1)
    width = run["ffn"] if is_true_width else ffn
    model = config.ModelConfig(
        name="", num_layers=run["n_layers"], n_head=run["n_heads"], hidden_dim=run["hidden"],
        vocab_size=run["vocab"], max_seq_len=run["seq_len"], num_key_value_heads=run["n_kv_heads"],
        ffn_embed_dim=ffn, expansion_ratio=width / run["hidden"])
    gpu = config.GPUConfig("", run["gpu_gib"], 2000, 300, 8e-6, 312)
    degrees = config.ParallelismConfig(
        tp_size=run["tensor"], pp_size=run["pipeline"], dp_size=run["data"],
        sp_size=run["tensor"] if run["sequence_parallel"] else 1)
    said = analysis.LLMAnalysis(model, gpu, config.DtypeConfig(), degrees).training(
        batch_size_per_gpu=run["micro_batch"], seq_len=run["seq_len"], total_num_tokens=10**9,
        activation_recomputation=analysis.ActivationRecomputation[run["checkpointing"].upper()],
        ds_zero=analysis.DSZeRO(run["zero"]), flash_attn=run["flash"])
    total = said["(weight+op_state+grad+act)_memory_per_gpu"]
    return {"allocated": total, "device": total}

def fitcheck(run):
    model = ModelConfig(
        name="", num_params=run["n_params"], hidden_size=run["hidden"], num_layers=run["n_layers"],
        num_attention_heads=run["n_heads"], num_kv_heads=run["n_kv_heads"], intermediate_size=run["ffn"],
        vocab_size=run["vocab"], head_dim=run["head_dim"], tie_word_embeddings=run["tied"])
    training = TrainingConfig(
        precision=run["precision"].removesuffix("-mixed"), quantization=run["base"], batch_size=run["micro_batch"],
        seq_len=run["seq_len"], lora_rank=run["rank"], lora_targets=[name + "_proj" for name in run["targets"]],
        grad_checkpoint=run["checkpointing"] == "full", flash_attn=run["flash"])
    known = {"T4": "t4", "A100-SXM4-40GB": "a100-40", "A100-SXM4-80GB": "a100-80"}.get(run["gpu"])
    gpu = get_gpu(known) if known else get_gpu(vram_mib=int(run["gpu_gib"] * 1024))
    said = estimate(model, training, gpu)
    return {"allocated": (said.total_mib - said.overhead_mib) * 2**20, "device": said.total_mib * 2**20}

def answered(ask, run):
    try:
        return ask(run)
    except Exception as error:
        return {"refused": f"{type(error).__name__}: {error}"}

def cpu_s(ask, run, turns):
    ask(run)
    start = time.process_time()
    for _ in range(turns):
        ask(run)
    return (time.process_time() - start) / turns

given = json.load(sys.stdin)
tools = {
    "llm-analysis 0.2.2": llm_analysis,
    "llm-analysis 0.2.2, true widths": lambda run: llm_analysis(run, True),
    "fitcheck-llm 0.3.1": fitcheck,
}
print(json.dumps({name: {
    "answers": {run["id"]: answered(ask, run) for run in given["runs"]},
    "cpu_s": cpu_s(ask, given["timed"], given["turns"]),
} for name, ask in tools.items()}))
"""


@dataclass(frozen=True)
class Compared:
    """One measured number, what we say of it, and what of the others could say something."""

    score: Score
    others: Mapping[str, float]

    @property
    def measured_bytes(self) -> float:
        """What the source measured; only rows that have it are compared."""
        return self.score.measured_bytes or float("nan")

    def error(self, name: str) -> float:
        """How much too high one of them is, as a fraction; below 0 too low."""
        return self.others[name] / self.measured_bytes - 1 if name in self.others else self.score.error_fraction


def main() -> None:
    """What it costs, then how near it is, where all three and where two can say something."""
    budget_s, both_s, map_s = _ours()
    row("memory.budget, CPU of one", f"{1000 * budget_s:.2f} ms", "<= 1 ms")
    row("memory.fit_map 50 x 50, CPU", f"{1000 * map_s:.1f} ms", "<= 200 ms")
    rows = {found["id"]: found for found in tables.rows("measured_memory.csv")}
    scored = [score for score in memory.scores() if score.is_scored and score.id in rows and _is_whole(score)]
    runs = {score.id: _run(rows[score.id]) for score in scored}
    said = _others(runs)
    for name in TOLD:
        row(f"budget and largest micro-batch: CPU of {name} over ours", f"{said[name]['cpu_s'] / both_s:.2f} x", "")
    answers = {name: found["answers"] for name, found in said.items()}
    compared = [_compared(score, rows[score.id], runs[score.id], answers) for score in scored]
    _print_errors("all three", [one for one in compared if len(one.others) == len(answers)], tuple(answers))
    for name, told in TOLD.items():
        _print_errors(f"{name} and we", [one for one in compared if one.others.keys() >= set(told)], told)
        _print_unsaid(name, scored, rows, runs, answers[name])


def _is_whole(score: Score) -> bool:
    """Whether it is the peak of a step; neither of the others gives phases or what the allocator holds on a T4."""
    return not score.metric.endswith(OF_A_PHASE) and not (score.source == "fitcheck" and score.metric == "reserved")


def _ours() -> tuple[float, float, float]:
    """CPU seconds of a budget, of that with the largest micro-batch, and of a map."""
    shape = architectures.named(MODEL)
    how: dict[str, Any] = {"checkpointing": CHECKPOINTING}
    budget = _cpu_s(lambda: memory.budget(shape, micro_batch=MICRO_BATCH, seq_len=SEQ_LEN, **how), TURNS)
    largest = _cpu_s(lambda: memory.largest_micro_batch(shape, gpu=GPU, seq_len=SEQ_LEN, **how), TURNS)
    swept = _cpu_s(
        lambda: memory.fit_map(shape, gpu=GPU, micro_batches=MICRO_BATCHES, seq_lens=SEQ_LENS, **how), TURNS // 10
    )
    return budget, budget + largest, swept


def _cpu_s(work: Callable[[], object], turns: int) -> float:
    work()
    start = time.process_time()
    for _ in range(turns):
        work()
    return (time.process_time() - start) / turns


def _run(found: Mapping[str, str]) -> dict[str, Any]:
    """A row of the measured table in numbers."""

    def degree(name: str) -> int:
        return int(found[f"{name}_parallel"] or 1)

    shared = degree("tensor") * degree("pipeline") * degree("context")
    data = degree("data") if found["data_parallel"] else max(int(found["n_gpus"] or shared) // shared, 1)
    adapted, is_titan = found["adapters"] not in ("", "none"), found["stack"] in ("fsdp2", "simplefsdp")
    return {
        **{name: int(found[name]) for name in (*SHAPE, "n_params", "micro_batch", "seq_len")},
        **{name: found[name] for name in ("id", "gpu", "precision", "checkpointing")},
        "vocab": int(found["vocab_padded"] or found["vocab"]),
        "tied": found["tied_embeddings"] == "yes",
        "gated": found["family"] not in UNGATED,
        "flash": found["attention"] != "eager",
        "data": data,
        "tensor": degree("tensor"),
        "pipeline": degree("pipeline"),
        "sequence_parallel": found["sequence_parallel"] == "yes" or is_titan,
        "zero": int(found["zero_stage"] or (3 if is_titan else 0)),
        "rank": int(found["adapter_rank"] or 16) if adapted else None,
        "targets": (found["adapter_targets"] or "q k v o").split(),
        "base": "nf4" if found["base_weights"] == "nf4" else "none",
        "gpu_gib": tables.gpu(found["gpu"]).memory_bytes / GIB,
    }


def _others(runs: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    python = python_with("bench-memory", *INSTALLS)
    given = {"runs": list(runs.values()), "timed": _timed(), "turns": TURNS}
    found: dict[str, Any] = json.loads(output([str(python), "-c", OTHER], typed=json.dumps(given)).splitlines()[-1])
    return found


def _timed() -> dict[str, Any]:
    """The run whose budget is timed: all weights of one model on one GPU."""
    one = architectures.named(MODEL)
    return {
        **{name: getattr(one, name) for name in SHAPE},
        "id": "",
        "n_params": int(one.n_params),
        "vocab": one.vocab,
        "tied": one.tied_embeddings,
        "gated": True,
        "micro_batch": MICRO_BATCH,
        "seq_len": SEQ_LEN,
        "precision": "bf16-mixed",
        "checkpointing": CHECKPOINTING,
        "flash": True,
        **dict.fromkeys(("data", "tensor", "pipeline"), 1),
        "sequence_parallel": False,
        "zero": 0,
        "rank": None,
        "targets": [],
        "base": "none",
        "gpu": GPU,
        "gpu_gib": tables.gpu(GPU).memory_bytes / GIB,
    }


def _compared(
    score: Score, found: Mapping[str, str], run: Mapping[str, Any], answers: Mapping[str, Mapping[str, Any]]
) -> Compared:
    kind = "device" if score.metric in ("device", "unstated") else "allocated"
    said = {
        name: answer[score.id][kind]
        for name, answer in answers.items()
        if not _unsaid(name, score, found, run) and "refused" not in answer[score.id]
    }
    return Compared(score, said)


def _unsaid(name: str, score: Score, found: Mapping[str, str], run: Mapping[str, Any]) -> str:
    """What one of the others has no words for; empty where it can be asked."""
    if name == FITCHECK:
        reasons = (
            (found["n_gpus"] != "1", "more than one GPU"),
            (not run["gated"], "a feed-forward block without a gate"),
            (run["checkpointing"] == "selective", "selective checkpointing"),
            (run["precision"] == "bf16" and run["rank"] is None, "weights without an FP32 copy"),
        )
    else:
        last = score.metric == "allocated-last-rank" and run["pipeline"] > 1
        reasons = (
            (run["rank"] is not None, "adapters"),
            (found["context_parallel"] not in ("", "1"), "context parallelism"),
            (last, "the last stage of a pipeline"),
            (run["precision"] == "bf16", "weights without an FP32 copy"),
        )
    fp8 = (run["precision"] == "fp8-mixed", "FP8 matrices beside 16-bit storage")
    return next((reason for is_so, reason in (*reasons, fp8) if is_so), "")


def _print_errors(who: str, compared: Iterable[Compared], names: tuple[str, ...]) -> None:
    """Median and mean absolute error of each, by whose runs they are."""
    groups: dict[tuple[str, str], list[Compared]] = {}
    for one in compared:
        groups.setdefault((one.score.source, one.score.metric), []).append(one)
    for (source, metric), group in sorted(groups.items()):
        row(f"{who}: {len(group)} of {source}, {metric}", "median, mean abs", "")
        for name in ("ours", *names):
            errors = [one.error(name) for one in group]
            mean = statistics.fmean(map(abs, errors))
            row(f"  {name}", f"{100 * statistics.median(errors):+.1f}%, {100 * mean:.1f}%", "")


def _print_unsaid(
    name: str,
    scored: Iterable[Score],
    rows: Mapping[str, Mapping[str, str]],
    runs: Mapping[str, Mapping[str, Any]],
    answers: Mapping[str, Mapping[str, Any]],
) -> None:
    """How many runs it could not be asked about, and how many it refused, with the reasons."""
    unsaid, refused = Counter[str](), Counter[str]()
    for score in {score.id: score for score in scored}.values():
        reason = _unsaid(name, score, rows[score.id], runs[score.id])
        if reason:
            unsaid[reason] += 1
        elif "refused" in answers[score.id]:
            refused[answers[score.id]["refused"].split(",")[0]] += 1
    for what, reasons in (("no words for", unsaid), ("refused", refused)):
        row(f"{name}: {what}", f"{reasons.total()} of {len(runs)}", "")
        for reason, n in reasons.most_common():
            row(f"  {reason[:62]}", str(n), "")


if __name__ == "__main__":
    main()
