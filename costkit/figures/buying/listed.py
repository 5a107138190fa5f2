"""What stands behind the pictures? Tables of the bill, the scenarios, the policies, and of what was measured."""

from __future__ import annotations

import math
from collections.abc import Sequence

from costkit import spot, tables
from costkit.figures.shown import Format, Table
from costkit.plan.buying import Policies, Savings, Scenario, derived
from costkit.plan.buying.policies import label
from costkit.plan.buying.words import share
from costkit.units import duration, finite, number, percent, usd

Columns = dict[str, str | tuple[str, Format]]


def percentiles_table(answer: Savings) -> Table:
    """Percentiles of the bill and of the finish, both ways of buying."""
    columns: Columns = {
        "percentile": ("Percentile", str),
        "spot_usd": ("Spot", usd),
        "on_demand_usd": ("On demand", usd),
        "spot_wall_s": ("Spot is done after", duration),
        "on_demand_wall_s": ("On demand", duration),
    }
    caption = f"{answer.n_trials:,} simulated runs on spot, {answer.on_demand.n_trials:,} on demand"
    return Table(answer.rows(), "percentiles", caption=caption, columns=columns)


def parts_table(answer: Savings) -> Table:
    """The mean bill by part."""
    found = answer.parts_usd()
    whole = sum(found.values())
    rows: list[dict[str, object]] = [
        {"part": name, "usd": amount, "share": amount / whole} for name, amount in found.items() if amount
    ]
    columns: Columns = {"part": "Part", "usd": ("Mean", usd), "share": ("Share", share)}
    return Table(
        rows or [{"part": "no simulated run finished"}], "parts", caption="The mean bill on spot", columns=columns
    )


def derived_table(answer: Savings) -> Table:
    """What the answer takes from tables, and what follows from the plan's inputs."""
    rows = [{"what": what, "value": value, "source": source} for what, value, source in derived(answer)]
    columns: Columns = {"what": "What follows", "value": "Value", "source": "From"}
    return Table(rows, "derived", caption="What follows from the inputs and the tables", columns=columns)


def checks_table(answer: Savings) -> Table:
    """Simulated means beside their closed forms, and the z-score."""
    writes: dict[str, Format] = {"wall_s": duration, "billed_s": duration, "usd": usd}
    names = {
        "wall_s": "Finish",
        "billed_s": "Paid time",
        "losses": "Interruptions",
        "preemptions": "Preemptions",
        "usd": "Bill",
    }
    rows = [
        {
            "what": names[one.name],
            "simulated": writes.get(one.name, number)(one.simulated),
            "exact": writes.get(one.name, number)(one.exact),
            "z": one.z_score,
            "simulated_sd": writes.get(one.name, number)(one.simulated_sd),
            "exact_sd": writes.get(one.name, number)(one.exact_sd),
        }
        for one in answer.checks()
    ]
    nothing: list[dict[str, object]] = [{"what": "not all simulated runs finished, so there is no mean"}]
    columns: Columns = {
        "what": "Mean of",
        "simulated": "Simulated",
        "exact": "Closed form",
        "z": ("Apart, in standard errors", lambda z: f"{z:+.2f}"),
        "simulated_sd": "Spread, simulated",
        "exact_sd": "Spread, closed form",
    }
    own = answer.market.has_closed_form
    where = "This plan" if own else "This plan, on a market like its own whose lives are memoryless"
    return Table(rows or nothing, "checks", caption=f"{where}: simulated against exact", columns=columns)


def scenarios_table(found: Sequence[Scenario]) -> Table:
    """Each scenario: what is different, its bill, what it saves, its finish, and how often it loses its machines."""
    rows = [
        {
            "name": one.name,
            "about": one.about if math.isfinite(one.wall_s.mid) else f"{one.about}: practically never done",
            "usd": finite(one.usd.mid),
            "usd_low": finite(one.usd.low),
            "usd_high": finite(one.usd.high),
            "saving": finite(one.saving_fraction),
            "wall_s": finite(one.wall_s.mid),
            "losses": one.losses or None,
        }
        for one in found
    ]
    columns: Columns = {
        "name": "Scenario",
        "about": "What is different",
        "usd": ("Bill on spot", usd),
        "usd_low": ("at least", usd),
        "usd_high": ("at most", usd),
        "saving": ("Saves", percent),
        "wall_s": ("Done after", duration),
        "losses": ("Interruptions", number),
    }
    caption = "The plan on other markets: one thing changed at a time; 5th to 95th percentile"
    return Table(rows, "scenarios", caption=caption, columns=columns)


def policies_table(found: Policies) -> Table:
    """Every policy: its bill, what it saves against on demand, how often it is late, how often it is preempted."""
    rows: list[dict[str, object]] = [
        {
            "policy": label(one),
            "meaning": spot.POLICIES[one.policy].meaning,
            "mean_usd": one.mean_usd,
            "p5_usd": one.p5_usd,
            "p95_usd": finite(one.p95_usd),
            "saving": one.saving_fraction,
            "finish_s": finite(one.mean_finish_s),
            "late": one.late_fraction,
            "most_late_s": finite(one.most_late_s),
            "preemptions": one.mean_preemptions,
            "regret": one.regret if one.late_fraction == 0 else None,
        }
        for one in found.outcomes
    ]
    columns: Columns = {
        "policy": "Policy",
        "meaning": "What it does",
        "mean_usd": ("Mean bill", usd),
        "p5_usd": ("5%", usd),
        "p95_usd": ("95%", usd),
        "saving": ("Saves", percent),
        "finish_s": ("Done after", duration),
        "late": ("Late", percent),
        "most_late_s": ("by at most", duration),
        "preemptions": ("Preemptions", number),
        "regret": ("Above the least possible", percent),
    }
    if not found.outcomes:
        nothing: Columns = {"why": "Why"}
        return Table([{"why": found.why_not}], "policies", caption="No policy could be tried", columns=nothing)
    where = f"{found.outcomes[-1].n_runs:,} paths drawn from this market"
    if found.windows is not None:
        where = f"every start of the record, which holds {found.windows} such deadlines one after the other"
    caption = f"Deadline {duration(found.deadline_s)}, {duration(found.overhead_s)} for each changeover, on {where}"
    fleet = found.answer.market.fleet
    if fleet.is_elastic or fleet.kept_fraction:
        caption += "; the mixed ones stop at each interruption and pay for no wait, unlike this plan"
    return Table(rows, "policies", caption=caption, columns=columns)


def markets_table() -> Table:
    """The markets that were watched: mean life of a node, how long it is gone, how many go at once."""
    rows = [
        {
            "name": one.name,
            "device": f"{one.n_gpus_per_node} x {one.device}" if one.n_gpus_per_node else one.device,
            "nodes": one.nodes,
            "mean_life_s": finite(one.mean_life_s),
            "mean_wait_s": one.mean_wait_s,
            "available": one.available_fraction,
            "burst": one.burst_nodes,
            "as_of": one.as_of,
            "source": tables.source(one.source).authors,
        }
        for one in spot.measured_markets()
    ]
    columns: Columns = {
        "name": "Market",
        "device": "Device",
        "nodes": ("Nodes", str),
        "mean_life_s": ("Mean life of a node", duration),
        "mean_wait_s": ("Gone for", duration),
        "available": ("All there", percent),
        "burst": ("Lost at once", number),
        "as_of": "Measured",
        "source": "Source",
    }
    return Table(rows, "markets", caption="Spot markets that were watched in public", columns=columns)


def buckets_table() -> Table:
    """What providers publish about interruptions, in their own units, and the mean life that it stands for."""
    lives = {name: spot.rate_range(*bucket) for name, bucket in spot.rate_buckets().items()}
    rows = [
        {
            "bucket": name,
            "shortest_s": life.shortest_s or None,
            "longest_s": finite(life.longest_s),
            "source": tables.source(life.source).title,
        }
        for name, life in lives.items()
    ]
    columns: Columns = {
        "bucket": "Interrupted",
        "shortest_s": ("Mean life at least", duration),
        "longest_s": ("at most", duration),
        "source": "Source",
    }
    caption = "What providers publish; no number: the bucket has no end"
    return Table(rows, "buckets", caption=caption, columns=columns)


def quotes_table(gpu: str) -> Table:
    """Spot prices of a GPU in every zone that is quoted, over the on-demand price there."""
    rows = [
        {
            "provider": quote.provider,
            "region": quote.region,
            "zone": quote.zone,
            "usd_per_gpu_hour": quote.usd_per_gpu_hour,
            "as_of": quote.as_of,
            "source": tables.source(quote.source).authors,
        }
        for quote in sorted(tables.quotes(gpu=gpu, purchase="spot"), key=lambda one: one.usd_per_gpu_hour)
    ]
    nothing: list[dict[str, object]] = [{"provider": f"no spot price of {gpu} is known here"}]
    columns: Columns = {
        "provider": "Provider",
        "region": "Region",
        "zone": "Zone",
        "usd_per_gpu_hour": ("USD per GPU-hour", lambda value: f"{value:.2f}"),
        "as_of": "As of",
        "source": "Source",
    }
    return Table(rows or nothing, "spot_quotes", caption=f"Spot prices of {gpu}", columns=columns)


def failures_table() -> Table:
    """How often hardware fails, in runs that told: on demand too."""
    rows = [
        {
            "run": one.run,
            "gpu": one.gpu,
            "n_gpus": one.n_gpus,
            "failures": one.failures_per_gpu_day,
            "per_1000": 1000 * one.failures_per_gpu_day,
            "gpu_life_s": one.gpu_life_s,
            "basis": one.basis,
            "source": tables.source(one.source).authors,
        }
        for one in spot.hardware_failures().values()
    ]
    columns: Columns = {
        "run": "Run",
        "gpu": "GPU",
        "per_1000": ("Failures per 1,000 GPU-days", lambda value: f"{value:.2f}"),
        "gpu_life_s": ("One GPU fails every", duration),
        "basis": "Basis",
        "source": "Source",
    }
    return Table(rows, "failures", caption="Hardware failures that stop a run, on demand too", columns=columns)
